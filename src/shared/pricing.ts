/**
 * The one definition of what a call costs: for the ledger, the pricing page, the log's inspector and the tests.
 *
 * Units of quota are whole numbers. By ratio: units = sum of (tokens x weight) x model ratio x group ratio, whatever
 * QuotaPerUnit is. By call: units = price in USD x QuotaPerUnit x group ratio. Everything is exact until the one
 * rounding at the end, half away from zero (C-627 to C-632).
 *
 * Here factors become a compiled price; charge.ts charges and estimates by it, price-display.ts shows it.
 */
import { builtInRulesOf } from "./built-in-rules";
import { type Decimal, multiply, one, printDecimal, rescale, toDecimal, zero } from "./decimal";
import { type ContextTiers, tierRule } from "./long-context";
import { familyCompletionRatios } from "./model-prices";
import type { PriceRule, RuleConditions, Served } from "./price-rules";
import { modelBehind } from "./thinking-suffix";
import { toolPricesFor } from "./tool-prices";

/**
 * What a call used, in disjoint buckets: a token is in exactly one of them. Undefined means unknown and costs nothing;
 * negative and non-finite numbers count as 0.
 */
export interface Usage {
  /** Plain input: neither cached, nor audio, nor image. */
  readonly input?: number;
  readonly cache_read?: number;
  readonly cache_write_5m?: number;
  readonly cache_write_1h?: number;
  readonly audio_in?: number;
  readonly image_in?: number;
  /** Output text without reasoning. */
  readonly output?: number;
  readonly reasoning?: number;
  readonly audio_out?: number;
  readonly image_out?: number;
  /** Calls of server-side tools by name, for example { web_search: 2 }. */
  readonly server_tools?: Readonly<Record<string, number>>;
  /** What the answer says of the service that the call got; absent: nothing. */
  readonly served?: Served;
}

/** A bucket of tokens. */
export type TokenKind = Exclude<keyof Usage, "server_tools" | "served">;

export const tokenKinds = [
  "input",
  "cache_read",
  "cache_write_5m",
  "cache_write_1h",
  "audio_in",
  "image_in",
  "output",
  "reasoning",
  "audio_out",
  "image_out",
] as const satisfies readonly TokenKind[];

/** The values of the options that decide prices, by their keys. */
export interface PriceTables {
  readonly ModelPrice: Readonly<Record<string, number>>;
  readonly ModelRatio: Readonly<Record<string, number>>;
  readonly CompletionRatio: Readonly<Record<string, number>>;
  readonly CacheRatio: Readonly<Record<string, number>>;
  readonly CreateCacheRatio: Readonly<Record<string, number>>;
  readonly CreateCache1hRatio: Readonly<Record<string, number>>;
  readonly ImageRatio: Readonly<Record<string, number>>;
  readonly ImageCompletionRatio: Readonly<Record<string, number>>;
  readonly AudioRatio: Readonly<Record<string, number>>;
  readonly AudioCompletionRatio: Readonly<Record<string, number>>;
  readonly LongContextRatio: Readonly<Record<string, ContextTiers>>;
  readonly PriceRules: Readonly<Record<string, readonly PriceRule[]>>;
  readonly GroupRatio: Readonly<Record<string, number>>;
  readonly GroupGroupRatio: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly "tool_price_setting.prices": Readonly<Record<string, number>>;
  readonly QuotaPerUnit: number;
  readonly SelfUseModeEnabled: boolean;
}

/** A price book made of these options is stale when one of them changes. */
export const priceTableKeys = [
  "ModelPrice",
  "ModelRatio",
  "CompletionRatio",
  "CacheRatio",
  "CreateCacheRatio",
  "CreateCache1hRatio",
  "ImageRatio",
  "ImageCompletionRatio",
  "AudioRatio",
  "AudioCompletionRatio",
  "LongContextRatio",
  "PriceRules",
  "GroupRatio",
  "GroupGroupRatio",
  "tool_price_setting.prices",
  "QuotaPerUnit",
  "SelfUseModeEnabled",
] as const satisfies readonly (keyof PriceTables)[];

/** The names of the factors, as the log row spells them. */
export type FactorName =
  | "model_price"
  | "model_ratio"
  | "completion_ratio"
  | "cache_ratio"
  | "cache_creation_ratio"
  | "cache_creation_1h_ratio"
  | "image_ratio"
  | "image_completion_ratio"
  | "audio_ratio"
  | "audio_completion_ratio"
  | "group_ratio"
  | "user_group_ratio";

