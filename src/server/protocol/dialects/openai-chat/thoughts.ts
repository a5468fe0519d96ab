/**
 * Thoughts in OpenAI's chat dialect, which has none of its own: `reasoning_content` (DeepSeek API docs, thinking mode;
 * Qwen, Moonshot, Zhipu and most others), `reasoning` and `reasoning_details` (OpenRouter docs, reasoning tokens:
 * entries reasoning.text, reasoning.summary, reasoning.encrypted with signature or data), read November 2026.
 *
 * What another vendor signed goes to the caller as a reasoning.encrypted entry and, because few programs give that
 * back, in the id of the next tool call too (shared/reasoning-signature).
 */
import type { ReasoningBlock, ReasoningSignature, ToolCallBlock, Warn, WireObject } from "../../chat-events";
import { object, objects, parseObject, text } from "../shared/json";
import {
  beginsTurn,
  type Carried,
  decodeSignature,
  restoreThoughts,
  encodeSignature,
  splitId,
  withBundle,
} from "../shared/reasoning-signature";

/** Thoughts as text only, as most vendors write them: back to such a vendor and nowhere else. */
export const plainSignature: ReasoningSignature = { from: "openai-chat", kind: "detail", data: "" };

/**
 * The thoughts of a part of the content, as Mistral writes them: {type: "thinking", thinking: text or a list of texts}
 * (docs.mistral.ai/capabilities/reasoning, November 2026).
 */
export const thinkingIn = ({ type, thinking }: WireObject): string =>
  type !== "thinking"
    ? ""
    : typeof thinking === "string"
      ? thinking
      : objects(thinking)
          .map((part) => text(part.text))
          .join("");

const said = ({ reasoning_content, reasoning, content }: WireObject): string =>
  text(reasoning_content) || text(reasoning) || objects(content).map(thinkingIn).join("");

/** The signature of one entry of reasoning_details: the entry without its text. */
export function signatureOfDetail(detail: WireObject): ReasoningSignature {
  const { text: _text, summary: _summary, ...rest } = detail;
  return { from: "openai-chat", kind: "detail", data: JSON.stringify(rest) };
}

function detailOf(reasoningSignature: ReasoningSignature, words: string): WireObject {
  const rest = parseObject(reasoningSignature.data) ?? {};
  if (rest.type === "reasoning.encrypted") return rest;
  return rest.type === "reasoning.summary" ? { ...rest, summary: words } : { ...rest, text: words };
}

/** The thoughts of a message of an answer. */
export function decodeAnswerThoughts(message: WireObject): ReasoningBlock[] {
  const details = objects(message.reasoning_details);
  if (details.length > 0) {
    return details.map((detail) => ({
      type: "reasoning",
      text: text(detail.text) || text(detail.summary),
      reasoningSignature: signatureOfDetail(detail),
    }));
  }
  const words = said(message);
  return words === "" ? [] : [{ type: "reasoning", text: words, reasoningSignature: plainSignature }];
}

/** The thoughts and the tool calls of a message that a caller gives back; ids are the vendor's own again. */
export function decodeReturnedThoughts(
  message: WireObject,
  calls: readonly ToolCallBlock[],
): { thoughts: ReasoningBlock[]; calls: (ToolCallBlock | ReasoningBlock)[] } {
  const words = said(message);
  const thoughts: ReasoningBlock[] = [];
  const carried: Carried[] = [];
  for (const detail of objects(message.reasoning_details)) {
    const ours = decodeSignature(text(detail.data) || text(detail.signature));
    if (ours) carried.push(ours);
    else
      thoughts.push({
        type: "reasoning",
        text: text(detail.text) || text(detail.summary),
        reasoningSignature: signatureOfDetail(detail),
      });
  }
  const split = calls.map((call) => ({ call, ...splitId(call.id) }));
  const bundled = split.some((one) => one.carried.length > 0);
  if (!bundled) thoughts.push(...restoreThoughts(carried, words));
  const own: (ToolCallBlock | ReasoningBlock)[] = [];
  let rest = words;
  for (const { call, id, carried: before } of split) {
    const blocks = restoreThoughts(before, rest);
    for (const { text: words } of before) rest = rest.slice(typeof words === "number" ? words : words.length);
    // What came before the first call came before the text too.
    const early = own.length === 0 ? blocks.filter(beginsTurn) : [];
    thoughts.push(...early);
    own.push(...blocks.filter((block) => !early.includes(block)), { ...call, id });
  }
  if (!bundled && thoughts.length === 0 && words !== "") thoughts.push({ type: "reasoning", text: words });
  return { thoughts, calls: own };
}

/** The members of an answer's message for its thoughts. */
export function encodeAnswerThoughts(blocks: readonly ReasoningBlock[]): WireObject {
  const words = blocks.map((block) => block.text).join("");
  const details: WireObject[] = [];
  for (const { reasoningSignature, text: own } of blocks) {
    const detail = reasoningSignature && detailForCaller(reasoningSignature, own);
    if (detail) details.push(detail);
  }
  return {
    ...(words !== "" && { reasoning_content: words }),
    ...(details.length > 0 && { reasoning_details: details.map((detail, index) => ({ index, ...detail })) }),
  };
}

/** The entry for a signature; undefined when the text says it all. */
function detailForCaller(reasoningSignature: ReasoningSignature, words: string): WireObject | undefined {
  if (reasoningSignature.from !== "openai-chat") return foreignDetail(reasoningSignature, words.length);
  return reasoningSignature.kind === "detail" && reasoningSignature.data !== ""
    ? detailOf(reasoningSignature, words)
    : undefined;
}

/** Another vendor's signature as an entry; the caller has the text beside it. */
export const foreignDetail = (reasoningSignature: ReasoningSignature, length: number): WireObject => ({
  type: "reasoning.encrypted",
  data: encodeSignature(reasoningSignature, length),
  format: "unknown",
});

/** A tool call's id for the caller: with the signatures of others that precede it. */
export const idForCaller = (id: string, before: readonly ReasoningBlock[]): string =>
  withBundle(
    id,
    before.filter((block) => block.reasoningSignature !== undefined && block.reasoningSignature.from !== "openai-chat"),
  );

/** What stood on the call itself (extra_content of Google's compatible door). */
export const callExtra = (before: readonly ReasoningBlock[]): WireObject =>
  Object.assign(
    {},
    ...before.flatMap(({ reasoningSignature }) =>
      reasoningSignature?.from === "openai-chat" && reasoningSignature.kind === "call"
        ? [object(parseObject(reasoningSignature.data))]
        : [],
    ),
  );

/** The members of a message that goes back upstream. Thoughts without tool calls are not wanted back (DeepSeek). */
export function encodeReturnedThoughts(blocks: readonly ReasoningBlock[], withCalls: boolean, warn: Warn): WireObject {
  const words: string[] = [];
  const details: WireObject[] = [];
  for (const { text: own, reasoningSignature } of blocks) {
    if (reasoningSignature && reasoningSignature.from !== "openai-chat") {
      warn("dropped_reasoning", reasoningSignature.from);
    } else if (reasoningSignature === undefined || reasoningSignature.data === "") {
      if (reasoningSignature === undefined || withCalls) words.push(own);
      else warn("dropped_reasoning", "no tool call");
    } else if (reasoningSignature.kind === "detail") {
      details.push(detailOf(reasoningSignature, own));
    }
  }
  return {
    ...(words.length > 0 && { reasoning_content: words.join("") }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}
