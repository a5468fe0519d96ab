/**
 * Perplexity: OpenAI's shape without /v1, sources beside the answer, top_p below 1 (docs.perplexity.ai, Sonar API, read
 * November 2026).
 */
import { expect } from "bun:test";
import { channelType } from "../../../src/shared/channel-types";
import { ordinaryVendor } from "../ordinary";
import type { VendorFake } from "../vendor-fake";

const type = channelType(27);
if (!type) throw new Error("Perplexity is no channel type any more");
const chat = ordinaryVendor(type);
const search_results = [{ title: "Stars", url: "https://stars.example/a", date: "2025-05-01" }];
const message = { role: "assistant", content: "Stars.[1]" };
const messages = [{ role: "user", content: "search" }];

export const vendor: VendorFake = {
  ...chat,
  source: "docs.perplexity.ai, Sonar API, November 2026",
  calls: [
    {
      name: "what was searched stays beside the answer for an OpenAI caller, and top_p is brought below 1",
      path: "/v1/chat/completions",
      body: { model: "sonar", top_p: 1, messages },
      check: ({ json }) =>
        expect(json).toMatchObject({ search_results, citations: [search_results[0]?.url], choices: [{ message }] }),
    },
    {
      name: "what was searched is a citation for a caller of another dialect",
      path: "/v1/messages",
      body: { model: "sonar", max_tokens: 9, top_p: 1, messages },
      check: ({ json }) =>
        expect(json.content).toMatchObject([
          { type: "text", text: "Stars.[1]", citations: [{ url: "https://stars.example/a", title: "Stars" }] },
        ]),
    },
  ],
  answer(asked) {
    if (asked.json.model !== "sonar") return chat.answer(asked);
    expect(asked.path).toBe("/chat/completions");
    expect(asked.json.top_p).toBe(0.99);
    const usage = { prompt_tokens: 14, completion_tokens: 9, total_tokens: 23, search_context_size: "low" };
    return Response.json({
      id: "cfa38f9d",
      model: "sonar",
      created: 1_756_485_272,
      usage,
      citations: search_results.map(({ url }) => url),
      search_results,
      object: "chat.completion",
      choices: [{ index: 0, finish_reason: "stop", message, delta: { role: "assistant", content: "" } }],
    });
  },
};
