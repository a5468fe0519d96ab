/**
 * Factors of a price as rules of the one engine (price-rules.ts): what a vendor asks for a larger picture or a longer
 * video than its price is for. They multiply the price that the model's own rules made.
 */
import { applies, type Circumstances, type PriceRule } from "./price-rules";

/** What vendors ask for the lines of a batch (OpenAI's and Model Studio's price pages, read November 2026). */
export const BATCH_DISCOUNT = 0.5;

/** A rule that multiplies; the name is the factor's on the bill. */
export type FactorRule = PriceRule & { readonly then: { readonly factor: number } };

/** The factor of the first rule that applies; 1 without one. */
export function factorOf(rules: readonly FactorRule[], shown: Omit<Circumstances, "moment" | "member">): number {
  const call = { ...shown, moment: 0, member: () => [] };
  return rules.find((rule) => applies(rule, call) === "yes")?.then.factor ?? 1;
}

/** The discount of batches: it multiplies whatever price the model's rules made, except one that is about batches. */
export const batchRule = (share: number): FactorRule => ({
  name: "Batch",
  when: { batch: true },
  then: { factor: share },
});
