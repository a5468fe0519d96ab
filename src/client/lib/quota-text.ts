import { formatDollars, formatNumber } from "./format";
import { displayInCurrency, quotaPerUnit } from "./status";

/**
 * An amount for a sentence, as balances are shown: "$1.00", or units where the operator shows units. `decimals` 6 is
 * for the costs of calls.
 */
export const quotaText = (units: number, decimals = 2): string =>
  displayInCurrency() ? formatDollars(units, quotaPerUnit(), decimals) : formatNumber(units);
