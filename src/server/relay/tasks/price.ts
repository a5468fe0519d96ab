/** The price terms of a job, and how they are stored until it is finished. */
import { printDecimal } from "../../../shared/decimal";
import { chargeOf } from "../../../shared/charge";
import { compilePrice, type CompiledPrice } from "../../../shared/pricing";
import type { Terms } from "../../protocol/call-terms";
import type { Priced } from "../../contracts/task-store";

/** USD of one job at model ratio 1, for a model without a price per call. */
const USD_PER_RATIO = 0.5;
const perJob = new WeakMap<CompiledPrice, CompiledPrice>();

/** A ratio as the price of one job. */
function pricePerJob(price: CompiledPrice): CompiledPrice {
  if (price.by === "call") return price;
  let known = perJob.get(price);
  if (!known) {
    const { model_ratio, group_ratio, user_group_ratio } = price.why;
    const value = (model_ratio?.value ?? 0) * USD_PER_RATIO;
    const why = {
      model_price: { ...model_ratio, value, source: model_ratio?.source ?? "default" },
      group_ratio,
      user_group_ratio,
    };
    const tables = { QuotaPerUnit: Number(printDecimal(price.quotaPerUnit)), "tool_price_setting.prices": {} };
    known = compilePrice(price.model, price.group, why, tables);
    perJob.set(price, known);
  }
  return known;
}

/** The price terms of a job; without token counts it costs its model's price per call, times its factors. */
export function termsOf(terms: Terms | undefined): Terms {
  const { usage, priced, ...rest } = terms ?? { usage: {}, exact: true };
  const byTokens = Object.values(usage).some((count) => count !== undefined);
  return { ...rest, usage, priced: priced ?? (byTokens ? (price) => price : pricePerJob) };
}

/** The cost of a job in units, at a compiled price. */
export const unitsOf = (price: CompiledPrice, { usage, times }: Priced): number => chargeOf(price, usage, times).quota;

const BIG = "$big";
const MAP = "$map";

/** A compiled price as text, so that a job is corrected at the price at which it was accepted. */
export const packPrice = (price: CompiledPrice): string =>
  JSON.stringify(price, (_, value: unknown) =>
    typeof value === "bigint" ? { [BIG]: value.toString() } : value instanceof Map ? { [MAP]: [...value] } : value,
  );

/** The stored price; undefined for ''. */
export function unpackPrice(text: string): CompiledPrice | undefined {
  if (text === "") return undefined;
  // Only packPrice writes it.
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== "object" || value === null) return value;
    if (BIG in value) return BigInt(String(value[BIG]));
    return MAP in value && Array.isArray(value[MAP]) ? new Map(value[MAP]) : value;
  }) as CompiledPrice;
}
