/**
 * Prices from elsewhere: another gateway's GET /api/pricing (rows of {model_name, quota_type, …}) or GET
 * /api/ratio_config (maps named model_ratio, completion_ratio, …), a file written by this console, or a public
 * catalogue (price-catalogues.ts). Parsed into numbers per model, and shown as a difference before anything is applied.
 */
import * as z from "zod";
import { readCatalogue } from "./price-catalogues";
import {
  numbersOf,
  type PriceColumn,
  priceColumns,
  type PriceNumbers,
  priceKeys,
  type RatioTables,
  withNumbers,
} from "./price-rows";

/** Most models of one import; more is no price list. */
const MAX_IMPORTED_MODELS = 20_000;

export const remotePricesInput = z.object({ url: z.string().trim().min(1).max(2000) });

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** The range that the options accept. */
const number = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= 1e9 ? value : undefined;

/** Incoming numbers by model. */
export type IncomingPrices = ReadonlyMap<string, PriceNumbers>;

/**
 * A row of /api/pricing. Per call only its price counts, by tokens only its ratios: the other is filled with 0 there.
 */
function fromRow(row: Record<string, unknown>): readonly [string, PriceNumbers] | undefined {
  const name = row.model_name;
  if (typeof name !== "string" || name.trim() === "") return undefined;
  const wanted = priceColumns.filter(({ key }) => (key === "ModelPrice") === (row.quota_type === 1));
  const numbers = Object.fromEntries(
    wanted.flatMap(({ key, short }) => (number(row[short]) === undefined ? [] : [[key, number(row[short])]])),
  );
  return Object.keys(numbers).length > 0 ? [name, numbers] : undefined;
}

/** Maps by the options' names or by the short ones. */
function fromMaps(maps: Record<string, unknown>): Map<string, PriceNumbers> {
  const found = new Map<string, Partial<Record<PriceColumn, number>>>();
  for (const { key, short } of priceColumns) {
    const map = maps[key] ?? maps[short];
    if (!isObject(map)) continue;
    for (const [name, value] of Object.entries(map)) {
      const usable = number(value);
      if (usable === undefined || name.trim() === "") continue;
      const numbers = found.get(name) ?? {};
      numbers[key] = usable;
      found.set(name, numbers);
    }
  }
  return found;
}

/**
 * The prices in a parsed JSON text; undefined when it has none of the known shapes or no price. Values that are no
 * number of at least 0 are left out.
 */
export function readPrices(json: unknown): IncomingPrices | undefined {
  const catalogue = readCatalogue(json);
  if (catalogue) return catalogue.size > 0 && catalogue.size <= MAX_IMPORTED_MODELS ? catalogue : undefined;
  const data = isObject(json) && "data" in json ? json.data : json;
  const found = Array.isArray(data)
    ? new Map(
        data
          .slice(0, MAX_IMPORTED_MODELS + 1)
          .flatMap((row) => (isObject(row) ? [fromRow(row)] : []))
          .filter((row) => row !== undefined),
      )
    : isObject(data)
      ? fromMaps(data)
      : new Map<string, PriceNumbers>();
  return found.size > 0 && found.size <= MAX_IMPORTED_MODELS ? found : undefined;
}

/** One model whose prices would change. */
export interface PriceChange {
  readonly name: string;
  readonly before: PriceNumbers;
  readonly after: PriceNumbers;
  /** "new": it has no price here yet. */
  readonly kind: "new" | "changed";
}

/**
 * What applying everything would change, sorted by name. Factors that the import does not contain stay, unless the
 * model changes between per call and per token.
 */
export function priceChanges(tables: RatioTables, incoming: IncomingPrices): PriceChange[] {
  return [...incoming]
    .map(([name, given]): PriceChange => {
      const before = numbersOf(tables, name);
      const { ModelPrice: _call, ...ratios } = before;
      const after =
        given.ModelPrice === undefined ? { ...(given.ModelRatio === undefined ? before : ratios), ...given } : given;
      const isNew = before.ModelPrice === undefined && before.ModelRatio === undefined;
      return { name, before, after, kind: isNew ? "new" : "changed" };
    })
    .filter(({ before, after }) => priceKeys.some((key) => before[key] !== after[key]))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The tables after the chosen changes. */
export const applyChanges = (tables: RatioTables, changes: readonly PriceChange[]): RatioTables =>
  withNumbers(tables, new Map(changes.map(({ name, after }) => [name, after])));

/** The factor by which the model's main price rises (1.5: half more); undefined where there is nothing to compare. */
export function growthOf({ before, after }: PriceChange): number | undefined {
  const key = after.ModelPrice === undefined ? "ModelRatio" : "ModelPrice";
  const [from, to] = [before[key], after[key]];
  return from === undefined || to === undefined || from === 0 ? undefined : to / from;
}
