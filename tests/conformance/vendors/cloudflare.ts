/**
 * Cloudflare Workers AI: OpenAI's shape under the account's address, errors in Cloudflare's
 * (developers.cloudflare.com/workers-ai: openai-compatible-api-endpoints, platform/errors; read November 2026).
 */
import { channelType } from "../../../src/shared/channel-types";
import { ordinaryVendor } from "../ordinary";
import { embedded, embeddingCall } from "../reranking";
import type { VendorFake } from "../vendor-fake";

const type = channelType(39);
if (!type) throw new Error("Cloudflare is no channel type any more");
const chat = ordinaryVendor(type);

export const vendor: VendorFake = {
  ...chat,
  source: "developers.cloudflare.com/workers-ai (openai-compatible-api-endpoints, platform/errors), November 2026",
  refusal: { model: "@cf/no/such", kind: "caller_mistake", message: "No such model" },
  calls: [embeddingCall("@cf/baai/bge-m3", 3)],
  answer(asked) {
    if (asked.json.model === "@cf/no/such") {
      const errors = [{ message: "AiError: No such model @cf/no/such or task", code: 5007 }];
      return Response.json({ errors, success: false, result: {}, messages: [] }, { status: 400 });
    }
    if (asked.path === "/client/v4/accounts/my-account/ai/v1/embeddings")
      return embedded(asked, "@cf/baai/bge-m3", { prompt_tokens: 3, total_tokens: 3 });
    return chat.answer(asked);
  },
};
