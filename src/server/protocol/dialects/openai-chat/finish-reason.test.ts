import { expect, test } from "bun:test";
import { object, objects } from "../shared/json";
import { StreamTranslator, translateAnswer } from "../../translate";
import type { WireObject } from "../../chat-events";

const context = { id: "req-1", created: 1, include_usage: true };
const call = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };

function streamed(...frames: (WireObject | "[DONE]")[]): { text: string; finished: boolean } {
  const translator = new StreamTranslator("openai-chat", "anthropic", context);
  const bytes = Buffer.from(
    frames.map((frame) => `data: ${typeof frame === "string" ? frame : JSON.stringify(frame)}\n\n`).join(""),
  );
  const text = Buffer.concat([translator.feed(bytes), translator.end(), translator.close()]).toString();
  return { text, finished: translator.finished };
}
const chunk = (delta: WireObject): WireObject => ({
  id: "a",
  model: "m",
  choices: [{ index: 0, delta, finish_reason: null }],
});

test("an answer that ends without a reason has stopped, or waits for its tools", () => {
  const stopped = (message: WireObject): unknown =>
    translateAnswer(
      "openai-chat",
      "anthropic",
      { id: "a", model: "m", choices: [{ index: 0, message, finish_reason: null }] },
      context,
    )?.body.stop_reason;
  expect(stopped({ role: "assistant", content: "hi" })).toBe("end_turn");
  expect(stopped({ role: "assistant", content: null, tool_calls: [call] })).toBe("tool_use");
  expect(streamed(chunk({ content: "hi" }), "[DONE]").text).toContain('"stop_reason":"end_turn"');
  expect(streamed(chunk({ tool_calls: [{ index: 0, ...call }] }), "[DONE]").text).toContain('"stop_reason":"tool_use"');
});

test("a stream that breaks off without its last word has not ended", () => {
  expect(streamed(chunk({ content: "hi" })).finished).toBe(false);
});

test("what vendors like OpenAI call an end is said in the words of each dialect", () => {
  const end = (raw: string): unknown[] => {
    const answer = {
      id: "a",
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: raw }],
    };
    return [
      translateAnswer("openai-chat", "anthropic", answer, context)?.body.stop_reason,
      objects(translateAnswer("openai-chat", "openai-chat", answer, context)?.body.choices)[0]?.finish_reason,
      object(translateAnswer("openai-chat", "openai-responses", answer, context)?.body.incomplete_details).reason,
    ];
  };
  expect(end("model_length")).toEqual(["max_tokens", "length", "max_output_tokens"]);
  expect(end("model_context_window_exceeded")).toEqual([
    "model_context_window_exceeded",
    "length",
    "max_output_tokens",
  ]);
  expect(end("sensitive")).toEqual(["refusal", "content_filter", "content_filter"]);
});

test("fragments of one call under changing ids are one call", () => {
  const piece = (id: string, more: WireObject): WireObject =>
    chunk({ tool_calls: [{ index: 0, id, type: "function", function: more }] });
  const { text } = streamed(
    piece("x1", { name: "f", arguments: "" }),
    piece("x2", { arguments: '{"a":' }),
    piece("x3", { arguments: "1}" }),
    "[DONE]",
  );
  expect(text.match(/"type":"tool_use"/g)).toHaveLength(1);
  expect(text).toContain('"partial_json":"{\\"a\\":"');
  const two = streamed(
    piece("x1", { name: "f", arguments: "{}" }),
    piece("x2", { name: "g", arguments: "{}" }),
    "[DONE]",
  );
  expect(two.text.match(/"type":"tool_use"/g)).toHaveLength(2);
});
