/** Bodies of ai.google.dev/api/palm (generateMessage), read November 2026; words are ours. */
import { describe, expect, test } from "bun:test";
import { openaiChatDialect } from "../openai-chat/chat-dialect";
import { Warnings } from "../shared/warnings";
import { palmDialect } from "./dialect";

describe("PaLM", () => {
  test("instructions become the context, and two authors take turns", () => {
    const warnings = new Warnings();
    const messages = [
      { role: "system", content: "Be short." },
      { role: "user", content: "One?" },
      { role: "user", content: "Please." },
      { role: "assistant", content: "Two." },
      { role: "user", content: "Three?" },
    ];
    const prompt = openaiChatDialect.decodeRequest({
      model: "PaLM-2",
      messages,
      temperature: 0.2,
      top_p: 0.9,
      top_k: 3,
      n: 2,
      max_tokens: 5,
    });
    expect(palmDialect.encodeRequest(prompt, warnings.warn)).toEqual({
      prompt: {
        context: "Be short.",
        messages: [
          { author: "0", content: "One?\n\nPlease." },
          { author: "1", content: "Two." },
          { author: "0", content: "Three?" },
        ],
      },
      temperature: 0.2,
      topP: 0.9,
      topK: 3,
      candidateCount: 2,
    });
    expect(warnings.list).toEqual([{ code: "dropped_field", detail: "max_output" }]);
  });

  test("candidates are choices, a blocked prompt an answer without words, errors Google's", () => {
    const answer = palmDialect.decodeAnswer(
      {
        candidates: [
          { author: "1", content: "a" },
          { author: "1", content: "b" },
        ],
      },
      "id",
    );
    expect(answer?.choices.map(({ content }) => content)).toEqual([
      [{ type: "text", text: "a" }],
      [{ type: "text", text: "b" }],
    ]);
    expect(palmDialect.decodeAnswer({ filters: [{ reason: "SAFETY" }] }, "id")?.choices[0]?.finish).toEqual({
      unified: "content_filter",
      raw: "SAFETY",
    });
    expect(
      palmDialect.readError({ error: { code: 400, message: "API key not valid", status: "INVALID_ARGUMENT" } })
        ?.message,
    ).toBe("API key not valid");
    for (const body of [{}, { candidates: "x" }, { candidates: [] }])
      expect(palmDialect.decodeAnswer(body, "id")).toBeUndefined();
    const decoder = palmDialect.streamDecoder("id");
    expect([decoder.decode("<p>", []), decoder.decode("{}", []), decoder.decode("[]", [])]).toEqual([
      false,
      false,
      false,
    ]);
  });
});
