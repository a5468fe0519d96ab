/** Amounts offered wherever a quota is typed or topped up, in dollars (C-606 to C-612). */
export const QUOTA_PICKS = [1, 10, 50, 100, 500, 1000] as const;

/**
 * Balances and totals stay within so many units on either side of 0, so that the difference of any two of them, and the
 * sum of a balance and its use, is an exact number (2^53).
 */
export const UNITS_LIMIT = 2 ** 52 - 1;
/** The most units of one charge: a batch of 64 of them, and hundreds in a total of a channel, are exact. */
export const CHARGE_LIMIT = 1e13;
