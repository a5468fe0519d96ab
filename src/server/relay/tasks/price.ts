/** The price terms of a job, and how they are stored until it is finished. */
import { printDecimal } from "../../../shared/decimal";
import { chargeOf } from "../../../shared/charge";
import { membersAt } from "../../../shared/price-rules";
import { compilePrice, type CompiledPrice, type TokenPrices } from "../../../shared/pricing";
import { priceAt } from "../../../shared/ruled-price";
import type { Terms } from "../../protocol/call-terms";
import type { Priced } from "../../contracts/task-store";
import { valuesAt } from "../billing/call-price";
import type { TaskOrder } from "./provider";

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
    known = { ...compilePrice(price.model, price.group, why, tables), ...(price.rules && { rules: price.rules }) };
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

/** The price of a job when it is held at `moment`. */
export function jobPrice(
  { body, kept }: Pick<TaskOrder<unknown>, "body" | "kept">,
  moment: number,
  terms: Terms,
  listed: CompiledPrice,
): CompiledPrice {
  const member = (path: string): readonly unknown[] => {
    const values = valuesAt(Buffer.from(body), path);
    return values.length > 0 ? values : membersAt(kept, path);
  };
  return priceAt(terms.priced?.(listed) ?? listed, { moment, member, ...terms.shown });
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
  // Only packPrice writes it, of this release or of one before it.
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== "object" || value === null) return value;
    if (BIG in value) return BigInt(String(value[BIG]));
    if (MAP in value && Array.isArray(value[MAP])) return new Map(value[MAP]);
    return "tiers" in value ? withoutTiers(value as TieredPrice) : value;
  }) as CompiledPrice;
}

/** A price as release 0.1.1 and those before it stored it: tiers of long inputs beside its tokens, the lowest first. */
interface TieredPrice extends CompiledPrice {
  readonly tiers: readonly { readonly over: number; readonly tokens: TokenPrices }[];
}

function withoutTiers({ tiers, open = [], ...price }: TieredPrice): CompiledPrice {
  const long = tiers
    .toReversed()
    .map(({ over, tokens }) => ({ when: { input: { over } }, price: { ...price, tokens } }));
  const all = [...open, ...long];
  return { ...price, ...(all.length > 0 && { open: all }) };
}
