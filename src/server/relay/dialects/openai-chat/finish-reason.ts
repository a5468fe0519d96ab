/** OpenAI's finish reasons (types of the `openai` SDK 7.55, ChatCompletion.Choice; read November 2026). */
import type { Finish, FinishReason } from "../../events";

const unified: Readonly<Record<string, Finish>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
};

/** `called`: tools were called; some vendors say "stop" all the same. */
export function decodeFinish(raw: string, called: boolean): FinishReason {
  const finish = unified[raw] ?? "other";
  return { unified: called && finish === "stop" ? "tool_calls" : finish, raw };
}

export function encodeFinish(finish: FinishReason): string {
  const own = unified[finish.raw];
  if (own !== undefined && own === finish.unified) return finish.raw;
  return finish.unified === "other" ? "stop" : finish.unified;
}
