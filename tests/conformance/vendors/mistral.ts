/**
 * Mistral: OpenAI's shape, unknown members refused, thoughts among the content (docs.mistral.ai/api, read November
 * 2026).
 */
import { expect } from "bun:test";
import { embedded, embeddingCall } from "../reranking";
import { sse, type VendorFake } from "../vendor-fake";

const says = "Hello! How can I help you today?";
const usage = { prompt_tokens: 5, completion_tokens: 93, total_tokens: 98 };
const known = new Set([
  "model",
  "messages",
  "temperature",
  "top_p",
  "max_tokens",
  "stream",
  "stop",
  "random_seed",
  "response_format",
  "tools",
  "tool_choice",
  "presence_penalty",
  "frequency_penalty",
  "n",
  "parallel_tool_calls",
  "reasoning_effort",
  "metadata",
]);
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: "cmpl-e5cc",
  object: "chat.completion.chunk",
  created: 1_702_256_327,
  model: "mistral-medium-latest",
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});
const thoughts = [
  { type: "thinking", thinking: [{ type: "text", text: "Hm." }] },
  { type: "text", text: says },
];

export const vendor: VendorFake = {
  types: ["mistral"],
  source: "docs.mistral.ai/api (chat completions, embeddings) and docs/capabilities/reasoning, November 2026",
  model: "mistral-medium-latest",
  chat: { says, prompt: 5, completion: 93 },
  refusal: { model: "invalid-model", kind: "caller_mistake", message: "Invalid model: invalid-model" },
  calls: [
    {
      name: "members that Mistral refuses are left out or said in its words, and foreign ids of calls become ids of its own",
      path: "/v1/chat/completions",
      body: {
        model: "tools",
        user: "u",
        seed: 7,
        logprobs: true,
        stream_options: { include_usage: true },
        stream: true,
        store: false,
        reasoning_effort: "medium",
        messages: [
          { role: "developer", content: "Be short." },
          { role: "user", content: "Weather?" },
          {
            role: "assistant",
            content: null,
            reasoning_content: "Hm.",
            tool_calls: [{ id: "call_long_and_foreign_1", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "call_long_and_foreign_1", content: "24" },
        ],
        tools: [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }],
      },
      check: ({ status, text }) => expect([status, text]).toEqual([200, expect.stringContaining("[DONE]")]),
    },
    {
      name: "thoughts among the content reach an OpenAI caller beside a content of text, whole",
      path: "/v1/chat/completions",
      body: { model: "magistral-medium-latest", messages: [{ role: "user", content: "hello" }] },
      check: ({ json }) =>
        expect(json.choices).toMatchObject([{ message: { content: says, reasoning_content: "Hm." } }]),
    },
    {
      name: "and streamed",
      path: "/v1/chat/completions",
      body: { model: "magistral-medium-latest", stream: true, messages: [{ role: "user", content: "hello" }] },
      check({ text }) {
        expect(text).toContain('"reasoning_content":"Hm."');
        expect(text).not.toContain("thinking");
      },
    },
    embeddingCall("mistral-embed", 15, { user: "u", dimensions: 2 }),
  ],
  answer(asked) {
    const { method, path, headers, json } = asked;
    expect(method).toBe("POST");
    expect(headers.get("authorization")).toBe("Bearer upstream-key");
    if (path === "/v1/embeddings") {
      expect(json).toEqual({ model: "mistral-embed", input: ["one"], output_dimension: 2 });
      return embedded(asked, "mistral-embed", { prompt_tokens: 15, total_tokens: 15, completion_tokens: 0 });
    }
    expect(path).toBe("/v1/chat/completions");
    if (json.model === "invalid-model") {
      return Response.json(
        { object: "error", message: "Invalid model: invalid-model", type: "invalid_model", param: null, code: "1500" },
        { status: 400 },
      );
    }
    expect(Object.keys(json).filter((name) => !known.has(name))).toEqual([]);
    const magistral = json.model === "magistral-medium-latest";
    if (json.model === "tools") {
      const messages = json.messages as Record<string, unknown>[];
      const [call] = (messages[2]?.tool_calls ?? []) as { id: string }[];
      expect(call?.id).toMatch(/^[a-zA-Z0-9]{9}$/);
      expect(messages).toEqual([
        { role: "system", content: "Be short." },
        { role: "user", content: "Weather?" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: call?.id, type: "function", function: { name: "f", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: call?.id, content: "24" },
      ]);
      expect(json).toMatchObject({ random_seed: 7, reasoning_effort: "high" });
    }
    if (json.stream !== true) {
      const message = { role: "assistant", content: magistral ? thoughts : says, tool_calls: null };
      return Response.json({
        id: "cmpl-e5cc",
        object: "chat.completion",
        created: 1_702_256_327,
        model: json.model,
        choices: [{ index: 0, message, finish_reason: "stop" }],
        usage,
      });
    }
    const first = magistral
      ? chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm." }] }] })
      : chunk({ content: "" });
    return sse(
      chunk({ role: "assistant", content: "" }),
      first,
      chunk({ content: says }),
      chunk({ content: "" }, "stop", { usage }),
      "[DONE]",
    );
  },
};
