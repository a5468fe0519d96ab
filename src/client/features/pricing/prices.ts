/**
 * The price list as the page shows it: computed from the factors by the same module that charges (shared/pricing.ts).
 */
import { billingOf, type Catalogue, type CatalogueModel, catalogPrice, stepModels } from "../../../shared/price-list";
import { type Charge, chargeOf } from "../../../shared/charge";
import { type DisplayPrices, displayPrices, longContextPrices } from "../../../shared/price-display";
import { applies, type Circumstances, isTimed, type PriceRule } from "../../../shared/price-rules";
import { type Usage } from "../../../shared/pricing";
import { batchRule, type FactorRule } from "../../../shared/factor-rules";
import { imageFactors, imageRules } from "../../../shared/image-factors";
import { priceAt, withRule } from "../../../shared/ruled-price";
import { videoFactors, videoRules, videoTariff } from "../../../shared/video-tariffs";
import type { GridSort } from "../../components/data-grid/grid-state";
import { type PriceUnit, unitOf } from "./price-unit";

export interface PricedRow {
  readonly item: CatalogueModel;
  readonly billing: "ratio" | "call" | null;
  readonly unit: PriceUnit;
  /** USD per 1M tokens by kind, or per call, in the chosen group; empty without a price. */
  readonly shown: DisplayPrices;
  /** The same at ratio 1. */
  readonly base: DisplayPrices;
  /** A virtual model: `shown` is its cheapest step by kind, this its dearest. */
  readonly most?: DisplayPrices;
  /** Served in the chosen group, and priced. */
  readonly available: boolean;
}

/** The caller's ratio in a group; 1 for a group they do not belong to. */
export const ratioOf = ({ groups }: Catalogue, group: string): number =>
  (Object.hasOwn(groups, group) ? groups[group]?.ratio : undefined) ?? 1;

/** Prices of one model in one group. */
export function pricesIn(catalogue: Catalogue, item: CatalogueModel, group: string): DisplayPrices {
  const price = catalogPrice(item, ratioOf(catalogue, group), catalogue.quota_per_unit);
  return price ? displayPrices(price) : {};
}

/** Its prices for long inputs in one group, the shortest first; none for most models. */
export function longPricesIn(
  catalogue: Catalogue,
  item: CatalogueModel,
  group: string,
): ReturnType<typeof longContextPrices> {
  const price = catalogPrice(item, ratioOf(catalogue, group), catalogue.quota_per_unit);
  return price ? longContextPrices(price) : [];
}

/** What a rule makes of a model's price in one group; empty where it is about prices of the other kind. */
export function rulePricesIn(
  catalogue: Catalogue,
  item: CatalogueModel,
  group: string,
  rule: PriceRule,
): DisplayPrices {
  const price = catalogPrice(item, ratioOf(catalogue, group), catalogue.quota_per_unit);
  const ruled = price && withRule(price, rule);
  return ruled ? displayPrices(ruled) : {};
}

/** The discount of batches as a list of rules: of models that are paid by the token. */
export const batchRules = ({ batch_ratio }: Catalogue, item: CatalogueModel): readonly FactorRule[] =>
  billingOf(item) === "ratio" && batch_ratio !== 1 && !item.rules?.some(isOfBatches) ? [batchRule(batch_ratio)] : [];

/** Whether the rule takes the place of the discount, whatever else a batch is. */
export const isOfBatches = ({ when }: PriceRule): boolean => when.batch === true && Object.keys(when).length === 1;

/** Every model of the catalogue with its prices in `group`. */
export function pricedRows(catalogue: Catalogue, group: string): PricedRow[] {
  const ratio = ratioOf(catalogue, group);
  return catalogue.models.map((item) => {
    if (item.steps) return virtualRow(catalogue, item, group);
    const price = catalogPrice(item, ratio, catalogue.quota_per_unit);
    const plain = ratio === 1 ? price : catalogPrice(item, 1, catalogue.quota_per_unit);
    return {
      item,
      billing: billingOf(item),
      unit: unitOf(item.model),
      shown: price ? displayPrices(price) : {},
      base: plain ? displayPrices(plain) : {},
      available: price !== undefined && item.enable_groups.includes(group),
    };
  });
}

