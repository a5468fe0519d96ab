/**
 * OpenAI's finish reasons (types of the `openai` SDK 7.55, ChatCompletion.Choice), and those of vendors like it:
 * Mistral's model_length (docs.mistral.ai/api), Zhipu's sensitive and model_context_window_exceeded (docs.bigmodel.cn,
 * chat completion; read November 2026).
 */
import type { Finish, FinishReason } from "../../chat-events";

const own: Readonly<Record<string, Finish>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
};

const others: Readonly<Record<string, Finish>> = {
  // Some name none at all.
  "": "stop",
  model_length: "length",
  model_context_window_exceeded: "length",
  sensitive: "content_filter",
};

/** `called`: tools were called; some vendors say "stop" all the same. */
export function decodeFinish(raw: string, called: boolean): FinishReason {
  const finish = own[raw] ?? others[raw] ?? "other";
  return { unified: called && finish === "stop" ? "tool_calls" : finish, raw };
}

export function encodeFinish(finish: FinishReason): string {
  if (own[finish.raw] === finish.unified) return finish.raw;
  return finish.unified === "other" || finish.unified === "failed" ? "stop" : finish.unified;
}
