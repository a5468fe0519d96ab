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
  /** The `limit` rows with the highest keys, highest first. */
  lastRows(table: string, key: string, limit: number): Promise<Row[]>;
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
  return {
    rows: (table, key, after, limit) => {
      const from = `SELECT * FROM ${quote(table)}`;
      const end = `ORDER BY ${quote(key)} LIMIT ${limit}`;
      return after === undefined
        ? query(`${from} ${end}`, [])
        : query(`${from} WHERE ${quote(key)} > ${parameter(1)} ${end}`, [after]);
    },
    lastRows: (table, key, limit) =>
      query(`SELECT * FROM ${quote(table)} ORDER BY ${quote(key)} DESC LIMIT ${limit}`, []),
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
