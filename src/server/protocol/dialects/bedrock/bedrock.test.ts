/**
 * Bodies of docs.aws.amazon.com/bedrock (APIReference/API_runtime_Converse, userguide/tool-use-inference-call), read
 * November 2026.
 */
import { describe, expect, test } from "bun:test";
import { eventsOf, sameWhereverCut } from "../../../../../tests/kit/vendor-streams";
import type { WireObject } from "../../chat-events";
import { anthropicDialect } from "../anthropic/dialect";
import { openaiChatDialect } from "../openai-chat/chat-dialect";
import { Warnings } from "../shared/warnings";
import { converseDialect } from "./dialect";

function encode(body: WireObject, from = openaiChatDialect): { body: WireObject; warnings: string[] } {
  const warnings = new Warnings();
  const encoded = converseDialect.encodeRequest(from.decodeRequest(body), warnings.warn);
  return { body: encoded, warnings: warnings.list.map(({ code, detail }) => `${code} ${detail}`) };
}

const schema = { type: "object", properties: { sign: { type: "string" } }, required: ["sign"] };
const tool = {
  type: "function",
  function: { name: "top_song", description: "The most popular song", parameters: schema },
};
const call = {
  id: "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q",
  type: "function",
  function: { name: "top_song", arguments: '{"sign":"WZPZ"}' },
};

describe("a request to Converse", () => {
  test("a conversation with calls and results: turns alternate, ids and inputs stay", () => {
    const { body, warnings } = encode({
      model: "nova-pro-v1:0",
      messages: [
        { role: "system", content: "Be short." },
        { role: "user", content: "What is the most popular song on WZPZ?" },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: call.id, content: '{"song":"Elemental Hotel"}' },
        { role: "user", content: "Go on." },
      ],
      tools: [tool],
      tool_choice: "required",
      temperature: 0,
      top_p: 0.9,
      max_tokens: 100,
      stop: ["END"],
    });
    expect(body).toEqual({
      system: [{ text: "Be short." }],
      messages: [
        { role: "user", content: [{ text: "What is the most popular song on WZPZ?" }] },
        {
          role: "assistant",
          content: [{ toolUse: { toolUseId: call.id, name: "top_song", input: { sign: "WZPZ" } } }],
        },
        {
          role: "user",
          content: [
            { toolResult: { toolUseId: call.id, content: [{ text: '{"song":"Elemental Hotel"}' }] } },
            { text: "Go on." },
          ],
        },
      ],
      inferenceConfig: { maxTokens: 100, temperature: 0, topP: 0.9, stopSequences: ["END"] },
      toolConfig: {
        tools: [
          { toolSpec: { name: "top_song", description: "The most popular song", inputSchema: { json: schema } } },
        ],
        toolChoice: { any: {} },
      },
    });
    expect(warnings).toEqual([]);
  });

  test("cache marks are cache points for Nova, four at most and for five minutes, and nothing for a model that refuses them", () => {
    const cache_control = { type: "ephemeral" };
    const marked = (model: string, count: number) => ({
      model,
      max_tokens: 1,
      system: [{ type: "text", text: "Be short.", cache_control: { ...cache_control, ttl: "1h" } }],
      messages: [
        {
          role: "user",
          content: [
            ...Array.from({ length: count }, (_, i) => ({ type: "text", text: `t${i}`, cache_control })),
            { type: "text", text: "q" },
          ],
        },
      ],
    });
    const point = { cachePoint: { type: "default" } };
    for (const model of ["nova-pro-v1:0", "us.amazon.nova-lite-v1:0", "nova-2-lite-v1:0"]) {
      const { body, warnings } = encode(marked(model, 1), anthropicDialect);
      expect(body).toMatchObject({
        system: [{ text: "Be short." }, point],
        messages: [{ role: "user", content: [{ text: "t0" }, point, { text: "q" }] }],
      });
      expect(warnings).toEqual(["changed_value cache for 1h"]);
    }
    const many = encode(marked("nova-pro-v1:0", 5), anthropicDialect);
    expect(JSON.stringify(many.body).split("cachePoint")).toHaveLength(5);
    expect(many.warnings).toEqual(["changed_value cache for 1h", "dropped_field cache"]);
    for (const model of ["meta.llama3-3-70b-instruct-v1:0", "nova-sonic-v1:0", "m"]) {
      const { body, warnings } = encode(marked(model, 1), anthropicDialect);
      expect(JSON.stringify(body)).not.toContain("cachePoint");
      expect(warnings).toEqual(["dropped_field cache"]);
    }
  });

  test("pictures and documents travel as bytes; what lies elsewhere is noted", () => {
    const { body, warnings } = encode(
      {
        model: "m",
        max_tokens: 1,
        messages: [
          {
            role: "user",
            content: [
              { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } },
              {
                type: "document",
                title: "a_b?.pdf",
                source: { type: "base64", media_type: "application/pdf", data: "aGk=" },
              },
              { type: "image", source: { type: "url", url: "https://x.example/1.png" } },
            ],
          },
        ],
      },
      anthropicDialect,
    );
    expect(body.messages).toEqual([
      {
        role: "user",
        content: [
          { text: "." },
          { image: { format: "png", source: { bytes: "aGk=" } } },
          { document: { format: "pdf", name: expect.stringMatching(/^a-b- \d+$/), source: { bytes: "aGk=" } } },
        ],
      },
    ]);
    expect(warnings).toEqual(["dropped_block image by url"]);
  });

  test("errors of tools keep their mark; wishes without a word are noted", () => {
    const { body, warnings } = encode(
      {
        model: "m",
        max_tokens: 1,
        top_k: 4,
        messages: [
          { role: "user", content: "x" },
          { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "n", input: {} }] },
          {
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "t1", is_error: true, content: "no such city" }],
          },
        ],
        tools: [{ name: "n", input_schema: { type: "object" } }],
      },
      anthropicDialect,
    );
    expect(JSON.stringify(body.messages)).toContain(
      '{"toolResult":{"toolUseId":"t1","content":[{"text":"no such city"}],"status":"error"}}',
    );
    expect(warnings).toEqual(["dropped_field top_k"]);
    expect(
      encode({
        model: "m",
        messages: [{ role: "user", content: "x" }],
        seed: 1,
        n: 2,
        tools: [tool],
        tool_choice: "none",
      }),
    ).toEqual({
      body: { messages: [{ role: "user", content: [{ text: "x" }] }] },
      warnings: expect.arrayContaining(["dropped_field seed", "dropped_field choices"]),
    });
  });
});

