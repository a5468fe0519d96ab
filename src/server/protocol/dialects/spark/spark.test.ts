/**
 * iFlytek Spark: xfyun.cn/doc/spark/Web.html (examples of request, response, functions; error codes), read November
 * 2026.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sameWhereverCut } from "../../../../../tests/kit/vendor-streams";
import { collect } from "../../../../../tests/translation/collect";
import { FIXTURES } from "../../../../../tests/translation/streams";
import { Warnings } from "../shared/warnings";
import { decodeRequest } from "../openai-chat/request-decode";
import { joinFrames } from "./answer";
import { sparkDialect } from "./dialect";

const encode = (body: Record<string, unknown>) => {
  const warnings = new Warnings();
  return {
    body: sparkDialect.encodeRequest(decodeRequest(body), warnings.warn),
    lost: warnings.list.map(({ detail }) => detail),
  };
};
const stream = (name: string) =>
  collect(
    sameWhereverCut(() => sparkDialect.streamDecoder("req-1"), readFileSync(join(FIXTURES, `spark.${name}.sse`))),
  );
const frame = (status: number, text: object[], more: object = {}) => ({
  header: { code: 0, message: "Success", sid: "s1", status },
  payload: { choices: { status, seq: status, text }, ...more },
});

describe("a call in Spark's language", () => {
  test("has words in payload.message, functions beside them, and values within Spark's limits", () => {
    const parameters = { type: "object", properties: { city: { type: "string" } } };
    const { body, lost } = encode({
      model: "4.0Ultra",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "weather?" },
      ],
      tools: [{ type: "function", function: { name: "get_weather", description: "d", parameters } }],
      temperature: 0,
      top_k: 40,
      max_tokens: 99,
      user: "u".repeat(40),
      stream: true,
      top_p: 0.5,
    });
    expect(body).toEqual({
      header: { uid: "u".repeat(32) },
      parameter: { chat: { temperature: 0.01, top_k: 6, max_tokens: 99 } },
      payload: {
        message: {
          text: [
            { role: "system", content: "Be brief." },
            { role: "user", content: "weather?" },
          ],
        },
        functions: { text: [{ name: "get_weather", description: "d", parameters }] },
      },
    });
    expect(lost).toEqual(["top_p", "user", "temperature", "top_k"]);
  });

  test("writes earlier calls and their results in words", () => {
    const { body } = encode({
      model: "m",
      messages: [
        { role: "user", content: "q" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } }],
        },
        { role: "tool", tool_call_id: "a", content: "one" },
      ],
    });
    expect(body.payload).toEqual({
      message: {
        text: [
          { role: "user", content: "q" },
          { role: "assistant", content: 'f({"x":1})' },
          { role: "user", content: "f: one" },
        ],
      },
    });
  });
});

describe("an answer in Spark's language", () => {
  test("streamed: text, a stop, usage, wherever it is cut", () => {
    const { content, finish, usage } = stream("text");
    expect(content).toEqual([{ type: "text", text: "我可以帮你。" }]);
    expect(finish?.unified).toBe("stop");
    expect(usage).toEqual({ input: 5, output: 9 });
  });

  test("streamed: a function call", () => {
    const { content, finish } = stream("function");
    expect(content).toEqual([
      { type: "tool_call", id: "call_req-1_0_0", name: "天气查询", input: '{"datetime":"今天","location":"合肥"}' },
    ]);
    expect(finish?.unified).toBe("tool_calls");
  });

  test("whole: its frames joined are one answer", () => {
    const joined = joinFrames([
      frame(0, [{ content: "", reasoning_content: "hm" }]),
      frame(1, [{ content: "a" }]),
      frame(2, [{ content: "b" }], {
        usage: { text: { question_tokens: 1, prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 } },
      }),
    ]);
    const answer = sparkDialect.decodeAnswer(joined ?? {}, "x");
    expect(answer?.choices[0]?.content).toMatchObject([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "ab" },
    ]);
    expect(answer).toMatchObject({
      id: "s1",
      usage: { input: 2, output: 3 },
      choices: [{ finish: { unified: "stop" } }],
    });
  });

  test("whole: is none before its last frame, and an error where one frame is an error", () => {
    expect(joinFrames([])).toBeUndefined();
    expect(joinFrames([frame(0, [{ content: "a" }])])).toBeUndefined();
    const failed = joinFrames([
      frame(0, [{ content: "a" }]),
      { header: { code: 10014, message: "no", sid: "s", status: 2 } },
    ]);
    expect(sparkDialect.decodeAnswer(failed ?? {}, "x")).toBeUndefined();
    expect(sparkDialect.readError(failed)).toMatchObject({ code: "10014", message: "no" });
  });
});

describe("an error in Spark's language", () => {
  test.each([
    [11200, "authentication_error"],
    [11201, "insufficient_quota"],
    [11202, "rate_limit_error"],
    [10008, "overloaded_error"],
    [10907, "invalid_request_error"],
    [10000, ""],
  ])("%d is of type %p", (code, type) => {
    const wire = { header: { code, message: "why", sid: "s", status: 2 } };
    expect(sparkDialect.readError(wire)).toEqual({ message: "why", type, code: String(code), param: null });
    const events: unknown[] = [];
    expect(sparkDialect.streamDecoder("x").decode(JSON.stringify(wire), events as never)).toBe(true);
    expect(events).toMatchObject([{ type: "error" }]);
  });

  test("of the handshake is its message", () => {
    expect(sparkDialect.readError({ message: "HMAC signature cannot be verified" })).toMatchObject({
      message: "HMAC signature cannot be verified",
    });
    for (const body of [null, {}, "x", frame(0, [])]) expect(sparkDialect.readError(body)).toBeUndefined();
  });

  test("a frame that is none is malformed", () => {
    for (const data of ["", "null", "{}", '{"header":1}', "{"])
      expect(sparkDialect.streamDecoder("x").decode(data, [])).toBe(false);
  });
});