/** One factor of a price and its source. */
export interface Factor {
  readonly value: number;
  /** The option key, "built-in" (a rule of the model's family) or "default" (nothing says otherwise). */
  readonly source: string;
  /** The entry of the table that applied, for example `gpt-4-gizmo-*` or `vip/default`. */
  readonly entry?: string;
}

export type Factors = Readonly<Partial<Record<FactorName, Factor>>>;

interface TokenPrice {
  /** Units per token, times 10^scale of the price. */
  readonly weight: bigint;
  /** USD per 1M tokens before the group ratio. */
  readonly usd: string;
  readonly ratios: Readonly<Record<string, string>>;
}

export type TokenPrices = Readonly<Record<TokenKind, TokenPrice>>;

/** A price with all its factors multiplied out to integers. Made by `resolvePrice`, valid until an option changes. */
export interface CompiledPrice {
  readonly unpriced?: undefined;
  readonly model: string;
  readonly group: string;
  readonly by: "ratio" | "call";
  readonly why: Factors;
  /** Weights are units times 10^scale. */
  readonly scale: number;
  readonly unit: bigint;
  readonly tokens: TokenPrices;
  /** Units of one call times 10^scale; 0 when by ratio. */
  readonly call: bigint;
  readonly groupRatio: Decimal;
  readonly quotaPerUnit: Decimal;
  /** USD per 1000 calls of a tool: the tables' entries that concern this model. */
  readonly tools: ReadonlyMap<string, Decimal>;
  /** Rules that `priceAt` (ruled-price.ts) has not applied yet; absent for most models. */
  readonly rules?: readonly PriceRule[];
  /** The rule that made this price; absent: it is the plain one. */
  readonly rule?: PriceRule;
  /** A rule asks for the service that a call gets: what is sent and what the answer says decide the charge. */
  readonly by_service?: true;
  /**
   * What the usage decides, in its order: the first whose condition holds replaces this price. Operators' rules come
   * before the tiers of long inputs.
   */
  readonly open?: readonly OpenPrice[];
}

/** A price that waits for the usage of its call. */
export interface OpenPrice {
  readonly when: Pick<RuleConditions, "input" | "cached">;
  readonly price: CompiledPrice;
}

/** No option has a price for this model: calls of it are refused (model_price_error). */
export interface Unpriced {
  readonly unpriced: true;
  readonly model: string;
  readonly group: string;
}

/** The ratio of 1-hour cache writes to 5-minute ones where CreateCache1hRatio has none. */
const hourWrite = toDecimal("1.6");
/** USD per 1M tokens at ratio 1. */
const usdPerRatio = toDecimal(2);
const selfUseRatio = 37.5;

/** An own entry of the table: the exact name, else the longest entry ending in `*` that begins the name. */
function lookUp<Value>(
  table: Readonly<Record<string, Value>>,
  name: string,
  source: string,
): { readonly value: Value; readonly source: string; readonly entry: string } | undefined {
  const exact = Object.hasOwn(table, name) ? table[name] : undefined;
  if (exact !== undefined) return { value: exact, source, entry: name };
  let best: { value: Value; source: string; entry: string } | undefined;
  for (const [entry, value] of Object.entries(table)) {
    if (!entry.endsWith("*") || entry.length <= (best?.entry.length ?? 0)) continue;
    if (name.startsWith(entry.slice(0, -1))) best = { value, source, entry };
  }
  return best;
}

function completionRatio(model: string, tables: PriceTables): Factor {
  const configured = lookUp(tables.CompletionRatio, model, "CompletionRatio");
  if (configured) return configured;
  const family = model.includes("/") ? undefined : lookUp(familyCompletionRatios, model, "built-in");
  return family ?? { value: 1, source: "default" };
}

type OptionalRatio =
  | "CreateCache1hRatio"
  | "ImageRatio"
  | "ImageCompletionRatio"
  | "AudioRatio"
  | "AudioCompletionRatio";

