/** Bodies of docs.dify.ai (openapi_chat.json, openapi_workflow.json), read November 2026; words are ours. */
import { describe, expect, test } from "bun:test";
import type { WireObject } from "../../chat-events";
import { openaiChatDialect } from "../openai-chat/chat-dialect";
import { Warnings } from "../shared/warnings";
import { difyDialect } from "./dialect";
import { appKind } from "./request-encode";

function encode(body: WireObject): { body: WireObject; warnings: string[] } {
  const warnings = new Warnings();
  const encoded = difyDialect.encodeRequest(openaiChatDialect.decodeRequest(body), warnings.warn);
  return { body: encoded, warnings: warnings.list.map(({ code, detail }) => `${code} ${detail}`) };
}
const user = (content: unknown) => ({ role: "user", content });

describe("a request to Dify", () => {
  test("one message is the question as it stands, with a user", () => {
    const { body, warnings } = encode({ model: "chat", messages: [user("Hello?")] });
    expect(body).toEqual({
      inputs: {},
      query: "Hello?",
      response_mode: "streaming",
      user: "weir",
      auto_generate_name: false,
    });
    expect(warnings).toEqual([]);
  });

  test("a conversation is written in words; what an application has no word for is a warning", () => {
    const messages = [
      { role: "system", content: "Be short." },
      user("One?"),
      { role: "assistant", content: "Two." },
      user("Three?"),
    ];
    const { body, warnings } = encode({
      model: "m",
      messages,
      stream: true,
      user: "u-1",
      temperature: 1,
      tools: [{ type: "function", function: { name: "f" } }],
    });
    expect(body).toMatchObject({
      query: "System: Be short.\n\nUser: One?\n\nAssistant: Two.\n\nUser: Three?",
      response_mode: "streaming",
      user: "u-1",
    });
    expect(warnings.sort()).toEqual(["dropped_field temperature", "dropped_field tools"]);
  });

  test("a call that names a conversation sends its last words only: the application knows the rest", () => {
    const messages = [user("One?"), { role: "assistant", content: "Two." }, user("Three?")];
    const { body } = encode({ model: "m", messages, conversation_id: "c-1", inputs: { city: "Rome" } });
    expect(body).toMatchObject({ query: "Three?", conversation_id: "c-1", inputs: { city: "Rome" } });
  });

  test("pictures by address are sent as addresses, bytes are left to be uploaded", () => {
    const parts = [
      { type: "text", text: "See" },
      { type: "image_url", image_url: { url: "https://x.example/a.png" } },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } },
    ];
    const { body } = encode({ model: "m", messages: [user(parts)] });
    expect(body.query).toBe("See");
    expect(body.files).toEqual([
      { type: "image", transfer_method: "remote_url", url: "https://x.example/a.png" },
      { type: "image", transfer_method: "inline", media_type: "image/png", data: "AAAA" },
      { type: "document", transfer_method: "inline", media_type: "application/pdf", data: "AAAA", name: "a.pdf" },
    ]);
  });

  test("a workflow and a completion get the question among their inputs", () => {
    expect(["workflow", "workflow-mail", "Completion-x", "workflows", "gpt-4o"].map(appKind)).toEqual([
      "workflow",
      "workflow",
      "completion",
      "chat",
      "chat",
    ]);
    const { body } = encode({ model: "workflow-mail", messages: [user("Sum up")], inputs: { tone: "warm" } });
    expect(body).toEqual({ inputs: { query: "Sum up", tone: "warm" }, response_mode: "streaming", user: "weir" });
  });
});

describe("an answer of Dify", () => {
  const answer = {
    event: "message",
    task_id: "c3800678-a077-43df-a102-53f23ed20b88",
    id: "9da23599",
    message_id: "9da23599",
    conversation_id: "45701982",
    mode: "chat",
    answer: "It is listed here.",
    created_at: 1705407629,
    metadata: { usage: { prompt_tokens: 1033, completion_tokens: 128, total_tokens: 1161 }, retriever_resources: [] },
  };

  test("words, usage, time and the conversation's name are read", () => {
    expect(difyDialect.decodeAnswer(answer, "id")).toEqual({
      id: "9da23599",
      model: "",
      created: 1705407629,
      usage: { input: 1033, output: 128 },
      extra: { "openai-chat": { conversation_id: "45701982" } },
      choices: [
        { index: 0, content: [{ type: "text", text: "It is listed here." }], finish: { unified: "stop", raw: "stop" } },
      ],
    });
  });

  test("a workflow's only text is the answer, several outputs are JSON, none is nothing", () => {
    const run = (outputs: unknown) => ({
      workflow_run_id: "w1",
      task_id: "t1",
      data: { id: "w1", status: "succeeded", outputs, total_tokens: 45 },
    });
    const content = (outputs: unknown) => difyDialect.decodeAnswer(run(outputs), "id")?.choices[0]?.content;
    expect(content({ text: "Hi" })).toEqual([{ type: "text", text: "Hi" }]);
    expect(content({ a: 1, b: "x" })).toEqual([{ type: "text", text: '{"a":1,"b":"x"}' }]);
    expect(content({})).toEqual([]);
    expect(difyDialect.decodeAnswer(run({ text: "Hi" }), "id")).toMatchObject({
      id: "w1",
      usage: { input: 45, output: 0 },
    });
  });

  test("a failed workflow and an error body are errors, strange bodies neither", () => {
    const failed = { workflow_run_id: "w1", data: { id: "w1", status: "failed", outputs: {}, error: "node 3 broke" } };
    expect(difyDialect.decodeAnswer(failed, "id")).toBeUndefined();
    expect(difyDialect.readError(failed)?.message).toBe("node 3 broke");
    expect(difyDialect.readError({ code: "invalid_param", message: "query is required", status: 400 })).toEqual({
      message: "query is required",
      type: "",
      code: "invalid_param",
      param: null,
    });
    for (const body of [{}, { answer: 7 }, { data: [] }, { data: { status: "running" } }]) {
      expect(difyDialect.decodeAnswer(body, "id")).toBeUndefined();
      expect(difyDialect.readError(body)).toBeUndefined();
    }
    for (const body of [null, "x", []]) expect(difyDialect.readError(body)).toBeUndefined();
    const decoder = difyDialect.streamDecoder("id");
    expect([
      decoder.decode("<p>", []),
      decoder.decode("[]", []),
      decoder.decode("{}", []),
      decoder.decode('{"event":"new"}', []),
    ]).toEqual([false, false, false, true]);
  });
});
