import { channelTypes, type ChannelType } from "../../../shared/channel-types";

/** Shown before the rest is asked for, in this order. */
const FIRST = [
  "openai", "anthropic", "gemini", "deepseek", "ali", "zhipu", "moonshot", "siliconflow", "volcengine", "openrouter", "ollama", "xai", "mistral",
  "minimax",
];

/** Vendors with an address of their own kind that the relay calls (server: relay/providers/registry.ts). */
const CALLED = new Set(["gemini"]);

/**
 * The types that a first channel can have: those that answer chat calls in a dialect the relay speaks. The rest is in the
 * channel form.
 */
export const firstChannelTypes: readonly ChannelType[] = channelTypes
  .filter((type: ChannelType) =>
    ["openai-chat", "anthropic", "gemini"].includes(type.dialect) && (!type.custom || CALLED.has(type.key)) && type.operations.includes("chat"))
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
