/**
 * Google's usageMetadata: the prompt's count contains what was cached, the candidates' count does not contain thoughts
 * (ai.google.dev/api/generate-content, UsageMetadata; types of @google/genai 3.1; read November 2026).
 */
import type { Usage, WireObject } from "../../events";
import { compact, count, list, object, objects } from "../shared/json";

/** Tokens of one kind in a list of {modality, tokenCount}. */
function tokensOf(details: unknown, modality: string): number {
  return objects(details).reduce(
    (sum, entry) => (entry.modality === modality ? sum + (count(entry.tokenCount) ?? 0) : sum),
    0,
  );
}

/** Disjoint buckets; undefined when the object names no tokens. */
export function readUsage(usage: WireObject): Usage | undefined {
  const prompt = count(usage.promptTokenCount);
  const total = count(usage.totalTokenCount);
  if (prompt === undefined && total === undefined) return undefined;
  const thoughts = count(usage.thoughtsTokenCount) ?? 0;
  const tools = count(usage.toolUsePromptTokenCount) ?? 0;
  const said =
    count(usage.candidatesTokenCount) ??
    count(usage.responseTokenCount) ??
    Math.max(0, (total ?? 0) - (prompt ?? 0) - thoughts - tools);
  const cached = Math.min(prompt ?? 0, count(usage.cachedContentTokenCount) ?? 0);
  const plain = (prompt ?? 0) - cached;
  const left = (modality: string): number =>
    Math.max(0, tokensOf(usage.promptTokensDetails, modality) - tokensOf(usage.cacheTokensDetails, modality));
  const audioIn = Math.min(plain, left("AUDIO"));
  const imageIn = Math.min(plain - audioIn, left("IMAGE"));
  const audioOut = Math.min(said, tokensOf(usage.candidatesTokensDetails, "AUDIO"));
  const imageOut = Math.min(said - audioOut, tokensOf(usage.candidatesTokensDetails, "IMAGE"));
  return compact({
    input: plain - audioIn - imageIn + tools,
    output: said - audioOut - imageOut,
    cache_read: cached || undefined,
    audio_in: audioIn || undefined,
    image_in: imageIn || undefined,
    reasoning: thoughts || undefined,
    audio_out: audioOut || undefined,
    image_out: imageOut || undefined,
  });
}

/** Searches that the answer is grounded on: Google asks a price for each query (price page, "Grounding with Google Search"). */
export function searchesOf(candidates: readonly WireObject[]): number {
  return candidates.reduce((total, { groundingMetadata }) => total + list(object(groundingMetadata).webSearchQueries).length, 0);
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
  };
}
