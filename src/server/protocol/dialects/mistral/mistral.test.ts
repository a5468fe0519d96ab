/** Bodies of docs.mistral.ai/api (chat completions, errors), read November 2026; words are ours. */
import { describe, expect, test } from "bun:test";
import { openaiChatDialect } from "../openai-chat/chat-dialect";
import { Warnings } from "../shared/warnings";
import { mistralDialect } from "./dialect";

describe("Mistral", () => {
  test("a choice among some tools shows no others, and what it does not know is noted", () => {
    const warnings = new Warnings();
    const tool = (name: string) => ({ type: "function", function: { name, parameters: { type: "object" } } });
    const allowed_tools = { mode: "required", tools: [{ type: "function", function: { name: "b" } }] };
    const body = {
      model: "m",
      messages: [{ role: "user", content: "x" }],
      tools: [tool("a"), tool("b")],
      tool_choice: { type: "allowed_tools", allowed_tools },
      user: "u",
      top_k: 3,
    };
    const encoded = mistralDialect.encodeRequest(openaiChatDialect.decodeRequest(body), warnings.warn);
    expect(encoded).toMatchObject({ tools: [tool("b")], tool_choice: "required" });
    expect(warnings.list.map(({ detail }) => detail).sort()).toEqual(["top_k", "user"]);
  });

  test("its own ids of calls stay; a foreign one is the same nine characters in call and result", () => {
    const turn = (id: string) => [
      { role: "assistant", tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }] },
      { role: "tool", tool_call_id: id, content: "1" },
    ];
    const messages = [...turn("D681PevKs"), ...turn("toolu_01A09q90qw90lq917835lq9"), ...turn("")];
    const { messages: sent } = mistralDialect.encodeRequest(
      openaiChatDialect.decodeRequest({ model: "m", messages }),
      () => undefined,
    );
    const ids = (sent as { tool_calls?: { id: string }[]; tool_call_id?: string }[]).map(
      (one) => one.tool_call_id ?? one.tool_calls?.[0]?.id,
    );
    expect(ids.slice(0, 2)).toEqual(["D681PevKs", "D681PevKs"]);
    expect(ids[2]).toBe(ids[3]);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(new Set(ids).size).toBe(3);
  });

  test("a refused member is named in the error", () => {
    const detail = [
      { type: "extra_forbidden", loc: ["body", "store"], msg: "Extra inputs are not permitted", input: true },
    ];
    for (const body of [{ detail }, { object: "error", message: { detail }, type: "invalid_request_error" }]) {
      expect(mistralDialect.readError(body)).toMatchObject({
        message: "store: Extra inputs are not permitted",
        type: "invalid_request_error",
      });
    }
    expect(mistralDialect.readError({ message: "Unauthorized", request_id: "x" })?.message).toBe("Unauthorized");
    for (const body of [null, {}, [], "x"]) expect(mistralDialect.readError(body)).toBeUndefined();
  });
});
