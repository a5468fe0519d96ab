/**
 * SiliconFlow: OpenAI's chat, and reranking that counts under `meta` or beside it (docs.siliconflow.cn/api-reference,
 * read November 2026).
 */
import { channelType } from "../../../src/shared/channel-types";
import { ordinaryVendor } from "../ordinary";
import { embedded, embeddingCall, rerankCall, reranked } from "../reranking";
import type { VendorFake } from "../vendor-fake";

const type = channelType(40);
if (!type) throw new Error("SiliconFlow is no channel type any more");
const chat = ordinaryVendor(type);

export const vendor: VendorFake = {
  ...chat,
  source: "docs.siliconflow.cn/api-reference (rerank, embeddings), November 2026",
  calls: [
    embeddingCall("BAAI/bge-m3", 4),
    rerankCall("BAAI/bge-reranker-v2-m3", 21),
    { ...rerankCall("Qwen/Qwen3-Reranker-8B", 22), name: "tokens beside the results count as well" },
  ],
  answer(asked) {
    if (asked.path === "/v1/embeddings")
      return embedded(asked, "BAAI/bge-m3", { prompt_tokens: 4, completion_tokens: 0, total_tokens: 4 });
    if (asked.path !== "/v1/rerank") return chat.answer(asked);
    if (asked.json.model === "Qwen/Qwen3-Reranker-8B") {
      return reranked(asked, "Qwen/Qwen3-Reranker-8B", { id: "r2", tokens: { input_tokens: 22, output_tokens: 0 } });
    }
    const counted = { input_tokens: 21, output_tokens: 0 };
    return reranked(asked, "BAAI/bge-reranker-v2-m3", {
      id: "r1",
      meta: { billed_units: { ...counted, search_units: 0, classifications: 0 }, tokens: counted },
    });
  },
};
