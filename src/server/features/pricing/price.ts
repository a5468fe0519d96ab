/** The relay's prices: from the options, compiled once per (model, group, user's group) until one changes. */
import { canonicalModel } from "../../../shared/channel-types";
import { type CompiledPrice, type Prices, priceBook, type PriceTables, priceTableKeys } from "../../../shared/pricing";
import type { OptionStore } from "../../contracts/option-store";

export interface LivePrices {
  /** undefined when the model has neither price nor ratio (and SelfUseModeEnabled is off). */
  price(model: string, group: string, userGroup: string): CompiledPrice | undefined;
  /** The compiled prices of the current values. */
  book(): Prices;
}

/**
 * The option store replaces a value as a whole when it changes, so comparing the values is enough, and a new price
 * holds from the very next call on: there is no moment between a change and the message about it.
 */
export function createPrices(options: Pick<OptionStore, "get" | "version">): LivePrices {
  let values: readonly unknown[] = [];
  let version: number | undefined;
  let current: Prices | undefined;
  const book = (): Prices => {
    // Every call asks, and hardly ever was an option changed since the last one.
    if (current && version === options.version) return current;
    ({ version } = options);
    if (current && priceTableKeys.every((key, i) => values[i] === options.get(key))) return current;
    values = priceTableKeys.map((key) => options.get(key));
    // Every key of PriceTables is an option of the same type; the list's type is checked against the interface.
    const tables = Object.fromEntries(priceTableKeys.map((key, i) => [key, values[i]])) as unknown as PriceTables;
    current = priceBook(tables);
    return current;
  };
  return {
    book,
    price: (model, group, userGroup) => {
      const price = book().price(canonicalModel(model), group, userGroup);
      return price.unpriced ? undefined : price;
    },
  };
}
