/**
 * ChatGPT's Codex service (github.com/openai/codex, codex-rs/core;
 * platform.openai.com/docs/api-reference/responses-streaming; November 2026).
 */
import { expect } from "bun:test";
import { namedSse, type VendorFake } from "../vendor-fake";

const says = "Hi there! How can I assist you today?";
const item = {
  id: "msg_1",
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: says, annotations: [] }],
};
const response = {
  id: "resp_1",
  object: "response",
  created_at: 1_741_290_958,
  status: "in_progress",
  model: "gpt-5.1-codex",
  output: [],
  usage: null,
};
const usage = {
  input_tokens: 37,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 11,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 48,
};
const known = [
  "include",
  "input",
  "instructions",
  "model",
  "parallel_tool_calls",
  "reasoning",
  "store",
  "stream",
  "text",
  "tool_choice",
  "tools",
];

export const vendor: VendorFake = {
  types: ["codex"],
  source: "github.com/openai/codex codex-rs/core/src/client.rs, November 2026",
  key: JSON.stringify({ access_token: "my-access-token", account_id: "my-account" }),
  model: "gpt-5.1-codex",
  chat: { says, prompt: 37, completion: 11 },
  refusal: { model: "gpt-4o", kind: "caller_mistake", message: "The 'gpt-4o' model is not supported" },
  answer({ path, headers, json }) {
    expect(path).toBe("/backend-api/codex/responses");
    expect(headers.get("authorization")).toBe("Bearer my-access-token");
    expect(headers.get("chatgpt-account-id")).toBe("my-account");
    expect(headers.get("accept")).toBe("text/event-stream");
    if (json.model === "gpt-4o") {
      return Response.json(
        { detail: "The 'gpt-4o' model is not supported when using Codex with a ChatGPT account." },
        { status: 400 },
      );
    }
    expect(json).toMatchObject({
      model: "gpt-5.1-codex",
      stream: true,
      store: false,
      instructions: expect.stringMatching(/./),
    });
    expect(Object.keys(json).filter((name) => !known.includes(name))).toEqual([]);
    expect(JSON.stringify(json.input)).not.toContain('"role":"system"');
    // The last event repeats no items.
    return namedSse(
      { type: "response.created", response },
      { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
      {
        type: "response.content_part.added",
        item_id: "msg_1",
        output_index: 0,
        content_index: 0,
        part: { type: "output_text", text: "", annotations: [] },
      },
      { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: says },
      { type: "response.output_text.done", item_id: "msg_1", output_index: 0, content_index: 0, text: says },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { ...response, status: "completed", usage } },
    );
  },
  calls: [
    {
      name: "what the service does not take stays away, and a system's words in the middle become a developer's",
      path: "/v1/chat/completions",
      body: {
        model: "gpt-5.1-codex",
        temperature: 0.2,
        max_tokens: 100,
        user: "u",
        metadata: { a: "b" },
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "hello" },
          { role: "system", content: "And kind." },
          { role: "user", content: "?" },
        ],
      },
      check: ({ status, json }) =>
        expect([status, json]).toMatchObject([200, { choices: [{ message: { content: says } }] }]),
      usage: { prompt: 37, completion: 11 },
    },
  ],
};
