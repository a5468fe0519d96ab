/** Rates of currencies for what channels cost: the option CurrencyRates. Operators write them, nothing fetches them. */
import { z } from "zod";
import type { Shape } from "./options/kinds";

const units = z.number().positive().max(1e9);
const rate = z.union([
  units.transform((value): CurrencyRate => ({ rate: value })),
  z.strictObject({
    rate: units,
    date: z.iso.date().optional(),
    source: z.string().max(200).optional(),
  }),
]);
const code = z
  .string()
  .regex(/^[A-Z]{3}$/)
  .refine((name) => name !== "USD");

export interface CurrencyRate {
  /** Units of the currency for a dollar. */
  readonly rate: number;
  /** The day of the rate, YYYY-MM-DD. */
  readonly date?: string | undefined;
  /** Where it is from. */
  readonly source?: string | undefined;
}

/** Currency (ISO 4217) -> its rate. */
export type CurrencyRates = Readonly<Record<string, CurrencyRate>>;

/** Currency -> its rate, or a number alone. */
export function currencyRatesShape(): Shape<CurrencyRates> {
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { zh: "必须是 JSON 对象", en: "Must be a JSON object" };
    const checked = new Map<string, CurrencyRate>();
    for (const [name, entry] of Object.entries(value)) {
      const parsed = rate.safeParse(entry);
      if (!parsed.success || !code.safeParse(name).success)
        return {
          zh: "须为三个大写字母的货币代码（USD 除外）与大于 0 的数字，或 {rate, date, source}，日期如 2026-11-23",
          en: "Must be a currency code of three capital letters, other than USD, and a number above 0 or {rate, date, source} with a date such as 2026-11-23",
          at: name,
        };
      checked.set(name, parsed.data);
    }
    return { value: Object.fromEntries(checked) };
  };
}
