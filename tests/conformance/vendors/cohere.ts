/** Cohere's v2 (docs.cohere.com/reference: chat, embed, rerank; docs/v2/docs/streaming; read November 2026). */
import { expect } from "bun:test";
import { type Asked, namedSse, type VendorFake } from "../vendor-fake";

const says = "Hello! How may I assist you today?";
const usage = { billed_units: { input_tokens: 2, output_tokens: 9 }, tokens: { input_tokens: 68, output_tokens: 9 } };

function embed({ json }: Asked): Response {
  expect(json).toEqual({
    model: "embed-v4.0",
    texts: ["one", "two"],
    input_type: "search_query",
    embedding_types: ["float"],
    output_dimension: 256,
  });
  const embeddings = {
    float: [
      [0.016, -0.008],
      [0.5, 0.25],
    ],
  };
  return Response.json({
    response_type: "embeddings_by_type",
    id: "da6e531f",
    embeddings,
    texts: ["one", "two"],
    meta: { api_version: { version: "2" }, billed_units: { input_tokens: 6 } },
  });
}

function rerank({ json }: Asked): Response {
  expect(json).toEqual({
    model: "rerank-v3.5",
    query: "Which?",
    documents: ["Carson City", "Washington", '{"title":"x"}'],
    top_n: 2,
  });
  const results = [
    { index: 1, relevance_score: 0.999 },
    { index: 0, relevance_score: 0.327 },
  ];
  return Response.json({
    id: "07734bd2",
    results,
    meta: { api_version: { version: "2" }, billed_units: { search_units: 1 } },
  });
}

export const vendor: VendorFake = {
  types: ["cohere"],
  source: "docs.cohere.com/reference (v2), November 2026",
  model: "command-a-03-2025",
  chat: { says, prompt: 2, completion: 9 },
  refusal: { model: "unknown", kind: "caller_mistake", message: "model 'unknown' not found" },
  calls: [
    {
      name: "embeddings come in OpenAI's shape, counted as billed",
      path: "/v1/embeddings",
      body: { model: "embed-v4.0", input: ["one", "two"], dimensions: 256, input_type: "search_query" },
      usage: { prompt: 6, completion: 0 },
      check({ status, json }) {
        expect(status).toBe(200);
        expect(json).toEqual({
          object: "list",
          model: "embed-v4.0",
          usage: { prompt_tokens: 6, total_tokens: 6 },
          data: [
            { object: "embedding", index: 0, embedding: [0.016, -0.008] },
            { object: "embedding", index: 1, embedding: [0.5, 0.25] },
          ],
        });
      },
    },
    {
      name: "tokens instead of text cannot be embedded: the caller is told which member",
      path: "/v1/embeddings",
      body: { model: "embed-v4.0", input: [[1, 2, 3]] },
      check({ status, json }) {
        expect(status).toBe(400);
        expect(json.error).toMatchObject({ param: "input" });
      },
    },
    {
      name: "reranking takes documents of any form, and gives them back to who asks for them",
      path: "/v1/rerank",
      body: {
        model: "rerank-v3.5",
        query: "Which?",
        documents: ["Carson City", { text: "Washington" }, { title: "x" }],
        top_n: 2,
        return_documents: true,
      },
      check({ status, json }) {
        expect(status).toBe(200);
        expect(json).toMatchObject({
          model: "rerank-v3.5",
          results: [
            { index: 1, relevance_score: 0.999, document: { text: "Washington" } },
            { index: 0, relevance_score: 0.327, document: { text: "Carson City" } },
          ],
        });
      },
    },
  ],
  answer(asked) {
    const { method, path, headers, json } = asked;
    expect(method).toBe("POST");
    expect(headers.get("authorization")).toBe("Bearer upstream-key");
    if (path === "/v2/embed") return embed(asked);
    if (path === "/v2/rerank") return rerank(asked);
    expect(path).toBe("/v2/chat");
    if (json.model === "unknown")
      return Response.json({ id: "0a1b", message: "model 'unknown' not found" }, { status: 404 });
    expect(json).toMatchObject({ model: "command-a-03-2025", messages: [{ role: "user", content: "hello" }] });
    if (json.stream !== true) {
      const message = { role: "assistant", content: [{ type: "text", text: says }] };
      return Response.json({
        id: "c14c80c3-18eb-4519-9460-6c92edd8cfb4",
        finish_reason: "COMPLETE",
        message,
        usage,
        logprobs: [],
      });
    }
    return namedSse(
      {
        id: "c14c80c3-18eb-4519-9460-6c92edd8cfb4",
        type: "message-start",
        delta: { message: { role: "assistant", content: [], tool_plan: "", tool_calls: [], citations: [] } },
      },
      { type: "content-start", index: 0, delta: { message: { content: { type: "text", text: "" } } } },
      { type: "content-delta", index: 0, delta: { message: { content: { text: "Hello! " } } } },
      { type: "content-delta", index: 0, delta: { message: { content: { text: "How may I assist you today?" } } } },
      { type: "content-end", index: 0 },
      { type: "message-end", delta: { finish_reason: "COMPLETE", usage } },
    );
  },
};
