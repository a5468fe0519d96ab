/** OpenAI's usage object (API reference, chat.completion.usage) and what compatible vendors make of it. */
import type { Usage } from "../../../../shared/pricing";
import { isObject, type JsonObject } from "../../../lib/json-bytes";
import { tokenCount } from "../../usage-check";

/** The first count among members with these names. */
function tokens(object: JsonObject | undefined, name: string, second?: string, third?: string): number | undefined {
  const value = tokenCount(object?.[name]);
  return value === undefined && second !== undefined ? tokens(object, second, third) : value;
}

const child = (object: JsonObject, name: string): JsonObject | undefined => {
  const value = object[name];
  return isObject(value) ? value : undefined;
};

const toolMembers = [
  "server_side_tool_usage_details",
  "num_sources_used",
  "server_tool_use",
  "server_tool_use_details",
] as const;

/**
 * Calls of the vendor's own tools that a usage object counts, by the names that prices have; undefined when it counts
 * none. xAI: server_side_tool_usage_details, successful calls, which are what it bills, and num_sources_used of the
 * older live search (docs.x.ai, tool usage details); OpenRouter: searches, of any origin (openrouter.ai/docs,
 * ServerToolUse; November 2026).
 */
function toolsIn(value: JsonObject): Record<string, number> | undefined {
  if (!toolMembers.some((name) => value[name] !== undefined)) return undefined;
  const found: Record<string, number> = {};
  const note = (tool: string, calls: number | undefined): void => {
    if (calls !== undefined && calls > 0) found[tool] = calls;
  };
  const xai = child(value, "server_side_tool_usage_details");
  for (const name of Object.keys(xai ?? {}))
    if (name.endsWith("_calls")) note(name.slice(0, -"_calls".length), tokens(xai, name));
  note("live_search", tokens(value, "num_sources_used"));
  note(
    "web_search",
    tokens(child(value, "server_tool_use") ?? child(value, "server_tool_use_details"), "web_search_requests") ??
      found.web_search,
  );
  return Object.keys(found).length > 0 ? found : undefined;
}

/**
 * The usage of an answer, or of a chunk of one, with the tier that served it (OpenAI's API reference, service_tier;
 * docs.x.ai, priority processing).
 */
export function usageOf({ usage, service_tier }: JsonObject): Usage | undefined {
  const read = readUsage(usage);
  return read && typeof service_tier === "string" && service_tier !== "auto"
    ? { ...read, served: { service_tier } }
    : read;
}

/**
 * Disjoint buckets of a usage object; undefined when it names no tokens. OpenAI counts cached, audio and reasoning
 * tokens inside the totals, so they are taken out. Where total_tokens says that reasoning stands beside
 * completion_tokens (xAI), it is not taken out; Google's OpenAI door counts thoughts in total_tokens alone (recording
 * of 2026-02-26, discuss.ai.google.dev/t/127400).
 */
export function readUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const prompt = tokens(value, "prompt_tokens", "input_tokens");
  const completion = tokens(value, "completion_tokens", "output_tokens");
  const total = tokens(value, "total_tokens");
  if (prompt === undefined && completion === undefined && total === undefined) return undefined;
  const inDetails = child(value, "prompt_tokens_details") ?? child(value, "input_tokens_details");
  const outDetails = child(value, "completion_tokens_details") ?? child(value, "output_tokens_details");
  const input = prompt ?? Math.max(0, (total ?? 0) - (completion ?? 0));
  const output = completion ?? Math.max(0, (total ?? 0) - input);

  // cached_tokens at the top: Moonshot; prompt_cache_hit_tokens: DeepSeek; cache_write_tokens: OpenAI and
  // OpenRouter; cache_creation_input_tokens: Qwen (Model Studio, context cache); cached_creation_tokens: other
  // gateways.
  const cacheRead = Math.min(
    input,
    tokens(inDetails, "cached_tokens") ?? tokens(value, "cached_tokens", "prompt_cache_hit_tokens") ?? 0,
  );
  const cacheWrite = Math.min(
    input - cacheRead,
    tokens(inDetails, "cache_write_tokens", "cache_creation_input_tokens", "cached_creation_tokens") ?? 0,
  );
  const hourly = Math.min(
    cacheWrite,
    tokens(inDetails && child(inDetails, "cache_creation"), "ephemeral_1h_input_tokens") ?? 0,
  );
  const audioIn = Math.min(input - cacheRead - cacheWrite, tokens(inDetails, "audio_tokens") ?? 0);
  const imageIn = Math.min(input - cacheRead - cacheWrite - audioIn, tokens(inDetails, "image_tokens") ?? 0);
  const audioOut = Math.min(output, tokens(outDetails, "audio_tokens") ?? 0);
  const imageOut = Math.min(output - audioOut, tokens(outDetails, "image_tokens") ?? 0);
  const reasoning = tokens(outDetails, "reasoning_tokens") ?? 0;
  const beyond = (total ?? 0) - input - output;
  const untold = reasoning === 0 && beyond > 0 && beyond !== cacheRead + cacheWrite;
  const beside = untold || (reasoning > 0 && beyond === reasoning);
  const server_tools = toolsIn(value);
  const inside = beside ? 0 : Math.min(output - audioOut - imageOut, reasoning);

  // Member by member: spreading what is mostly not there cost more than all the reading above.
  const read: { -readonly [Name in keyof Usage]: Usage[Name] } = {
    input: input - cacheRead - cacheWrite - audioIn - imageIn,
    output: output - audioOut - imageOut - inside,
  };
  if (cacheRead !== 0) read.cache_read = cacheRead;
  if (cacheWrite > hourly) read.cache_write_5m = cacheWrite - hourly;
  if (hourly > 0) read.cache_write_1h = hourly;
  if (audioIn > 0) read.audio_in = audioIn;
  if (imageIn > 0) read.image_in = imageIn;
  if (untold || reasoning > 0) read.reasoning = beside ? beyond : inside;
  if (audioOut > 0) read.audio_out = audioOut;
  // OpenRouter's models that draw.
  if (imageOut > 0) read.image_out = imageOut;
  if (server_tools) read.server_tools = server_tools;
  return read;
}
