/**
 * Every row of a SQLite database into a Postgres one with the same schema. A pass sends all rows and Postgres writes
 * those that differ, so a pass that was interrupted is simply run again, and one after another takes what has changed.
 */
import type { Database } from "bun:sqlite";
import type { SQL } from "bun";
import { getTableConfig } from "drizzle-orm/sqlite-core";
import { sqliteTables } from "./schema";
import { withoutNul } from "./sql";

/** Of a process, and without meaning to another database. */
const LEFT: ReadonlySet<string> = new Set(["instances", "leases", "versions"]);
/** Rows and characters that are sent at once. */
const BATCH_ROWS = 2_000;
const BATCH_CHARS = 4_000_000;

/** Between columns, between rows, and for nothing, where rows are one text. */
const [BETWEEN, ROW, NULL] = ["\u001f", "\u001e", "\u001d"];

interface Table {
  name: string;
  columns: readonly string[];
  /** Whole numbers: what is summed as proof. */
  numbers: readonly string[];
  key: readonly string[];
  /** The column in whose order rows are sent, so that a digest covers the same rows in both; undefined: any order. */
  by: string | undefined;
  /** Ids are given by a sequence. */
  numbered: boolean;
  /** The columns as texts that are the same in both; undefined where a column has no such text. */
  texts: readonly string[] | undefined;
}

/** On Postgres the log is in partitions, where the request id alone is unique and finds a row. */
const KEYS: Readonly<Record<string, string>> = { logs: "request_id" };

/** In an order in which what refers to a row comes after it, as the schema declares them. */
const tables: readonly Table[] = Object.values(sqliteTables).flatMap((table) => {
  const { name, columns, primaryKeys } = getTableConfig(table);
  const own = columns.filter((column) => column.primary).map((column) => column.name);
  const [id] = columns.filter((column) => column.primary && "autoIncrement" in column && column.autoIncrement === true);
  const key = KEYS[name];
  return LEFT.has(name)
    ? []
    : [
        {
          name,
          columns: columns.map((column) => column.name),
          numbers: columns.flatMap((column) =>
            column.dataType === "number" && column.getSQLType() === "integer" ? [column.name] : [],
          ),
          key: key ? [key] : own.length > 0 ? own : (primaryKeys[0]?.columns.map((column) => column.name) ?? []),
          by: key ?? id?.name,
          numbered: id !== undefined,
          texts: columns.some((column) => column.getSQLType() === "real")
            ? undefined
            : columns.map(
                (column) =>
                  `coalesce("${column.name}"${column.dataType === "boolean" ? "::int" : ""}::text, '${NULL}')`,
              ),
        },
      ];
});

const quoted = (names: readonly string[], before = ""): string => names.map((name) => `${before}"${name}"`).join(", ");

const upsert = ({ name, columns, key }: Table): string => {
  const others = columns.filter((column) => !key.includes(column));
  const set =
    others.length === 0
      ? "NOTHING"
      : `UPDATE SET ${others.map((column) => `"${column}" = excluded."${column}"`).join(", ")} ` +
        `WHERE (${quoted(others, "old.")}) IS DISTINCT FROM (${quoted(others, "excluded.")})`;
  return (
    `INSERT INTO "${name}" AS old (${quoted(columns)}) SELECT ${quoted(columns)} ` +
    `FROM json_populate_recordset(NULL::"${name}", $1::text::json) ON CONFLICT (${quoted(key)}) DO ${set} RETURNING 1`
  );
};

/** As SQLite has it: switches are 0 and 1. */
type Row = Record<string, string | number | null>;

export interface MoveOptions {
  source: Database;
  target: SQL;
  /** Called after each batch: rows of the table so far. */
  progress?(table: string, rows: number): void;
}

/**
 * Makes the target equal to what the source's running transaction sees. Returns how many rows were written or removed.
 */
export async function copyRows(options: MoveOptions): Promise<number> {
  try {
    return await pass(options);
  } catch (error) {
    if (!isConflict(error)) throw error;
    // A name or key has gone from one row to another: rows that are gone stand in the way, or two have exchanged it.
    const removed = await removeGone(options);
    try {
      return removed + (await pass(options));
    } catch (again) {
      if (!isConflict(again)) throw again;
      await options.target.unsafe(`TRUNCATE ${quoted(tables.map(({ name }) => name))}`);
      return pass(options);
    }
  }
}

/** unique_violation, foreign_key_violation. */
const isConflict = (error: unknown): boolean =>
  error instanceof Error && "errno" in error && (error.errno === "23505" || error.errno === "23503");

async function pass(options: MoveOptions): Promise<number> {
  let changed = 0;
  for (const table of tables) changed += await copyTable(options, table);
  // Every row of the source is there now: where there are more, some are gone here.
  for (const table of tables) {
    const count = `SELECT CAST(count(*) AS text) AS n FROM "${table.name}"`;
    const [there]: { n: string }[] = await options.target.unsafe(count);
    if (options.source.query<{ n: string }, []>(count).get()?.n !== there?.n)
      return changed + (await removeGone(options));
  }
  return changed;
}

