/**
 * The service of an answer in the words of another dialect. Sources: types of the `openai` SDK 7.55 (Response,
 * ChatCompletion: service_tier), @anthropic-ai/sdk 1.11 (Usage.service_tier), @google/genai 3.1 (ServiceTier); read
 * November 2026.
 */
import type { Served } from "../../../../shared/price-rules";
import type { Usage, Warn, WireObject } from "../../chat-events";

/** Google's, of an answer, also where its body says nothing (ai.google.dev/gemini-api/docs/priority-inference). */
const GOOGLE_HEADER = "x-gemini-service-tier";

/** What an answer's headers say of its service; most say nothing. */
export function servedIn(headers: Headers): Served | undefined {
  const service_tier = headers.get(GOOGLE_HEADER);
  return service_tier ? { service_tier } : undefined;
}

/** Usage with what the headers say, unless the body says it. */
export const withServed = (usage: Usage, told: Served | undefined): Usage =>
  told ? { ...usage, served: { ...told, ...usage.served } } : usage;

/** The tier in the word that most vendors have for it; Anthropic's faster service is a speed. */
function tierOf({ service_tier, speed }: Served = {}): string | undefined {
  if (speed === "fast") return "fast";
  // Google's older spelling.
  const tier = service_tier?.toLowerCase().replace(/^service_tier_/, "");
  return tier === "default" ? "standard" : tier;
}

/** `service_tier` of OpenAI's answers; undefined: not known. */
export function openaiTier(served: Served | undefined): string | undefined {
  const tier = tierOf(served);
  return tier === "standard" ? "default" : tier;
}

const oneOf =
  (...words: readonly string[]) =>
  (served: Served | undefined): string | undefined => {
    // OpenAI's newer word for priority.
    const tier = tierOf(served) === "fast" ? "priority" : tierOf(served);
    return words.find((word) => word === tier);
  };

/** `usage.service_tier` of Anthropic's answers; undefined: not known, or it has no word for it. */
export const anthropicTier = oneOf("standard", "priority", "batch");
/** `usageMetadata.serviceTier` of Google's answers; undefined: not known, or it has no word for it. */
export const googleTier = oneOf("standard", "flex", "priority");

/** Warns of members of a stream that a dialect has no place for; the tier is told with the usage. */
export function warnExtra(members: WireObject, warn: Warn): void {
  const names = Object.keys(members).filter((name) => name !== "service_tier");
  if (names.length > 0) warn("dropped_field", names.join(" "));
}
