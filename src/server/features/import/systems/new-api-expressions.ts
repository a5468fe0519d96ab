/**
 * Prices of new-api since 2026, which are texts of a small expression language in USD per million tokens
 * (billing_setting.billing_expr; pkg/billingexpr/expr.md in QuantumNous/new-api). The canonical shapes become ratios;
 * what depends on the time, a header or a parameter has no equal and is listed by its model.
 */
import { defaultText, isOptionKey } from "../../../../shared/options";

/** Price of a variable in USD per million: p prompt, c completion, cr cache read, cc cache write, … */
type Terms = ReadonlyMap<string, number>;

interface ReadExpression {
  /** USD a call. */
  fixed?: number;
  base?: Terms;
  /** Above so many tokens of input. */
  long?: { over: number; terms: Terms };
}

const VARIABLES = new Set(["p", "c", "cr", "cc", "cc1h", "img", "img_o", "ai", "ao"]);

/** The expression's prices; undefined for one that ratios cannot say. */
function readExpression(text: string): ReadExpression | undefined {
  const body = text
    .trim()
    .replace(/^v\d+:/, "")
    .replace(/\s+/g, " ")
    .trim();
  const fixed = /^fixed\(\s*([\d.]+)\s*\)$/.exec(body);
  if (fixed) return { fixed: Number(fixed[1]) };
  const split = /^len <= (\d+) \? (.+) : (.+)$/.exec(body);
  if (!split) {
    const base = tierOf(body);
    return base && { base };
  }
  const [base, long] = [tierOf(split[2] ?? ""), tierOf(split[3] ?? "")];
  return base && long && { base, long: { over: Number(split[1]), terms: long } };
}

function tierOf(text: string): Terms | undefined {
  const inner = /^tier\(\s*"[^"]*"\s*,\s*(.+)\)$/.exec(text.trim())?.[1] ?? text.trim();
  const terms = new Map<string, number>();
  for (const part of inner.split("+")) {
    const [, one = "", two = ""] = /^([\w.]+) ?\* ?([\w.]+)$/.exec(part.trim()) ?? [];
    const [name, price] = VARIABLES.has(one) ? [one, Number(two)] : [two, Number(one)];
    if (!VARIABLES.has(name) || !Number.isFinite(price) || terms.has(name)) return undefined;
    terms.set(name, price);
  }
  return terms.has("p") ? terms : undefined;
}

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

function entriesOf({ fixed, base, long }: ReadExpression): [string, unknown][] {
  if (fixed !== undefined) return [["ModelPrice", fixed]];
  if (!base) return [];
  const price = (name: string): number | undefined => base.get(name);
  const input = price("p") ?? 0;
  const entries: [string, unknown][] = [["ModelRatio", short(input / 2)]];
  for (const [key, [name, to]] of Object.entries(RATIOS)) {
    const [one, other] = [price(name), price(to) ?? input];
    if (one !== undefined && other > 0) entries.push([key, short(one / other)]);
  }
  const output = price("c");
  const more = long?.terms;
  if (long && more && input > 0) {
    const times = output ? short((more.get("c") ?? output) / output) : 1;
    entries.push([
      "LongContextRatio",
      [{ over: long.over, input: short((more.get("p") ?? input) / input), output: times }],
    ]);
  }
  return entries;
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
    const read = readExpression(String(texts[model] ?? ""));
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
