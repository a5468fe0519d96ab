/** Content that cannot be translated is a warning, and bad input ends with a clear error. */
import { describe, expect, test } from "bun:test";
import { type ChatPrompt, type DialectKey, dialectKeys, type WireObject } from "../../src/server/protocol/chat-events";
import { features } from "../../src/server/protocol/dialects/features";
import { RequestFault } from "../../src/server/protocol/dialects/shared/fault";
import { Warnings } from "../../src/server/protocol/dialects/shared/warnings";
import { toGeminiSchema } from "../../src/server/protocol/dialects/gemini/schema";
import { modelFacts } from "../../src/server/protocol/dialects/anthropic/models";
import { refusedOf } from "../../src/server/protocol/dialects/shared/refused-members";
import { encodeCountTokens } from "../../src/server/protocol/dialects/anthropic/request-encode";
import { chatDialects } from "../../src/server/protocol/dialects/chat-dialects";
import { StreamTranslator, translateAnswer, translateRequest } from "../../src/server/protocol/translate";
import { context, translatePieces } from "./streams";

const asked = (prompt: Partial<ChatPrompt>): ChatPrompt => ({
  model: "m",
  messages: [{ role: "user", content: [{ type: "text", text: "q" }] }],
  ...prompt,
});
const calling = (result: object): Partial<ChatPrompt> => ({
  messages: [
    { role: "user", content: [{ type: "text", text: "q" }] },
    { role: "assistant", content: [{ type: "tool_call", id: "c1", name: "f", input: "{}" }] },
    {
      role: "user",
      content: [{ type: "tool_result", call_id: "c1", content: [{ type: "text", text: "r" }], ...result }],
    },
  ],
});
const block = (block: object): Partial<ChatPrompt> => ({
  // A block of any kind, as a test names it.
  messages: [{ role: "user", content: [{ type: "text", text: "q" }, block as never] }],
});

/** A prompt that uses a feature, for the features of a request. */
const uses: Partial<Record<(typeof features)[number], Partial<ChatPrompt>>> = {
  audio_in: block({ type: "audio", source: { kind: "data", media_type: "audio/wav", data: "UklGRg==" } }),
  file_urls: block({ type: "file", source: { kind: "url", url: "https://example.com/a.pdf" } }),
  tool_errors: calling({ error: true }),
  strict_tools: {
    tools: [
      {
        type: "function",
        name: "f",
        strict: true,
        parameters: {
          type: "object",
          properties: { a: { type: "string" } },
          required: ["a"],
          additionalProperties: false,
        },
      },
    ],
  },
  web_search: {
    tools: [
      { type: "server", from: "anthropic", value: { type: "web_search_20250305", name: "web_search", max_uses: 3 } },
    ],
  },
  cache_marks: block({ type: "text", text: "long", cache: { ttl: "1h" } }),
  stop_sequences: { stop: ["END"] },
  top_k: { top_k: 5 },
  penalties: { frequency_penalty: 0.5 },
  seed: { seed: 7 },
  choices: { choices: 2 },
  user_name: { user: "u1" },
};

describe("features that a dialect lacks", () => {
  for (const key of dialectKeys) {
    test(`${key}: every feature is declared, and every missing one has a reason`, () => {
      const record = chatDialects[key].features;
      expect(Object.keys(record).sort()).toEqual([...features].sort());
      for (const ability of Object.values(record)) {
        if (ability !== true) expect(("no" in ability ? ability.no : ability.partly).length).toBeGreaterThan(10);
      }
    });

    for (const [feature, prompt] of Object.entries(uses)) {
      const ability = chatDialects[key].features[feature as keyof typeof uses];
      if (ability !== true && "no" in ability) {
        test(`${key}: ${feature} is a warning`, () => {
          const warnings = new Warnings();
          chatDialects[key].encodeRequest(asked(prompt), warnings.warn);
          expect(warnings.list).not.toEqual([]);
        });
      } else if (ability === true) {
        test(`${key}: ${feature} is translated without a warning`, () => {
          const warnings = new Warnings();
          chatDialects[key].encodeRequest(asked(prompt), warnings.warn);
          expect(warnings.list).toEqual([]);
        });
      }
    }
  }

  test("unknown fields are kept for their own dialect and warned about for every other", () => {
    const body = { model: "m", messages: [{ role: "user", content: "q" }], logit_bias: { 5: 1 }, service_tier: "flex" };
    const same = translateRequest("openai-chat", "openai-chat", body, "m");
    expect(same.body).toMatchObject({ logit_bias: { 5: 1 }, service_tier: "flex" });
    expect(same.warnings).toEqual([]);
    const other = translateRequest("openai-chat", "anthropic", body, "m");
    expect(other.warnings.map(({ detail }) => detail)).toEqual(["logit_bias", "service_tier"]);
    expect(JSON.stringify(other.body)).not.toContain("flex");
  });
});