describe("a whole answer", () => {
  test("has its words, thoughts and calls, and counts that stand beside each other", () => {
    expect(
      converseDialect.decodeAnswer(
        {
          output: {
            message: {
              role: "assistant",
              content: [
                { reasoningContent: { reasoningText: { text: "hm" } } },
                { text: "I will look." },
                { toolUse: { toolUseId: "tooluse_1", name: "top_song", input: { sign: "WZPZ" } } },
              ],
            },
          },
          stopReason: "tool_use",
          usage: {
            inputTokens: 30,
            outputTokens: 628,
            totalTokens: 758,
            cacheReadInputTokens: 100,
            cacheWriteInputTokens: 0,
          },
          metrics: { latencyMs: 1275 },
        },
        "req-1",
      ),
    ).toEqual({
      id: "req-1",
      model: "",
      usage: { input: 30, output: 628, cache_read: 100 },
      choices: [
        {
          index: 0,
          finish: { unified: "tool_calls", raw: "tool_use" },
          content: [
            { type: "reasoning", text: "hm" },
            { type: "text", text: "I will look." },
            { type: "tool_call", id: "tooluse_1", name: "top_song", input: '{"sign":"WZPZ"}' },
          ],
        },
      ],
    });
  });

  test("is none without a message", () => {
    for (const body of [{}, { output: null }, { output: { message: "no" } }, { message: "Forbidden" }])
      expect(converseDialect.decodeAnswer(body, "x")).toBeUndefined();
    expect(
      converseDialect.decodeAnswer({ output: { message: { content: [null, 1, { text: 7 }, { toolUse: null }] } } }, "x")
        ?.choices,
    ).toEqual([{ index: 0, content: [] }]);
  });
});

describe("a stream", () => {
  const frame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;
  const text = [
    { messageStart: { role: "assistant" } },
    { contentBlockDelta: { contentBlockIndex: 0, delta: { reasoningContent: { text: "hm" } } } },
    { contentBlockStop: { contentBlockIndex: 0 } },
    { contentBlockDelta: { contentBlockIndex: 1, delta: { text: "Grüße" } } },
    { contentBlockStop: { contentBlockIndex: 1 } },
    { contentBlockStart: { contentBlockIndex: 2, start: { toolUse: { toolUseId: "tooluse_1", name: "top_song" } } } },
    { contentBlockDelta: { contentBlockIndex: 2, delta: { toolUse: { input: '{"sign":' } } } },
    { contentBlockDelta: { contentBlockIndex: 2, delta: { toolUse: { input: '"WZPZ"}' } } } },
    { contentBlockStop: { contentBlockIndex: 2 } },
    { messageStop: { stopReason: "tool_use" } },
    { metadata: { usage: { inputTokens: 10, outputTokens: 20, totalTokens: 30 }, metrics: { latencyMs: 1 } } },
  ]
    .map(frame)
    .join("");

  test("has blocks with a beginning and an end, then the reason, then the counts", () => {
    expect(eventsOf(converseDialect.streamDecoder("req-1"), [Buffer.from(text)])).toEqual([
      { type: "message_start", id: "req-1", model: "" },
      { type: "block_start", choice: 0, block: 0, start: { kind: "reasoning" } },
      { type: "block_delta", choice: 0, block: 0, text: "hm" },
      { type: "block_end", choice: 0, block: 0 },
      { type: "block_start", choice: 0, block: 1, start: { kind: "text" } },
      { type: "block_delta", choice: 0, block: 1, text: "Grüße" },
      { type: "block_end", choice: 0, block: 1 },
      { type: "block_start", choice: 0, block: 2, start: { kind: "tool_call", id: "tooluse_1", name: "top_song" } },
      { type: "block_delta", choice: 0, block: 2, text: '{"sign":' },
      { type: "block_delta", choice: 0, block: 2, text: '"WZPZ"}' },
      { type: "block_end", choice: 0, block: 2 },
      { type: "finish", choice: 0, finish: { unified: "tool_calls", raw: "tool_use" } },
      { type: "usage", usage: { input: 10, output: 20 } },
      { type: "done" },
    ]);
  });

  test("says the same wherever it is cut", () => {
    sameWhereverCut(() => converseDialect.streamDecoder("req-1"), Buffer.from(text));
  });

  test("an error is one, what is no JSON is none of it, and unknown events are passed over", () => {
    const decoder = () => converseDialect.streamDecoder("r");
    expect(
      eventsOf(decoder(), [
        Buffer.from(frame({ type: "error", error: { type: "rate_limit_error", message: "slow down" } })),
      ]),
    ).toMatchObject([{ type: "error", error: { message: "slow down" } }]);
    expect(decoder().decode("<html>", [])).toBe(false);
    expect(decoder().decode("[]", [])).toBe(false);
    expect(eventsOf(decoder(), [Buffer.from(frame({ somethingNew: {} }))])).toEqual([]);
  });
});
