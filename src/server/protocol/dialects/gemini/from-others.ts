/**
 * Videos of chat callers: the part video_url of compatible vendors (Qwen, OpenRouter, vLLM: video inputs, read November
 * 2026), which Gemini takes as it takes files.
 */
import type { Block, ChatPrompt } from "../../chat-events";
import { object, text } from "../shared/json";
import { mediaTypeOfUrl, sourceOfUrl } from "../shared/media";

function videoOf(block: Block): Block {
  if (block.type !== "opaque" || block.from !== "openai-chat" || block.value.type !== "video_url") return block;
  const { video_url } = block.value;
  const url = typeof video_url === "string" ? video_url : text(object(video_url).url);
  const named = mediaTypeOfUrl(url);
  const source = sourceOfUrl(url, named?.startsWith("video/") ? named : "video/mp4");
  return url === "" || source.kind === "text" ? block : { type: "file", source };
}

/** The prompt with its videos as files. */
export const withVideos = (prompt: ChatPrompt): ChatPrompt => ({
  ...prompt,
  messages: prompt.messages.map((message) => ({ ...message, content: message.content.map(videoOf) })),
});