function groupFactors(group: string, userGroup: string, tables: PriceTables): Factors {
  const ratio = Object.hasOwn(tables.GroupRatio, group) ? tables.GroupRatio[group] : undefined;
  const own = Object.hasOwn(tables.GroupGroupRatio, userGroup) ? tables.GroupGroupRatio[userGroup] : undefined;
  const exclusive = own && Object.hasOwn(own, group) ? own[group] : undefined;
  return {
    group_ratio:
      ratio === undefined ? { value: 1, source: "default" } : { value: ratio, source: "GroupRatio", entry: group },
    ...(exclusive !== undefined && {
      user_group_ratio: { value: exclusive, source: "GroupGroupRatio", entry: `${userGroup}/${group}` },
    }),
  };
}

const usualTier = { input: 1, output: 1 };
export const outputKinds: ReadonlySet<TokenKind> = new Set(["output", "reasoning", "audio_out", "image_out"]);

/**
 * Multiplies factors out to integers. `why` needs model_price or model_ratio (the price wins); every other factor that
 * is missing counts as 1, audio_completion_ratio and image_completion_ratio as the completion ratio.
 */
export function compilePrice(
  model: string,
  group: string,
  why: Factors,
  tables: Pick<PriceTables, "QuotaPerUnit" | "tool_price_setting.prices">,
  longContext: ContextTiers = [],
): CompiledPrice {
  const factor = (name: FactorName, fallback: Decimal = one): Decimal => {
    const value = why[name]?.value;
    return value === undefined ? fallback : toDecimal(value);
  };
  const byCall = why.model_price !== undefined;
  const model_ratio = byCall ? zero : factor("model_ratio", zero);
  const groupRatio = factor("user_group_ratio", factor("group_ratio"));
  const quotaPerUnit = toDecimal(tables.QuotaPerUnit);
  const completion_ratio = factor("completion_ratio");
  const cache_creation_ratio = factor("cache_creation_ratio");
  const audio_ratio = factor("audio_ratio");
  const output = { completion_ratio };
  const ratiosOf: Readonly<Record<TokenKind, Readonly<Record<string, Decimal>>>> = {
    input: {},
    cache_read: { cache_ratio: factor("cache_ratio") },
    cache_write_5m: { cache_creation_ratio },
    cache_write_1h: why.cache_creation_1h_ratio
      ? { cache_creation_1h_ratio: factor("cache_creation_1h_ratio") }
      : { cache_creation_ratio, cache_creation_1h: hourWrite },
    audio_in: { audio_ratio },
    image_in: { image_ratio: factor("image_ratio") },
    output,
    reasoning: output,
    audio_out: { audio_ratio, audio_completion_ratio: factor("audio_completion_ratio", completion_ratio) },
    image_out: { image_completion_ratio: factor("image_completion_ratio", completion_ratio) },
  };
  const exactAt = (tier: typeof usualTier) =>
    tokenKinds.map((kind) => {
      const times = outputKinds.has(kind) ? tier.output : tier.input;
      const ratios = { model_ratio, ...ratiosOf[kind], ...(times !== 1 && { long_context_ratio: toDecimal(times) }) };
      const value = multiply(...Object.values(ratios));
      return { kind, ratios: { ...ratios, group_ratio: groupRatio }, value, units: multiply(value, groupRatio) };
    });
  const call = byCall ? multiply(factor("model_price"), quotaPerUnit, groupRatio) : zero;
  const facts = {
    model,
    group,
    by: byCall ? "call" : "ratio",
    why,
    groupRatio,
    quotaPerUnit,
    tools: toolPricesFor(model, tables["tool_price_setting.prices"]),
  } as const;
  const priced = (tier: typeof usualTier): CompiledPrice => {
    const exact = exactAt(tier);
    const scale = Math.max(call.scale, ...exact.map(({ units }) => units.scale));
    const tokens = Object.fromEntries(
      exact.map(({ kind, ratios, value, units }) => [
        kind,
        {
          weight: rescale(units, scale),
          usd: printDecimal(multiply(value, usdPerRatio)),
          ratios: Object.fromEntries(Object.entries(ratios).map(([name, ratio]) => [name, printDecimal(ratio)])),
        },
      ]),
    ) as Record<TokenKind, TokenPrice>; // one entry per token kind, by the map above
    return { ...facts, scale, unit: 10n ** BigInt(scale), tokens, call: rescale(call, scale) };
  };
  // The longest first: the first that holds counts.
  const tiers = byCall ? [] : longContext.toReversed().map(tierRule);
  const open = tiers.map((rule) => ({ when: rule.when, price: { ...priced(rule.then), rule } }));
  return { ...priced(usualTier), ...(open.length > 0 && { open }) };
}

