/**
 * Another gateway's database, read only. One small interface over SQLite, Postgres and MySQL: the catalogue, and tables
 * in ranges of their key, so that memory stays bounded however many rows there are.
 */
/** A row as the driver gives it: numbers, texts, booleans, dates, null. */
export type Row = Readonly<Record<string, unknown>>;

/** Table -> its columns, as the source's own catalogue lists them. */
export type Catalogue = ReadonlyMap<string, readonly string[]>;

export interface Source {
  readonly engine: "sqlite" | "postgres" | "mysql";
  catalogue(): Promise<Catalogue>;
  /** At most `limit` rows with a key above `after` (undefined: from the first), in the key's order. */
  rows(table: string, key: string, after: string | number | undefined, limit: number): Promise<Row[]>;
  /** At most `limit` rows with a key below `before` (undefined: from the last), highest first. */
  lastRows(table: string, key: string, before: string | number | undefined, limit: number): Promise<Row[]>;
  /** The rows whose `column` is one of these values, in the order of `key`. */
  rowsWhere(table: string, column: string, values: readonly (string | number)[], key: string): Promise<Row[]>;
  /** How many rows a table has. */
  count(table: string): Promise<number>;
  /** Per column the rows in which it holds something: neither null nor an empty text, zero, false, [] or {}. */
  filled(table: string, columns: readonly string[]): Promise<Readonly<Record<string, number>>>;
  /** The largest key of a table; 0 for none, and for keys that are no numbers. */
  largest(table: string, key: string): Promise<number>;
  /** A text that changes when rows are added to these tables. */
  state(tables: readonly { table: string; key: string }[]): Promise<string>;
  close(): Promise<void>;
}

/** What the engines write differently. */
export interface Dialect {
  quote(name: string): string;
  /** The parameter at this place, from 1. */
  parameter(place: number): string;
  asText(expression: string): string;
}

/** The queries of a source, written once. */
export function queriesOf(
  dialect: Dialect,
  query: (text: string, values: readonly (string | number)[]) => Promise<Row[]>,
): Omit<Source, "engine" | "catalogue" | "close"> {
  const { quote, parameter, asText } = dialect;
  const inOrder = (
    table: string,
    key: string,
    order: "ASC" | "DESC",
    edge: string | number | undefined,
    limit: number,
  ): Promise<Row[]> => {
    const beyond = order === "ASC" ? ">" : "<";
    const where = edge === undefined ? "" : `WHERE ${quote(key)} ${beyond} ${parameter(1)}`;
    const text = `SELECT * FROM ${quote(table)} ${where} ORDER BY ${quote(key)} ${order} LIMIT ${limit}`;
    return query(text, edge === undefined ? [] : [edge]);
  };
  return {
    rows: (table, key, after, limit) => inOrder(table, key, "ASC", after, limit),
    lastRows: (table, key, before, limit) => inOrder(table, key, "DESC", before, limit),
    rowsWhere: async (table, column, values, key) => {
      if (values.length === 0) return [];
      const places = values.map((_, i) => parameter(i + 1)).join(", ");
      const order = `ORDER BY ${quote(key)}`;
      return query(`SELECT * FROM ${quote(table)} WHERE ${quote(column)} IN (${places}) ${order}`, values);
    },
    count: async (table) => Number((await query(`SELECT count(*) AS n FROM ${quote(table)}`, []))[0]?.n ?? 0),
    filled: async (table, columns) => {
      if (columns.length === 0) return {};
      const empty = `('', '0', 'false', '[]', '{}', 'null', '0.0')`;
      const counts = columns.map(
        (column, i) => `sum(CASE WHEN ${asText(quote(column))} NOT IN ${empty} THEN 1 ELSE 0 END) AS c${i}`,
      );
      const [found] = await query(`SELECT ${counts.join(", ")} FROM ${quote(table)}`, []);
      return Object.fromEntries(columns.map((column, i) => [column, Number(found?.[`c${i}`] ?? 0)]));
    },
    largest: async (table, key) => {
      const [row] = await query(`SELECT max(${quote(key)}) AS last FROM ${quote(table)}`, []);
      const last = Number(row?.last ?? 0);
      return Number.isSafeInteger(last) ? last : 0;
    },
    state: async (tables) => {
      const parts: string[] = [];
      for (const { table, key } of tables) {
        const [row] = await query(`SELECT count(*) AS n, max(${quote(key)}) AS last FROM ${quote(table)}`, []);
        parts.push(`${table} ${String(row?.n)} ${String(row?.last)}`);
      }
      return parts.join("; ");
    },
  };
}
