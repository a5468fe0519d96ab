import { describe, expect, test } from "bun:test";
import type { ChatPrompt, WireObject } from "../../chat-events";
import { translateRequest } from "../../translate";
import { withCacheMarks } from "./cache-marks";

const CLAUDE = "claude-opus-4-6";
const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
const call = (id: string): WireObject => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }],
});
const result = (id: string): WireObject => ({ role: "tool", tool_call_id: id, content: "sunny" });
const system = { role: "system", content: "Be kind." };
const question = { role: "user", content: "How is it?" };

const sent = (messages: WireObject[], more: WireObject = {}): WireObject =>
  translateRequest("openai-chat", "anthropic", { messages, tools, ...more }, CLAUDE, undefined, withCacheMarks).body;

/** The paths of a body's marks. */
function marksIn(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "cache_control" ? [`${path} ${JSON.stringify(member)}`] : marksIn(member, `${path}/${name}`),
  );
}
const MARK = '{"type":"ephemeral"}';

describe("an agent's conversation for Claude", () => {
  test("is marked at its system, which covers the tools, and at its last two turns of the user", () => {
    expect(marksIn(sent([system, question]))).toEqual([`/system/0 ${MARK}`, `/messages/0/content/0 ${MARK}`]);
    const turns = [system, question, call("a"), result("a"), call("b"), result("b")];
    expect(marksIn(sent(turns))).toEqual([
      `/system/0 ${MARK}`,
      `/messages/2/content/0 ${MARK}`,
      `/messages/4/content/0 ${MARK}`,
    ]);
  });

  test("begins in every turn with what the turn before has written", () => {
    const before = sent([system, question, call("a"), result("a")]);
    const after = sent([system, question, call("a"), result("a"), call("b"), result("b")]);
    const place = marksIn(before).at(-1);
    expect(marksIn(after)).toContain(place ?? "none");
  });

  test("is marked at its last tool where there is no system", () => {
    expect(marksIn(sent([question]))).toEqual([`/tools/0 ${MARK}`, `/messages/0/content/0 ${MARK}`].toSorted());
  });

  test("keeps the caller's own marks and gets no others", () => {
    const own = [
      { role: "user", content: [{ type: "text", text: "q", cache_control: { type: "ephemeral", ttl: "1h" } }] },
    ];
    expect(marksIn(sent([system, ...own]))).toEqual(['/messages/0/content/0 {"type":"ephemeral","ttl":"1h"}']);
    const prompt: ChatPrompt = { model: CLAUDE, messages: [], cache: { ttl: "1h" } };
    expect(withCacheMarks(prompt)).toBe(prompt);
  });

  test("has no mark on an empty text, which Anthropic refuses, and at most four", () => {
    const empty = {
      role: "user",
      content: [
        { type: "text", text: "q" },
        { type: "text", text: "" },
      ],
    };
    const body = sent([system, question, call("a"), result("a"), empty]);
    for (const place of marksIn(body)) expect(place).not.toContain('"text":""');
    expect(marksIn(body).length).toBeLessThanOrEqual(4);
    expect(marksIn(sent([empty], { tools: undefined }))).toEqual([`/messages/0/content/0 ${MARK}`]);
  });
});
