/**
 * The neutral prompt as a body of POST /v3/chat (docs.coze.cn/developer_guides/chat_v3; the vendor's Python SDK,
 * cozepy/chat; read November 2026). Whose bot it is asked of stands in the channel: providers/coze.ts puts it in.
 */
import type { Block, ChatPrompt, Message, Warn, WireObject } from "../../chat-events";
import { compact } from "../shared/json";
import { blockName, takeExtra, textOfBlocks, warnUnsupported } from "../shared/unsupported";
import { requestSupport } from "./support";

/**
 * The vendor's own members that a caller may put into the body. Not the bot, which is the operator's choice, and no
 * conversation: their names can be guessed, and what is in them belongs to other callers of the same channel.
 */
const ownWords = new Set(["custom_variables", "extra_params", "parameters", "meta_data", "shortcut_command"]);

/** The end user where the caller names none: the vendor demands one. */
const UNNAMED_USER = "weir";

/** An entry of a message of several parts: text, or a picture, sound or file by its public address. */
function entryOf(block: Block, warn: Warn): WireObject | undefined {
  if (block.type === "image" || block.type === "audio" || block.type === "file") {
    if (block.source.kind === "url") return { type: block.type, file_url: block.source.url };
    if (block.source.kind !== "text") {
      warn("dropped_block", `${blockName(block)} by ${block.source.kind}`);
      return undefined;
    }
  }
  const text = textOfBlocks([block], warn);
  return text === "" ? undefined : { type: "text", text };
}

/** The vendor has two roles; instructions are given as the user's. Several parts travel as JSON inside a text. */
function messageOf({ role, content }: Message, warn: Warn): WireObject | undefined {
  const answers = role === "assistant";
  const parts = content.map((block) => entryOf(block, warn)).filter((part) => part !== undefined);
  if (parts.length === 0) return undefined;
  const who = { role: answers ? "assistant" : "user", type: answers ? "answer" : "question" };
  if (parts.every(({ type }) => type === "text")) {
    return { ...who, content: parts.map(({ text }) => text).join(""), content_type: "text" };
  }
  return { ...who, content: JSON.stringify(parts), content_type: "object_string" };
}

export function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  warnUnsupported(prompt, requestSupport, warn);
  return compact({
    ...takeExtra(prompt.extra, ownWords, "", warn),
    auto_save_history: false,
    user_id: prompt.user ?? UNNAMED_USER,
    // Streamed in any case: a whole answer would have to be asked for again and again.
    stream: true,
    additional_messages: prompt.messages.flatMap((message) => messageOf(message, warn) ?? []),
  });
}
