/** Anthropic's stop reasons (types of @anthropic-ai/sdk 1.11, StopReason; read November 2026). */
import type { Finish, FinishReason } from "../../chat-events";

const unified: Readonly<Record<string, Finish>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
  pause_turn: "other",
};

const words: Readonly<Record<Finish, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
  failed: "end_turn",
  other: "end_turn",
};

export function decodeStop(raw: string, sequence: unknown): FinishReason {
  return { unified: unified[raw] ?? "other", raw, ...(typeof sequence === "string" && { stop: sequence }) };
}

/** `refused`: the model declined in words, which is a stop reason here. */
export function encodeStop(
  finish: FinishReason | undefined,
  refused: boolean,
): { stop_reason: string | null; stop_sequence: string | null } {
  const stop_sequence = finish?.stop ?? null;
  if (!finish) return { stop_reason: null, stop_sequence };
  if (finish.stop !== undefined) return { stop_reason: "stop_sequence", stop_sequence };
  const own = unified[finish.raw] === finish.unified ? finish.raw : words[finish.unified];
  return { stop_reason: refused && finish.unified === "stop" ? "refusal" : own, stop_sequence };
}
