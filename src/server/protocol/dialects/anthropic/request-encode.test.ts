import { describe, expect, test } from "bun:test";
import type { WireObject } from "../../chat-events";
import { translateRequest } from "../../translate";

/** A model that is told how many tokens to think. */
const MODEL = "claude-sonnet-4-5";
const call = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "1" }] };

/** A turn that goes on after a tool call, whose first block is `first`. */
const after = (first: WireObject[]) =>
  translateRequest(
    "anthropic",
    "anthropic",
    {
      model: MODEL,
      max_tokens: 4096,
      thinking: { type: "enabled", budget_tokens: 2048 },
      tools: [{ name: "f", input_schema: { type: "object", properties: {} } }],
      messages: [{ role: "user", content: "hi" }, { role: "assistant", content: [...first, call] }, result],
    },
    MODEL,
  );

describe("manual thinking after a tool call", () => {
  test.each([
    ["signed thoughts", { type: "thinking", thinking: "so", signature: "c2lnbmVk" }],
    ["redacted thoughts", { type: "redacted_thinking", data: "cmVkYWN0ZWQ=" }],
  ])("goes on where the turn begins with %s, which stay as they came", (_, block) => {
    const { body, warnings } = after([block]);
    expect(body.thinking).toEqual({ type: "enabled", budget_tokens: 2048 });
    expect(body.messages).toMatchObject([{}, { content: [block, call] }, {}]);
    expect(warnings).toEqual([]);
  });

  test("is left out, with a warning, where the turn's thoughts are lost: Anthropic would refuse it", () => {
    const { body, warnings } = after([]);
    expect(body).not.toHaveProperty("thinking");
    expect(warnings).toMatchObject([{ code: "dropped_field", detail: "reasoning after lost thoughts" }]);
  });
});
