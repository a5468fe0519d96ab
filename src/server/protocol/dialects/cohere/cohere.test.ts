/**
 * Bodies of docs.cohere.com (reference/chat, docs/tool-use-overview, docs/reasoning), read November 2026; words are
 * ours.
 */
import { describe, expect, test } from "bun:test";
import type { WireObject } from "../../chat-events";
import { anthropicDialect } from "../anthropic/dialect";
import { openaiChatDialect } from "../openai-chat/chat-dialect";
import { Warnings } from "../shared/warnings";
import { cohereDialect } from "./dialect";

function encode(body: WireObject, from = openaiChatDialect): { body: WireObject; warnings: string[] } {
  const warnings = new Warnings();
  const encoded = cohereDialect.encodeRequest(from.decodeRequest(body), warnings.warn);
  return { body: encoded, warnings: warnings.list.map(({ code, detail }) => `${code} ${detail}`) };
}

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "d",
    parameters: { type: "object", properties: { location: { type: "string" } } },
  },
};
const clock = { type: "function", function: { name: "get_time", parameters: { type: "object", properties: {} } } };
const hello = [{ role: "user", content: "hello" }];

describe("a request to Cohere", () => {
  test("a conversation with a plan, calls and results keeps its order, its ids and its plan", () => {
    const { body, warnings } = encode({
      model: "command-a-03-2025",
      messages: [
        { role: "system", content: "Be short." },
        { role: "user", content: "Weather in Madrid?" },
        {
          role: "assistant",
          content: "I will look.",
          reasoning_content: "Madrid it is.",
          tool_calls: [
            { id: "c1", type: "function", function: { name: "get_weather", arguments: '{"location":"Madrid"}' } },
          ],
        },
        { role: "tool", tool_call_id: "c1", content: '{"temperature":24}' },
        { role: "user", content: "And now?" },
      ],
      tools: [weather],
    });
    expect(body.messages).toEqual([
      { role: "system", content: "Be short." },
      { role: "user", content: "Weather in Madrid?" },
      {
        role: "assistant",
        content: [{ type: "thinking", thinking: "Madrid it is." }],
        tool_plan: "I will look.",
        tool_calls: [
          { id: "c1", type: "function", function: { name: "get_weather", arguments: '{"location":"Madrid"}' } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: '{"temperature":24}' },
      { role: "user", content: "And now?" },
    ]);
    expect(body.tools).toEqual([weather]);
    expect(warnings).toEqual([]);
  });

  test("numbers are brought into the vendor's ranges, and it is noted", () => {
    const { body, warnings } = encode({
      model: "m",
      messages: hello,
      temperature: 0.5,
      top_p: 1,
      top_k: 900,
      frequency_penalty: -2,
      presence_penalty: 2,
      seed: 7,
      max_tokens: 9,
      stop: ["a", "b", "c", "d", "e", "f"],
      stream: true,
    });
    expect(body).toMatchObject({
      temperature: 0.5,
      p: 0.99,
      k: 500,
      frequency_penalty: 0,
      presence_penalty: 1,
      seed: 7,
      max_tokens: 9,
      stop_sequences: ["a", "b", "c", "d", "e"],
      stream: true,
    });
    expect(warnings.sort()).toEqual([
      "changed_value frequency_penalty",
      "changed_value presence_penalty",
      "changed_value stop",
      "changed_value top_k",
      "changed_value top_p",
    ]);
    expect(body).not.toHaveProperty("stream_options");
  });

  test("a named tool is the only one shown, and the model must call it", () => {
    const { body } = encode({
      model: "m",
      messages: hello,
      tools: [weather, clock],
      tool_choice: { type: "function", function: { name: "get_time" } },
    });
    expect(body.tools).toEqual([clock]);
    expect(body.tool_choice).toBe("REQUIRED");
    expect(encode({ model: "m", messages: hello, tools: [weather], tool_choice: "none" }).body.tool_choice).toBe(
      "NONE",
    );
    expect(encode({ model: "m", messages: hello, tools: [weather], tool_choice: "auto" }).body).not.toHaveProperty(
      "tool_choice",
    );
  });

  test("tools are strict when all of them are, else it is noted", () => {
    const strict = (tool: typeof clock) => ({ ...tool, function: { ...tool.function, strict: true } });
    expect(encode({ model: "m", messages: hello, tools: [strict(clock)] }).body.strict_tools).toBe(true);
    const mixed = encode({ model: "m", messages: hello, tools: [strict(clock), weather] });
    expect(mixed.body).not.toHaveProperty("strict_tools");
    expect(mixed.warnings).toEqual(["dropped_field tools.strict"]);
  });

  test("a schema, a budget for thoughts and the vendor's own words travel", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    const { body, warnings } = encode({
      model: "m",
      messages: hello,
      response_format: { type: "json_schema", json_schema: { name: "n", schema } },
      reasoning_effort: "low",
      documents: [{ data: { text: "x" } }],
      safety_mode: "STRICT",
      logit_bias: { 1: 1 },
      user: "u",
    });
    expect(body).toMatchObject({
      response_format: { type: "json_object", json_schema: schema },
      thinking: { type: "enabled", token_budget: 1024 },
      documents: [{ data: { text: "x" } }],
      safety_mode: "STRICT",
    });
    expect(body).not.toHaveProperty("logit_bias");
    expect(warnings).toContain("dropped_field logit_bias");
    expect(warnings).toContain("dropped_field user");
    expect(encode({ model: "m", messages: hello, reasoning_effort: "none" }).body.thinking).toEqual({
      type: "disabled",
    });
  });

  test("pictures travel by address and by bytes; sound does not, and it is noted", () => {
    const parts = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: "https://x.example/a.png", detail: "low" } },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
    ];
    const { body, warnings } = encode({ model: "m", messages: [{ role: "user", content: parts }] });
    expect(body.messages).toEqual([{ role: "user", content: parts.slice(0, 3) }]);
    expect(warnings).toEqual(["dropped_block audio"]);
  });

  test("another vendor's signed thoughts stay behind", () => {
    const content = [
      { type: "thinking", thinking: "secret", signature: "sig" },
      { type: "text", text: "yes" },
    ];
    const { body, warnings } = encode(
      { model: "m", max_tokens: 5, messages: [...hello, { role: "assistant", content }, ...hello] },
      anthropicDialect,
    );
    expect(JSON.stringify(body)).not.toContain("secret");
    expect(warnings).toContain("dropped_reasoning anthropic");
  });
});

