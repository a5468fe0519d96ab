import { LOG_TYPE } from "./log";
import { logText, readParams, textOfRow } from "./log-text";
import { priceText, type PriceTextFacts } from "./price-display";
import { isRule, type PriceRule } from "./price-rules";
import type { Lang } from "./text";

/**
 * The text of a row: by its code, a charge by its price, else as it was written. `units` writes an amount of units.
 */
export function rowText(
  row: { type: number; content: string; code: string; params: string; other: string },
  lang: Lang,
  units: (amount: number) => string,
): string {
  const text = textOfRow(row);
  if (text) return logText(text, lang, units) ?? (row.content || row.code);
  const facts = row.type === LOG_TYPE.consume ? priceFactsIn(row.other) : undefined;
  return facts ? priceText(facts, lang, ruleIn(row.other)) : row.content;
}

/** The rule in a charge's `other`; undefined where there is none, or one of a form that is no longer known. */
function ruleIn(other: string): PriceRule | undefined {
  const { price_rule } = readParams(other);
  return isRule(price_rule) ? price_rule : undefined;
}

/** The price in a charge's `other`; undefined where there is none. */
function priceFactsIn(other: string): PriceTextFacts | undefined {
  const { model_price, model_ratio, completion_ratio, group_ratio, user_group_ratio } = readParams(other);
  const facts = { model_price, model_ratio, completion_ratio, group_ratio, user_group_ratio };
  return Object.values(facts).every((value) => typeof value === "number") ? (facts as PriceTextFacts) : undefined;
}
