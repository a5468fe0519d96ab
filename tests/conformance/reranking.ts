/** Reranking and embeddings of vendors whose format is passed through: the same call to each, with its own answer. */
import { expect } from "bun:test";
import type { Asked, VendorCall } from "./vendor-fake";

const asked = {
  query: "Which city?",
  documents: ["Carson City", "Washington"],
  top_n: 1,
  return_documents: true,
};
const results = [{ index: 1, relevance_score: 0.92, document: { text: "Washington" } }];

/** A rerank response; `more` contains the vendor's usage. */
export function reranked({ json }: Asked, model: string, more: object): Response {
  expect(json).toEqual({ model, ...asked });
  return Response.json({ ...more, results });
}

export const rerankCall = (model: string, prompt: number): VendorCall => ({
  name: "reranking passes on as it is, charged by what the vendor counts",
  path: "/v1/rerank",
  body: { model, ...asked },
  usage: { prompt, completion: 0 },
  check: ({ status, json }) => expect([status, json.results]).toEqual([200, results]),
});

/** An embeddings response in OpenAI's format. */
export function embedded({ json }: Asked, model: string, usage: object): Response {
  expect(json).toMatchObject({ model, input: ["one"] });
  return Response.json({
    model,
    object: "list",
    usage,
    data: [{ object: "embedding", index: 0, embedding: [0.25, -0.5] }],
  });
}

export const embeddingCall = (model: string, prompt: number, more: object = {}): VendorCall => ({
  name: "embeddings pass on as they are, the vendor's own members with them",
  path: "/v1/embeddings",
  body: { model, input: ["one"], ...more },
  usage: { prompt, completion: 0 },
  check: ({ status, json }) =>
    expect([status, json.data]).toEqual([200, [{ object: "embedding", index: 0, embedding: [0.25, -0.5] }]]),
});
