/** The price tiers of long inputs, the prices of tools and the rates of currencies as rows of texts and back. */
import type { CurrencyRates } from "../../../shared/currency-rates";
import type { ContextTiers } from "../../../shared/long-context";
import { parseOption } from "../../../shared/options";
import { splitToolEntry } from "../../../shared/tool-prices";
import type { Row } from "../../components/rows-table";

const textOf = (row: Row, key: string): string => String(row[key] ?? "").trim();

/** A plain decimal; NaN for every other text, which the option's own check refuses. */
const numberIn = (row: Row, key: string): number =>
  /^(\d+\.?\d*|\.\d+)$/.test(textOf(row, key)) ? Number(textOf(row, key)) : Number.NaN;

export const tierRows = (tiers: ContextTiers): Row[] =>
  tiers.map(({ over, input, output }) => ({ over: String(over), input: String(input), output: String(output) }));

/** The tiers that the rows mean, the lowest first; undefined: the option LongContextRatio would refuse them. */
export function tiersFrom(rows: readonly Row[]): ContextTiers | undefined {
  const model = rows.map((row) => ({
    over: numberIn(row, "over"),
    input: numberIn(row, "input"),
    output: numberIn(row, "output"),
  }));
  const parsed = parseOption("LongContextRatio", JSON.stringify({ model }));
  return parsed.ok ? parsed.value["model"] : undefined;
}

/** One row for each entry: `tool`, or `tool:model` where the name of the model may end in `*`. */
export function toolRows(prices: Readonly<Record<string, number>>): Row[] {
  return Object.entries(prices).map(([entry, usd]) => {
    const { tool, model } = splitToolEntry(entry);
    return { tool, model, usd: String(usd) };
  });
}

/** The option's text, or the first thing that is wrong and the row (from 1) it is wrong in. */
export function toolText(rows: readonly Row[]): { text: string } | { problem: "tool" | "usd" | "twice"; row: number } {
  const prices = new Map<string, number>();
  for (const [index, row] of rows.entries()) {
    const [tool, model, usd] = [textOf(row, "tool"), textOf(row, "model"), numberIn(row, "usd")];
    const entry = model === "" ? tool : `${tool}:${model}`;
    if (tool === "" || tool.includes(":")) return { problem: "tool", row: index + 1 };
    if (!(usd <= 1e9)) return { problem: "usd", row: index + 1 };
    if (prices.has(entry)) return { problem: "twice", row: index + 1 };
    prices.set(entry, usd);
  }
  return { text: JSON.stringify(Object.fromEntries(prices), null, 2) };
}

export const rateRows = (rates: CurrencyRates): Row[] =>
  Object.entries(rates).map(([currency, { rate, date = "", source = "" }]) => ({
    currency,
    rate: String(rate),
    date,
    source,
  }));

/** The option's text, or the first thing that is wrong and the row (from 1) it is wrong in. */
export function rateText(
  rows: readonly Row[],
): { text: string } | { problem: "currency" | "rate" | "twice"; row: number } {
  const rates = new Map<string, object>();
  for (const [index, row] of rows.entries()) {
    const [currency, rate] = [textOf(row, "currency").toUpperCase(), numberIn(row, "rate")];
    const [date, source] = [textOf(row, "date"), textOf(row, "source")];
    const entry = { rate, ...(date !== "" && { date }), ...(source !== "" && { source }) };
    if (rates.has(currency)) return { problem: "twice", row: index + 1 };
    const taken = (value: object) => parseOption("CurrencyRates", JSON.stringify({ [currency]: value })).ok;
    if (!taken({ rate: 1 })) return { problem: "currency", row: index + 1 };
    if (!taken(entry)) return { problem: "rate", row: index + 1 };
    rates.set(currency, entry);
  }
  return { text: JSON.stringify(Object.fromEntries(rates), null, 2) };
}
