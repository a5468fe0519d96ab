/**
 * Google's usageMetadata: the prompt's count contains what was cached, the candidates' count does not contain thoughts
 * (ai.google.dev/api/generate-content, UsageMetadata; types of @google/genai 3.1; read November 2026).
 */
import type { Usage, WireObject } from "../../chat-events";
import { tokenCount } from "../../usage-check";
import { isObject, list, object } from "../shared/json";
import { googleTier } from "../shared/service-tier";

/** Tokens of one kind in a list of {modality, tokenCount}. */
function tokensOf(details: unknown, modality: string): number {
  let sum = 0;
  for (const entry of list(details)) {
    if (isObject(entry) && entry.modality === modality) sum += tokenCount(entry.tokenCount) ?? 0;
  }
  return sum;
}

/** Disjoint buckets; undefined when the object names no tokens. Google repeats it in every frame of a stream. */
export function readUsage(usage: WireObject): Usage | undefined {
  const prompt = tokenCount(usage.promptTokenCount);
  const total = tokenCount(usage.totalTokenCount);
  if (prompt === undefined && total === undefined) return undefined;
  const thoughts = tokenCount(usage.thoughtsTokenCount) ?? 0;
  const tools = tokenCount(usage.toolUsePromptTokenCount) ?? 0;
  const said =
    tokenCount(usage.candidatesTokenCount) ??
    tokenCount(usage.responseTokenCount) ??
    Math.max(0, (total ?? 0) - (prompt ?? 0) - thoughts - tools);
  const cached = Math.min(prompt ?? 0, tokenCount(usage.cachedContentTokenCount) ?? 0);
  const plain = (prompt ?? 0) - cached;
  const left = (modality: string): number =>
    Math.max(0, tokensOf(usage.promptTokensDetails, modality) - tokensOf(usage.cacheTokensDetails, modality));
  const audioIn = Math.min(plain, left("AUDIO"));
  const imageIn = Math.min(plain - audioIn, left("IMAGE"));
  const audioOut = Math.min(said, tokensOf(usage.candidatesTokensDetails, "AUDIO"));
  const imageOut = Math.min(said - audioOut, tokensOf(usage.candidatesTokensDetails, "IMAGE"));
  const read: { -readonly [Bucket in keyof Usage]: Usage[Bucket] } = {
    input: plain - audioIn - imageIn + tools,
    output: said - audioOut - imageOut,
  };
  if (cached > 0) read.cache_read = cached;
  if (audioIn > 0) read.audio_in = audioIn;
  if (imageIn > 0) read.image_in = imageIn;
  if (thoughts !== 0) read.reasoning = thoughts;
  if (audioOut > 0) read.audio_out = audioOut;
  if (imageOut > 0) read.image_out = imageOut;
  if (typeof usage.serviceTier === "string") read.served = { service_tier: usage.serviceTier };
  return read;
}

/**
 * Searches that the answer is grounded on: Google asks a price for each query (price page, "Grounding with Google
 * Search").
 */
export function searchesOf(candidates: readonly WireObject[]): number {
  let total = 0;
  for (const { groundingMetadata } of candidates) {
    if (groundingMetadata !== undefined) total += list(object(groundingMetadata).webSearchQueries).length;
  }
  return total;
}

/** What an answer used, its searches among it. */
export const withSearches = (usage: Usage, searches: number): Usage =>
  searches > 0 ? { ...usage, server_tools: { google_search: searches } } : usage;

const sum = (...counts: (number | undefined)[]): number =>
  counts.reduce<number>((total, next) => total + (next ?? 0), 0);

const details = (entries: Readonly<Record<string, number | undefined>>): WireObject[] =>
  Object.entries(entries).flatMap(([modality, tokenCount]) => (tokenCount ? [{ modality, tokenCount }] : []));

export function encodeUsage(usage: Usage): WireObject {
  const { cache_read, audio_in, image_in, audio_out, image_out, reasoning } = usage;
  const promptTokenCount = sum(usage.input, cache_read, usage.cache_write_5m, usage.cache_write_1h, audio_in, image_in);
  const candidatesTokenCount = sum(usage.output, audio_out, image_out);
  const serviceTier = googleTier(usage.served);
  const given = details({ AUDIO: audio_in, IMAGE: image_in });
  const made = details({ AUDIO: audio_out, IMAGE: image_out });
  return {
    promptTokenCount,
    candidatesTokenCount,
    totalTokenCount: promptTokenCount + candidatesTokenCount + (reasoning ?? 0),
    ...(cache_read !== undefined && { cachedContentTokenCount: cache_read }),
    ...(reasoning !== undefined && { thoughtsTokenCount: reasoning }),
    ...(given.length > 0 && { promptTokensDetails: given }),
    ...(made.length > 0 && { candidatesTokensDetails: made }),
    ...(serviceTier !== undefined && { serviceTier }),
  };
}