/**
 * The price of a model for a user of `userGroup` who is served by `group`. ModelPrice wins over ModelRatio; without
 * either the model is unpriced, or costs ratio 37.5 in self-use mode; a name with a thinking or search suffix costs
 * what its model does. A ratio in GroupGroupRatio replaces GroupRatio.
 */
export function resolvePrice(
  model: string,
  group: string,
  userGroup: string,
  tables: PriceTables,
): CompiledPrice | Unpriced {
  const groups = groupFactors(group, userGroup, tables);
  const isListed = (name: string): boolean =>
    lookUp(tables.ModelPrice, name, "ModelPrice") !== undefined ||
    lookUp(tables.ModelRatio, name, "ModelRatio") !== undefined;
  const base = isListed(model) ? undefined : modelBehind(model);
  if (base !== undefined && isListed(base)) return { ...resolvePrice(base, group, userGroup, tables), model };
  const model_price = lookUp(tables.ModelPrice, model, "ModelPrice");
  if (model_price) return withRules(compilePrice(model, group, { model_price, ...groups }, tables), tables);
  const listed = lookUp(tables.ModelRatio, model, "ModelRatio");
  if (!listed && !tables.SelfUseModeEnabled) return { unpriced: true, model, group };
  const optional = (name: FactorName, key: OptionalRatio): Factors => {
    const found = lookUp(tables[key], model, key);
    return found ? { [name]: found } : {};
  };
  const why: Factors = {
    model_ratio: listed ?? { value: selfUseRatio, source: "SelfUseModeEnabled" },
    completion_ratio: completionRatio(model, tables),
    cache_ratio: lookUp(tables.CacheRatio, model, "CacheRatio") ?? { value: 1, source: "default" },
    cache_creation_ratio: lookUp(tables.CreateCacheRatio, model, "CreateCacheRatio") ?? {
      value: 1.25,
      source: "default",
    },
    ...optional("cache_creation_1h_ratio", "CreateCache1hRatio"),
    ...optional("image_ratio", "ImageRatio"),
    ...optional("image_completion_ratio", "ImageCompletionRatio"),
    ...optional("audio_ratio", "AudioRatio"),
    ...optional("audio_completion_ratio", "AudioCompletionRatio"),
    ...groups,
  };
  return withRules(compilePrice(model, group, why, tables, longContextOf(model, tables)), tables);
}

function withRules(price: CompiledPrice, tables: PriceTables): CompiledPrice {
  const rules = rulesOf(price.model, tables);
  return rules.length > 0 ? { ...price, rules } : price;
}

/** The rules of a model: by its own entry, one that ends in `*`, or its vendor's; none for most. */
function rulesOf(model: string, tables: PriceTables): readonly PriceRule[] {
  return lookUp(tables.PriceRules, model, "PriceRules")?.value ?? builtInRulesOf(model, tables);
}

/** The long-context tiers of a model, by its own entry or one that ends in `*`; none for most. */
export function longContextOf(
  model: string,
  { LongContextRatio }: Pick<PriceTables, "LongContextRatio">,
): ContextTiers {
  return lookUp(LongContextRatio, model, "LongContextRatio")?.value ?? [];
}

/** Resolves each (model, group, user group) once. Make a new book when an option of `priceTableKeys` changes. */
export function priceBook(tables: PriceTables) {
  const known = new Map<string, Map<string, CompiledPrice>>();
  return {
    tables,
    price(model: string, group: string, userGroup: string): CompiledPrice | Unpriced {
      // With the length no two pairs are written alike.
      const groups = `${userGroup.length} ${userGroup}${group}`;
      const compiled = known.get(model)?.get(groups);
      if (compiled) return compiled;
      const price = resolvePrice(model, group, userGroup, tables);
      if (price.unpriced) return price;
      // Model names come from callers: in self-use mode and with `*` entries their number has no other bound.
      if (known.size >= 10_000) known.clear();
      known.set(model, (known.get(model) ?? new Map<string, CompiledPrice>()).set(groups, price));
      return price;
    },
  };
}

export type Prices = ReturnType<typeof priceBook>;
