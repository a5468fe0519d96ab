/** What each served model cost there and costs here, in dollars: defaults differ even where tables are equal. */
import { defaultText, isOptionKey, parseOption } from "../../../shared/options";
import { canonicalModel } from "../../../shared/channel-types";
import { type PriceTables, priceBook, priceTableKeys } from "../../../shared/pricing";
import type { OptionStore } from "../../contracts/option-store";
import type { PriceReport } from "./plan";
import type { SourceOptions } from "./system";

/** The price tables as they are after the import. */
export function tablesAfter(here: Pick<OptionStore, "text">, source: SourceOptions): PriceTables {
  const values = priceTableKeys.map((key) => {
    const parsed = parseOption(key, source.values.get(key) ?? here.text(key));
    return [key, parsed.ok ? parsed.value : undefined] as const;
  });
  // Each value has its key's type, by the registry; a text that does not parse was left by `sharedOptions`.
  return Object.fromEntries(values) as unknown as PriceTables;
}

const tidy = (value: number): number => Number(value.toPrecision(12));

function table(source: SourceOptions, key: string): Readonly<Record<string, number>> {
  if (!isOptionKey(key)) return {};
  const text = source.values.get(key);
  if (text === undefined) return {};
  return JSON.parse(text || defaultText(key)) as Record<string, number>; // it was parsed when it was taken
}

/** Old and new price of each model, in the models' order. */
export function comparePrices(models: readonly string[], source: SourceOptions, after: PriceTables): PriceReport[] {
  const call = table(source, "ModelPrice");
  const ratio = table(source, "ModelRatio");
  const completion = table(source, "CompletionRatio");
  const unit = Number(source.values.get("QuotaPerUnit") ?? 500_000);
  const book = priceBook(after);
  const stated = (key: string): boolean => source.stated.includes(key);
  const oldOf = (model: string): PriceReport["old"] => {
    if (Object.hasOwn(call, model)) return { call: call[model] ?? 0 };
    const one = Object.hasOwn(ratio, model) ? ratio[model] : undefined;
    if (one === undefined) return undefined;
    const input = tidy((one * 1e6) / unit);
    const times = Object.hasOwn(completion, model) ? completion[model] : undefined;
    return { input, ...(times !== undefined && { output: tidy(input * times) }) };
  };
  return models.map((model) => {
    const old = stated("ModelRatio") || stated("ModelPrice") ? oldOf(model) : undefined;
    const price = book.price(canonicalModel(model), "default", "default");
    if (price.unpriced) return { model, ...(old && { old }), differs: old !== undefined };
    const scale = 500_000 / after.QuotaPerUnit;
    const now =
      price.by === "call"
        ? { call: price.why.model_price?.value ?? 0 }
        : {
            input: tidy(Number(price.tokens.input.usd) * scale),
            output: tidy(Number(price.tokens.output.usd) * scale),
          };
    return { model, ...(old && { old }), now, differs: old !== undefined && differ(old, now) };
  });
}

type Dollars = NonNullable<PriceReport["old"]>;

const differ = (old: Dollars, now: Dollars): boolean =>
  (["input", "output", "call"] as const).some((name) => old[name] !== undefined && old[name] !== now[name]);
