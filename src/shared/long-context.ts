/**
 * Prices that rise with the length of the input: their multipliers. A compiled price has them as prices that its usage
 * decides, after the operator's rules (`open` in pricing.ts). The whole call is charged at the tier that its input
 * reaches, as the vendors do (OpenAI above 272K tokens, Google and Anthropic above 200K).
 */
import type { PriceRule } from "./price-rules";

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

/** A tier as the rule that it is, for its sentence and for the bill. */
export const tierRule = ({ over, input, output }: ContextTier) =>
  ({
    name: `Input over ${over}`,
    when: { input: { over } },
    then: { input, output },
  }) satisfies PriceRule;
