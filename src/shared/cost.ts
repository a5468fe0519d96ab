/**
 * What a call cost its operator, in billionths of a dollar: by the prices of its channel, else by its share of the
 * vendor's list price (model-prices.ts and the vendor's own rules). Users' prices have no part in it.
 */
import { z } from "zod";
import { type CallTimes, chargeOf, quotaOf } from "./charge";
import type { CurrencyRates } from "./currency-rates";
import { printDecimal } from "./decimal";
import { BATCH_DISCOUNT } from "./factor-rules";
import { longContextTiers, toolPrices } from "./model-prices";
import { builtInTables } from "./price-rows";
import { isTimed, type PriceRule, type RequestFacts, ruleList } from "./price-rules";
import { compilePrice, type CompiledPrice, type Factors, priceBook, type Usage } from "./pricing";
import { priceAt } from "./ruled-price";

const amount = z.number().min(0).max(1e6);
const prices = z
  .strictObject({
    input: amount.positive(),
    output: amount,
    cache_read: amount,
    cache_write_5m: amount,
    cache_write_1h: amount,
    audio_in: amount,
    audio_out: amount,
    image_in: amount,
    image_out: amount,
    call: amount,
    /** What the vendor asks in other hours, tiers, regions and speeds: rules of this price. */
    rules: ruleList,
  })
  .partial()
  .refine(({ input, call }) => (input === undefined) !== (call === undefined), { error: "either input or call" });
const table = z.record(z.string().min(1).max(255), prices);
type CostTable = z.infer<typeof table>;

/** A channel's prices; the problem is in English. */
export function parseCostPrices(text: string): { table: CostTable } | { problem: string } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problem: "not JSON" };
  }
  const parsed = table.safeParse(json);
  if (parsed.success) return { table: parsed.data };
  const [issue] = parsed.error.issues;
  return { problem: [issue?.path.join("."), issue?.message].filter(Boolean).join(": ") };
}

/** A unit of quota at this ratio is a billionth of a dollar: ratio 1 is 2 USD per million tokens. */
const BILLIONTHS = { QuotaPerUnit: 500_000, group_ratio: 2000 };
const group_ratio = { value: BILLIONTHS.group_ratio, source: "cost" };

const list = priceBook({
  ...builtInTables,
  LongContextRatio: longContextTiers,
  PriceRules: {},
  GroupRatio: { cost: BILLIONTHS.group_ratio },
  GroupGroupRatio: {},
  "tool_price_setting.prices": toolPrices,
  QuotaPerUnit: BILLIONTHS.QuotaPerUnit,
  SelfUseModeEnabled: false,
});

const ratio = (value: number | undefined, to: number | undefined): number =>
  value === undefined || to === undefined || to === 0 ? 1 : value / to;

/** Kinds without a price cost what plain input and output do. */
function ownPrice(model: string, own: z.infer<typeof prices>): CompiledPrice {
  const { input = 0, output = input, call, rules } = own;
  const factor = (value: number) => ({ value, source: "cost" });
  const why: Factors =
    call === undefined
      ? {
          model_ratio: factor(input / 2),
          completion_ratio: factor(ratio(output, input)),
          cache_ratio: factor(ratio(own.cache_read, input)),
          cache_creation_ratio: factor(ratio(own.cache_write_5m, input)),
          cache_creation_1h_ratio: factor(ratio(own.cache_write_1h ?? own.cache_write_5m, input)),
          audio_ratio: factor(ratio(own.audio_in, input)),
          audio_completion_ratio: factor(ratio(own.audio_out ?? output, own.audio_in ?? input)),
          image_ratio: factor(ratio(own.image_in, input)),
          image_completion_ratio: factor(ratio(own.image_out ?? output, input)),
          group_ratio,
        }
      : { model_price: factor(call), group_ratio };
  const price = compilePrice(model, "cost", why, { ...BILLIONTHS, "tool_price_setting.prices": toolPrices });
  return rules ? { ...price, rules } : price;
}

const parsedTables = new Map<string, ReadonlyMap<string, CompiledPrice>>();

/** The compiled prices of a channel, once for each text. */
function pricesOf(text: string): ReadonlyMap<string, CompiledPrice> {
  let known = parsedTables.get(text);
  if (!known) {
    const parsed = parseCostPrices(text);
    const entries = "table" in parsed ? Object.entries(parsed.table) : [];
    known = new Map(entries.map(([model, own]) => [model, ownPrice(model, own)]));
    if (parsedTables.size >= 1000) parsedTables.clear();
    parsedTables.set(text, known);
  }
  return known;
}

function ownPriceOf(text: string, model: string): CompiledPrice | undefined {
  const known = pricesOf(text);
  const exact = known.get(model);
  if (exact) return exact;
  const prefixes = [...known.keys()].filter((name) => name.endsWith("*") && model.startsWith(name.slice(0, -1)));
  const [longest] = prefixes.toSorted((a, b) => b.length - a.length);
  return longest === undefined ? undefined : known.get(longest);
}

/** How a channel costs: the members of its setting. */
export interface CostSetting {
  readonly cost_percent?: number;
  readonly cost_prices?: string;
  /** Of `cost_prices`; absent: dollars. */
  readonly cost_currency?: string;
}

