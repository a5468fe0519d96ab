/**
 * Baidu Wenxin, generation 1: cloud.baidu.com/doc/WENXINWORKSHOP (s/clntwmv7t: ERNIE-4.0-8K, its examples; s/tlmyncueh:
 * error codes), types of bce-qianfan-sdk; read November 2026; the words are ours.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventsOf, sameWhereverCut } from "../../../../../tests/kit/vendor-streams";
import { collect } from "../../../../../tests/translation/collect";
import { FIXTURES } from "../../../../../tests/translation/streams";
import type { ChatPrompt } from "../../chat-events";
import { Warnings } from "../shared/warnings";
import { decodeRequest } from "../openai-chat/request-decode";
import { baiduDialect } from "./dialect";

const encode = (prompt: ChatPrompt) => {
  const warnings = new Warnings();
  return { body: baiduDialect.encodeRequest(prompt, warnings.warn), lost: warnings.list.map(({ detail }) => detail) };
};
const stream = (name: string) =>
  collect(
    sameWhereverCut(() => baiduDialect.streamDecoder("req-1"), readFileSync(join(FIXTURES, `baidu.${name}.sse`))),
  );

describe("a call in Baidu's language", () => {
  test("has the system text apart, functions, and Baidu's names for the rest", () => {
    const parameters = { type: "object", properties: { city: { type: "string" } } };
    const prompt = decodeRequest({
      model: "ERNIE-4.0-8K",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "weather?" },
      ],
      tools: [{ type: "function", function: { name: "get_weather", description: "d", parameters } }],
      tool_choice: { type: "function", function: { name: "get_weather" } },
      temperature: 1.5,
      top_p: 0.9,
      max_tokens: 1,
      stop: "END",
      user: "u1",
      response_format: { type: "json_object" },
      disable_search: true,
      stream: true,
      seed: 3,
    });
    const { body, lost } = encode(prompt);
    expect(body).toEqual({
      messages: [{ role: "user", content: "weather?" }],
      system: "Be brief.",
      functions: [{ name: "get_weather", description: "d", parameters }],
      tool_choice: { type: "function", function: { name: "get_weather" } },
      temperature: 1,
      top_p: 0.9,
      max_output_tokens: 2,
      stop: ["END"],
      user_id: "u1",
      response_format: "json_object",
      disable_search: true,
      stream: true,
    });
    expect(lost).toEqual(["seed", "max_output", "temperature"]);
  });

  test("writes parallel calls one after the other, and what the user adds to their results with the last", () => {
    const { body } = encode(
      decodeRequest({
        model: "m",
        messages: [
          { role: "user", content: "both" },
          {
            role: "assistant",
            content: "ok",
            tool_calls: [
              { id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
              { id: "b", type: "function", function: { name: "g", arguments: "" } },
            ],
          },
          { role: "tool", tool_call_id: "b", content: "two" },
          { role: "tool", tool_call_id: "a", content: "one" },
          { role: "user", content: "and?" },
        ],
      }),
    );
    expect(body.messages).toEqual([
      { role: "user", content: "both" },
      { role: "assistant", content: "ok", function_call: { name: "f", arguments: '{"x":1}' } },
      { role: "function", name: "f", content: "one" },
      { role: "assistant", content: "", function_call: { name: "g", arguments: "{}" } },
      { role: "function", name: "g", content: "two\n\nand?" },
    ]);
  });

  test("declares no function that may not be called", () => {
    const tools = [
      { type: "function" as const, name: "f" },
      { type: "function" as const, name: "g" },
    ];
    expect(encode({ model: "m", messages: [], tools, tool_choice: { mode: "none" } }).body.functions).toBeUndefined();
    const one = encode({ model: "m", messages: [], tools, tool_choice: { mode: "auto", allowed: ["g"] } });
    expect(one.body.functions).toEqual([
      { name: "g", description: "g", parameters: { type: "object", properties: {} } },
    ]);
  });

  test("keeps the words of a message whose pictures it cannot carry", () => {
    const { body, lost } = encode(
      decodeRequest({
        model: "m",
        messages: [
          {
            role: "user",
            content: [
              { type: "image_url", image_url: { url: "https://example.com/a.png" } },
              { type: "text", text: "what?" },
            ],
          },
        ],
      }),
    );
    expect(body.messages).toEqual([{ role: "user", content: "what?" }]);
    expect(lost).toEqual(["image"]);
  });
});

describe("an answer in Baidu's language", () => {
  test("is text with usage; normal is a stop", () => {
    const answer = baiduDialect.decodeAnswer(
      {
        id: "as-1",
        object: "chat.completion",
        created: 1,
        result: "Hi",
        is_truncated: false,
        need_clear_history: false,
        finish_reason: "normal",
        usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
      },
      "x",
    );
    expect(answer).toMatchObject({
      id: "as-1",
      choices: [{ content: [{ type: "text", text: "Hi" }], finish: { unified: "stop" } }],
      usage: { input: 2, output: 3 },
    });
  });

  test("names its calls by its own id, so that two answers never call alike", () => {
    const call = (id: string) =>
      baiduDialect.decodeAnswer({ id, result: "", function_call: { name: "f", arguments: "{}" } }, "x")?.choices[0];
    expect(call("as-1")).toMatchObject({
      content: [{ type: "tool_call", id: "call_as-1_0", name: "f", input: "{}" }],
      finish: { unified: "tool_calls" },
    });
    expect(call("as-2")).toMatchObject({ content: [{ id: "call_as-2_0" }] });
  });

  test("streamed: only the last piece ends it, wherever it is cut", () => {
    const { content, finish, usage } = stream("text");
    expect(content).toEqual([{ type: "text", text: "当然可以。" }]);
    expect(finish).toEqual({ unified: "stop", raw: "stop" });
    expect(usage).toEqual({ input: 5, output: 4 });
  });

  test("streamed: a function call with its thoughts", () => {
    const { content, finish } = stream("function");
    expect(content).toMatchObject([
      { type: "reasoning", text: "要查天气" },
      { type: "tool_call", id: "call_req-1_0_0", name: "get_weather", input: '{"city":"上海"}' },
    ]);
    expect(finish?.unified).toBe("tool_calls");
  });

  test("that was cut at its length or filtered says so", () => {
    const finish = (finish_reason: string) =>
      baiduDialect.decodeAnswer({ id: "i", result: "a", finish_reason }, "x")?.choices[0]?.finish?.unified;
    expect([finish("length"), finish("content_filter"), finish("stop")]).toEqual(["length", "content_filter", "stop"]);
  });

  test.each([[{}], [{ result: 1 }], [{ result: null }], [{ error_code: 17, error_msg: "m", result: "a" }]])(
    "is none when it is %j",
    (body) => {
      expect(baiduDialect.decodeAnswer(body, "x")).toBeUndefined();
    },
  );
});

describe("an error in Baidu's language", () => {
  test.each([
    [110, "authentication_error"],
    [17, "insufficient_quota"],
    [18, "rate_limit_error"],
    [336501, "rate_limit_error"],
    [336100, "overloaded_error"],
    [3, "model_not_found"],
    [336003, "invalid_request_error"],
    [336000, ""],
  ])("%d is of type %p, with status 200", (error_code, type) => {
    const body = { error_code, error_msg: "why", id: "as-9" };
    expect(baiduDialect.readError(body)).toEqual({ message: "why", type, code: String(error_code), param: null });
    expect(eventsOf(baiduDialect.streamDecoder("x"), [Buffer.from(`data: ${JSON.stringify(body)}\n\n`)])).toMatchObject(
      [{ type: "error" }],
    );
  });

  test("of the token's door is one of credentials", () => {
    expect(baiduDialect.readError({ error: "invalid_client", error_description: "unknown client id" })).toMatchObject({
      message: "unknown client id",
      type: "authentication_error",
    });
  });

  test.each([[null], [{}], ["x"], [{ error_code: 0 }], [{ error_code: "" }], [{ result: "a" }]])(
    "is none in %j",
    (body) => {
      expect(baiduDialect.readError(body)).toBeUndefined();
    },
  );
});
