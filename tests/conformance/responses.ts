/**
 * A response of a vendor that passes calls of the Responses API through
 * (platform.openai.com/docs/api-reference/responses and /responses-streaming, types of the `openai` SDK 7.55, November
 * 2026).
 */
import { expect } from "bun:test";
import { namedSse } from "./vendor-fake";

/** Answers `json`, a call of `model`; `prompt` and `completion` are its tokens. */
export function responsesAnswer(
  json: Record<string, unknown>,
  model: string,
  says: string,
  prompt: number,
  completion: number,
): Response {
  expect(json).toMatchObject({ model, input: "hello" });
  expect(json).not.toHaveProperty("messages");
  expect(json).not.toHaveProperty("stream_options");
  const part = { type: "output_text", text: says, annotations: [], logprobs: [] };
  const item = { id: "msg_1", type: "message", status: "completed", role: "assistant", content: [part] };
  const begun = {
    id: "resp_1",
    object: "response",
    created_at: 1_741_290_958,
    status: "in_progress",
    model,
    output: [],
    error: null,
    incomplete_details: null,
    usage: null,
  };
  const usage = {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: prompt + completion,
  };
  const ended = { ...begun, status: "completed", output: [item], usage };
  if (json.stream !== true) return Response.json(ended);
  const at = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const events = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...at, delta: says, logprobs: [] },
    { type: "response.output_text.done", ...at, text: says, logprobs: [] },
    { type: "response.content_part.done", ...at, part },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: ended },
  ];
  return namedSse(...events.map((event, sequence_number) => ({ ...event, sequence_number })));
}
