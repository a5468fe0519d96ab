/** Shapes of the vendor's public clients, read November 2026; words are ours. */
import { describe, expect, test } from "bun:test";
import { openaiChatDialect } from "../openai-chat/chat-dialect";
import { Warnings } from "../shared/warnings";
import { aiproxyLibraryDialect } from "./dialect";

describe("AI Proxy's knowledge bases", () => {
  test("are asked the last question alone, and it is noted what was left out", () => {
    const warnings = new Warnings();
    const messages = [
      { role: "user", content: "One?" },
      { role: "assistant", content: "Two." },
      { role: "user", content: "Three?" },
    ];
    const prompt = openaiChatDialect.decodeRequest({ model: "gpt-3.5-turbo", messages, stream: true });
    expect(aiproxyLibraryDialect.encodeRequest(prompt, warnings.warn)).toEqual({
      model: "gpt-3.5-turbo",
      query: "Three?",
      stream: true,
    });
    expect(warnings.list).toEqual([{ code: "dropped_block", detail: "messages before the question" }]);
  });

  test("answer with the documents that they know it from", () => {
    const body = {
      success: true,
      answer: "Two [1]",
      documents: [{ title: "Notes", url: "https://docs.example/notes" }],
      errCode: 0,
      message: "",
    };
    expect(aiproxyLibraryDialect.decodeAnswer(body, "id")?.choices[0]?.content).toMatchObject([
      { type: "text", text: "Two [1]", citations: [{ url: "https://docs.example/notes", title: "Notes" }] },
    ]);
    expect(aiproxyLibraryDialect.readError(body)).toBeUndefined();
  });

  test("refuse with a message; strange bodies are neither answer nor error", () => {
    const refused = { success: false, errCode: 10001, message: "no such library" };
    expect(aiproxyLibraryDialect.decodeAnswer(refused, "id")).toBeUndefined();
    expect(aiproxyLibraryDialect.readError(refused)).toEqual({
      message: "no such library",
      type: "",
      code: "10001",
      param: null,
    });
    for (const body of [{}, { answer: 7 }, null, []]) expect(aiproxyLibraryDialect.readError(body)).toBeUndefined();
    const decoder = aiproxyLibraryDialect.streamDecoder("id");
    expect([decoder.decode("<p>", []), decoder.decode("{}", []), decoder.decode("[DONE]", [])]).toEqual([
      false,
      false,
      true,
    ]);
  });
});
