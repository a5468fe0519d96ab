/** What a caller's client accepts: closed enums, blocks that its answers have, and every member that it requires. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { z } from "zod";
import type { AnswerEvent, ChatAnswer, DialectKey, Finish, WireObject } from "../../src/server/protocol/chat-events";
import { dialectKeys } from "../../src/server/protocol/chat-events";
import { chatDialects } from "../../src/server/protocol/dialects/chat-dialects";
import type { OutFrame } from "../../src/server/protocol/dialects/translation";
import { upstreamDialects } from "../../src/server/protocol/dialects/vendor-dialects";
import { StreamTranslator, translateAnswer, translateRequest } from "../../src/server/protocol/translate";

const context = { id: "req-1", model: "m", created: 1_700_000_000, include_usage: true };
const drop = (): void => undefined;

/** The frames of a stream of neutral events. */
function streamed(to: DialectKey, events: readonly AnswerEvent[], request?: WireObject): WireObject[] {
  const out: OutFrame[] = [];
  const encoder = chatDialects[to].streamEncoder({ ...context, ...(request && { request }) }, drop);
  for (const event of events) encoder.encode(event, out);
  encoder.close(out);
  return out.filter(({ data }) => data.startsWith("{")).map(({ data }) => JSON.parse(data) as WireObject);
}

describe("finish reasons are words of the caller's dialect, whatever the vendor's", () => {
  const declared = (file: string, pattern: RegExp): string[] =>
    [...(pattern.exec(readFileSync(`node_modules/${file}`, "utf8"))?.[1] ?? "").matchAll(/['"](\w+)['"]/g)].map(
      ([, word = ""]) => word,
    );
  const words: Readonly<Record<Exclude<DialectKey, "openai-responses">, readonly string[]>> = {
    "openai-chat": declared("openai/resources/chat/completions/completions.d.ts", /finish_reason: ('stop'[^;]*);/),
    anthropic: declared("@anthropic-ai/sdk/resources/messages/messages.d.ts", /type StopReason = ([^;]*);/),
    gemini: declared("@google/genai/dist/genai.d.ts", /enum FinishReason \{([^}]*)\}/),
  };
  /** Reasons of many vendors, and none of any. */
  const raws = [
    ...new Set([
      ...Object.values(words).flat(),
      ...[
        "COMPLETE",
        "TOOL_CALL",
        "ERROR",
        "ERROR_TOXIC",
        "STOP_SEQUENCE",
        "eos",
        "model_length",
        "sensitive",
        "completed",
      ],
      ...["MODEL_ARMOR", "requires_action", "guardrail_intervened", "", "CONSTRUCTOR", "constructor"],
    ]),
  ];
  const unifieds: readonly Finish[] = ["stop", "length", "tool_calls", "content_filter", "failed", "other"];

  test.each(Object.entries(words))("%s", (to, known) => {
    expect(known.length).toBeGreaterThan(4);
    for (const unified of unifieds) {
      for (const raw of raws) {
        const finish = { unified, raw };
        const answer: ChatAnswer = { id: "a", model: "m", choices: [{ index: 0, content: [], finish }] };
        const whole = JSON.stringify(chatDialects[to as DialectKey].encodeAnswer(answer, context, drop));
        const frames = streamed(to as DialectKey, [
          { type: "message_start", id: "a", model: "m" },
          { type: "finish", choice: 0, finish },
        ]);
        for (const text of [whole, JSON.stringify(frames)]) {
          const told = [...text.matchAll(/"(?:finish_reason|stop_reason|finishReason)":"([^"]*)"/g)].map(
            ([, word]) => word,
          );
          expect([raw, unified, told.filter((word) => !known.includes(word ?? ""))]).toEqual([raw, unified, []]);
          expect(told.length).toBeGreaterThan(0);
        }
      }
    }
  });

  test("a filter's reason of Google's is a filter's everywhere", () => {
    for (const finishReason of ["MODEL_ARMOR", "SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT"]) {
      const body = { candidates: [{ finishReason }], modelVersion: "m" };
      const told = dialectKeys.map((to) => JSON.stringify(translateAnswer("gemini", to, body, context)?.body));
      expect(told).toMatchObject([
        expect.stringContaining('"finish_reason":"content_filter"'),
        expect.stringContaining('"reason":"content_filter"'),
        expect.stringContaining('"stop_reason":"refusal"'),
        expect.stringContaining(`"finishReason":"${finishReason === "MODEL_ARMOR" ? "SAFETY" : finishReason}"`),
      ]);
    }
  });
});

