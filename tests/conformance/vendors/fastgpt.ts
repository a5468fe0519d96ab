/**
 * FastGPT (doc.fastgpt.io, "Chat API", tabs detail=false and detail=true; error numbers: labring/FastGPT,
 * global/common/error; November 2026).
 */
import { expect } from "bun:test";
import type { VendorFake } from "../vendor-fake";

const says = "电影《铃芽之旅》的导演是新海诚。";
const unauthorized = { code: 514, statusText: "unAuthApiKey", message: "Api Key 不合法", data: null };
const frame = (delta: object, finish_reason: string | null = null) => ({
  id: "",
  object: "",
  created: 0,
  model: "",
  choices: [{ delta, index: 0, finish_reason }],
});

/** A stream of the vendor: events have names when details are requested, and there is no usage. */
function streamed(detail: boolean): Response {
  const write = (event: string, data: unknown): string =>
    `${detail ? `event: ${event}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
  const answer = [
    frame({ role: "assistant", content: "" }),
    ...["电影", "《铃芽之旅》", "的导演是新海诚。"].map((content) => frame({ role: "assistant", content })),
    frame({}, "stop"),
  ];
  const text = [
    detail ? write("flowNodeStatus", { status: "running", name: "AI 对话" }) : "",
    ...answer.map((one) => write("answer", one)),
    write("answer", "[DONE]"),
    detail ? write("flowResponses", [{ moduleName: "AI 对话", moduleType: "chatNode", runningTime: 1.86 }]) : "",
  ].join("");
  return new Response(text, { headers: { "content-type": "text/event-stream;charset=utf-8" } });
}

const asked = { model: "m", messages: [{ role: "user", content: "导演是谁" }] };

export const vendor: VendorFake = {
  types: ["fastgpt"],
  source: "doc.fastgpt.io, Chat API, November 2026",
  key: "fastgpt-k3y-64f2a1",
  base: "/api",
  model: "m",
  chat: { says },
  refusal: { model: "of-another-team", kind: "bad_credentials", message: "Api Key 不合法" },
  answer({ method, path, headers, json }) {
    expect([method, path]).toEqual(["POST", "/v1/chat/completions"]);
    expect([headers.get("authorization"), headers.get("content-type")]).toEqual([
      "Bearer fastgpt-k3y-64f2a1",
      "application/json",
    ]);
    expect(json.messages).toEqual([
      { role: "user", content: json.chatId === undefined && json.detail === undefined ? "hello" : "导演是谁" },
    ]);
    if (json.model === "of-another-team") {
      if (json.stream !== true) return Response.json(unauthorized, { status: 500 });
      // It is not known yet that this will be a stream.
      const response = new Response(`event: error\ndata: ${JSON.stringify(unauthorized)}\n\n`);
      response.headers.delete("content-type");
      return response;
    }
    if (json.stream === true) return streamed(json.detail === true);
    const details =
      json.detail === true
        ? { responseData: [{ moduleName: "AI 对话", price: 454.5, model: "FastAI-4k", tokens: 303 }], newVariables: {} }
        : {};
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 1 };
    return Response.json({
      ...details,
      id: json.chatId ?? "",
      model: "",
      usage,
      choices: [{ message: { role: "assistant", content: says }, finish_reason: "stop", index: 0 }],
    });
  },
  calls: [
    {
      name: "the counts that the vendor makes up are not charged: the words are, and the caller is told no counts",
      path: "/v1/chat/completions",
      body: { ...asked, chatId: "my_chatId", variables: { name: "张三" } },
      check: ({ status, json }) => expect([status, json.id, json.usage]).toEqual([200, "my_chatId", undefined]),
      // Estimates by the bytes of prompt and answer.
      usage: { prompt: 30, completion: 12 },
    },
    {
      name: "an application's details come whole, where the caller asks for them",
      path: "/v1/chat/completions",
      body: { ...asked, detail: true },
      check: ({ status, json }) => expect([status, json.responseData]).toMatchObject([200, [{ tokens: 303 }]]),
    },
    {
      name: "and streamed, under their names, those behind [DONE] before it",
      path: "/v1/chat/completions",
      body: { ...asked, detail: true, stream: true },
      check: ({ status, text }) => {
        expect(status).toBe(200);
        expect(text).toStartWith('event: flowNodeStatus\ndata: {"status":"running","name":"AI 对话"}\n\n');
        expect(text).toContain(
          'event: answer\ndata: {"id":"","object":"","created":0,"model":"","choices":[{"delta":{"role":"assistant","content":"电影"}',
        );
        expect(text).toEndWith(
          'event: flowResponses\ndata: [{"moduleName":"AI 对话","moduleType":"chatNode","runningTime":1.86}]\n\ndata: [DONE]\n\n',
        );
      },
    },
  ],
};
