/** The neutral answer as a chat.completion (types of the `openai` SDK 7.55, read November 2026). */
import type { Block, ChatAnswer, Choice, ReasoningBlock, Warn, WireObject } from "../../chat-events";
import { ownExtra } from "../shared/json";
import { dataUrlOf } from "../shared/media";
import { encodeCitation } from "./citations";
import { encodeFinish } from "./finish-reason";
import { openaiTier } from "../shared/service-tier";
import { warnUnsupportedAnswer } from "../shared/unsupported";
import { answerSupport } from "./support";
import { callExtra, encodeAnswerThoughts, idForCaller } from "./thoughts";
import { encodeUsage } from "./usage-encode";

const KEY = "openai-chat";

function messageOf(content: readonly Block[], warn: Warn): WireObject {
  const thoughts: ReasoningBlock[] = [];
  let before: ReasoningBlock[] = [];
  let words: string | null = null;
  let refusal: string | null = null;
  const annotations: WireObject[] = [];
  const calls: WireObject[] = [];
  const images: WireObject[] = [];
  let audio: WireObject | undefined;
  for (const block of content) {
    switch (block.type) {
      case "reasoning":
        thoughts.push(block);
        before.push(block);
        break;
      case "text":
        if (calls.length > 0) warn("changed_order", "tool_call");
        for (const citation of block.citations ?? []) {
          const annotation = encodeCitation(citation, warn);
          if (annotation) annotations.push(annotation);
        }
        words = (words ?? "") + block.text;
        break;
      case "refusal":
        refusal = (refusal ?? "") + block.text;
        break;
      case "tool_call": {
        const { name, input } = block;
        const own = block.custom
          ? { type: "custom", custom: { name, input } }
          : { type: "function", function: { name, arguments: input } };
        const extra = ownExtra(KEY, block.extra, "tool_call", warn);
        calls.push({ id: idForCaller(block.id, before), ...own, ...extra, ...callExtra(before) });
        before = [];
        break;
      }
      case "audio":
        if (block.source.kind === "data") {
          audio = {
            id: "",
            expires_at: 0,
            data: block.source.data,
            transcript: block.transcript ?? "",
            ...ownExtra(KEY, block.extra, "audio", warn),
          };
        } else warn("dropped_block", "audio");
        break;
      case "image":
        if (block.source.kind === "data" || block.source.kind === "url") {
          const url =
            block.source.kind === "url" ? block.source.url : dataUrlOf(block.source.media_type, block.source.data);
          images.push({ type: "image_url", image_url: { url } });
        } else warn("dropped_block", "image");
        break;
      case "file":
      case "opaque":
      case "tool_result":
        break;
    }
  }
  return {
    role: "assistant",
    content: words,
    refusal,
    ...encodeAnswerThoughts(thoughts),
    ...(annotations.length > 0 && { annotations }),
    ...(images.length > 0 && { images }),
    ...(audio && { audio }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function choiceOf(choice: Choice, warn: Warn): WireObject {
  return {
    index: choice.index,
    message: messageOf(choice.content, warn),
    logprobs: null,
    finish_reason: choice.finish ? encodeFinish(choice.finish) : null,
    ...ownExtra(KEY, choice.extra, "choices", warn),
  };
}

export function encodeAnswer(answer: ChatAnswer, warn: Warn): WireObject {
  warnUnsupportedAnswer(answer, answerSupport, warn);
  const service_tier = openaiTier(answer.usage?.served);
  return {
    id: answer.id,
    object: "chat.completion",
    created: answer.created ?? 0,
    model: answer.model,
    choices: answer.choices.map((choice) => choiceOf(choice, warn)),
    ...(service_tier !== undefined && { service_tier }),
    ...(answer.usage && { usage: encodeUsage(answer.usage) }),
    ...ownExtra(KEY, answer.extra, "", warn),
  };
}
