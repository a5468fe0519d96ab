/**
 * Prices that rise with the length of the input: their models and multipliers. The whole call is charged at the tier
 * that its input reaches, as the vendors do (OpenAI above 272K tokens, Google and Anthropic above 200K).
 */

/** Factors of calls whose input is longer than `over` tokens. */
export interface ContextTier {
  /** Tokens of the whole input: cached, audio and image tokens included. */
  readonly over: number;
  /** Multiplies all input: plain, cached, written to a cache, audio, images. */
  readonly input: number;
  /** Multiplies all output. */
  readonly output: number;
}

/** The tiers of one model, the lowest `over` first. */
export type ContextTiers = readonly ContextTier[];

/** The tier of an input of so many tokens; undefined: the standard price. */
export function tierFor<Tier extends Pick<ContextTier, "over">>(
  tiers: readonly Tier[],
  inputTokens: number,
): Tier | undefined {
  return tiers.findLast(({ over }) => inputTokens > over);
}
