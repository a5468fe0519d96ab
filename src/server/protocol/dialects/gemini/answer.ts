/** A GenerateContentResponse as the neutral answer and back (types of @google/genai 3.1; read November 2026). */
import type { Block, ChatAnswer, Choice, Citation, Warn, WireObject } from "../../chat-events";
import { compact, extraOf, isObject, number, object, objects, ownExtra, text, unknownMembers } from "../shared/json";
import { warnUnsupportedAnswer } from "../shared/unsupported";
import { decodeGrounding, encodeGrounding } from "./citations";
import { decodeFinish, encodeFinish } from "./finish-reason";
import { CallIds, decodeParts } from "./parts-decode";
import { encodeParts } from "./parts-encode";
import { answerSupport } from "./support";
import { encodeUsage, readUsage, searchesOf, withSearches } from "./usage";

const KEY = "gemini";

const knownTop = new Set(["candidates", "usageMetadata", "modelVersion", "responseId", "promptFeedback", "createTime"]);
const knownCandidate = new Set([
  "content",
  "finishReason",
  "index",
  "groundingMetadata",
  "safetyRatings",
  "avgLogprobs",
]);

function withCitations(content: Block[], citations: readonly Citation[]): Block[] {
  const at = content.findLastIndex((block) => block.type === "text");
  const block = content[at];
  if (citations.length === 0 || block?.type !== "text") return content;
  return content.with(at, { ...block, citations });
}

function choiceOf(candidate: WireObject, position: number, id: string): Choice {
  const index = number(candidate.index) ?? position;
  const parts = decodeParts(object(candidate.content).parts, new CallIds(`${id}_${index}`), false);
  const content = withCitations(parts, decodeGrounding(candidate.groundingMetadata));
  const raw = text(candidate.finishReason);
  const called = content.some((block) => block.type === "tool_call");
  return compact({
    index,
    content,
    finish: raw === "" ? undefined : decodeFinish(raw, called),
    extra: extraOf(KEY, candidate, knownCandidate),
  });
}

/** undefined when the body is no answer. A prompt that was blocked is an answer without content. */
export function decodeAnswer(body: WireObject, id: string): ChatAnswer | undefined {
  const blocked = text(object(body.promptFeedback).blockReason);
  if (!Array.isArray(body.candidates) && blocked === "") return undefined;
  const own = text(body.responseId) || id;
  const choices = objects(body.candidates).map((candidate, index) => choiceOf(candidate, index, own));
  if (choices.length === 0 && blocked !== "") {
    choices.push({ index: 0, content: [], finish: { unified: "content_filter", raw: blocked } });
  }
  const extra = unknownMembers(body, knownTop);
  const usage = isObject(body.usageMetadata) ? readUsage(body.usageMetadata) : undefined;
  return compact({
    id: own,
    model: text(body.modelVersion),
    choices,
    usage: usage && withSearches(usage, searchesOf(objects(body.candidates))),
    extra: extra && { [KEY]: extra },
  });
}

function candidateOf({ index, content, finish, extra }: Choice, warn: Warn): WireObject {
  const refused = content.some((block) => block.type === "refusal");
  const citations = content.flatMap((block) => (block.type === "text" ? (block.citations ?? []) : []));
  const plain = content.map((block) =>
    block.type === "text" && block.citations ? { type: block.type, text: block.text } : block,
  );
  const groundingMetadata = encodeGrounding(citations, warn);
  return compact({
    content: { parts: encodeParts(plain, { warn, names: new Map() }), role: "model" },
    finishReason: finish && encodeFinish(finish, refused),
    index,
    groundingMetadata,
    ...ownExtra(KEY, extra, "choices", warn),
  });
}

export function encodeAnswer(answer: ChatAnswer, warn: Warn): WireObject {
  warnUnsupportedAnswer(answer, answerSupport, warn);
  return {
    candidates: answer.choices.map((choice) => candidateOf(choice, warn)),
    ...(answer.usage && { usageMetadata: encodeUsage(answer.usage) }),
    modelVersion: answer.model,
    responseId: answer.id,
    ...ownExtra(KEY, answer.extra, "", warn),
  };
}
