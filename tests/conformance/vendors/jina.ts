/** Jina's embeddings and reranker (api.jina.ai/redoc, read November 2026). */
import { expect } from "bun:test";
import { embedded, embeddingCall, rerankCall, reranked } from "../reranking";
import type { VendorFake } from "../vendor-fake";

export const vendor: VendorFake = {
  types: ["jina"],
  source: "api.jina.ai/redoc, November 2026",
  model: "jina-embeddings-v3",
  calls: [
    embeddingCall("jina-embeddings-v3", 6, { task: "text-matching", late_chunking: false }),
    rerankCall("jina-reranker-v2-base-multilingual", 38),
  ],
  answer(asked) {
    const { method, path, headers, json } = asked;
    expect(method).toBe("POST");
    expect(headers.get("authorization")).toBe("Bearer upstream-key");
    if (path === "/v1/rerank") {
      return reranked(asked, "jina-reranker-v2-base-multilingual", {
        model: "jina-reranker-v2-base-multilingual",
        usage: { total_tokens: 38 },
      });
    }
    expect(path).toBe("/v1/embeddings");
    expect(json.task).toBe("text-matching");
    return embedded(asked, "jina-embeddings-v3", { total_tokens: 6, prompt_tokens: 6 });
  },
};
