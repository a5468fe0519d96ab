import { describe, expect, test } from "bun:test";
import type { WireObject } from "../../chat-events";
import { translateRequest } from "../../translate";
import type { UpstreamDialectKey } from "../vendor-dialects";

const parameters = { type: "object", properties: { city: { type: "string" } } };
const call = (city: string): WireObject => ({ functionCall: { name: "weather", args: { city } } });
const answered = (city: string): WireObject => ({
  functionResponse: { name: "weather", response: { output: `${city}: sunny` } },
});

/**
 * What `ai.chats` of @google/genai 3.1 sends as history of a streamed turn: one content for each chunk, an empty text
 * in the last (recorded from the SDK, November 2026).
 */
const chunked: WireObject = {
  contents: [
    { role: "user", parts: [{ text: "Oslo" }] },
    { role: "user", parts: [{ text: " and Rome?" }] },
    { role: "model", parts: [{ text: "I look." }] },
    { role: "model", parts: [call("Oslo")] },
    { role: "model", parts: [call("Rome")] },
    { role: "model", parts: [{ text: "" }] },
    { role: "user", parts: [answered("Oslo")] },
    { role: "user", parts: [answered("Rome")] },
  ],
  tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: parameters }] }],
};

const to = (dialect: UpstreamDialectKey, model = "m"): { body: WireObject; warnings: unknown[] } =>
  translateRequest("gemini", dialect, chunked, model);

/** The roles of a body's messages, and how many calls and results stand in each. */
const shape = (messages: unknown, calls: RegExp, results: RegExp): unknown[] =>
  (messages as WireObject[]).map((message) => {
    const text = JSON.stringify(message);
    const count = (pattern: RegExp): number => text.match(pattern)?.length ?? 0;
    return [message.role, count(calls), count(results)];
  });

describe("a history of one message for each piece of a stream", () => {
  test("is whole turns in chat, with the results right after their calls", () => {
    const { body, warnings } = to("openai-chat");
    expect(body.messages).toMatchObject([
      {
        role: "user",
        content: "Oslo\n\n and Rome?",
      },
      {
        role: "assistant",
        content: "I look.",
        tool_calls: [
          { function: { name: "weather", arguments: '{"city":"Oslo"}' } },
          { function: { name: "weather", arguments: '{"city":"Rome"}' } },
        ],
      },
      { role: "tool", content: "Oslo: sunny" },
      { role: "tool", content: "Rome: sunny" },
    ]);
    expect(warnings).toEqual([]);
  });

  test("has every call's result after it in Responses", () => {
    const items = to("openai-responses").body.input as WireObject[];
    expect(items.map(({ type }) => type)).toEqual([
      "message",
      "message",
      "function_call",
      "function_call",
      "function_call_output",
      "function_call_output",
    ]);
  });

  test.each([
    ["anthropic", /"tool_use"/g, /"tool_result"/g],
    ["bedrock", /"toolUse"/g, /"toolResult"/g],
    ["mistral", /"function":/g, /"role":"tool"/g],
    ["cohere", /"function":/g, /"role":"tool"/g],
  ] as const)("is whole turns for %s", (dialect, calls, results) => {
    const turns = shape(to(dialect).body.messages, calls, results);
    const assistants = turns.filter((turn) => Array.isArray(turn) && turn[0] === "assistant");
    expect(assistants).toEqual([["assistant", 2, 0]]);
    expect(
      turns.flatMap((turn) => (Array.isArray(turn) ? [turn[2] as number] : [])).reduce((sum, n) => sum + n, 0),
    ).toBe(2);
  });

  test("of another dialect is whole turns in Gemini", () => {
    const { body } = translateRequest(
      "openai-responses",
      "gemini",
      {
        input: [
          { role: "user", content: "one" },
          { role: "user", content: "two" },
          { role: "assistant", content: [{ type: "output_text", text: "a" }] },
          { role: "assistant", content: [{ type: "output_text", text: "b" }] },
        ],
      },
      "gemini-3-pro",
    );
    expect(body.contents).toMatchObject([
      { role: "user", parts: [{ text: "one" }, { text: "two" }] },
      { role: "model", parts: [{ text: "a" }, { text: "b" }] },
    ]);
  });
});

describe("a result that comes after other words", () => {
  const messages = [
    { role: "user", content: "Oslo?" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "call_1", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "system", content: "Hurry." },
    { role: "user", content: "And?" },
    { role: "tool", tool_call_id: "call_1", content: "sunny" },
  ];

  test("stands right after its call for every vendor, with a warning", () => {
    const { body, warnings } = translateRequest("openai-chat", "anthropic", { messages }, "claude-opus-4-6");
    const turns = body.messages as { role: string; content: WireObject[] }[];
    expect(turns.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(turns[2]?.content[0]).toMatchObject({ type: "tool_result", tool_use_id: "call_1" });
    expect(warnings).toContainEqual({ code: "changed_order", detail: "tool_result" });
    const responses = translateRequest("openai-chat", "openai-responses", { messages }, "gpt-5.5").body.input;
    expect((responses as WireObject[]).map(({ type }) => type).slice(1, 3)).toEqual([
      "function_call",
      "function_call_output",
    ]);
  });

  test("stays where the caller put it for a vendor of the caller's own dialect", () => {
    expect(translateRequest("openai-chat", "openai-chat", { messages }, "gpt-4o").body.messages).toMatchObject(
      messages,
    );
  });
});
