/**
 * Tencent Hunyuan's wire shapes: types of tencentcloud-sdk-nodejs, hunyuan v20230901, and the examples of
 * cloud.tencent.com/document/product/1729/105701 (read November 2026); the words are ours.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sameWhereverCut } from "../../../../../tests/kit/vendor-streams";
import { collect } from "../../../../../tests/translation/collect";
import { FIXTURES } from "../../../../../tests/translation/streams";
import type { ChatPrompt } from "../../chat-events";
import { Warnings } from "../shared/warnings";
import { decodeRequest } from "../openai-chat/request-decode";
import { tencentDialect } from "./dialect";

const encode = (prompt: ChatPrompt) => {
  const warnings = new Warnings();
  return { body: tencentDialect.encodeRequest(prompt, warnings.warn), lost: warnings.list.map(({ detail }) => detail) };
};
const stream = (name: string) =>
  sameWhereverCut(() => tencentDialect.streamDecoder("req-1"), readFileSync(join(FIXTURES, `tencent.${name}.sse`)));

const weather = {
  name: "get_weather",
  description: "d",
  parameters: { type: "object", properties: { city_name: { type: "string" } } },
};

describe("a call in Tencent's language", () => {
  test("has OpenAI's members by Tencent's names, and the schema of a tool as JSON text", () => {
    const prompt = decodeRequest({
      model: "hunyuan-turbos-latest",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image_url", image_url: { url: "https://example.com/a.png" } },
          ],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "c1", type: "function", function: { name: "get_weather", arguments: '{"city_name":"x"}' } },
          ],
        },
        { role: "tool", tool_call_id: "c1", content: "sunny" },
      ],
      tools: [{ type: "function", function: weather }],
      tool_choice: { type: "function", function: { name: "get_weather" } },
      temperature: 0.5,
      top_p: 0.9,
      seed: 7,
      stop: ["END"],
      stream: true,
      enable_enhancement: true,
      max_tokens: 9,
    });
    const Function = { Name: "get_weather", Description: "d", Parameters: JSON.stringify(weather.parameters) };
    const { body, lost } = encode(prompt);
    expect(body).toEqual({
      Model: "hunyuan-turbos-latest",
      Messages: [
        { Role: "system", Content: "Be brief." },
        {
          Role: "user",
          Contents: [
            { Type: "text", Text: "look" },
            { Type: "image_url", ImageUrl: { Url: "https://example.com/a.png" } },
          ],
        },
        {
          Role: "assistant",
          Content: "",
          ToolCalls: [
            { Id: "c1", Type: "function", Function: { Name: "get_weather", Arguments: '{"city_name":"x"}' }, Index: 0 },
          ],
        },
        { Role: "tool", Content: "sunny", ToolCallId: "c1" },
      ],
      Tools: [{ Type: "function", Function }],
      ToolChoice: "custom",
      CustomTool: { Type: "function", Function },
      Temperature: 0.5,
      TopP: 0.9,
      Seed: 7,
      Stop: ["END"],
      Stream: true,
      EnableEnhancement: true,
    });
    expect(lost).toEqual(["max_output"]);
  });

  test("has one system message, the first, and roles that take turns", () => {
    const { body, lost } = encode({
      model: "m",
      messages: [
        { role: "system", content: [{ type: "text", text: "A" }] },
        { role: "developer", content: [{ type: "text", text: "B" }] },
        { role: "user", content: [{ type: "text", text: "1" }] },
        { role: "user", content: [{ type: "text", text: "2" }] },
        { role: "system", content: [{ type: "text", text: "C" }] },
      ],
    });
    expect(body.Messages).toEqual([
      { Role: "system", Content: "A\n\nB" },
      { Role: "user", Content: "1\n\n2\n\nC" },
    ]);
    expect(lost).toEqual(["system message in the middle"]);
  });

  test("forces the only tool where any tool is required, and says so where there are two", () => {
    const one = {
      model: "m",
      messages: [],
      tools: [{ type: "function" as const, ...weather }],
      tool_choice: { mode: "required" as const },
    };
    expect(encode(one).body.ToolChoice).toBe("custom");
    const two = encode({ ...one, tools: [...one.tools, { type: "function", name: "other" }] });
    expect(two.body.ToolChoice).toBe("auto");
    expect(two.lost).toContain("tool_choice");
  });

  test("never gives thoughts back, which is an error there", () => {
    const reasoningSignature = { from: "openai-chat", kind: "detail", data: "" } as const;
    const { body, lost } = encode({
      model: "m",
      messages: [
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "hm", reasoningSignature },
            { type: "tool_call", id: "c", name: "f", input: "" },
          ],
        },
      ],
    });
    expect(JSON.stringify(body)).not.toContain("hm");
    expect(lost).toEqual(["openai-chat"]);
  });
});

describe("an answer in Tencent's language", () => {
  test("stands inside Response", () => {
    const answer = tencentDialect.decodeAnswer(
      {
        Response: {
          RequestId: "r",
          Note: "n",
          Choices: [{ Index: 0, Message: { Role: "assistant", Content: "Hi" }, FinishReason: "stop" }],
          Created: 1,
          Id: "i",
          Usage: { PromptTokens: 16, CompletionTokens: 14, TotalTokens: 30 },
        },
      },
      "x",
    );
    expect(answer).toMatchObject({
      id: "i",
      created: 1,
      choices: [{ content: [{ type: "text", text: "Hi" }], finish: { unified: "stop" } }],
      usage: { input: 16, output: 14 },
    });
  });

  test("that calls tools keeps their arguments as they were written", () => {
    const ToolCalls = [
      { Id: "call_1", Type: "function", Function: { Name: "get_weather", Arguments: '{"CityName":"x"}' }, Index: 0 },
    ];
    const answer = tencentDialect.decodeAnswer(
      {
        Response: { Choices: [{ Message: { Role: "assistant", Content: "", ToolCalls }, FinishReason: "tool_calls" }] },
      },
      "x",
    );
    expect(answer?.choices[0]?.content).toEqual([
      { type: "tool_call", id: "call_1", name: "get_weather", input: '{"CityName":"x"}' },
    ]);
  });

  test.each([[null], [{}], [{ Response: null }], [{ Response: {} }], [{ Response: { Choices: "no" } }]])(
    "is none when it is %j",
    (body) => {
      expect(body === null ? undefined : tencentDialect.decodeAnswer(body as never, "x")).toBeUndefined();
      expect(tencentDialect.readError(body)).toBeUndefined();
    },
  );

  test("streamed: thoughts, text, one finish, the last usage, wherever it is cut", () => {
    const { content, finish, usage } = collect(stream("text"));
    expect(content.map((block) => "text" in block && [block.type, block.text])).toEqual([
      ["reasoning", "他在问好"],
      ["text", "你好！"],
    ]);
    expect(finish).toEqual({ unified: "stop", raw: "stop" });
    expect(usage).toEqual({ input: 3, output: 4 });
  });

  test("streamed: a call in fragments, by its id", () => {
    const { content, finish } = collect(stream("tools"));
    expect(content).toEqual([{ type: "tool_call", id: "call_1", name: "get_weather", input: '{"city":"上海"}' }]);
    expect(finish?.unified).toBe("tool_calls");
  });

  test("whose moderation stops the stream ends as filtered", () => {
    const events: never[] = [];
    tencentDialect
      .streamDecoder("x")
      .decode('{"Choices":[{"Delta":{"Content":""},"FinishReason":"sensitive"}]}', events);
    expect(collect(events).finish?.unified).toBe("content_filter");
  });
});

describe("an error in Tencent's language", () => {
  test.each([
    ["AuthFailure.SignatureFailure", "authentication_error"],
    ["FailedOperation.ResourcePackExhausted", "insufficient_quota"],
    ["FailedOperation.EngineServerLimitExceeded", "rate_limit_error"],
    ["RequestLimitExceeded", "rate_limit_error"],
    ["InvalidParameterValue.Model", "model_not_found"],
    ["InvalidParameter", "invalid_request_error"],
    ["InternalError", ""],
  ])("%s is of type %p", (Code, type) => {
    const error = tencentDialect.readError({ Response: { Error: { Code, Message: "why" }, RequestId: "r" } });
    expect(error).toEqual({ message: "why", type, code: Code, param: null });
  });

  test("in the middle of a stream is an error event", () => {
    const events: unknown[] = [];
    expect(
      tencentDialect
        .streamDecoder("x")
        .decode('{"ErrorMsg":{"Msg":"timed out","Code":4001},"Choices":[]}', events as never),
    ).toBe(true);
    expect(events).toEqual([{ type: "error", error: { message: "timed out", type: "", code: "4001", param: null } }]);
  });

  test("data that is no object is malformed", () => {
    for (const data of ["", "null", "[1]", "{", "<html>"])
      expect(tencentDialect.streamDecoder("x").decode(data, [])).toBe(false);
  });
});
