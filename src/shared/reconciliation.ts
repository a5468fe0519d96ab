/**
 * What a vendor bills against what Weir counted, by day (UTC) and model, in US dollars. The vendor's side is its usage
 * export, a CSV file whose columns are mapped in the console; this side are the costs of the hourly sums.
 */
import { z } from "zod";

/** Drift of more than this share, and of more than a cent, is flagged. */
const MOST_DRIFT = 0.01;
const CENT = 0.01;
/** Rows after adding up: a quarter of 200 models. */
const MAX_ROWS = 20_000;

/** What one day's use of a model costs by the vendor's file. */
const vendorRow = z.object({
  day: z.iso.date(),
  model: z.string().min(1).max(255),
  cost: z.number().min(-1e9).max(1e9),
});
export type VendorRow = z.infer<typeof vendorRow>;

export const reconcileInput = z.object({
  /** The file's name, for the list of reports. */
  title: z.string().trim().min(1).max(200),
  /** The channels that use the vendor's account. */
  channels: z.array(z.int().positive()).min(1).max(1000),
  rows: z.array(vendorRow).min(1).max(MAX_ROWS),
});
export type ReconcileInput = z.infer<typeof reconcileInput>;

export const reportInput = z.object({ id: z.int().positive() });

/** The columns of a file. */
export interface ColumnMapping {
  readonly day: string;
  readonly model: string;
  readonly cost: string;
}

/**
 * Exports that are recognised by their header. OpenAI: "Export > Cost data", grouped by line item, daily (columns
 * start_time_iso, amount_value, line_item). Anthropic: Console > Cost > Export (usage_date_utc, model, cost_usd). Both
 * read November 2026.
 */
const PRESETS: Readonly<Record<string, ColumnMapping>> = {
  OpenAI: { day: "start_time_iso", model: "line_item", cost: "amount_value" },
  Anthropic: { day: "usage_date_utc", model: "model", cost: "cost_usd" },
};

/** The preset whose columns the header has. */
export function presetOf(header: readonly string[]): { name: string; mapping: ColumnMapping } | undefined {
  for (const [name, mapping] of Object.entries(PRESETS))
    if (Object.values(mapping).every((column) => header.includes(column))) return { name, mapping };
  return undefined;
}

/** "2026-11-22" of an ISO date or time, or of epoch seconds; undefined: no date. */
export function dayOf(text: string): string | undefined {
  const given = text.trim();
  const iso = /^(\d{4}-\d{2}-\d{2})(?:$|[T ])/.exec(given)?.[1];
  const seconds = /^\d{9,11}$/.test(given) ? Number(given) : undefined;
  const day = iso ?? (seconds === undefined ? undefined : new Date(seconds * 1000).toISOString().slice(0, 10));
  return day !== undefined && z.iso.date().safeParse(day).success ? day : undefined;
}

/**
 * One spelling of a model for both sides: "Claude Haiku 4.5" and "claude-haiku-4-5-20251001", "gpt-4o-2024-08-06,
 * input" and "gpt-4o" are the same.
 */
export const sameModel = (name: string): string =>
  name
    .replace(/,.*$/, "")
    .trim()
    .toLowerCase()
    .replace(/^.*\//, "")
    .replace(/[\s._]+/g, "-")
    .replace(/(-\d{4}-\d{2}-\d{2}|-\d{8}|@.*)$/, "");

/** The file's rows added up by day and model; rows without a date or an amount are counted in `skipped`. */
export function addUp(
  records: readonly Readonly<Record<string, string>>[],
  { day, model, cost }: ColumnMapping,
): { rows: VendorRow[]; skipped: number } {
  const sums = new Map<string, VendorRow>();
  let skipped = 0;
  for (const record of records) {
    const on = dayOf(record[day] ?? "");
    const name = sameModel(record[model] ?? "");
    const text = (record[cost] ?? "").replace(/[$,\s]/g, "");
    const amount = Number(text);
    if (on === undefined || name === "" || text === "" || !Number.isFinite(amount)) {
      skipped++;
      continue;
    }
    const key = `${on} ${name}`;
    sums.set(key, { day: on, model: name, cost: (sums.get(key)?.cost ?? 0) + amount });
  }
  return { rows: [...sums.values()], skipped };
}

/** One day's use of a model on both sides, in dollars. */
export interface Compared {
  readonly day: string;
  readonly model: string;
  readonly vendor: number;
  readonly counted: number;
  /** Units charged for calls whose cost is not known here: the difference may be theirs. */
  readonly unknown: number;
  readonly flagged: boolean;
}

export interface Reconciliation {
  readonly title: string;
  readonly channels: readonly number[];
  readonly rows: readonly Compared[];
  readonly vendor: number;
  readonly counted: number;
  readonly flagged: number;
}

const isDrift = (vendor: number, counted: number): boolean =>
  Math.abs(vendor - counted) > CENT &&
  Math.abs(vendor - counted) > MOST_DRIFT * Math.max(Math.abs(vendor), Math.abs(counted));

/** What was counted here on a day, in dollars. */
export interface CountedRow extends VendorRow {
  readonly unknown: number;
}

/** Both sides joined, days first, flagged where they drift. */
export function reconcile({ title, channels, rows }: ReconcileInput, counted: readonly CountedRow[]): Reconciliation {
  const joined = new Map<string, { day: string; model: string; vendor: number; counted: number; unknown: number }>();
  const at = (day: string, name: string) => {
    const model = sameModel(name);
    const known = joined.get(`${day} ${model}`) ?? { day, model, vendor: 0, counted: 0, unknown: 0 };
    joined.set(`${day} ${model}`, known);
    return known;
  };
  for (const { day, model, cost } of rows) at(day, model).vendor += cost;
  for (const { day, model, cost, unknown } of counted) {
    const entry = at(day, model);
    entry.counted += cost;
    entry.unknown += unknown;
  }
  const compared = [...joined.values()]
    .map((entry) => ({ ...entry, flagged: isDrift(entry.vendor, entry.counted) }))
    .sort((a, b) => (a.day === b.day ? (a.model < b.model ? -1 : 1) : a.day < b.day ? -1 : 1));
  const sum = (side: "vendor" | "counted") => compared.reduce((total, entry) => total + entry[side], 0);
  return {
    title,
    channels,
    rows: compared,
    vendor: sum("vendor"),
    counted: sum("counted"),
    flagged: compared.filter(({ flagged }) => flagged).length,
  };
}

/** A report in the list. */
export interface ReportHead {
  readonly id: number;
  readonly title: string;
  readonly created_at: number;
}
