/** The vendors' own search of the web, from every caller's words to every vendor who runs one. */
import { describe, expect, test } from "bun:test";
import { type DialectKey, dialectKeys } from "../../chat-events";
import { translateRequest } from "../../translate";

/**
 * A search as each vendor's documents write it, restricted to two sites, with the place of the user where they take it.
 */
const place = { type: "approximate", country: "GB", city: "London", region: "London", timezone: "Europe/London" };
const { type: _, ...spot } = place;
const calls: Readonly<Record<DialectKey, Record<string, unknown>>> = {
  "openai-chat": {
    messages: [{ role: "user", content: "news?" }],
    web_search_options: { search_context_size: "low", user_location: { type: "approximate", approximate: spot } },
  },
  "openai-responses": {
    input: "news?",
    tools: [{ type: "web_search", filters: { allowed_domains: ["a.example", "b.example"] }, user_location: place }],
  },
  anthropic: {
    max_tokens: 4096,
    messages: [{ role: "user", content: "news?" }],
    tools: [
      {
        type: "web_search_20250305",
        name: "web_search",
        max_uses: 3,
        allowed_domains: ["a.example", "b.example"],
        user_location: place,
      },
    ],
  },
  gemini: { contents: [{ role: "user", parts: [{ text: "news?" }] }], tools: [{ googleSearch: {} }] },
};

function asked(from: DialectKey, to: DialectKey, more: Record<string, unknown> = {}) {
  const { body, warnings } = translateRequest(from, to, { model: "m", ...calls[from], ...more }, "m", { model: "m" });
  return {
    body,
    tools: body.tools,
    lost: warnings.filter(({ detail }) => detail !== "m").map(({ code, detail }) => `${code} ${detail}`),
  };
}

describe("a search of the web", () => {
  const sites = ["a.example", "b.example"];

  test("reaches Anthropic with its sites and its place, as far as the caller says them", () => {
    const own = { type: "web_search_20250305", name: "web_search" };
    expect(asked("openai-responses", "anthropic").tools).toEqual([
      { ...own, allowed_domains: sites, user_location: place },
    ]);
    expect(asked("openai-chat", "anthropic").tools).toEqual([{ ...own, user_location: place }]);
    expect(asked("gemini", "anthropic").tools).toEqual([own]);
  });

  test("reaches OpenAI's Responses; what they have no word for is a warning", () => {
    const toResponses = asked("anthropic", "openai-responses");
    expect(toResponses.tools).toEqual([
      { type: "web_search", filters: { allowed_domains: sites }, user_location: place },
    ]);
    expect(toResponses.lost).toEqual(["dropped_field web_search.most"]);
    expect(asked("openai-chat", "openai-responses").tools).toEqual([{ type: "web_search", user_location: place }]);
    expect(asked("gemini", "openai-responses").tools).toEqual([{ type: "web_search" }]);
  });

  test("reaches Gemini without anything beside it", () => {
    for (const from of ["anthropic", "openai-responses", "openai-chat"] as const)
      expect(asked(from, "gemini").tools).toEqual([{ googleSearch: {} }]);
    expect(asked("anthropic", "gemini").lost).toEqual([
      "dropped_field web_search.allowed",
      "dropped_field web_search.most",
      "dropped_field web_search.place",
    ]);
  });

  test("is left out with a warning where functions stand beside it that Gemini refuses, and for OpenAI's chat, which has no such tool", () => {
    const lookup = { name: "lookup", input_schema: { type: "object", properties: { q: { type: "string" } } } };
    const both = asked("anthropic", "gemini", { tools: [lookup, { type: "web_search_20250305", name: "web_search" }] });
    expect(JSON.stringify(both.tools)).not.toContain("googleSearch");
    expect(both.lost).toEqual(["dropped_tool web_search_20250305"]);
    const chat = asked("anthropic", "openai-chat");
    expect([chat.tools, chat.lost]).toEqual([undefined, ["dropped_tool web_search_20250305"]]);
  });

  test.each(dialectKeys.map((key) => [key]))("%s keeps its own as it is", (key) => {
    const { body } = asked(key, key);
    const { tools, web_search_options } = calls[key];
    expect([body.tools, body.web_search_options]).toEqual([tools, web_search_options]);
  });

  test("other tools of a vendor's own stay a warning", () => {
    expect(
      asked("openai-responses", "anthropic", { tools: [{ type: "file_search", vector_store_ids: ["v"] }] }),
    ).toMatchObject({ tools: undefined, lost: ["dropped_tool file_search"] });
    expect(asked("gemini", "openai-responses", { tools: [{ codeExecution: {} }] })).toMatchObject({
      lost: ["dropped_tool codeExecution"],
    });
    expect(asked("anthropic", "gemini", { tools: [{ type: "web_search_tomorrow", name: "web_search" }] }).lost).toEqual(
      ["dropped_tool web_search_tomorrow"],
    );
  });
});
