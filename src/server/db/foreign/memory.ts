/** Rows that are known already, as a source: a configuration file, or what a system's tables were joined to. */
import type { Row, Source } from "./source";

const compare = (a: unknown, b: unknown): number =>
  typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;

const EMPTY = new Set(["", "0", "false", "[]", "{}", "null"]);
const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || EMPTY.has(typeof value === "object" ? JSON.stringify(value) : String(value));

/** A table that is not there has no rows. `counted`: tables of which only the number of rows is known. */
export function memorySource(
  tables: ReadonlyMap<string, readonly Row[]>,
  engine: Source["engine"],
  counted: ReadonlyMap<string, number> = new Map(),
): Source {
  const of = (table: string): readonly Row[] => tables.get(table) ?? [];
  const sorted = (rows: readonly Row[], key: string): Row[] => rows.toSorted((a, b) => compare(a[key], b[key]));
  return {
    engine,
    catalogue: async () =>
      new Map([
        ...[...tables].map(([table, rows]) => [table, [...new Set(rows.flatMap((row) => Object.keys(row)))]] as const),
        ...[...counted.keys()].map((table) => [table, []] as const),
      ]),
    rows: async (table, key, after, limit) =>
      sorted(of(table), key)
        .filter((row) => after === undefined || compare(row[key], after) > 0)
        .slice(0, limit),
    lastRows: async (table, key, before, limit) =>
      sorted(of(table), key)
        .filter((row) => before === undefined || compare(row[key], before) < 0)
        .slice(-limit)
        .reverse(),
    rowsWhere: async (table, column, values, key) => {
      const wanted = new Set(values.map(String));
      return sorted(of(table), key).filter((row) => wanted.has(String(row[column])));
    },
    count: async (table) => counted.get(table) ?? of(table).length,
    filled: async (table, columns) =>
      Object.fromEntries(columns.map((column) => [column, of(table).filter((row) => !isEmpty(row[column])).length])),
    largest: async () => 0,
    state: async (watched) => watched.map(({ table }) => `${table} ${of(table).length}`).join("; "),
    close: async () => {},
  };
}
