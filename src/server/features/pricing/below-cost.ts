/** Models that are sold for less than their channels pay, for a warning to the operator. */
import { canonicalModel } from "../../../shared/channel-types";
import { type BelowCost, belowCost } from "../../../shared/cost";
import type { Services } from "../../contracts/context";
import { createPrices } from "./price";

/** The most that are listed: a table that is wrong as a whole is seen by its first lines. */
const MOST = 100;

/** A model in a group at a channel that costs more than it brings. */
export interface SoldBelowCost extends BelowCost {
  readonly model: string;
  readonly group: string;
  readonly channel: string;
}

/** Every enabled channel's models in every group that has a ratio, at the hours of the week from `now` on. */
export function soldBelowCost({ options, pool }: Pick<Services, "options" | "pool">, now: number): SoldBelowCost[] {
  const prices = createPrices(options);
  const rates = options.get("CurrencyRates");
  const found: SoldBelowCost[] = [];
  for (const group of Object.keys(options.get("GroupRatio"))) {
    for (const model of pool.models(group)) {
      const price = prices.price(model, group, group);
      if (!price) continue;
      for (const { name, setting, model_mapping } of pool.candidates(group, model)) {
        if (found.length >= MOST) return found;
        const below = belowCost(price, setting, canonicalModel(model_mapping.get(model) ?? model), now, rates);
        if (below) found.push({ model, group, channel: name, ...below });
      }
    }
  }
  return found;
}
