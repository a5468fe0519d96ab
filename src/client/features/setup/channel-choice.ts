import { channelTypes, type ChannelType } from "../../../shared/channel-types";

/** Shown before the rest is asked for, in this order. */
const FIRST = [
  "openai",
  "anthropic",
  "gemini",
  "deepseek",
  "ali",
  "zhipu",
  "moonshot",
  "siliconflow",
  "volcengine",
  "openrouter",
  "ollama",
  "xai",
  "mistral",
  "minimax",
];

/** Vendors with a provider file (server: relay/providers/registry.ts) whose channel needs a key and nothing else. */
const KEY_ONLY = new Set(["gemini", "mistral", "minimax", "cohere"]);

/**
 * The types that a first channel can have: those that answer chat calls and ask for little. The rest is in the channel
 * form.
 */
export const firstChannelTypes: readonly ChannelType[] = channelTypes
  .filter((type: ChannelType) => (!type.custom || KEY_ONLY.has(type.key)) && type.operations.includes("chat"))
  .toSorted((a: ChannelType, b: ChannelType) => rank(a) - rank(b));

/** How many of them are shown at first. */
export const SHOWN_FIRST = FIRST.length;

function rank({ key, logo, id }: ChannelType): number {
  const place = FIRST.indexOf(key);
  if (place >= 0) return place;
  return FIRST.length + (logo ? 0 : 1000) + id;
}

/** More models than this are not ticked unasked. */
const MANY = 30;

/**
 * The models to tick when an upstream listed `found`: those that its type is known for, else all of a short list, else
 * the first of a long one.
 */
export function preselect(known: readonly string[], found: readonly string[]): string[] {
  const offered = new Set(found);
  const both = known.filter((model) => offered.has(model));
  return both.length > 0 ? both : found.slice(0, MANY);
}
