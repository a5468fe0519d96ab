/**
 * Google's finish reasons (types of @google/genai 3.1, FinishReason and BlockedReason; Vertex AI, FinishReason, for
 * MODEL_ARMOR; read November 2026). A reason of another vendor never reaches Google's callers: agents read any unknown
 * one as an end.
 */
import type { Finish, FinishReason } from "../../chat-events";

const filtered = /SAFETY|RECITATION|BLOCKLIST|PROHIBITED|SPII|LANGUAGE|MODEL_ARMOR|JAILBREAK/;
const failed: ReadonlySet<string> = new Set([
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "MALFORMED_RESPONSE",
  "MISSING_THOUGHT_SIGNATURE",
]);
const own: ReadonlySet<string> = new Set([
  ...failed,
  "STOP",
  "MAX_TOKENS",
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "OTHER",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "TOO_MANY_TOOL_CALLS",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "NO_IMAGE",
  "IMAGE_RECITATION",
  "IMAGE_OTHER",
  "CONTINUATION",
]);

const words: Readonly<Record<Finish, string>> = {
  stop: "STOP",
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
  failed: "MALFORMED_RESPONSE",
  other: "OTHER",
};

function unify(raw: string): Finish {
  if (raw === "STOP") return "stop";
  if (raw === "MAX_TOKENS") return "length";
  if (failed.has(raw)) return "failed";
  return filtered.test(raw) ? "content_filter" : "other";
}

/** A stop after calls is a turn to the tools: Google has no word for it. */
export function decodeFinish(raw: string, called: boolean): FinishReason {
  const unified = unify(raw);
  return { unified: unified === "stop" && called ? "tool_calls" : unified, raw };
}

export function encodeFinish(finish: FinishReason, refused: boolean): string {
  if (refused && finish.unified === "stop") return "SAFETY";
  return own.has(finish.raw) ? finish.raw : words[finish.unified];
}
