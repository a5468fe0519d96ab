/** Amounts offered wherever a quota is typed or topped up, in dollars (C-606 to C-612). */
export const QUOTA_PICKS = [1, 10, 50, 100, 500, 1000] as const;
