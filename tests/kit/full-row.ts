import { getTableColumns, type InferSelectModel, type Table } from "drizzle-orm";

/**
 * A row in which no column is empty: every text is the column's name with a mark, every number another one. What a
 * presenter lets out of it can be told by what stands there.
 */
export function fullRow<T extends Table>(table: T, fields: Partial<InferSelectModel<T>> = {}): InferSelectModel<T> {
  const filled = Object.entries(getTableColumns(table)).map(([name, { dataType }], i) => [
    name,
    dataType === "string" ? markOf(name) : dataType === "boolean" ? true : 1_000_003 + 7 * i,
  ]);
  // Drizzle's type of a table says what its columns hold; what was filled in has the same kinds.
  return { ...(Object.fromEntries(filled) as InferSelectModel<T>), ...fields };
}

/** The text of a column in such a row. */
const markOf = (column: string): string => `~${column}~`;

/** Columns whose value stands somewhere in what a presenter let out. */
export function columnsIn(view: unknown, row: object): string[] {
  const said = JSON.stringify(view);
  return Object.entries(row)
    .filter(([, value]) => (typeof value === "string" && value !== "") || typeof value === "number")
    .filter(([, value]) =>
      said.includes(typeof value === "string" ? JSON.stringify(value).slice(1, -1) : String(value)),
    )
    .map(([name]) => name);
}
