/**
 * Dify's applications (docs.dify.ai, API reference: chat-messages, files/upload, workflows/run; read November 2026).
 */
import { expect } from "bun:test";
import { type Asked, sse, type VendorFake } from "../vendor-fake";

const says = "Hello! How can I help?";
const ids = {
  task_id: "900bbd43-dc0b-4383-a372-aa6e6c414227",
  message_id: "663c5084-a254-4040-8ad3-51f2a3c1a77c",
  conversation_id: "45701982-8118-4bc5-8e9b-64562b4555f2",
};
const usage = {
  prompt_tokens: 1033,
  completion_tokens: 135,
  total_tokens: 1168,
  total_price: "0.0013030",
  currency: "USD",
  latency: 1.38,
};

function run({ json }: Asked): Response {
  expect(json).toEqual({ inputs: { query: "Sum up", tone: "warm" }, response_mode: "streaming", user: "weir" });
  const more = { task_id: "t1", workflow_run_id: "w1" };
  return sse(
    { event: "workflow_started", ...more, data: { id: "w1", workflow_id: "wf", created_at: 1_679_586_595 } },
    {
      event: "workflow_finished",
      ...more,
      data: { id: "w1", status: "succeeded", outputs: { text: "Short." }, error: null, total_tokens: 45 },
    },
  );
}

export const vendor: VendorFake = {
  types: ["dify"],
  source: "docs.dify.ai, API reference (openapi_chat.json, openapi_workflow.json), November 2026",
  model: "my-app",
  chat: { says, prompt: 1033, completion: 135 },
  refusal: { model: "completion-broken", kind: "caller_mistake", message: "App unavailable" },
  calls: [
    {
      name: "an application's conversation is named beside the answer, so that a caller can go on with it",
      path: "/v1/chat/completions",
      body: { model: "my-app", messages: [{ role: "user", content: "hello" }] },
      check: ({ json }) => expect(json.conversation_id).toBe(ids.conversation_id),
    },
    {
      name: "an answer that is cut before its end is none, however much of it came",
      path: "/v1/chat/completions",
      body: { model: "my-app", messages: [{ role: "user", content: "cut" }] },
      check: ({ status, text }) => expect([status, text.includes("Hello!")]).toEqual([502, false]),
    },
    {
      name: "a workflow is run with the question among its inputs, and its result is the answer",
      path: "/v1/chat/completions",
      body: { model: "workflow-sum", messages: [{ role: "user", content: "Sum up" }], inputs: { tone: "warm" } },
      usage: { prompt: 45, completion: 0 },
      check: ({ json }) => expect(json.choices).toMatchObject([{ message: { content: "Short." } }]),
    },
    {
      name: "a picture's bytes are uploaded for the same user before the question is asked",
      path: "/v1/chat/completions",
      body: {
        model: "see",
        user: "u-1",
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "hello" },
              { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
            ],
          },
        ],
      },
      check: ({ status, json }) =>
        expect([status, json.choices]).toMatchObject([200, [{ message: { content: says } }]]),
    },
    {
      name: "an upload that is refused fails the attempt with the vendor's words",
      path: "/v1/chat/completions",
      body: {
        model: "see",
        user: "nobody",
        messages: [
          { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }] },
        ],
      },
      check: ({ status, text }) =>
        expect([status, text]).toEqual([415, expect.stringContaining("File type not allowed")]),
    },
  ],
  answer(asked) {
    const { method, path, headers, json, text } = asked;
    expect(method).toBe("POST");
    expect(headers.get("authorization")).toBe("Bearer upstream-key");
    if (path === "/v1/files/upload") {
      expect(headers.get("content-type")).toMatch(/^multipart\/form-data; ?boundary=/);
      expect(text).toContain('filename="file.png"');
      if (text.includes("nobody"))
        return Response.json(
          { code: "unsupported_file_type", message: "File type not allowed.", status: 415 },
          { status: 415 },
        );
      expect(text).toContain("u-1");
      return Response.json(
        {
          id: "72fa9618-8f89-4a37-9b33-7e1178a24a67",
          name: "file.png",
          size: 8,
          extension: "png",
          mime_type: "image/png",
        },
        { status: 201 },
      );
    }
    if (path === "/v1/workflows/run") return run(asked);
    if (path === "/v1/completion-messages") {
      expect(json).toMatchObject({ inputs: { query: "hello" } });
      return Response.json(
        { code: "app_unavailable", message: "App unavailable, please check your app configurations.", status: 400 },
        { status: 400 },
      );
    }
    expect(path).toBe("/v1/chat-messages");
    if (json.query === "cut") return sse({ event: "message", ...ids, answer: "Hello! ", created_at: 1_679_586_595 });
    expect(json).toMatchObject({ inputs: {}, query: "hello", response_mode: "streaming", auto_generate_name: false });
    expect(json).not.toHaveProperty("model");
    if (json.files)
      expect(json.files).toEqual([
        { type: "image", transfer_method: "local_file", upload_file_id: "72fa9618-8f89-4a37-9b33-7e1178a24a67" },
      ]);
    return sse(
      { event: "message", ...ids, answer: "Hello! ", created_at: 1_679_586_595 },
      { event: "message", ...ids, answer: "How can I help?", created_at: 1_679_586_595 },
      { event: "message_end", ...ids, id: ids.message_id, metadata: { usage, retriever_resources: [] } },
    );
  },
};