describe("an answer that Google calls unusable", () => {
  const frame = (body: WireObject) => Buffer.from(`data: ${JSON.stringify(body)}\n\n`);
  const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 3 };

  test.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"])(
    "%s is an error to callers of other dialects, with its usage, and no end of the answer",
    (finishReason) => {
      for (const to of dialectKeys.filter((key) => key !== "gemini")) {
        const translator = new StreamTranslator("gemini", to, context);
        const said = translator.feed(frame({ candidates: [{ content: { parts: [{ text: "hi" }] } }] })).toString();
        translator.feed(frame({ candidates: [{ finishReason }], usageMetadata }));
        expect([to, translator.error?.code, translator.over]).toEqual([to, finishReason, true]);
        expect(translator.usage).toMatchObject({ input: 7, output: 3 });
        expect(said).not.toContain(finishReason);
      }
    },
  );
});

test("pictures and files of an answer are left out for Anthropic's callers, whose answers have none, and the log names them", () => {
  const body = {
    candidates: [
      {
        content: {
          parts: [
            { text: "Here." },
            { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } },
            { inlineData: { mimeType: "application/pdf", data: "JVBERg==" } },
          ],
        },
        finishReason: "STOP",
      },
    ],
  };
  const told = translateAnswer("gemini", "anthropic", body, context);
  expect(told?.body.content).toEqual([{ type: "text", text: "Here." }]);
  expect(told?.warnings.map(({ detail }) => detail)).toEqual(["image", "file"]);
});