/** A virtual model costs what its answering step costs: from the cheapest to the dearest, by kind. */
function virtualRow(catalogue: Catalogue, item: CatalogueModel, group: string): PricedRow {
  const steps = stepModels(catalogue.models, item);
  const prices = steps.map((step) => pricesIn(catalogue, step.item, step.group ?? group));
  const extreme = (pick: (...amounts: number[]) => number): DisplayPrices => {
    const bounds: Partial<Record<keyof DisplayPrices, string>> = {};
    for (const kind of new Set(prices.flatMap((one) => Object.keys(one) as (keyof DisplayPrices)[]))) {
      const amounts = prices.flatMap((one) => one[kind] ?? []);
      const found = pick(...amounts.map(Number));
      bounds[kind] = amounts.find((amount) => Number(amount) === found) ?? "";
    }
    return bounds;
  };
  const shown = extreme(Math.min);
  return {
    item,
    billing: steps[0] ? billingOf(steps[0].item) : null,
    unit: "call",
    shown,
    base: shown,
    most: extreme(Math.max),
    available: steps.length > 0 && item.enable_groups.includes(group),
  };
}

/** What a calculated call is besides its tokens. */
export interface AskedCall {
  /** Epoch milliseconds. */
  readonly moment: number;
  /** Values of conditions (`size`) and of members of the request by their paths; absent: not in the request. */
  readonly values?: Readonly<Record<string, string | undefined>>;
  /** Of a video. */
  readonly seconds?: number | undefined;
  /** A video with sound. */
  readonly audio?: boolean;
  /** A line of a batch. */
  readonly batch?: boolean;
  /** Results of a call that is paid by the piece, pictures for instance: 1 unless given. */
  readonly results?: number;
}

/** What a call of a model is paid by: then the calculator asks for it. */
type PaidBy = "tokens" | "results" | "video";
export const paidBy = (item: CatalogueModel): PaidBy =>
  billingOf(item) === "ratio" ? "tokens" : videoTariff(item.model) ? "video" : "results";

export const asksForTime = (rules: readonly PriceRule[]): boolean => rules.some(isTimed);

/** What a model's pictures or videos cost more, whatever its price is; empty for most. */
export const factorLists = (model: string): readonly (readonly FactorRule[])[] => [
  ...imageRules(model),
  videoRules(model),
];

const VALUED = ["service_tier", "region", "size", "quality", "resolution"] as const;

/**
 * What rules ask of a request besides time, tokens and seconds: a condition, or a member's path, to the values that
 * they name.
 */
export function askedValues(rules: readonly PriceRule[]): Map<string, readonly string[]> {
  const asked = new Map<string, readonly string[]>();
  const add = (key: string, values: readonly string[]) =>
    asked.set(key, [...new Set([...(asked.get(key) ?? []), ...values])]);
  for (const { when } of rules) {
    for (const key of VALUED) if (when[key]) add(key, when[key]);
    if (when.member) add(when.member.path, when.member.values);
  }
  return asked;
}

/**
 * What one call of a model in a group costs, as the ledger would charge it (a video of its usual length unless
 * `seconds` is given); undefined without a price.
 */
export function costOf(
  catalogue: Catalogue,
  item: CatalogueModel,
  group: string,
  usage: Usage,
  asked: AskedCall,
): Charge | undefined {
  const price = catalogPrice(item, ratioOf(catalogue, group), catalogue.quota_per_unit);
  const now = price && priceAt(price, circumstancesOf(catalogue, item, asked));
  const { values: { size, quality, resolution } = {}, seconds, audio, results = 1 } = asked;
  const video = {
    ...(seconds !== undefined && { seconds }),
    ...(resolution !== undefined && { resolution }),
    ...(audio !== undefined && { audio }),
  };
  const factors = { ...imageFactors(item.model, { size, quality }), ...videoFactors(item.model, video) };
  return now && chargeOf(now, usage, { factors, ...(paidBy(item) === "results" && { calls: results }) });
}

