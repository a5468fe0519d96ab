/** Units to hold before a call is made. */
import type { CompiledPrice } from "../../../shared/pricing";
import type { Terms } from "../../protocol/call-terms";
import { chargeOf, estimateUpperBound } from "../../../shared/charge";

/** Units to hold: the whole price of a call, or every token at the dearest rate that the request allows. */
export function holdOf(
  price: CompiledPrice,
  inputTokens: number,
  outputTokens: number,
  terms: Terms | undefined,
): number {
  if (price.by === "call" && terms) return chargeOf(price, {}, terms.times).quota;
  return Math.max(terms?.least_hold ?? 0, estimateUpperBound(price, inputTokens, outputTokens, terms?.kinds));
}
