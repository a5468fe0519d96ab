/** POST /v1/rerank: the format that Jina and Cohere share. */
import { fail } from "../../../shared/errors";
import { readUsage } from "../../protocol/dialects/openai-chat/usage";
import type { Usage } from "../../protocol/chat-events";
import { isObject, type JsonObject } from "../../lib/json-bytes";
import { tokenCount } from "../../protocol/usage-check";
import { type Operation, readCount, readModel } from "./operation";

const tokensIn = (value: unknown): number | undefined => (isObject(value) ? tokenCount(value.input_tokens) : undefined);

/**
 * Jina: usage.total_tokens; Cohere, Xinference and SiliconFlow: meta.tokens.input_tokens or meta.billed_units;
 * SiliconFlow also documents `tokens` beside the results. All of it is input.
 */
function usageOf(body: JsonObject): Usage | undefined {
  const usage = readUsage(body.usage);
  if (usage) return { input: (usage.input ?? 0) + (usage.output ?? 0) };
  const meta = isObject(body.meta) ? body.meta : {};
  const input = tokensIn(meta.tokens) ?? tokensIn(meta.billed_units) ?? tokensIn(body.tokens);
  return input === undefined ? undefined : { input };
}

export const rerank: Operation = {
  key: "rerank",
  streams: false,
  read(body) {
    const model = readModel(body);
    const { query, documents } = body;
    if (query === undefined || query === null || query === "") fail("invalid_request", { detail: "query" });
    if (!Array.isArray(documents) || documents.length === 0) fail("invalid_request", { detail: "documents" });
    readCount(body, "top_n");
    const usage = { input: Math.ceil(Buffer.byteLength(JSON.stringify([query, documents])) / 3) };
    return { model, stream: false, include_usage: true, max_output: 0, terms: { usage, exact: false } };
  },
  direct: { json: true, plain: "never", isAnswer: (body) => Array.isArray(body.results), usageOf },
};