async function copyTable({ source, target, progress }: MoveOptions, table: Table): Promise<number> {
  const { name, columns, by, texts } = table;
  const statement = upsert(table);
  // A later pass finds most rows as they are: a digest says so, without sending them.
  const isFilled = (await target.unsafe(`SELECT 1 FROM "${name}" LIMIT 1`)).length > 0;
  const digest =
    isFilled && by && texts
      ? `SELECT md5(string_agg(concat_ws('${BETWEEN}', ${texts.join(", ")}), '${ROW}' ORDER BY "${by}" ${by === "id" ? "" : 'COLLATE "C"'})) AS digest FROM "${name}" WHERE "${by}" BETWEEN $1 AND $2`
      : undefined;
  let [changed, sent, chars] = [0, 0, 0];
  let batch: Row[] = [];
  const isSame = async (): Promise<boolean> => {
    if (digest === undefined || by === undefined) return false;
    const [there]: { digest: string }[] = await target.unsafe(digest, [batch[0]?.[by], batch.at(-1)?.[by]]);
    const text = batch.map((row) => columns.map((column) => row[column] ?? NULL).join(BETWEEN)).join(ROW);
    return there?.digest === new Bun.CryptoHasher("md5").update(text).digest("hex");
  };
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    if (!(await isSame())) changed += (await target.unsafe(statement, [JSON.stringify(batch)])).length;
    sent += batch.length;
    [batch, chars] = [[], 0];
    progress?.(name, sent);
  };
  const rows = source.query<Row, []>(`SELECT ${quoted(columns)} FROM "${name}"${by ? ` ORDER BY "${by}"` : ""}`);
  for (const row of rows.iterate()) {
    for (const [column, value] of Object.entries(row)) {
      if (typeof value !== "string") continue;
      // Postgres has no NUL in texts.
      row[column] = withoutNul(value);
      chars += value.length;
    }
    batch.push(row);
    if (batch.length >= BATCH_ROWS || chars >= BATCH_CHARS) await flush();
  }
  await flush();
  return changed;
}

/** Removes what the source no longer has, rows that refer to others first. */
async function removeGone({ source, target }: MoveOptions): Promise<number> {
  let removed = 0;
  for (const { name, key } of tables.toReversed()) {
    const found = source.query(`SELECT 1 FROM "${name}" WHERE ${key.map((column) => `"${column}" = ?`).join(" AND ")}`);
    const order = quoted(key);
    const page = `SELECT ${order} FROM "${name}"`;
    const after = `${page} WHERE (${order}) > (${key.map((_, i) => `$${i + 1}`).join(", ")})`;
    for (let last: unknown[] | undefined; ;) {
      const text = `${last ? after : page} ORDER BY ${order} LIMIT ${BATCH_ROWS}`;
      const rows: Record<string, string | number>[] = await target.unsafe(text, last ?? []);
      const keys = rows.map((row) => key.map((column) => row[column] ?? ""));
      for (const gone of keys.filter((values) => found.get(...values) === null)) {
        await target.unsafe(
          `DELETE FROM "${name}" WHERE ${key.map((column, i) => `"${column}" = $${i + 1}`).join(" AND ")}`,
          gone,
        );
        removed++;
      }
      last = keys.at(-1);
      if (!last || rows.length < BATCH_ROWS) break;
    }
  }
  return removed;
}

/** New rows get ids above every id that was ever given. */
export async function moveSequences({ source, target }: MoveOptions): Promise<void> {
  for (const { name } of tables.filter(({ numbered }) => numbered)) {
    const given = source.query<{ seq: number }, [string]>("SELECT seq FROM sqlite_sequence WHERE name = ?").get(name);
    if (given && given.seq > 0)
      await target.unsafe(`SELECT setval(pg_get_serial_sequence('"${name}"', 'id'), $1)`, [given.seq]);
  }
  await target.unsafe("ANALYZE");
}

/** Number of rows and sums of whole numbers, as texts: a sum may exceed what a number holds. */
type Sums = readonly string[];

const sumsOf = ({ name, numbers }: Table): string => {
  const sums = ["count(*)", ...numbers.map((column) => `coalesce(sum("${column}"), 0)`)];
  return `SELECT ${sums.map((one, i) => `CAST(${one} AS text) AS s${i}`).join(", ")} FROM "${name}"`;
};

const sumsHere = (source: Database, table: Table): Sums =>
  Object.values(source.query<Record<string, string>, []>(sumsOf(table)).get() ?? {});

async function sumsThere(target: SQL, table: Table): Promise<Sums> {
  const [row]: Record<string, string>[] = await target.unsafe(sumsOf(table));
  return Object.values(row ?? {});
}

/** Tables of which the number of rows or the sum of a whole number differs; [] when all are equal. */
export async function differingTables({ source, target }: MoveOptions): Promise<string[]> {
  const differ: string[] = [];
  for (const table of tables) {
    const [here, there] = [sumsHere(source, table), await sumsThere(target, table)];
    const names = ["rows", ...table.numbers];
    here.forEach((value, i) => {
      if (value !== there[i]) differ.push(`${table.name}.${names[i]}: ${value} here, ${there[i]} there`);
    });
  }
  return differ;
}

/** Whether the target has no row of what is moved. */
export async function isVacant(target: SQL): Promise<boolean> {
  for (const { name } of tables.filter((table) => table.name !== "meta"))
    if ((await target.unsafe(`SELECT 1 FROM "${name}" LIMIT 1`)).length > 0) return false;
  return true;
}
