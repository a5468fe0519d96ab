/**
 * Prices of new-api since 2026, which are texts of a small expression language in USD per million tokens
 * (billing_setting.billing_expr; pkg/billingexpr/expr.md in QuantumNous/new-api). They become ratios, tiers of long
 * inputs and price rules (new-api-rules.ts); what these cannot say, a header for instance, is listed by its model.
 */
import { defaultText, isOptionKey } from "../../../../shared/options";
import type { RuleKind } from "../../../../shared/price-rules";
import { dollarsOf, ruledPrice, type RuledPrice } from "./new-api-rules";

/** Option -> the kind of tokens, the one that it is a multiple of, and the multiple where there is no entry. */
const RATIOS: readonly (readonly [
  key: string,
  kind: RuleKind,
  of: RuleKind,
  absent: (ratio: (of: RuleKind) => number) => number,
])[] = [
  ["CompletionRatio", "output", "input", () => NaN],
  ["CacheRatio", "cache_read", "input", () => 1],
  ["CreateCacheRatio", "cache_write_5m", "input", () => 1.25],
  ["CreateCache1hRatio", "cache_write_1h", "input", (ratio) => ratio("cache_write_5m") * 1.6],
  ["ImageRatio", "image_in", "input", () => 1],
  ["ImageCompletionRatio", "image_out", "input", (ratio) => ratio("output")],
  ["AudioRatio", "audio_in", "input", () => 1],
  ["AudioCompletionRatio", "audio_out", "audio_in", (ratio) => ratio("output")],
];

/** Every option that says something of one model's price. */
const PRICE_KEYS = ["ModelPrice", "ModelRatio", ...RATIOS.map(([key]) => key), "LongContextRatio", "PriceRules"].filter(
  isOptionKey,
);

const short = (value: number): number => Number(value.toFixed(12));

/** The entries of a model in the price options; what costs there what it costs here without one has none. */
function entriesOf({ plain, long, rules }: RuledPrice): [string, unknown][] {
  const ruled: [string, unknown][] = rules.length > 0 ? [["PriceRules", rules]] : [];
  if (!plain.terms) return [["ModelPrice", plain.fixed], ...ruled];
  const usd = dollarsOf(plain, 1);
  const { input = 0 } = usd;
  const times = (kind: RuleKind, of: RuleKind = "input"): number => short((usd[kind] ?? 0) / (usd[of] ?? 0));
  const ratios = RATIOS.flatMap(([key, kind, of, absent]): [string, unknown][] => {
    const ratio = times(kind, of);
    return Number.isFinite(ratio) && ratio !== short(absent(times)) ? [[key, ratio]] : [];
  });
  const tiers: [string, unknown][] = long ? [["LongContextRatio", [long]]] : [];
  return [["ModelRatio", short(input / 2)], ...ratios, ...tiers, ...ruled];
}

/**
 * The tables with the entries of expressions added, over those that were read (`values`); models whose expression has
 * no equal, in words.
 */
export function expressionPrices(raw: ReadonlyMap<string, string>): {
  options(values: ReadonlyMap<string, string>): Map<string, string>;
  left: string[];
} {
  const modes = objectIn(raw.get("billing_setting.billing_mode"));
  const texts = objectIn(raw.get("billing_setting.billing_expr"));
  const left: string[] = [];
  const changed = new Map<string, Record<string, unknown>>();
  const told: string[] = [];
  for (const [model, mode] of Object.entries(modes)) {
    if (mode !== "tiered_expr") continue;
    const read = ruledPrice(String(texts[model] ?? "").replace(/^\s*v\d+:/, ""));
    if (!read) {
      left.push(`price of ${model}: its expression has no equal here; set its price before it is used`);
      continue;
    }
    told.push(model);
    for (const [key, value] of entriesOf(read)) changed.set(key, { ...changed.get(key), [model]: value });
  }
  if (Object.keys(objectIn(raw.get("billing_setting.plugin_billing_expr"))).length > 0)
    left.push("billing_setting.plugin_billing_expr: prices of plugins");
  return {
    left,
    options: (values) => {
      const merged = new Map<string, string>();
      for (const key of PRICE_KEYS) {
        const before = objectIn(values.get(key) ?? defaultText(key));
        // The expression says all of a price: what the tables say besides is of an older one, or built in.
        const others = Object.fromEntries(Object.entries(before).filter(([model]) => !told.includes(model)));
        const added = changed.get(key) ?? {};
        if (Object.keys(added).length > 0 || Object.keys(others).length < Object.keys(before).length)
          merged.set(key, JSON.stringify({ ...others, ...added }));
      }
      return merged;
    },
  };
}

function objectIn(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : {};
  } catch {
    return {};
  }
}
