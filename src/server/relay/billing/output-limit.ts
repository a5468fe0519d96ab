/**
 * The limit of output tokens that a call gets from us: its caller named none, and what they have left does not cover
 * every answer. Here is where it stands in a body of each language; the vendor keeps to it, so the call cannot cost
 * more than was held.
 */
import type { Operation as OperationKey } from "../../../shared/channel-types";
import { bodyObject } from "../../lib/request-body/json-body";
import type { Call } from "../call/call";
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

/** Every model takes a limit so high; some refuse a higher one than they can keep. */
const SAFE_LIMIT = 4096;

const members = (value: unknown): WireObject => (isObject(value) ? value : {});

/**
 * Anthropic's thoughts are part of the limit and must stay below it; what leaves too little for them switches them off.
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

/** The members of a body that hold its limit; undefined: the language has no word for it. */
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

/** Whether every one of the channels can be told a limit. */
export const allTakeLimits = (channels: readonly PoolChannel[], operation: Operation, model: string): boolean =>
  channels.every((channel) => {
    const dialect = dialectOf(channel, operation, channel.model_mapping.get(model) ?? model);
    return dialect !== undefined && places[dialect] !== undefined && providerOf(channel)?.unlimited !== true;
  });

/** A body in `dialect` with the call's own limit; the same one where it has none. */
export function withLimit(
  body: Bytes,
  { output_limit }: Pick<Call, "output_limit">,
  dialect: UpstreamDialectKey,
  asked: { model: string; operation: OperationKey },
): Bytes {
  const place = output_limit === undefined ? undefined : places[dialect];
  if (!place || output_limit === undefined) return body;
  return withMembers(body, place(output_limit, bodyObject(body) ?? {}, asked));
}

/**
 * The vendor finds fault with a call that has a limit from us: it may be too high for the model. True when it has a
 * lower one now.
 */
export function lowerLimit(call: Pick<Call, "output_limit">, { class: name, upstream_status }: Failure): boolean {
  const { output_limit = 0 } = call;
  if (name !== "caller_mistake" || (upstream_status !== 400 && upstream_status !== 422) || output_limit <= SAFE_LIMIT)
    return false;
  call.output_limit = SAFE_LIMIT;
  return true;
}
