import { formatDollars, formatNumber } from "./format";
import { displayInCurrency, quotaPerUnit } from "./status";

/** An amount for a sentence, as balances are shown: "$1.00", or units where the operator shows units. */
export const quotaText = (units: number): string =>
  displayInCurrency() ? formatDollars(units, quotaPerUnit()) : formatNumber(units);