describe("thoughts in parts of the content, as Mistral writes them", () => {
  const content = [
    { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
    { type: "text", text: "hello" },
  ];
  test.each(["openai-chat", "mistral"] as const)("reach callers of every dialect from a channel of %s", (from) => {
    for (const to of dialectKeys) {
      const whole = {
        id: "x",
        object: "chat.completion",
        choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      };
      const chunk = { id: "x", choices: [{ index: 0, delta: { content }, finish_reason: null }] };
      const translator = new StreamTranslator(from, to, context);
      const streamText = translator.feed(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`)).toString();
      for (const text of [JSON.stringify(translateAnswer(from, to, whole, context)?.body), streamText]) {
        expect([to, text.includes('"hm"'), text.includes('"hello"')]).toEqual([to, true, true]);
      }
    }
  });
});

describe("arguments that Google streams in pieces", () => {
  const call = (functionCall: WireObject): WireObject => ({ candidates: [{ content: { parts: [{ functionCall }] } }] });
  const frames = [
    call({ name: "book", id: "c1", willContinue: true }),
    call({ partialArgs: [{ jsonPath: "$.city", stringValue: "New ", willContinue: true }], willContinue: true }),
    call({ partialArgs: [{ jsonPath: "$.city", stringValue: "York" }], willContinue: true }),
    call({
      partialArgs: [
        { jsonPath: "$.rooms[0].beds", numberValue: 2 },
        { jsonPath: "$.rooms[1].beds", numberValue: 0 },
        { jsonPath: "$['a b']", boolValue: false },
        { jsonPath: "$.__proto__.polluted", boolValue: true },
        { jsonPath: "$.none", nullValue: "NULL_VALUE" },
      ],
      willContinue: true,
    }),
    call({}),
    call({ name: "pay", args: { sum: 1 } }),
    { candidates: [{ finishReason: "STOP" }] },
  ];
  const args =
    '{"city":"New York","rooms":[{"beds":2},{"beds":0}],"a b":false,"__proto__":{"polluted":true},"none":null}';

  const calls = (pieces: readonly WireObject[]): [string, string][] => {
    const events: AnswerEvent[] = [];
    const decoder = upstreamDialects.gemini.streamDecoder("r");
    for (const piece of pieces) decoder.decode(JSON.stringify(piece), events);
    const found: [string, string][] = [];
    for (const event of events) {
      if (event.type === "block_start" && event.start.kind === "tool_call") found.push([event.start.name, ""]);
      const last = found.at(-1);
      if (event.type === "block_delta" && last) last[1] += event.text;
    }
    return found;
  };

  test("are one call, whole, and other calls stay beside it", () => {
    expect(calls(frames)).toEqual([
      ["book", args],
      ["pay", '{"sum":1}'],
    ]);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  test("that never end are told at the end of the answer", () => {
    expect(calls([...frames.slice(0, 3), frames.at(-1) ?? {}])).toEqual([["book", '{"city":"New York"}']]);
  });
});

test("a chat caller's video reaches Gemini as a file, by bytes and by address", () => {
  const parts = (url: string) => {
    const content = [
      { type: "text", text: "What happens?" },
      { type: "video_url", video_url: { url } },
    ];
    const { body, warnings } = translateRequest(
      "openai-chat",
      "gemini",
      { messages: [{ role: "user", content }] },
      "gemini-3-pro",
    );
    expect(warnings).toEqual([]);
    return (body.contents as { parts: unknown[] }[])[0]?.parts[1];
  };
  expect(parts("data:video/webm;base64,GkXf")).toEqual({ inlineData: { mimeType: "video/webm", data: "GkXf" } });
  expect(parts("https://example.com/a.mov?x=1")).toEqual({
    fileData: { mimeType: "video/quicktime", fileUri: "https://example.com/a.mov?x=1" },
  });
  expect(parts("https://youtu.be/abc")).toEqual({
    fileData: { mimeType: "video/mp4", fileUri: "https://youtu.be/abc" },
  });
});

describe("a response of our own has every member that Open Responses requires", () => {
  const nullable = <T extends z.ZodType>(type: T) => type.nullable();
  const tool = z.discriminatedUnion("type", [
    z.looseObject({
      type: z.literal("function"),
      name: z.string(),
      description: nullable(z.string()),
      parameters: nullable(z.looseObject({})),
      strict: nullable(z.boolean()),
    }),
    z.looseObject({ type: z.literal("custom"), name: z.string() }),
    z.looseObject({ type: z.literal("web_search") }),
  ]);
  const item = z.discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("message"),
      id: z.string(),
      status: z.enum(["in_progress", "completed", "incomplete"]),
      role: z.literal("assistant"),
      content: z.array(
        z.discriminatedUnion("type", [
          z.strictObject({
            type: z.literal("output_text"),
            text: z.string(),
            annotations: z.array(z.looseObject({})),
            logprobs: z.array(z.unknown()),
          }),
          z.strictObject({ type: z.literal("refusal"), refusal: z.string() }),
        ]),
      ),
    }),
    z.looseObject({
      type: z.literal("function_call"),
      id: z.string(),
      call_id: z.string(),
      name: z.string(),
      arguments: z.string(),
      status: z.enum(["in_progress", "completed", "incomplete"]),
    }),
    z.looseObject({ type: z.literal("reasoning"), id: z.string(), summary: z.array(z.looseObject({})) }),
  ]);
  /** ResponseResource.json of openresponses/openresponses (schema/components/schemas), read November 2026. */
  const resource = z.strictObject({
    id: z.string(),
    object: z.literal("response"),
    created_at: z.int(),
    completed_at: nullable(z.int()),
    status: z.enum(["in_progress", "completed", "incomplete", "failed"]),
    incomplete_details: nullable(z.strictObject({ reason: z.string() })),
    model: z.string(),
    previous_response_id: nullable(z.string()),
    instructions: nullable(z.string()),
    output: z.array(item),
    error: nullable(z.strictObject({ code: z.string(), message: z.string() })),
    tools: z.array(tool),
    tool_choice: z.union([z.enum(["auto", "none", "required"]), z.looseObject({ type: z.string() })]),
    truncation: z.enum(["auto", "disabled"]),
    parallel_tool_calls: z.boolean(),
    text: z.looseObject({ format: z.looseObject({ type: z.string() }) }),
    top_p: z.number(),
    presence_penalty: z.number(),
    frequency_penalty: z.number(),
    top_logprobs: z.int(),
    temperature: z.number(),
    reasoning: z.looseObject({ effort: nullable(z.string()), summary: nullable(z.string()) }),
    user: nullable(z.string()),
    usage: nullable(
      z.looseObject({
        input_tokens: z.int(),
        output_tokens: z.int(),
        total_tokens: z.int(),
        input_tokens_details: z.looseObject({ cached_tokens: z.int() }),
        output_tokens_details: z.looseObject({ reasoning_tokens: z.int() }),
      }),
    ),
    max_output_tokens: nullable(z.int()),
    max_tool_calls: nullable(z.int()),
    store: z.boolean(),
    background: z.boolean(),
    service_tier: z.string(),
    metadata: z.looseObject({}),
    safety_identifier: nullable(z.string()),
    prompt_cache_key: nullable(z.string()),
  });

  const requests: Record<string, WireObject> = {
    "a plain one": { input: "hi" },
    "one with everything": {
      input: "hi",
      instructions: "be brief",
      tools: [
        { type: "function", name: "f" },
        { type: "function", name: "g", strict: true, parameters: { type: "object" }, description: "d" },
        { type: "custom", name: "c" },
        { type: "web_search" },
      ],
      tool_choice: { type: "function", name: "f" },
      reasoning: { effort: "low" },
      text: { verbosity: "low" },
      max_output_tokens: 9,
      max_tool_calls: 3,
      prompt_cache_key: "k",
      safety_identifier: "s",
      top_logprobs: 2,
      metadata: { a: "b" },
    },
    "one with a schema": {
      input: "hi",
      text: { format: { type: "json_schema", name: "n", schema: { type: "object" } } },
    },
    "one with nulls": {
      input: "hi",
      tools: null,
      text: null,
      reasoning: null,
      metadata: null,
      temperature: null,
      store: null,
    },
  };
  const finishes: readonly Finish[] = ["stop", "tool_calls", "length", "content_filter", "other"];
  const usage = { input: 3, output: 4, reasoning: 1 };

  test.each(Object.entries(requests))("to %s", (_, request) => {
    for (const unified of finishes) {
      const finish = { unified, raw: unified };
      const answer: ChatAnswer = {
        id: "a",
        model: "m",
        choices: [
          {
            index: 0,
            finish,
            content: [
              { type: "reasoning", text: "hm" },
              { type: "text", text: "hi", citations: [{ url: "https://x.test", from: "gemini", raw: {} }] },
              { type: "refusal", text: "no" },
              { type: "tool_call", id: "c1", name: "f", input: "{}" },
            ],
          },
        ],
        ...(unified !== "other" && { usage }),
      };
      const whole = chatDialects["openai-responses"].encodeAnswer(answer, { ...context, request }, drop);
      const events = streamed(
        "openai-responses",
        [
          { type: "message_start", id: "a", model: "m" },
          { type: "block_start", choice: 0, block: 0, start: { kind: "reasoning" } },
          { type: "block_delta", choice: 0, block: 0, text: "hm" },
          { type: "block_end", choice: 0, block: 0 },
          { type: "block_start", choice: 0, block: 1, start: { kind: "text" } },
          { type: "block_delta", choice: 0, block: 1, text: "hi" },
          { type: "block_end", choice: 0, block: 1 },
          { type: "block_start", choice: 0, block: 2, start: { kind: "tool_call", id: "c1", name: "f" } },
          { type: "block_delta", choice: 0, block: 2, text: "{}" },
          { type: "block_end", choice: 0, block: 2 },
          { type: "finish", choice: 0, finish },
          { type: "usage", usage },
        ],
        request,
      );
      const out: OutFrame[] = [];
      chatDialects["openai-responses"]
        .streamEncoder({ ...context, request }, drop)
        .fail({ status: 500, type: "server_error", code: "server_error", message: "no", param: null }, out);
      const failed = out.map(({ data }) => JSON.parse(data) as WireObject);
      const made = [
        whole,
        ...[...events, ...failed].flatMap(({ response }) => (response === undefined ? [] : [response])),
      ];
      expect(made.length).toBe(7);
      for (const response of made) expect(resource.safeParse(response).error?.issues ?? []).toEqual([]);
      const ends = made.filter((response) => (response as WireObject).status === "completed") as WireObject[];
      expect(ends).toHaveLength(unified === "length" || unified === "content_filter" ? 0 : 2);
      for (const { completed_at, created_at } of ends)
        expect(Number(completed_at)).toBeGreaterThanOrEqual(Number(created_at));
    }
  });
});
