/** Recent use of models, for the price editor: how often, and what a change of prices would have cost. */
import { chargeOf } from "./charge";
import { tierFor } from "./long-context";
import { type CompiledPrice, type PriceTables, resolvePrice } from "./pricing";

/** Calls and units of one model in the last 7 days. */
export interface ModelUse {
  readonly model: string;
  readonly count: number;
  readonly quota: number;
}

/** Use of one model in one group in the last 24 hours, from the hourly sums. */
export interface DayUse extends ModelUse {
  readonly group: string;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

export interface PriceUse {
  readonly week: readonly ModelUse[];
  readonly day: readonly DayUse[];
}

/** Most models, and models by group, in the result: those with the highest charges. */
export const MAX_USED = 2000;

/** The sums of many calls by a price: all at the tier of the average call, plain tokens only. Units of quota. */
function sumAt(price: CompiledPrice, { count, prompt_tokens, completion_tokens }: DayUse): number {
  const average = count > 0 ? prompt_tokens / count : 0;
  const tokens = tierFor(price.tiers, average)?.tokens ?? price.tokens;
  return chargeOf(
    { ...price, tokens, tiers: [] },
    { input: prompt_tokens, output: completion_tokens },
    { calls: count },
  ).quota;
}

/**
 * How much more (or, below 0, less) the calls of the last 24 hours would have cost by the prices `after`: an estimate
 * in units of quota. The charge is multiplied by the ratio of the formula's results, so that cached tokens and tools,
 * which the hourly sums do not separate, keep their part; what was free or had no price counts by the formula alone.
 */
export function priceEffect(day: readonly DayUse[], before: PriceTables, after: PriceTables): number {
  return day.reduce((effect, use) => {
    const was = resolvePrice(use.model, use.group, use.group, before);
    const next = resolvePrice(use.model, use.group, use.group, after);
    if (next.unpriced) return effect - use.quota; // such calls are refused
    const [old, now] = [was.unpriced ? 0 : sumAt(was, use), sumAt(next, use)];
    if (old === now) return effect;
    return effect + (old > 0 ? use.quota * (now / old - 1) : now - use.quota);
  }, 0);
}
