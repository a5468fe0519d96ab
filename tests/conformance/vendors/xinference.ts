/**
 * Xinference: OpenAI's chat, and reranking in Cohere's shape (inference.readthedocs.io, models/model_abilities/rerank,
 * read November 2026).
 */
import { channelType } from "../../../src/shared/channel-types";
import { ordinaryVendor } from "../ordinary";
import { embedded, embeddingCall, rerankCall, reranked } from "../reranking";
import type { VendorFake } from "../vendor-fake";

const type = channelType(47);
if (!type) throw new Error("Xinference is no channel type any more");
const chat = ordinaryVendor(type);

export const vendor: VendorFake = {
  ...chat,
  source: "inference.readthedocs.io, rerank and embeddings, November 2026",
  calls: [embeddingCall("bge-m3", 37), rerankCall("bge-reranker-base", 28)],
  answer(asked) {
    if (asked.path === "/v1/embeddings") return embedded(asked, "bge-m3", { prompt_tokens: 37, total_tokens: 37 });
    if (asked.path !== "/v1/rerank") return chat.answer(asked);
    const tokens = { input_tokens: 28, output_tokens: 28 };
    return reranked(asked, "bge-reranker-base", {
      id: "88177e80",
      meta: { api_version: null, billed_units: null, tokens, warnings: null },
    });
  },
};
