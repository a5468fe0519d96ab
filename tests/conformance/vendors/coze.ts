/** Coze's bots (docs.coze.cn/developer_guides/chat_v3; the vendor's Python SDK, tests; read November 2026). */
import { expect } from "bun:test";
import type { VendorFake } from "../vendor-fake";

const says = "It is Wednesday.";
const chat = {
  id: "7382159487131697202",
  conversation_id: "7381473525342978089",
  bot_id: "7379462189365198898",
  last_error: { code: 0, msg: "" },
};
const none = { token_count: 0, output_count: 0, input_count: 0 };
const message = {
  id: "7382159494123470858",
  conversation_id: chat.conversation_id,
  bot_id: chat.bot_id,
  role: "assistant",
  content_type: "text",
  chat_id: chat.id,
};

/** Only their names distinguish the vendor's events. */
const named = (...events: [event: string, data: object | string][]): Response =>
  new Response(events.map(([event, data]) => `event:${event}\ndata:${JSON.stringify(data)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });

export const vendor: VendorFake = {
  types: ["coze"],
  source: "docs.coze.cn/developer_guides/chat_v3 and cozepy's tests, November 2026",
  other: "7379462189365198898",
  model: "glm-4",
  chat: { says, prompt: 614, completion: 19 },
  calls: [
    {
      name: "a refusal in a 200 is judged by the vendor's number",
      path: "/v1/chat/completions",
      body: { model: "glm-4", stream: true, messages: [{ role: "user", content: "refuse" }] },
      check: ({ status }) => expect(status).toBe(502),
    },
    {
      name: "an answer that is cut before its end is none, however much of it came",
      path: "/v1/chat/completions",
      body: { model: "glm-4", messages: [{ role: "user", content: "cut" }] },
      check: ({ status, text }) => expect([status, text.includes("It is")]).toEqual([502, false]),
    },
    {
      name: "a conversation that fails before a word is an error in the vendor's words, whole and streamed",
      path: "/v1/chat/completions",
      body: { model: "glm-4", messages: [{ role: "user", content: "fail" }] },
      check: ({ status, text }) => expect([status, text]).toEqual([502, expect.stringContaining("internal trouble")]),
    },
  ],
  answer({ method, path, headers, json }) {
    expect([method, path]).toEqual(["POST", "/v3/chat"]);
    expect(headers.get("authorization")).toBe("Bearer upstream-key");
    expect(json).toMatchObject({
      bot_id: "7379462189365198898",
      user_id: "weir",
      stream: true,
      auto_save_history: false,
    });
    const [question] = json.additional_messages as { role: string; content: string }[];
    expect(question).toEqual({
      role: "user",
      type: "question",
      content: expect.any(String),
      content_type: "text",
    } as never);
    if (question?.content === "refuse")
      return Response.json({ code: 4100, msg: "authentication is invalid", detail: { logid: "2024" } });
    if (question?.content === "cut") {
      return named(
        ["conversation.chat.created", { ...chat, status: "created", usage: none }],
        ["conversation.message.completed", { ...message, type: "answer", content: "It is" }],
      );
    }
    if (question?.content === "fail") {
      return named(
        ["conversation.chat.created", { ...chat, status: "created", usage: none }],
        [
          "conversation.chat.failed",
          { ...chat, status: "failed", usage: none, last_error: { code: 5000, msg: "internal trouble" } },
        ],
        ["done", "[DONE]"],
      );
    }
    return named(
      ["conversation.chat.created", { ...chat, status: "created", usage: none }],
      ["conversation.chat.in_progress", { ...chat, status: "in_progress", usage: none }],
      ["conversation.message.delta", { ...message, type: "answer", content: "It is " }],
      ["conversation.message.delta", { ...message, type: "answer", content: "Wednesday." }],
      ["conversation.message.completed", { ...message, type: "answer", content: says }],
      [
        "conversation.message.completed",
        { ...message, type: "verbose", content: '{"msg_type":"generate_answer_finish","data":""}' },
      ],
      [
        "conversation.chat.completed",
        { ...chat, status: "completed", usage: { token_count: 633, output_count: 19, input_count: 614 } },
      ],
      ["done", "[DONE]"],
    );
  },
};
