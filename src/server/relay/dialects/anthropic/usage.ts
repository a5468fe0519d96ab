/**
 * Anthropic's usage object: counts that stand beside each other (types of @anthropic-ai/sdk 1.11, Usage and
 * MessageDeltaUsage; platform.claude.com/docs, prompt caching; read November 2026).
 */
import type { Usage, WireObject } from "../../events";
import { compact, count, object } from "../shared/json";

/** Later counts over earlier ones: message_delta repeats some, and null means "as before". */
export function mergeUsage(earlier: WireObject, later: WireObject): WireObject {
  const merged: Record<string, unknown> = { ...earlier };
  for (const [key, value] of Object.entries(later)) if (value !== null && value !== undefined) merged[key] = value;
  return merged;
}

/** Disjoint buckets; undefined when the object names no tokens. Thoughts are part of output_tokens and taken out. */
export function readUsage(usage: WireObject): Usage | undefined {
  const input = count(usage.input_tokens);
  const output = count(usage.output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const lifetimes = object(usage.cache_creation);
  const hour = count(lifetimes.ephemeral_1h_input_tokens) ?? 0;
  const written = count(usage.cache_creation_input_tokens) ?? hour + (count(lifetimes.ephemeral_5m_input_tokens) ?? 0);
  const hourly = Math.min(hour, written);
  const thoughts = Math.min(output ?? 0, count(object(usage.output_tokens_details).thinking_tokens) ?? 0);
  const server = serverTools(object(usage.server_tool_use));
  return compact({
    input,
    output: output === undefined ? undefined : output - thoughts,
    cache_read: count(usage.cache_read_input_tokens) || undefined,
    cache_write_5m: written - hourly || undefined,
    cache_write_1h: hourly || undefined,
    reasoning: thoughts || undefined,
    server_tools: Object.keys(server).length > 0 ? server : undefined,
  });
}

/** web_search_requests: 2 -> web_search: 2 */
function serverTools(requests: WireObject): Record<string, number> {
  const calls: Record<string, number> = {};
  for (const [key, value] of Object.entries(requests)) {
    const times = count(value);
    if (key.endsWith("_requests") && times) calls[key.slice(0, -"_requests".length)] = times;
  }
  return calls;
}

const sum = (...counts: (number | undefined)[]): number =>
  counts.reduce<number>((total, next) => total + (next ?? 0), 0);

export function encodeUsage(usage: Usage): WireObject {
  const { cache_write_5m = 0, cache_write_1h = 0, reasoning } = usage;
  const server = Object.entries(usage.server_tools ?? {}).map(([name, calls]) => [`${name}_requests`, calls] as const);
  return {
    input_tokens: sum(usage.input, usage.audio_in, usage.image_in),
    cache_creation_input_tokens: cache_write_5m + cache_write_1h,
    cache_read_input_tokens: usage.cache_read ?? 0,
    cache_creation: { ephemeral_5m_input_tokens: cache_write_5m, ephemeral_1h_input_tokens: cache_write_1h },
    output_tokens: sum(usage.output, reasoning, usage.audio_out, usage.image_out),
    ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
    ...(server.length > 0 && { server_tool_use: Object.fromEntries(server) }),
  };
}
