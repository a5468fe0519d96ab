/** Bodies of docs.coze.cn (chat_v3) and of the vendor's Python SDK's tests, read November 2026; words are ours. */
import { describe, expect, test } from "bun:test";
import type { WireObject } from "../../chat-events";
import { openaiChatDialect } from "../openai-chat/chat-dialect";
import { Warnings } from "../shared/warnings";
import { cozeDialect } from "./dialect";

function encode(body: WireObject): { body: WireObject; warnings: string[] } {
  const warnings = new Warnings();
  const encoded = cozeDialect.encodeRequest(openaiChatDialect.decodeRequest(body), warnings.warn);
  return { body: encoded, warnings: warnings.list.map(({ code, detail }) => `${code} ${detail}`) };
}
const chat = {
  id: "7382159487131697202",
  conversation_id: "738147",
  bot_id: "7379",
  created_at: 1718792940,
  last_error: { code: 0, msg: "" },
  status: "completed",
  usage: { token_count: 633, output_count: 19, input_count: 614 },
};

describe("a request to Coze", () => {
  test("a conversation goes in two roles, streamed and not kept", () => {
    const messages = [
      { role: "system", content: "Be short." },
      { role: "user", content: "One?" },
      { role: "assistant", content: "Two." },
      { role: "user", content: "Three?" },
    ];
    const { body, warnings } = encode({ model: "bot", messages, user: "u-1", temperature: 0 });
    expect(body).toEqual({
      user_id: "u-1",
      stream: true,
      auto_save_history: false,
      additional_messages: [
        { role: "user", type: "question", content: "Be short.", content_type: "text" },
        { role: "user", type: "question", content: "One?", content_type: "text" },
        { role: "assistant", type: "answer", content: "Two.", content_type: "text" },
        { role: "user", type: "question", content: "Three?", content_type: "text" },
      ],
    });
    expect(warnings).toEqual(["dropped_field temperature"]);
  });

  test("a caller chooses neither the bot nor another's conversation; variables are its own", () => {
    const messages = [{ role: "user", content: "One?" }];
    const { body, warnings } = encode({
      model: "bot",
      messages,
      conversation_id: "c-1",
      bot_id: "b-2",
      user_id: "u",
      auto_save_history: true,
      custom_variables: { city: "Rome" },
    });
    expect(body).toMatchObject({ auto_save_history: false, custom_variables: { city: "Rome" }, user_id: "weir" });
    expect(body).not.toHaveProperty("conversation_id");
    expect(body).not.toHaveProperty("bot_id");
    expect(warnings.sort()).toEqual([
      "dropped_field auto_save_history",
      "dropped_field bot_id",
      "dropped_field conversation_id",
      "dropped_field user_id",
    ]);
  });

  test("pictures go by their address inside the text; bytes are left out, and it is noted", () => {
    const parts = [
      { type: "text", text: "See" },
      { type: "image_url", image_url: { url: "https://x.example/a.png" } },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    ];
    const { body, warnings } = encode({ model: "bot", messages: [{ role: "user", content: parts }] });
    const content = JSON.stringify([
      { type: "text", text: "See" },
      { type: "image", file_url: "https://x.example/a.png" },
    ]);
    expect(body.additional_messages).toEqual([
      { role: "user", type: "question", content, content_type: "object_string" },
    ]);
    expect(warnings).toEqual(["dropped_block image by data"]);
  });
});

describe("an answer of Coze", () => {
  const message = (type: string, content: string, more: WireObject = {}) => ({
    event: "conversation.message.completed",
    data: { role: "assistant", type, content, content_type: "text", ...more },
  });

  test("answers are read with thoughts and usage; what the bot did and proposes is not", () => {
    const events = [
      message("function_call", "{}"),
      message("answer", "Wednesday.", { reasoning_content: "Hm." }),
      message("follow_up", "And then?"),
      { event: "conversation.chat.completed", data: chat },
    ];
    expect(cozeDialect.decodeAnswer({ events }, "id")).toEqual({
      id: chat.id,
      model: "",
      created: 1718792940,
      usage: { input: 614, output: 19 },
      choices: [
        {
          index: 0,
          content: [
            { type: "reasoning", text: "Hm." },
            { type: "text", text: "Wednesday." },
          ],
          finish: { unified: "stop", raw: "completed" },
        },
      ],
    });
  });

  test("a failed conversation, an error event and a refusal are errors", () => {
    const failed = {
      events: [{ event: "conversation.chat.failed", data: { ...chat, last_error: { code: 5000, msg: "broke" } } }],
    };
    expect(cozeDialect.decodeAnswer(failed, "id")).toBeUndefined();
    expect(cozeDialect.readError(failed)).toMatchObject({ message: "broke", code: "5000" });
    expect(cozeDialect.readError({ events: [{ event: "error", data: { code: 4000, msg: "bad" } }] })).toMatchObject({
      message: "bad",
      code: "4000",
    });
    expect(cozeDialect.readError({ code: 4100, msg: "authentication is invalid", detail: { logid: "x" } })).toEqual({
      message: "authentication is invalid",
      type: "authentication_error",
      code: "4100",
      param: null,
    });
  });

  test("strange bodies are neither answer nor error", () => {
    for (const body of [
      {},
      { code: 0, msg: "" },
      { events: [] },
      { events: "x" },
      { events: [message("answer", "cut")] },
    ]) {
      expect(cozeDialect.decodeAnswer(body, "id")).toBeUndefined();
      expect(cozeDialect.readError(body)).toBeUndefined();
    }
    const decoder = cozeDialect.streamDecoder("id");
    expect([
      decoder.decode("<p>", []),
      decoder.decode("7", []),
      decoder.decode("{}", []),
      decoder.decode('{"event":"new","data":1}', []),
    ]).toEqual([false, false, false, true]);
  });
});
