/** Recent use of models, for the price editor: how often, and what a change of prices would have cost. */
import { chargeOf, priceFor } from "./charge";
import { isTimed } from "./price-rules";
import { type CompiledPrice, type PriceTables, resolvePrice } from "./pricing";
import { priceAt } from "./ruled-price";

/** Calls and units of one model in the last 7 days. */
export interface ModelUse {
  readonly model: string;
  readonly count: number;
  readonly quota: number;
}

/** Use of one model in one group in one of the last 24 hours, from the hourly sums. */
export interface DayUse extends ModelUse {
  readonly group: string;
  /** The hour's begin, epoch seconds. */
  readonly hour: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

export interface PriceUse {
  readonly week: readonly ModelUse[];
  readonly day: readonly DayUse[];
}

/** Most models in the result: those with the highest charges. */
export const MAX_USED = 2000;
/** Most hours of models by group: those with the highest charges. */
export const MAX_HOURS = 12_000;

const QUARTER_MS = 900_000;

/**
 * The sums of an hour's calls by a price: all of the length of the average call, plain tokens only, spread evenly over
 * the hour's quarters where rules ask for the time; what else rules ask of a request is not known. Units of quota.
 */
function sumAt(listed: CompiledPrice, use: DayUse): number {
  const { hour, count, prompt_tokens, completion_tokens } = use;
  const quarters = listed.rules?.some(isTimed) ? [0, 1, 2, 3] : [0];
  const average = { input: count > 0 ? Math.ceil(prompt_tokens / count) : 0 };
  const sums = quarters.map((quarter) => {
    const price = priceAt(listed, { moment: hour * 1000 + quarter * QUARTER_MS, member: () => [] });
    const { open: _, ...one } = priceFor(price, average);
    return chargeOf(one, { input: prompt_tokens, output: completion_tokens }, { calls: count }).quota;
  });
  return sums.reduce((total, quota) => total + quota, 0) / quarters.length;
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
