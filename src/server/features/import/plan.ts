/** What an import would do: read from the source alone, complete before the first row is written. */
import type { SystemTables, SourceOptions, System, TableUse } from "./system";
import type { Catalogue, Row, Source } from "../../db/foreign/source";
import { type Left, isLeft } from "./records";

/** A question that only the operator can answer; the run waits until each has an answer. */
export interface Decision {
  /** As it is named in the decisions file: "name:alice", "mail:a@b.example", "type:58". */
  id: string;
  question: string;
  choices: readonly string[];
  recommended: string;
  answer?: string;
}

export interface TableReport {
  table: string;
  becomes: string;
  rows: number;
  taken: number;
  /** Rows that arrive with something altered, counted by what. */
  changed: Record<string, number>;
  /** Rows that are not taken, counted by why. */
  left: Record<string, number>;
  /** Columns that hold something and are not taken. */
  columns: { column: string; rows: number; why: string }[];
}

export interface ChannelReport {
  id: string;
  name: string;
  was: string;
  becomes: string;
  notes: string[];
}

export interface PriceReport {
  model: string;
  /** USD per million tokens, or a call; absent: the source does not state it. */
  old?: { input?: number; output?: number; call?: number };
  /** Absent: no price here, so calls of it are refused. */
  now?: { input?: number; output?: number; call?: number };
  differs: boolean;
}

export interface ShadowReport {
  calls: number;
  /** Units, of the calls that have a price here. */
  old: number;
  now: number;
  /** Calls of models without a price here. */
  unpriced: number;
  /** Models of which a call differs, the largest difference of their sums first. */
  models: { model: string; group: string; calls: number; old: number; now: number }[];
  /** Each call that differs, by its id in the source's log, the largest difference first. Absent in older reports. */
  differences?: { id: string; model: string; old: number; now: number }[];
}

export interface Plan {
  system: System["name"];
  recognised: string;
  engine: Source["engine"];
  /** Names the source in `imports`. */
  source: string;
  tables: TableReport[];
  /** Tables with rows that are not taken. */
  other: { table: string; rows: number; why: string }[];
  channels: ChannelReport[];
  prices: PriceReport[];
  unpriced: string[];
  /** The source's last charged calls, at the prices here. */
  shadow: ShadowReport;
  balances: {
    users: number;
    /** Sum of the balances that are taken, as the source has them. */
    old: number;
    /** The sum here: the same, with debts counted as 0. */
    now: number;
    /** Sum of what users owe: no balance here is below zero. */
    debts: number;
    /** Of users who are not taken. */
    left: number;
  };
  options: { taken: string[]; left: string[]; differs: string[] };
  decisions: Decision[];
  notes: string[];
}

export const openDecisions = (plan: Pick<Plan, "decisions">): Decision[] =>
  plan.decisions.filter((one) => one.answer === undefined);

/** Rows read at once. */
const BATCH = 1000;

/** Every row of a table in the order of its key, with what it becomes. */
export async function* eachOf<R extends object>(
  source: Source,
  use: TableUse<R>,
  batch: number = BATCH,
): AsyncGenerator<{ row: Row; record: R | Left }> {
  for (let last: string | number | undefined; ;) {
    const rows = await source.rows(use.table, use.key, last, batch);
    for (const row of rows) yield { row, record: use.read(row) };
    const end = rows.at(-1);
    if (!end || rows.length < batch) return;
    last = keyOf(end, use.key);
  }
}

export const keyOf = (row: Row, key: string): string | number => {
  const value = row[key];
  if (typeof value === "number" || typeof value === "string") return value;
  return value instanceof Date ? value.toISOString() : String(value);
};

const add = (counts: Record<string, number>, name: string, n = 1): void => {
  counts[name] = (counts[name] ?? 0) + n;
};

/** A report of a table as it fills; `taken` counts what is not left. */
export class TableCount {
  readonly report: TableReport;
  constructor(table: string, becomes: string) {
    this.report = { table, becomes, rows: 0, taken: 0, changed: {}, left: {}, columns: [] };
  }
  /** Counts a row; true when it is taken. */
  count<R extends object>(record: R | Left): record is R {
    this.report.rows++;
    if (isLeft(record)) {
      this.leave(record.left);
      return false;
    }
    this.report.taken++;
    return true;
  }
  leave(why: string): void {
    add(this.report.left, why);
  }
  /** A row that was counted as taken is left after all. */
  drop(why: string): void {
    this.report.taken--;
    this.leave(why);
  }
  change(what: string): void {
    add(this.report.changed, what);
  }
}

/** Columns of the source that hold something and that the table's use does not read. */
export async function unreadColumns<R>(
  source: Source,
  catalogue: Catalogue,
  use: TableUse<R>,
): Promise<TableReport["columns"]> {
  const taken = new Set(use.taken);
  const unread = (catalogue.get(use.table) ?? []).filter((column) => !taken.has(column));
  const filled = await source.filled(use.table, unread);
  return unread.flatMap((column) => {
    const rows = filled[column] ?? 0;
    return rows === 0 ? [] : [{ column, rows, why: use.left?.[column] ?? "not known to Weir" }];
  });
}

/** Tables that have rows and are not read. */
export async function unreadTables(
  source: Source,
  catalogue: Catalogue,
  system: System,
  tables: SystemTables,
): Promise<Plan["other"]> {
  const read = new Set(["options", ...Object.values(tables).map((use) => (use as TableUse<object>).table)]);
  const other: Plan["other"] = [];
  for (const table of catalogue.keys()) {
    if (read.has(table)) continue;
    const rows = await source.count(table);
    if (rows > 0) other.push({ table, rows, why: system.leftTables[table] ?? "not known to Weir" });
  }
  return other;
}

export const optionsReport = (options: SourceOptions): Plan["options"] => ({
  taken: [...options.values.keys()],
  left: [...options.left],
  differs: [...options.differs],
});
