/**
 * Prices of new-api since 2026, which are texts of a small expression language in USD per million tokens
 * (billing_setting.billing_expr; pkg/billingexpr/expr.md in QuantumNous/new-api). They become ratios, tiers of long
 * inputs and price rules (new-api-rules.ts); what these cannot say, a header for instance, is listed by its model.
 */
import { defaultText, isOptionKey } from "../../../../shared/options";
import { ruledPrice, type RuledPrice } from "./new-api-rules";

/** Option -> the variable, and the one that it is a multiple of. */
const RATIOS = {
  CompletionRatio: ["c", "p"],
  CacheRatio: ["cr", "p"],
  CreateCacheRatio: ["cc", "p"],
  CreateCache1hRatio: ["cc1h", "p"],
  ImageRatio: ["img", "p"],
  ImageCompletionRatio: ["img_o", "p"],
  AudioRatio: ["ai", "p"],
  AudioCompletionRatio: ["ao", "ai"],
} as const;

const short = (value: number): number => Number(value.toFixed(12));

/** The entries of a model in the price options. */
function entriesOf({ plain, long, rules }: RuledPrice): [string, unknown][] {
  const ruled: [string, unknown][] = rules.length > 0 ? [["PriceRules", rules]] : [];
  if (!plain.terms) return [["ModelPrice", plain.fixed], ...ruled];
  const { terms } = plain;
  const input = terms.get("p") ?? 0;
  const ratios = Object.entries(RATIOS).flatMap(([key, [name, to]]): [string, unknown][] => {
    const [one, other] = [terms.get(name), terms.get(to) ?? input];
    return one !== undefined && other > 0 ? [[key, short(one / other)]] : [];
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
  for (const [model, mode] of Object.entries(modes)) {
    if (mode !== "tiered_expr") continue;
    const read = ruledPrice(String(texts[model] ?? "").replace(/^\s*v\d+:/, ""));
    if (!read) {
      left.push(`price of ${model}: its expression has no equal here; set its price before it is used`);
      continue;
    }
    for (const [key, value] of entriesOf(read)) changed.set(key, { ...changed.get(key), [model]: value });
  }
  if (Object.keys(objectIn(raw.get("billing_setting.plugin_billing_expr"))).length > 0)
    left.push("billing_setting.plugin_billing_expr: prices of plugins");
  return {
    left,
    options: (values) => {
      const merged = new Map<string, string>();
      for (const [key, entries] of changed)
        merged.set(
          key,
          JSON.stringify({ ...objectIn(values.get(key) ?? (isOptionKey(key) ? defaultText(key) : "{}")), ...entries }),
        );
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
