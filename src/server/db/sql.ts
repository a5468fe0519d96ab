/** Expressions that mean the same on both engines. */
import { type AnyColumn, gt, lte, or, type SQL, sql } from "drizzle-orm";
import type { Db } from "./types";

/** Clocks of several instances may differ by so many seconds. */
export const CLOCKS_DIFFER = 120;

/**
 * `column` (epoch seconds) lies `pause` seconds back or more. So does a time in the future: the clock was set back
 * since, and what waits for a pause must not wait for the size of that step.
 */
export const isOver = (column: AnyColumn, now: number, pause: number): SQL | undefined =>
  or(lte(column, now - pause), gt(column, now + CLOCKS_DIFFER));

/** `column` contains `text`, case ignored, `%` and `_` literal. */
export function contains(column: AnyColumn | SQL, text: string): SQL {
  const pattern = `%${text.toLowerCase().replace(/[\\%_]/g, (c) => `\\${c}`)}%`;
  return sql`lower(${column}) like ${pattern} escape '\\'`;
}

/** `column` is like `pattern`: `%` stands for any text, `_` for itself; case ignored. */
export function isLike(column: AnyColumn | SQL, pattern: string): SQL {
  return sql`lower(${column}) like ${pattern.toLowerCase().replace(/[\\_]/g, (c) => `\\${c}`)} escape '\\'`;
}

/**
 * One of the (never null) columns contains `text`, case ignored, `%` and `_` literal. One search over their joined text
 * costs a third of one for each. A line break in `text` becomes a space: the columns are joined by line breaks, and no
 * match may span two.
 */
export function anyContains(columns: readonly AnyColumn[], text: string): SQL {
  const pattern = `%${text
    .toLowerCase()
    .replace(/\s+/g, " ")
    .replace(/[\\%_]/g, (c) => `\\${c}`)}%`;
  const joined = sql.join(
    columns.map((column) => sql`${column}`),
    sql` || '\n' || `,
  );
  return sql`lower(${joined}) like ${pattern} escape '\\'`;
}

/** `column` starts with `text`, case kept, `%` and `_` literal. */
export function startsWith(column: AnyColumn, text: string): SQL {
  return sql`substr(${column}, 1, ${text.length}) = ${text}`;
}

/** The comma-separated list in `column` has `item` as a member. */
export function hasItem(column: AnyColumn, item: string): SQL {
  const pattern = `%,${item.replace(/[\\%_]/g, (c) => `\\${c}`)},%`;
  return sql`(',' || ${column} || ',') like ${pattern} escape '\\'`;
}

/**
 * A text member of the JSON object in `column`, '' when it has none. For members whose values need no escapes, in JSON
 * that JSON.stringify wrote: inside a string value the quotes of `"name":"` would be escaped. Unlike the engines' JSON
 * functions it accepts rows without JSON, and \u0000 on Postgres.
 */
export function jsonMember(db: Pick<Db, "engine">, column: AnyColumn, name: string): SQL<string> {
  const before = `"${name}":"`;
  if (db.engine === "postgres") return sql<string>`split_part(split_part(${column}, ${before}, 2), '"', 1)`;
  const rest = sql`substr(${column}, instr(${column}, ${before}) + ${before.length})`;
  return sql<string>`case when instr(${column}, ${before}) = 0 then '' else substr(${rest}, 1, instr(${rest}, '"') - 1) end`;
}

/** A whole number above 0 among the members of a JSON object, 0 where there is none; with the limits of jsonMember. */
export function jsonNumber(db: Pick<Db, "engine">, column: SQL, name: string, absent = sql.raw("0")): SQL<number> {
  const before = `"${name}":`;
  if (db.engine === "postgres")
    return sql<number>`coalesce(cast(substring(${column} from ${sql.raw(`'${before}([0-9]{1,15})'`)}) as bigint), ${absent})`;
  const literal = sql.raw(`'${before}'`);
  // A text that begins with digits counts as that number.
  return sql<number>`case when instr(${column}, ${literal}) = 0 then ${absent} else cast(substr(${column}, instr(${column}, ${literal}) + ${sql.raw(String(before.length))}, 15) as integer) end`;
}

/** `column` without its index on SQLite: another index is known to be better. Postgres decides by its statistics. */
export const withoutIndex = (db: Pick<Db, "engine">, column: AnyColumn): SQL =>
  db.engine === "sqlite" ? sql`+${column}` : sql`${column}`;

/**
 * A comparison for which SQLite must use its index. Its statistics have the average number of rows of a value, not that
 * most rows share one; so it would rather walk the table in order, through all of it where the value is rare.
 */
export const byIndex = (db: Pick<Db, "engine">, comparison: SQL): SQL =>
  db.engine === "sqlite" ? sql`likelihood(${comparison}, 0.0001)` : comparison;

/** sum() as a number, 0 over no rows. */
export const total = (column: AnyColumn | SQL): SQL<number> => sql<number>`coalesce(sum(${column}), 0)`.mapWith(Number);

export const count = (): SQL<number> => sql<number>`count(*)`.mapWith(Number);

/** Removes NUL characters, which Postgres text cannot hold. */
export const withoutNul = (text: string): string => (text.includes("\u0000") ? text.replaceAll("\u0000", "") : text);

/** Locks a row until the transaction ends. SQLite's single writer has locked the whole database already. */
export function forUpdate<B>(db: Db, builder: B): B {
  return db.engine === "postgres" ? (builder as B & { for(mode: "update"): B }).for("update") : builder;
}
