/** The price of a batch: its lines at their model's price, times the option BatchRatio. */
import { multiply, printDecimal, toDecimal } from "../../../../shared/decimal";
import type { PriceRule } from "../../../../shared/price-rules";
import type { CompiledPrice } from "../../../../shared/pricing";
import { timesPrice, withoutOpen } from "../../../../shared/ruled-price";

/**
 * A price for all lines together: scaled, and without the tiers and the rules for lengths of input or for its cache,
 * because the sum of many short inputs is not a long one.
 */
export function batchPrice(price: CompiledPrice, ratio: number): CompiledPrice {
  const { rules, ...scaled } = timesPrice(withoutOpen(price), "batch_ratio", ratio);
  const others = rules?.filter(({ when }) => when.input === undefined && when.cached === undefined) ?? [];
  return { ...scaled, ...(others.length > 0 && { rules: others.map((rule) => scaledRule(rule, ratio)) }) };
}

/** Prices in dollars are those of single calls as well; factors multiply the batch's price. */
function scaledRule(rule: PriceRule, ratio: number): PriceRule {
  if (!("usd" in rule.then)) return rule;
  const factor = toDecimal(ratio);
  const scaled = (usd: number): number => Number(printDecimal(multiply(toDecimal(usd), factor)));
  return {
    ...rule,
    then: { usd: Object.fromEntries(Object.entries(rule.then.usd).map(([k, usd]) => [k, scaled(usd)])) },
  };
}