describe("an answer of Cohere", () => {
  const answer = {
    id: "c14c80c3-18eb-4519-9460-6c92edd8cfb4",
    finish_reason: "COMPLETE",
    message: {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm." },
        { type: "text", text: "It is 24°C in Madrid." },
      ],
      citations: [
        {
          start: 6,
          end: 10,
          text: "24°C",
          content_index: 1,
          sources: [
            { type: "document", id: "d1", document: { id: "d1", title: "Weather", url: "https://weather.example" } },
          ],
        },
      ],
    },
    usage: { billed_units: { input_tokens: 5, output_tokens: 418 }, tokens: { input_tokens: 71, output_tokens: 418 } },
  };

  test("text, thoughts, citations and what is billed are read", () => {
    const read = cohereDialect.decodeAnswer(answer, "id");
    expect(read).toMatchObject({
      id: answer.id,
      usage: { input: 5, output: 418 },
      choices: [
        {
          finish: { unified: "stop", raw: "COMPLETE" },
          content: [
            { type: "reasoning", text: "Hm." },
            {
              type: "text",
              text: "It is 24°C in Madrid.",
              citations: [{ url: "https://weather.example", title: "Weather", cited_text: "24°C", start: 6, end: 10 }],
            },
          ],
        },
      ],
    });
  });

  test("calls come with their plan; no arguments are an empty object", () => {
    const call = { id: "c1", type: "function", function: { name: "get_time", arguments: "null" } };
    const read = cohereDialect.decodeAnswer(
      { finish_reason: "TOOL_CALL", message: { role: "assistant", tool_plan: "I will.", tool_calls: [call] } },
      "req-1",
    );
    expect(read?.id).toBe("req-1");
    expect(read?.choices[0]).toEqual({
      index: 0,
      content: [
        { type: "text", text: "I will." },
        { type: "tool_call", id: "c1", name: "get_time", input: "{}" },
      ],
      finish: { unified: "tool_calls", raw: "TOOL_CALL" },
    });
  });

  test("a generation that failed is an error, not an answer", () => {
    const failed = { ...answer, finish_reason: "ERROR", error: "out of memory" };
    expect(cohereDialect.decodeAnswer(failed, "id")).toBeUndefined();
    expect(cohereDialect.readError(failed)).toEqual({ message: "out of memory", type: "", code: "error", param: null });
  });

  test("an error body is read, and strange bodies are neither answer nor error", () => {
    expect(cohereDialect.readError({ id: "x", message: "invalid api token" })?.message).toBe("invalid api token");
    for (const body of [{}, { message: null }, { message: 7 }, { message: [] }]) {
      expect(cohereDialect.decodeAnswer(body, "id")).toBeUndefined();
      expect(cohereDialect.readError(body)).toBeUndefined();
    }
    for (const body of [null, "text", 7, [], undefined]) expect(cohereDialect.readError(body)).toBeUndefined();
  });

  test("what is no event of the vendor is malformed, unknown events are passed over", () => {
    const decoder = cohereDialect.streamDecoder("id");
    expect(decoder.decode("<html>", [])).toBe(false);
    expect(decoder.decode("7", [])).toBe(false);
    expect(decoder.decode("{}", [])).toBe(false);
    expect(decoder.decode('{"type":"debug","prompt":"p"}', [])).toBe(true);
  });
});
