/**
 * The price options for an editor: one row per model instead of one table per factor, in ratios (as stored) or in
 * dollars (as vendors print them). Ratio 1 = 2 USD per 1M tokens; every other ratio is relative to the input's price,
 * the audio output's to the audio input's.
 */
import type { ContextTiers } from "./long-context";
import { defaultPriceTables, priceNotes } from "./model-prices";
import type { Text } from "./text";

/** The options with one number per model. `short` is the name that other gateways and our /api/ratio_config use. */
export const priceColumns = [
  { key: "ModelPrice", short: "model_price" },
  { key: "ModelRatio", short: "model_ratio" },
  { key: "CompletionRatio", short: "completion_ratio" },
  { key: "CacheRatio", short: "cache_ratio" },
  { key: "CreateCacheRatio", short: "create_cache_ratio" },
  { key: "CreateCache1hRatio", short: "create_cache_1h_ratio" },
  { key: "ImageRatio", short: "image_ratio" },
  { key: "ImageCompletionRatio", short: "image_completion_ratio" },
  { key: "AudioRatio", short: "audio_ratio" },
  { key: "AudioCompletionRatio", short: "audio_completion_ratio" },
] as const;

export type PriceColumn = (typeof priceColumns)[number]["key"];
export const priceKeys: readonly PriceColumn[] = priceColumns.map(({ key }) => key);

/** The numbers of one model: as stored, a price per call in USD and ratios; an absent one has no entry. */
export type PriceNumbers = Readonly<Partial<Record<PriceColumn, number>>>;
export type RatioTables = Readonly<Record<PriceColumn, Readonly<Record<string, number>>>>;

/** The built-in value of every table. */
export const builtInTables: RatioTables = { ...defaultPriceTables, CreateCache1hRatio: {} };

/** State of a model: as built in, changed by the operator, or refused because it has no price. */
export type PriceSource = "built-in" | "custom" | "unpriced";

export interface PriceRow {
  readonly name: string;
  readonly numbers: PriceNumbers;
  readonly source: PriceSource;
  /** An enabled channel serves it. */
  readonly served: boolean;
}

/** The entries of one model in all tables. */
export function numbersOf(tables: RatioTables, name: string): PriceNumbers {
  return Object.fromEntries(
    priceKeys.flatMap((key) => (Object.hasOwn(tables[key], name) ? [[key, tables[key][name]]] : [])),
  );
}

export const sameNumbers = (a: PriceNumbers, b: PriceNumbers): boolean => priceKeys.every((key) => a[key] === b[key]);

/** Whether all prices of a model are the built-in ones. */
export const asBuiltIn = (tables: RatioTables, name: string): boolean =>
  sameNumbers(numbersOf(tables, name), numbersOf(builtInTables, name));

/** The note on a model's price while it is the built-in one; undefined for most. */
export const priceNoteOf = (tables: RatioTables, name: string): Text | undefined =>
  Object.hasOwn(priceNotes, name) && asBuiltIn(tables, name) ? priceNotes[name] : undefined;

/**
 * One row for every name that a table or an enabled channel has, sorted. `isPriced` says whether calls of a served name
 * are accepted, by an entry that ends in `*` for instance.
 */
export function priceRows(
  tables: RatioTables,
  served: readonly string[],
  isPriced: (name: string) => boolean,
): PriceRow[] {
  const serving = new Set(served);
  const names = new Set([...priceKeys.flatMap((key) => Object.keys(tables[key])), ...served]);
  return [...names].sort().map((name) => {
    const numbers = numbersOf(tables, name);
    const own = numbers.ModelPrice !== undefined || numbers.ModelRatio !== undefined;
    const source = !own && !isPriced(name) ? "unpriced" : asBuiltIn(tables, name) ? "built-in" : "custom";
    return { name, numbers, source, served: serving.has(name) };
  });
}

