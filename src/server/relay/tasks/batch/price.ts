/** The price of a batch: its lines at their model's price, times the option BatchRatio. */
import { multiply, printDecimal, rescale, toDecimal } from "../../../../shared/decimal";
import type { CompiledPrice } from "../../../../shared/pricing";

/**
 * A price for all lines together: scaled, and without the tiers for long inputs, because the sum of many short inputs
 * is not a long one.
 */
export function batchPrice(price: CompiledPrice, ratio: number): CompiledPrice {
  const factor = toDecimal(ratio);
  const scale = price.scale + factor.scale;
  const text = printDecimal(factor);
  const scaled = (digits: bigint): bigint => rescale(multiply({ digits, scale: price.scale }, factor), scale);
  const tokens: Record<string, CompiledPrice["tokens"]["input"]> = Object.fromEntries(
    Object.entries(price.tokens).map(([kind, { weight, usd, ratios }]) => [
      kind,
      {
        weight: scaled(weight),
        usd: printDecimal(multiply(toDecimal(usd), factor)),
        ratios: { ...ratios, batch_ratio: text },
      },
    ]),
  );
  const { model_price } = price.why;
  const why = model_price
    ? { ...price.why, model_price: { ...model_price, value: model_price.value * ratio } }
    : price.why;
  return {
    ...price,
    why,
    scale,
    unit: 10n ** BigInt(scale),
    tokens: { ...price.tokens, ...tokens },
    tiers: [],
    call: scaled(price.call),
  };
}
