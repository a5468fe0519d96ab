/** Google's finish reasons (types of @google/genai 3.1, FinishReason and BlockedReason; read November 2026). */
import type { Finish, FinishReason } from "../../chat-events";

const filtered = /SAFETY|RECITATION|BLOCKLIST|PROHIBITED|SPII|LANGUAGE/;

const words: Readonly<Record<Finish, string>> = {
  stop: "STOP",
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
  other: "OTHER",
};

function unify(raw: string): Finish {
  if (raw === "STOP") return "stop";
  if (raw === "MAX_TOKENS") return "length";
  return filtered.test(raw) ? "content_filter" : "other";
}

/** A stop after calls is a turn to the tools: Google has no word for it. */
export function decodeFinish(raw: string, called: boolean): FinishReason {
  const unified = unify(raw);
  return { unified: unified === "stop" && called ? "tool_calls" : unified, raw };
}

export function encodeFinish(finish: FinishReason, refused: boolean): string {
  if (refused && finish.unified === "stop") return "SAFETY";
  return /^[A-Z_]+$/.test(finish.raw) ? finish.raw : words[finish.unified];
}