describe("Anthropic's models", () => {
  const think = (model: string, effort: "none" | "high"): WireObject =>
    translateRequest(
      "openai-chat",
      "anthropic",
      {
        model: "x",
        messages: [{ role: "user", content: "q" }],
        reasoning_effort: effort,
        temperature: 1.5,
        max_tokens: 500,
      },
      model,
    ).body;

  test("older ones get a budget inside max_tokens, newer ones an effort and no sampling", () => {
    expect(think("claude-sonnet-4-5", "high")).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 24_576 },
      max_tokens: 25_076,
    });
    expect(think("claude-opus-4-8", "high")).toMatchObject({
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
      max_tokens: 500,
    });
    expect(think("claude-opus-4-8", "high").temperature).toBeUndefined();
    expect(think("claude-sonnet-4-5", "none")).toMatchObject({ thinking: { type: "disabled" }, temperature: 1 });
    expect(think("claude-opus-5-5", "none").thinking).toBeUndefined();
    expect(think("claude-sonnet-5-5", "none").thinking).toEqual({ type: "between_tools" });
  });

  test("generations are read from the names of every cloud", () => {
    expect(modelFacts("claude-3-5-sonnet-20241022").maxTokens).toBe(8192);
    expect(modelFacts("anthropic.claude-sonnet-4-20250514-v1:0").thinking).toBe("budget");
    expect(modelFacts("us.anthropic.claude-opus-4-7").xhigh).toBe(true);
    for (const model of ["us.anthropic.claude-opus-4-7", "claude-sonnet-5@20260601", "claude-fable-5-1"])
      expect(refusedOf(["anthropic"], model, { top_p: 0.9 }, false).refused).toEqual(["top_p"]);
    for (const model of ["claude-opus-4-20250514", "claude-3-7-sonnet-20250219", "claude-haiku-4-5"])
      expect(refusedOf(["anthropic"], model, { top_p: 0.9 }, false).refused).toEqual([]);
    expect(modelFacts("claude-sonnet-5@20260601").thinking).toBe("adaptive");
  });

  test("manual thinking is dropped when the thoughts of the current tool turn are lost", () => {
    const body = {
      model: "x",
      reasoning_effort: "high",
      messages: [
        { role: "user", content: "q" },
        { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "c", content: "r" },
      ],
      tools: [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }],
    };
    expect(translateRequest("openai-chat", "anthropic", body, "claude-sonnet-4-5").body.thinking).toBeUndefined();
  });

  test("count_tokens gets the counted parts of a call only", () => {
    const prompt = chatDialects["openai-chat"].decodeRequest({
      model: "m",
      max_tokens: 5,
      temperature: 0,
      stream: true,
      messages: [
        { role: "system", content: "s" },
        { role: "user", content: "q" },
      ],
    });
    expect(encodeCountTokens(prompt, () => undefined)).toEqual({
      model: "m",
      system: "s",
      messages: [{ role: "user", content: "q" }],
    });
  });
});

describe("schemas for Gemini", () => {
  test("are equivalent in its subset", () => {
    const { schema, changed } = toGeminiSchema({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      additionalProperties: false,
      required: ["a", "gone"],
      properties: {
        a: { type: ["string", "null"], format: "uri" },
        b: { const: "x" },
        c: { $ref: "#/$defs/node" },
        d: { oneOf: [{ type: "integer", exclusiveMinimum: 0 }, { type: "null" }] },
        e: { type: "array" },
        f: { allOf: [{ properties: { g: { type: "boolean" } }, required: ["g"] }] },
        h: { enum: [1, 2] },
      },
      $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
    });
    expect(changed).toBe(true);
    expect(schema).toMatchObject({
      type: "object",
      required: ["a"],
      properties: {
        a: { type: "string", nullable: true },
        b: { enum: ["x"], type: "string" },
        c: { type: "object" },
        d: { type: "integer", minimum: 0, nullable: true },
        e: { type: "array", items: { type: "string" } },
        f: { properties: { g: { type: "boolean" } }, required: ["g"] },
        h: {},
      },
    });
    const text = JSON.stringify(schema);
    for (const word of [
      "$ref",
      "$defs",
      "$schema",
      "additionalProperties",
      "oneOf",
      "allOf",
      "const",
      "uri",
      "exclusive",
    ])
      expect(text).not.toContain(word);
    expect(text.length).toBeLessThan(5000);
  });
});

