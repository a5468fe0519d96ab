/** Prices of server-side tools. */
import { type Decimal, toDecimal } from "./decimal";

/**
 * An entry of tool prices, `tool` or `tool:model`, split at its first colon: model names contain colons
 * too (`llama:7b`).
 */
export function splitToolEntry(entry: string): { tool: string; model: string } {
  const colon = entry.indexOf(":");
  return colon < 0 ? { tool: entry, model: "" } : { tool: entry.slice(0, colon), model: entry.slice(colon + 1) };
}

/** The tools' prices of a model: the most specific entry of each. */
export function toolPricesFor(model: string, prices: Readonly<Record<string, number>>): Map<string, Decimal> {
  const chosen = new Map<string, { pattern: string; price: number }>();
  for (const [entry, price] of Object.entries(prices)) {
    const { tool, model: pattern } = splitToolEntry(entry);
    const fits = pattern === "" || pattern.endsWith("*") ? model.startsWith(pattern.slice(0, -1)) : model === pattern;
    if (fits && pattern.length >= (chosen.get(tool)?.pattern.length ?? 0)) chosen.set(tool, { pattern, price });
  }
  return new Map([...chosen].map(([tool, { price }]) => [tool, toDecimal(price)]));
}
