/**
 * The vendors' own rules for the built-in prices of model-prices.ts, each with its source and the day it was read. A
 * rule holds while the model's built-in price is in force and the option PriceRules has no entry for the model. What a
 * vendor asks at most is the plain price, so that a model is never sold below its cost by a rule that does not apply.
 */
import { asBuiltIn, type RatioTables } from "./price-rows";
import type { PriceRule } from "./price-rules";

const WEEKDAYS = [1, 2, 3, 4, 5];
const china = (from: string, to: string, days: number[]) => ({ zone: "Asia/Shanghai", days, from, to });

/**
 * DeepSeek: half the price outside of Monday to Friday 9:00 to 12:00 and 14:00 to 18:00 in Beijing
 * (api-docs.deepseek.com/quick_start/pricing, notes 1 and 2, in force since 10 September 2026; read 22 November 2026;
 * yologdev/yoagent v0.25.6 and xyzs996/llm-api-pricing discussion 44 read the same). China's public holidays are
 * off-peak too: none is left on a working day of 2026, and those of 2027 are not published. Until an operator adds
 * their dates they cost the peak price, so that none is sold below its cost (priceNotes says so).
 */
const DEEPSEEK: readonly PriceRule[] = [
  {
    name: "DeepSeek off-peak",
    when: {
      hours: [
        china("00:00", "09:00", WEEKDAYS),
        china("12:00", "14:00", WEEKDAYS),
        china("18:00", "24:00", WEEKDAYS),
        china("00:00", "24:00", [6, 7]),
      ],
    },
    then: { factor: 0.5 },
  },
];

/**
 * Google: half the price through 31 December 2026 (ai.google.dev/gemini-api/docs/pricing;
 * github.com/BerriAI/litellm/discussions/39357; read 23 November 2026). Google names no zone: UTC ends before Pacific
 * time does.
 */
const GEMINI_FLASH: readonly PriceRule[] = [
  {
    name: "Gemini introductory price",
    when: { dates: [{ zone: "UTC", until: "2026-12-31" }] },
    then: { factor: 0.5 },
  },
];

const builtInRules: Readonly<Record<string, readonly PriceRule[]>> = {
  "gemini-3.8-flash": GEMINI_FLASH,
  "gemini-3.7-flash": GEMINI_FLASH,
  "gemini-3.6-flash": GEMINI_FLASH,
  "deepseek-v4-pro": DEEPSEEK,
  "deepseek-flash": DEEPSEEK,
  "deepseek-v4-flash": DEEPSEEK,
};

/** The vendor's rules of a model whose prices are the built-in ones; none for most. */
export const builtInRulesOf = (model: string, tables: RatioTables): readonly PriceRule[] =>
  Object.hasOwn(builtInRules, model) && asBuiltIn(tables, model) ? (builtInRules[model] ?? []) : [];
