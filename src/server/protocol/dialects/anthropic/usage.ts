/**
 * Anthropic's usage object: counts that stand beside each other (types of @anthropic-ai/sdk 1.11, Usage and
 * MessageDeltaUsage; platform.claude.com/docs, prompt caching; read November 2026).
 */
import type { Served } from "../../../../shared/price-rules";
import type { Usage, WireObject } from "../../chat-events";
import { tokenCount, unlessZero } from "../../usage-check";
import { compact, object, objects } from "../shared/json";
import { anthropicTier } from "../shared/service-tier";

/** Later counts over earlier ones: message_delta repeats some, and null means "as before". */
export function mergeUsage(earlier: WireObject, later: WireObject): WireObject {
  const merged: Record<string, unknown> = { ...earlier };
  for (const [key, value] of Object.entries(later)) if (value !== null && value !== undefined) merged[key] = value;
  return merged;
}

type Tokens = Pick<Usage, "input" | "output" | "cache_read" | "cache_write_5m" | "cache_write_1h">;

/** The tokens of a usage object, or of one sampling in it; undefined when it names none. */
function tokensOf(usage: WireObject): Tokens | undefined {
  const input = tokenCount(usage.input_tokens);
  const output = tokenCount(usage.output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const lifetimes = object(usage.cache_creation);
  const hour = tokenCount(lifetimes.ephemeral_1h_input_tokens) ?? 0;
  const written =
    tokenCount(usage.cache_creation_input_tokens) ?? hour + (tokenCount(lifetimes.ephemeral_5m_input_tokens) ?? 0);
  const hourly = Math.min(hour, written);
  return compact({
    input,
    output,
    cache_read: unlessZero(tokenCount(usage.cache_read_input_tokens)),
    cache_write_5m: unlessZero(written - hourly),
    cache_write_1h: unlessZero(hourly),
  });
}

/**
 * Samplings that Anthropic bills and leaves out of its totals: the summary of a compaction, and questions to an
 * advisor, which count at the price of the model that asked (types of @anthropic-ai/sdk 1.11, BetaIterationsUsage;
 * platform.claude.com/docs, compaction at a token threshold and advisor tool; read November 2026).
 */
const beside: ReadonlySet<unknown> = new Set(["compaction", "advisor_message"]);

function plus(one: Tokens, other: Tokens | undefined): Tokens {
  const total: Record<string, number> = { ...one };
  for (const [kind, tokens] of Object.entries(other ?? {})) total[kind] = (total[kind] ?? 0) + tokens;
  return total;
}

/** Disjoint buckets; undefined when the object names no tokens. Thoughts are part of output_tokens and taken out. */
export function readUsage(usage: WireObject): Usage | undefined {
  const own = tokensOf(usage);
  if (!own) return undefined;
  const { output, ...rest } = objects(usage.iterations)
    .filter(({ type }) => beside.has(type))
    .reduce<Tokens>((total, sampling) => plus(total, tokensOf(sampling)), own);
  const thoughts = Math.min(output ?? 0, tokenCount(object(usage.output_tokens_details).thinking_tokens) ?? 0);
  const server = serverTools(object(usage.server_tool_use));
  return compact({
    ...rest,
    output: output === undefined ? undefined : output - thoughts,
    reasoning: unlessZero(thoughts),
    server_tools: Object.keys(server).length > 0 ? server : undefined,
    served: servedIn(usage),
  });
}

/** The service that the call got (types of @anthropic-ai/sdk 1.11, BetaUsage). */
function servedIn({ service_tier, inference_geo, speed }: WireObject): Served | undefined {
  const served: { -readonly [Name in keyof Served]: Served[Name] } = {};
  if (typeof service_tier === "string") served.service_tier = service_tier;
  if (typeof inference_geo === "string") served.inference_geo = inference_geo;
  if (typeof speed === "string") served.speed = speed;
  return Object.keys(served).length > 0 ? served : undefined;
}

/** web_search_requests: 2 -> web_search: 2 */
function serverTools(requests: WireObject): Record<string, number> {
  const calls: Record<string, number> = {};
  for (const [key, value] of Object.entries(requests)) {
    const times = tokenCount(value);
    if (key.endsWith("_requests") && times) calls[key.slice(0, -"_requests".length)] = times;
  }
  return calls;
}

const sum = (...counts: (number | undefined)[]): number =>
  counts.reduce<number>((total, next) => total + (next ?? 0), 0);

export function encodeUsage(usage: Usage): WireObject {
  const { cache_write_5m = 0, cache_write_1h = 0, reasoning } = usage;
  const service_tier = anthropicTier(usage.served);
  const server = Object.entries(usage.server_tools ?? {}).map(([name, calls]) => [`${name}_requests`, calls] as const);
  return {
    input_tokens: sum(usage.input, usage.audio_in, usage.image_in),
    cache_creation_input_tokens: cache_write_5m + cache_write_1h,
    cache_read_input_tokens: usage.cache_read ?? 0,
    cache_creation: { ephemeral_5m_input_tokens: cache_write_5m, ephemeral_1h_input_tokens: cache_write_1h },
    output_tokens: sum(usage.output, reasoning, usage.audio_out, usage.image_out),
    ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
    ...(server.length > 0 && { server_tool_use: Object.fromEntries(server) }),
    ...(service_tier !== undefined && { service_tier }),
  };
}
