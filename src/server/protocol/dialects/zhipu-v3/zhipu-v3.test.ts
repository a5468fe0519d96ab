/**
 * Zhipu's API of generation 3: open.bigmodel.cn, model-api (examples, error codes); zhipuai 1.0.7; read November 2026.
 */
import { describe, expect, test } from "bun:test";
import { eventsOf, sameWhereverCut } from "../../../../../tests/kit/vendor-streams";
import { collect } from "../../../../../tests/translation/collect";
import { Warnings } from "../shared/warnings";
import { decodeRequest } from "../openai-chat/request-decode";
import { zhipuDialect } from "./dialect";

const encode = (body: Record<string, unknown>) => {
  const warnings = new Warnings();
  return {
    body: zhipuDialect.encodeRequest(decodeRequest(body), warnings.warn),
    lost: warnings.list.map(({ detail }) => detail),
  };
};
const frames = (...fields: object[]) => Buffer.from(fields.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(""));
const decoder = () => zhipuDialect.streamDecoder("req-1");

describe("a call in Zhipu's old language", () => {
  test("is a conversation of user and assistant; what the system says is said by the user", () => {
    const { body, lost } = encode({
      model: "chatglm_turbo",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hi" },
        { role: "assistant", content: "ho" },
        { role: "user", content: "and" },
      ],
      temperature: 1,
      top_p: 0,
      stream: true,
      tools: [{ type: "function", function: { name: "f" } }],
    });
    expect(body).toEqual({
      prompt: [
        { role: "user", content: "Be brief.\n\nhi" },
        { role: "assistant", content: "ho" },
        { role: "user", content: "and" },
      ],
      temperature: 0.99,
      top_p: 0.01,
      incremental: true,
    });
    expect(lost).toEqual(["f", "system message", "temperature", "top_p"]);
  });

  test("keeps the results of earlier tools as words", () => {
    const { body, lost } = encode({
      model: "m",
      messages: [
        { role: "user", content: "q" },
        {
          role: "assistant",
          content: "wait",
          tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "a", content: "one" },
      ],
    });
    expect(body.prompt).toEqual([
      { role: "user", content: "q" },
      { role: "assistant", content: "wait" },
      { role: "user", content: "one" },
    ]);
    expect(lost).toEqual(["tool_call"]);
  });

  test("of a system message alone is one of the user", () => {
    expect(encode({ model: "m", messages: [{ role: "system", content: "x" }] }).body.prompt).toEqual([
      { role: "user", content: "x" },
    ]);
  });
});

describe("an answer in Zhipu's old language", () => {
  const whole = (content: string) => ({
    code: 200,
    msg: "操作成功",
    success: true,
    data: {
      request_id: "r",
      task_id: "t",
      task_status: "SUCCESS",
      choices: [{ role: "assistant", content }],
      usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
    },
  });

  test("whole: its text is quoted once more", () => {
    const answer = zhipuDialect.decodeAnswer(whole(JSON.stringify(' say "hi"\n')), "x");
    expect(answer).toMatchObject({
      id: "t",
      choices: [{ content: [{ type: "text", text: 'say "hi"\n' }], finish: { unified: "stop" } }],
      usage: { input: 2, output: 3 },
    });
    expect(zhipuDialect.decodeAnswer(whole('"a" and "b"'), "x")?.choices[0]?.content).toEqual([
      { type: "text", text: '"a" and "b"' },
    ]);
  });

  test("streamed: text and usage, wherever it is cut", () => {
    const meta = JSON.stringify({
      task_status: "SUCCESS",
      usage: { completion_tokens: 37, prompt_tokens: 2, total_tokens: 39 },
      task_id: "t1",
      request_id: "r",
    });
    const stream = frames(
      { event: "add", id: "t1", data: "你好" },
      { event: "add", id: "t1", data: "，\n世界" },
      { event: "finish", id: "t1", data: "", meta },
    );
    const { content, finish, usage } = collect(sameWhereverCut(decoder, stream));
    expect(content).toEqual([{ type: "text", text: "你好，\n世界" }]);
    expect(finish?.unified).toBe("stop");
    expect(usage).toEqual({ input: 2, output: 37 });
  });

  test.each([[{}], [{ code: 200 }], [{ code: 200, data: null }], [{ code: 200, success: true, data: { choices: 1 } }]])(
    "is none when it is %j",
    (body) => {
      expect(zhipuDialect.decodeAnswer(body as never, "x")).toBeUndefined();
    },
  );
});

describe("an error in Zhipu's old language", () => {
  test.each([
    [1002, "authentication_error"],
    [1113, "insufficient_quota"],
    [1302, "rate_limit_error"],
    [1211, "model_not_found"],
    [1261, "invalid_request_error"],
    [500, ""],
  ])("%d is of type %p", (code, type) => {
    const error = { message: "why", type, code: String(code), param: null };
    expect(zhipuDialect.readError({ code, msg: "why", success: false })).toEqual(error);
    expect(zhipuDialect.readError({ error: { code: String(code), message: "why" } })).toEqual(error);
  });

  test("in a stream is an error event", () => {
    expect(eventsOf(decoder(), [frames({ event: "error", data: "no" })])).toMatchObject([
      { type: "error", error: { message: "no" } },
    ]);
    expect(eventsOf(decoder(), [frames({ event: "interrupted", data: '{"code":1301,"msg":"unsafe"}' })])).toMatchObject(
      [{ type: "error", error: { code: "1301", type: "invalid_request_error" } }],
    );
  });

  test("an event that is none is malformed", () => {
    for (const data of ["{}", "null", "", '{"event":"other"}', "{"]) expect(decoder().decode(data, [])).toBe(false);
  });

  test.each([[null], [{}], ["x"], [{ code: 200, success: true }]])("is none in %j", (body) =>
    expect(zhipuDialect.readError(body)).toBeUndefined(),
  );
});
