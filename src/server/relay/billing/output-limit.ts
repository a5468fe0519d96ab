/**
 * The output limit that the relay sets for a call: the caller named none, and their balance does not cover the longest
 * possible response. This module knows the limit's place in a body of each dialect; the vendor enforces it, so the call
 * cannot cost more than its hold.
 */
import type { Operation as OperationKey } from "../../../shared/channel-types";
import { bodyObject } from "../../lib/request-body/json-body";
import type { Attempted } from "../call/call";
import { LEAST_BUDGET } from "../../protocol/dialects/anthropic/request-encode";
import { newLimit } from "../../protocol/dialects/openai-chat/request-encode";
import type { UpstreamDialectKey } from "../../protocol/dialects/vendor-dialects";
import type { WireObject } from "../../protocol/chat-events";
import type { Failure } from "../../protocol/upstream-failure";
import { isObject, withMembers } from "../../lib/json-bytes";
import type { Operation } from "../operations/operation";
import { providerOf } from "../providers/registry";
import { dialectOf } from "../providers/dispatch";
import type { PoolChannel } from "../../contracts/channel";
import type { Bytes } from "../../lib/sse";

/** Every model accepts a limit this high; some refuse a limit above their maximum. */
const SAFE_LIMIT = 4096;

const members = (value: unknown): WireObject => (isObject(value) ? value : {});

/**
 * Anthropic's thinking budget is part of the limit and must stay below it; a limit that leaves too little for it
 * switches thinking off.
 */
function forClaude(limit: number, { max_tokens: own, thinking }: WireObject): WireObject {
  const max_tokens = typeof own === "number" ? Math.min(own, limit) : limit;
  if (!isObject(thinking) || typeof thinking.budget_tokens !== "number" || thinking.budget_tokens < max_tokens)
    return { max_tokens };
  if (max_tokens <= LEAST_BUDGET) return { max_tokens, thinking: { type: "disabled" } };
  return { max_tokens, thinking: { ...thinking, budget_tokens: Math.max(LEAST_BUDGET, Math.floor(max_tokens / 2)) } };
}

function forGemini(maxOutputTokens: number, body: WireObject): WireObject {
  const name =
    isObject(body.generation_config) && !isObject(body.generationConfig) ? "generation_config" : "generationConfig";
  const { max_output_tokens: _, ...settings } = members(body[name]);
  return { [name]: { ...settings, maxOutputTokens } };
}

type Place = (limit: number, body: WireObject, asked: { model: string; operation: OperationKey }) => WireObject;

/** The members of a body that hold its limit; undefined: the dialect has no such member. */
const places: Readonly<Record<UpstreamDialectKey, Place | undefined>> = {
  "openai-chat": (limit, _, { model, operation }) =>
    operation === "chat" && newLimit(model) ? { max_completion_tokens: limit } : { max_tokens: limit },
  "openai-responses": (max_output_tokens) => ({ max_output_tokens }),
  anthropic: forClaude,
  gemini: forGemini,
  mistral: (max_tokens) => ({ max_tokens }),
  cohere: (max_tokens) => ({ max_tokens }),
  baidu: (max_output_tokens) => ({ max_output_tokens }),
  bedrock: (maxTokens, { inferenceConfig }) => ({ inferenceConfig: { ...members(inferenceConfig), maxTokens } }),
  spark: (max_tokens, { parameter }) => ({
    parameter: { ...members(parameter), chat: { ...members(members(parameter).chat), max_tokens } },
  }),
  dify: undefined,
  coze: undefined,
  palm: undefined,
  "aiproxy-library": undefined,
  "zhipu-v3": undefined,
  tencent: undefined,
};

/** Whether every channel accepts a limit. */
export const allTakeLimits = (channels: readonly PoolChannel[], operation: Operation, model: string): boolean =>
  channels.every((channel) => {
    const dialect = dialectOf(channel, operation, channel.model_mapping.get(model) ?? model);
    return dialect !== undefined && places[dialect] !== undefined && providerOf(channel)?.unlimited !== true;
  });

/** A body in `dialect` with the attempt's own limit; the same body where there is none. */
export function withLimit(
  body: Bytes,
  { output_limit }: Pick<Attempted, "output_limit">,
  dialect: UpstreamDialectKey,
  asked: { model: string; operation: OperationKey },
): Bytes {
  const place = output_limit === undefined ? undefined : places[dialect];
  if (!place || output_limit === undefined) return body;
  return withMembers(body, place(output_limit, bodyObject(body) ?? {}, asked));
}

/**
 * A lower limit for a call that the vendor rejected: the relay's limit may be too high for the model. undefined where
 * that is not the reason.
 */
export function loweredLimit(output_limit: number | undefined, { kind, upstream_status }: Failure): number | undefined {
  const refused =
    (kind === "caller_mistake" || kind === "context_too_long") && (upstream_status === 400 || upstream_status === 422);
  return refused && output_limit !== undefined && output_limit > SAFE_LIMIT ? SAFE_LIMIT : undefined;
}
