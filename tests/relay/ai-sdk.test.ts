/**
 * The AI SDK as caller (`ai` 7, its OpenAI, OpenAI-compatible, Anthropic and Google providers): each of its dialects
 * through the relay against each upstream dialect. It validates every frame with its own schema.
 */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, type LanguageModel, type ModelMessage, Output, streamText, tool } from "ai";
import { type ChannelType, channelType } from "../../src/shared/channel-types";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { makeBench, makeChannel, serve, TEST_KEY } from "./kit";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());
beforeEach(() => upstream.journal.clear());

// It warns about every model whose limits it does not know.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const WORDS = "hello there my friend";
const city = jsonSchema<{ city: string; unit?: string }>({
  type: "object",
  properties: { city: { type: "string" }, unit: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
});
const tools = {
  get_weather: tool({ description: "weather", inputSchema: city }),
  get_time: tool({ description: "time", inputSchema: city }),
};

/** A provider of the SDK at an address, by its dialect. */
const callers: Readonly<Record<string, (url: string) => (model: string) => LanguageModel>> = {
  "openai chat": (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: TEST_KEY }).chat,
  "openai responses": (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: TEST_KEY }).responses,
  "openai-compatible": (url) =>
    createOpenAICompatible({
      name: "weir",
      baseURL: `${url}/v1`,
      apiKey: TEST_KEY,
      includeUsage: true,
      supportsStructuredOutputs: true,
    }),
  anthropic: (url) => createAnthropic({ baseURL: `${url}/v1`, apiKey: TEST_KEY }),
  google: (url) => createGoogle({ baseURL: `${url}/v1beta`, apiKey: TEST_KEY }),
};

const registered = (id: number): ChannelType => {
  const type = channelType(id);
  if (!type) throw new Error(`no channel type ${id}`);
  return type;
};
const upstreams: Readonly<Record<string, ChannelType>> = {
  "openai-chat": registered(1),
  "openai-responses": { ...registered(1), dialect: "openai-responses", paths: { chat: "/v1/responses" } },
  anthropic: registered(14),
  gemini: registered(24),
};

for (const [caller, provider] of Object.entries(callers)) {
  for (const [dialect, type] of Object.entries(upstreams)) {
    describe(`AI SDK, ${caller}, on ${dialect}`, () => {
      const bench = makeBench([makeChannel(1, upstream.url, { type })]);
      const server = serve(bench);
      afterAll(() => server[Symbol.dispose]());
      const model = provider(server.url);
      const once = { maxRetries: 0 } as const;

      test("text with its usage, whole and streamed", async () => {
        const whole = await generateText({ model: model("usage:100:50"), prompt: WORDS, ...once });
        expect([whole.text, whole.finishReason, whole.usage.inputTokens, whole.usage.outputTokens]).toEqual([
          WORDS,
          "stop",
          100,
          50,
        ]);
        const streamed = streamText({ model: model("usage:100:50"), prompt: WORDS, ...once });
        expect((await Array.fromAsync(streamed.textStream)).join("")).toBe(WORDS);
        const usage = await streamed.usage;
        expect([await streamed.finishReason, usage.inputTokens, usage.outputTokens]).toEqual(["stop", 100, 50]);
        expect(bench.ledger.settlements.slice(-2).map(({ quota }) => quota)).toEqual([200, 200]);
      });

      test("parallel tool calls in fragments, and the second turn with their results", async () => {
        const expected = [
          ["get_weather", { city: "巴黎", unit: "celsius" }],
          ["get_time", { city: 'Tokyo "East"' }],
        ];
        const whole = await generateText({ model: model("tool-split"), prompt: WORDS, tools, ...once });
        expect(whole.toolCalls.map(({ toolName, input }): unknown => [toolName, input])).toEqual(expected);
        expect(whole.finishReason).toBe("tool-calls");
        const streamed = streamText({ model: model("tool-split"), prompt: WORDS, tools, ...once });
        expect((await streamed.toolCalls).map(({ toolName, input }): unknown => [toolName, input])).toEqual(expected);

        const { messages } = await streamed.response;
        const results: ModelMessage = {
          role: "tool",
          content: (await streamed.toolCalls).map(({ toolCallId, toolName }) => ({
            type: "tool-result",
            toolCallId,
            toolName,
            output: { type: "text", value: `result of ${toolName}` },
          })),
        };
        const turn: ModelMessage[] = [
          { role: "user", content: WORDS },
          ...messages,
          results,
          { role: "user", content: "and now" },
        ];
        const second = await generateText({ model: model("usage:10:5"), messages: turn, tools, ...once });
        expect(second.finishReason).toBe("stop");
        const { body } = upstream.journal.last();
        for (const name of ["get_weather", "get_time"]) expect(body).toContain(`result of ${name}`);
        expect(body).toContain("巴黎");
      });

      test("structured output asks the upstream for the schema and is read as an object", async () => {
        const options = { anthropic: { structuredOutputMode: "outputFormat" } } as const;
        const ask = {
          prompt: '{"city":"Paris"}',
          output: Output.object({ schema: city }),
          providerOptions: options,
          ...once,
        };
        const whole = await generateText({ model: model("claude-opus-4-5+usage:10:5"), ...ask });
        expect(whole.output).toEqual({ city: "Paris" });
        const sent = upstream.journal.last().body;
        expect(sent).toMatch(/json_schema|responseJsonSchema|responseSchema|response_schema/);
        expect(sent).toContain('"required":["city"]');
        const streamed = streamText({ model: model("claude-opus-4-5+usage:10:5"), ...ask });
        expect(await streamed.output).toEqual({ city: "Paris" });
      });

      test("an error is one of the SDK's, with its status and when to come back", async () => {
        const failure: unknown = await generateText({ model: model("error-429"), prompt: WORDS, ...once }).catch(
          (error: unknown) => error,
        );
        expect(failure).toMatchObject({ statusCode: 429, isRetryable: true });
        const errors: unknown[] = [];
        const streamed = streamText({
          model: model("error-midstream:2"),
          prompt: "one two three four five six",
          onError: ({ error }) => void errors.push(error),
          ...once,
        });
        await streamed.consumeStream();
        expect(errors.length).toBeGreaterThan(0);
        await bench.quiet();
        expect(bench.ledger.holds.size).toBe(0);
      });
    });
  }
}
