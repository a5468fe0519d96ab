/**
 * An Anthropic message as the neutral answer and back (types of @anthropic-ai/sdk 1.11, Message; read November 2026).
 */
import type { ChatAnswer, Warn, WireObject } from "../../chat-events";
import { compact, isObject, ownExtra, text, unknownMembers } from "../shared/json";
import { warnUnsupportedAnswer } from "../shared/unsupported";
import { decodeAnswerContent } from "./content-decode";
import { encodeBlocks } from "./content-encode";
import { decodeStop, encodeStop } from "./stop-reason";
import { answerSupport } from "./support";
import { encodeUsage, readUsage } from "./usage";

const KEY = "anthropic";

const knownTop = new Set(["id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"]);

/** undefined when the body is no message. */
export function decodeAnswer(body: WireObject): ChatAnswer | undefined {
  if (body.type !== "message" || !Array.isArray(body.content)) return undefined;
  const raw = text(body.stop_reason);
  const extra = unknownMembers(body, knownTop);
  return compact({
    id: text(body.id),
    model: text(body.model),
    choices: [
      compact({
        index: 0,
        content: decodeAnswerContent(body.content),
        finish: raw === "" ? undefined : decodeStop(raw, body.stop_sequence),
      }),
    ],
    usage: isObject(body.usage) ? readUsage(body.usage) : undefined,
    extra: extra && { [KEY]: extra },
  });
}

export function encodeAnswer(answer: ChatAnswer, warn: Warn): WireObject {
  const [choice] = answer.choices;
  warnUnsupportedAnswer(answer, answerSupport, warn);
  const content = choice?.content ?? [];
  return {
    id: answer.id,
    type: "message",
    role: "assistant",
    model: answer.model,
    content: encodeBlocks(content, false, warn),
    ...encodeStop(
      choice?.finish,
      content.some((block) => block.type === "refusal"),
    ),
    usage: encodeUsage(answer.usage ?? {}),
    ...ownExtra(KEY, answer.extra, "", warn),
  };
}