/** As the ledger would know the call when it has ended, with the service that it asked for. */
function circumstancesOf(
  { batch_ratio }: Catalogue,
  item: CatalogueModel,
  { moment, values = {}, seconds, batch }: AskedCall,
): Circumstances {
  const { size, quality, resolution, service_tier, region, speed } = values;
  return {
    moment,
    member: (path) => (values[path] === undefined ? [] : [values[path]]),
    served: {
      ...(service_tier !== undefined && { service_tier }),
      ...(region !== undefined && { inference_geo: region }),
      ...(speed !== undefined && { speed }),
    },
    size,
    quality,
    seconds,
    resolution,
    ...(batch && paidBy(item) === "tokens" && { batch: batch_ratio }),
  };
}

/** The rules of sizes, qualities and steps that multiply the price of such a call. */
export function factorsFor(catalogue: Catalogue, item: CatalogueModel, asked: AskedCall): readonly FactorRule[] {
  const call = circumstancesOf(catalogue, item, asked);
  const tariff = videoTariff(item.model);
  const shown = tariff
    ? { ...call, seconds: call.seconds ?? tariff.seconds, resolution: call.resolution ?? tariff.resolution }
    : call;
  return factorLists(item.model)
    .flatMap((list) => list.find((rule) => applies(rule, shown) === "yes") ?? [])
    .filter(({ then }) => then.factor !== 1);
}

export interface PriceFilter {
  readonly q: string;
  /** Key of a vendor, "other" for models without one, "" for all. */
  readonly vendor: string;
  readonly billing: string;
  /** One of CAPABILITIES; "" for all. */
  readonly capability: string;
  /** "1": only what can be called in the chosen group. */
  readonly available: string;
}

/**
 * What the filter of billing calls a model: "ratio", "call", "second" or "none". A video's price per call is one per
 * second.
 */
export const billingFacet = ({ billing, unit }: Pick<PricedRow, "billing" | "unit">): string =>
  billing === "call" ? unit : (billing ?? "none");

const has = ({ available, item, ...row }: PricedRow, filter: PriceFilter): boolean =>
  item.model.toLowerCase().includes(filter.q.trim().toLowerCase()) &&
  (filter.vendor === "" || filter.vendor === (item.vendor || "other")) &&
  (filter.billing === "" || filter.billing === billingFacet(row)) &&
  (filter.capability === "" || (item.capabilities ?? []).some((capability) => capability === filter.capability)) &&
  (filter.available === "" || available);

/** Rows that fit all filters, sorted by name or by a price; models without that price come last. */
export function selectRows(rows: readonly PricedRow[], filter: PriceFilter, sort: GridSort | null): PricedRow[] {
  const fitting = rows.filter((row) => has(row, filter));
  if (sort === null) return fitting;
  const sign = sort.desc ? -1 : 1;
  if (sort.key === "model") return sign === 1 ? fitting : fitting.toReversed();
  const value = ({ shown, item }: PricedRow): number =>
    Number((sort.key === "context" ? item.context : shown[sort.key as keyof DisplayPrices]) ?? Number.NaN);
  return fitting.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)];
    if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
    return (left - right) * sign;
  });
}

/**
 * About how many tokens a text has: four Latin letters or one and a half other ones each. A rough guess for planning;
 * what a call costs is counted by the upstream.
 */
export function guessTokens(text: string): number {
  let latin = 0;
  let other = 0;
  for (const letter of text) {
    if ((letter.codePointAt(0) ?? 0) < 0x250) latin += 1;
    else other += 1;
  }
  return Math.ceil(latin / 4 + other / 1.5);
}