describe("bad input", () => {
  const broken: Record<DialectKey, WireObject[]> = {
    "openai-chat": [
      {},
      { messages: "x" },
      { messages: [1] },
      { messages: [{ role: "king", content: "x" }] },
      { messages: [{ role: "user", content: 5 }] },
    ],
    "openai-responses": [
      { input: 5 },
      { input: [1] },
      { input: [{ role: "king", content: "x" }] },
      { input: [{ role: "user", content: [1] }] },
    ],
    anthropic: [
      {},
      { messages: [{ role: "tool", content: "x" }] },
      { messages: [{ role: "user", content: [{}] }] },
      { messages: [{ role: "user", content: 5 }] },
    ],
    gemini: [{}, { contents: "x" }, { contents: [1] }],
  };
  for (const key of dialectKeys) {
    test(`${key}: an invalid request is the caller's fault, with the name of the member`, () => {
      for (const body of broken[key]) expect(() => chatDialects[key].decodeRequest(body)).toThrow(RequestFault);
    });

    test(`${key}: frames that are not JSON, HTML and lists end the stream as malformed`, () => {
      for (const data of ["{", "<html>oops</html>", "5", "null", "[1]"]) {
        const { translator } = translatePieces(key, "openai-chat", [Buffer.from(`data: ${data}\n\n`)]);
        expect(translator.malformed).toBe(true);
      }
    });

    test(`${key}: objects of unexpected shape are ignored without an exception`, () => {
      const values: unknown[] = [null, 5, "x", [], [null], {}, { a: null }];
      for (const name of [
        "choices",
        "candidates",
        "delta",
        "content_block",
        "usage",
        "usageMetadata",
        "message",
        "response",
        "item",
        "index",
      ]) {
        for (const value of values) {
          for (const type of [
            "content_block_start",
            "content_block_delta",
            "message_delta",
            "response.output_item.done",
            "response.completed",
          ]) {
            const decoder = chatDialects[key].streamDecoder("r");
            expect(() => decoder.decode(JSON.stringify({ type, [name]: value }), [])).not.toThrow();
          }
          expect(() =>
            translateAnswer(
              key,
              "openai-chat",
              { [name]: value, type: "message", content: value, output: value },
              context,
            ),
          ).not.toThrow();
        }
      }
    });
  }

  const error = { status: 429, type: "rate_limit_error", code: "rate_limit", message: "too fast", param: null };
  const lastFrame: Record<DialectKey, (text: string) => void> = {
    "openai-chat": (text) => expect(text).toContain('{"error":{"message":"too fast","type":"rate_limit_error"'),
    "openai-responses": (text) => expect(text).toContain('event: response.failed\ndata: {"type":"response.failed"'),
    anthropic: (text) =>
      expect(text).toBe(
        'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"too fast"}}\n\n',
      ),
    gemini: (text) =>
      expect(text).toContain('{"error":{"code":429,"message":"too fast","status":"RESOURCE_EXHAUSTED"}}'),
  };
  for (const key of dialectKeys) {
    test(`${key}: a failed stream ends with the dialect's own error, and an error body is read again`, () => {
      const text = new StreamTranslator("openai-chat", key, context).fail(error).toString();
      lastFrame[key](text);
      expect(text).not.toContain("[DONE]");
      expect(chatDialects[key].readError(chatDialects[key].writeError(error))?.message).toBe("too fast");
    });
  }

  test("a tool call whose JSON never closes reaches every caller, and Gemini's as a malformed call", () => {
    const chunk = (delta: object, finish: string | null = null): string =>
      `data: ${JSON.stringify({ id: "c", model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const stream =
      chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: '{"x":' } }] }) +
      chunk({}, "tool_calls") +
      "data: [DONE]\n\n";
    for (const to of dialectKeys) {
      const { text, translator } = translatePieces("openai-chat", to, [Buffer.from(stream)]);
      expect(translator.finish?.unified).toBe("tool_calls");
      if (to === "gemini") expect(text).toContain("MALFORMED_FUNCTION_CALL");
      else expect(text).toContain(JSON.stringify('{"x":'));
    }
  });

  test("a stream of 50,000 events buffers no more than the dialect must repeat", () => {
    const line = `data: ${JSON.stringify({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "x".repeat(100) } })}\n\n`;
    const open = 'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n';
    const translator = new StreamTranslator("anthropic", "openai-chat", context);
    translator.feed(Buffer.from(open));
    const region = Buffer.from(line.repeat(100));
    for (let i = 0; i < 100; i++) translator.feed(region);
    Bun.gc(true);
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 400; i++) translator.feed(region);
    Bun.gc(true);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_000_000);
    expect(translator.tally.contentBytes).toBe(5_000_000);
  });
});