/** Dollars of one unit; undefined without a rate. */
function dollarsFor(currency: string | undefined, rates: CurrencyRates): number | undefined {
  if (currency === undefined || currency === "" || currency === "USD") return 1;
  const found = Object.hasOwn(rates, currency) ? rates[currency] : undefined;
  return found && 1 / found.rate;
}

/** A call as its vendor bills it. */
export interface BilledCall {
  /** The model sent upstream. */
  readonly model: string;
  /** Of the hold, epoch milliseconds. */
  readonly moment: number;
  readonly usage: Usage;
  readonly times?: CallTimes | undefined;
  /** What the request said as it was sent; what `usage` says of the service goes before it. */
  readonly facts?: RequestFacts | undefined;
  /** The lines of a batch, at the vendors' discount. */
  readonly batch?: boolean;
  /** The price of the model made into the price of this operation. */
  priced?(price: CompiledPrice): CompiledPrice;
}

/** What a channel pays for a model, and its share of that in dollars; undefined without any price or its rate. */
function costPrice(
  { cost_percent = 100, cost_prices, cost_currency }: CostSetting,
  model: string,
  rates: CurrencyRates,
) {
  const own = cost_prices === undefined ? undefined : ownPriceOf(cost_prices, model);
  if (own) {
    const share = dollarsFor(cost_currency, rates);
    return share === undefined ? undefined : { price: own, share };
  }
  const price = listedPrice(model);
  return price && { price, share: cost_percent / 100 };
}

const NO_RULES: readonly PriceRule[] = [];
const listed = new Map<string, CompiledPrice | undefined>();

/** The vendor's list price; a name that is not on the list is looked up once too, because that takes 50 µs. */
function listedPrice(model: string): CompiledPrice | undefined {
  if (listed.has(model)) return listed.get(model);
  const found = list.price(model, "cost", "cost");
  const price = found.unpriced ? undefined : found;
  // Names of mapped models come from operators, others from callers.
  if (listed.size >= 10_000) listed.clear();
  listed.set(model, price);
  return price;
}

/** The rules by which a channel pays for a model: its own, or the vendor's. */
export const costRules = ({ cost_prices }: CostSetting, model: string): readonly PriceRule[] =>
  ((cost_prices === undefined ? undefined : ownPriceOf(cost_prices, model)) ?? listedPrice(model))?.rules ?? NO_RULES;

/** Billionths of a dollar; null where neither the channel nor the vendor's list has a price, or a rate is missing. */
export function costOf(setting: CostSetting, call: BilledCall, rates: CurrencyRates = {}): number | null {
  const { model, moment, usage, times, batch, facts } = call;
  const found = costPrice(setting, model, rates);
  if (!found) return null;
  const listed = call.priced?.(found.price) ?? found.price;
  const { served } = usage;
  const member = (path: string): readonly unknown[] => facts?.[path] ?? [];
  const share = batch === true && { batch: BATCH_DISCOUNT };
  const price = listed.rules || batch ? priceAt(listed, { moment, member, served, ...share }) : listed;
  // Without tools the sum alone is enough: this runs in every call.
  const quota = price.by === "call" || usage.server_tools ? chargeOf(price, usage, times).quota : quotaOf(price, usage);
  return Math.round(quota * found.share);
}

const MILLION = 1_000_000;
/** Long and short calls, of one kind of token each; {} is one call. */
const SAMPLES: readonly Usage[] = [
  { input: MILLION },
  { cache_read: MILLION },
  { output: MILLION },
  {},
  { input: 1000 },
];
const HOUR_MS = 3_600_000;
const HOURS = 7 * 24;
/** A unit at ratio 1: what rounding may take from a sale. */
const ROUNDED = 0.000_002;

/** A sale that brings less than it costs, in dollars for the same usage. */
export interface BelowCost {
  readonly sale: number;
  readonly cost: number;
  /** Of the sale, epoch milliseconds. */
  readonly moment: number;
}

/**
 * The worst case of a model that, sold at `price` through a channel, costs more than it brings at some hour of the week
 * from `start` on. undefined: none, or not comparable (sold by the call and paid by the token).
 */
export function belowCost(
  price: CompiledPrice,
  setting: CostSetting,
  model: string,
  start: number,
  rates: CurrencyRates = {},
): BelowCost | undefined {
  const paid = costPrice(setting, model, rates)?.price;
  if (!paid || paid.by !== price.by) return undefined;
  const perUnit = price.by === "call" ? 1 / Number(printDecimal(price.quotaPerUnit)) : 2 / MILLION;
  let worst: BelowCost | undefined;
  const timed = [...(price.rules ?? []), ...(paid.rules ?? [])].some(isTimed);
  for (let hour = 0; hour < (timed ? HOURS : 1); hour++) {
    const moment = start + hour * HOUR_MS;
    const now = priceAt(price, { moment, member: () => [] });
    for (const usage of SAMPLES) {
      const sale = chargeOf(now, usage).quota * perUnit;
      const cost = (costOf(setting, { model, usage, moment }, rates) ?? 0) / 1e9;
      if (sale + ROUNDED < cost && (!worst || sale / cost < worst.sale / worst.cost - 0.001))
        worst = { sale, cost, moment };
    }
  }
  return worst;
}