/** The tables with the entries of these models replaced (undefined: removed). Unchanged tables are the same objects. */
export function withNumbers(tables: RatioTables, changes: ReadonlyMap<string, PriceNumbers | undefined>): RatioTables {
  const changed = priceKeys.map((key) => {
    const entries = new Map(Object.entries(tables[key]));
    let differs = false;
    for (const [name, numbers] of changes) {
      const next = numbers?.[key];
      if (next === entries.get(name)) continue;
      differs = true;
      if (next === undefined) entries.delete(name);
      else entries.set(name, next);
    }
    return [key, differs ? Object.fromEntries(entries) : tables[key]] as const;
  });
  return Object.fromEntries(changed) as unknown as RatioTables; // one entry per column, by the map above
}

/** The tables of prices and, where they are edited too, the tiers of long inputs. */
export type EditedTables = RatioTables & { readonly LongContextRatio?: Readonly<Record<string, ContextTiers>> };

/** The tables with the tiers of this model; undefined: without an own entry. */
export function withTiers<Tables extends EditedTables>(
  tables: Tables,
  name: string,
  tiers: ContextTiers | undefined,
): Tables {
  const entries = new Map(Object.entries(tables.LongContextRatio ?? {}));
  if (tiers === undefined) entries.delete(name);
  else entries.set(name, tiers);
  return { ...tables, LongContextRatio: Object.fromEntries(entries) };
}

/**
 * The options that differ, with their text before and after: one PUT each. Tables that `after` lacks stay as they are.
 */
export function changedOptions(
  before: EditedTables,
  after: EditedTables,
): { key: keyof EditedTables; was: string; value: string }[] {
  const laidOut = (table: unknown): string => JSON.stringify(table, null, 2);
  const keys = [...priceKeys, "LongContextRatio"] as const;
  return keys.flatMap((key) =>
    after[key] === undefined || before[key] === after[key]
      ? []
      : [{ key, was: laidOut(before[key] ?? {}), value: laidOut(after[key]) }],
  );
}

/** At most 12 decimals, so that a vendor's price survives the conversion to a ratio and back. */
const short = (value: number): number => Number(value.toFixed(12));

/** The base of a ratio; "input" is the price of ModelRatio, AudioRatio's that of audio input. */
const base = (key: PriceColumn, input: number, audioRatio: number | undefined): number =>
  key === "AudioCompletionRatio" ? input * (audioRatio ?? 1) : input;

/**
 * Ratios to USD per 1M tokens; ModelPrice stays USD per call. Without ModelRatio nothing else has a price in dollars.
 */
export function toDollars(numbers: PriceNumbers): PriceNumbers {
  const { ModelPrice, ModelRatio, AudioRatio } = numbers;
  const call = ModelPrice === undefined ? {} : { ModelPrice };
  if (ModelRatio === undefined) return call;
  const input = ModelRatio * 2;
  const others = priceKeys.flatMap((key) => {
    const ratio = numbers[key];
    if (key === "ModelPrice" || ratio === undefined) return [];
    return [[key, short(key === "ModelRatio" ? input : ratio * base(key, input, AudioRatio))]];
  });
  return { ...call, ...Object.fromEntries(others) };
}

/**
 * USD per 1M tokens to ratios. undefined where a ratio cannot express it: another price beside an input of 0 or of
 * none.
 */
export function toRatios(dollars: PriceNumbers): PriceNumbers | undefined {
  const { ModelPrice, ModelRatio: input, AudioRatio: audio } = dollars;
  const call = ModelPrice === undefined ? {} : { ModelPrice };
  const ratios: Partial<Record<PriceColumn, number>> = {};
  for (const key of priceKeys) {
    const price = dollars[key];
    if (key === "ModelPrice" || price === undefined) continue;
    if (key === "ModelRatio") {
      ratios[key] = short(price / 2);
      continue;
    }
    const relativeTo = key === "AudioCompletionRatio" ? (audio ?? input) : input;
    if (relativeTo === undefined || (relativeTo === 0 && price !== 0)) return undefined;
    ratios[key] = relativeTo === 0 ? 1 : short(price / relativeTo);
  }
  return { ...call, ...ratios };
}
