/**
 * The only file that knows which database engine is used.
 *
 * A kit is a vocabulary of columns. `schema.ts` is written once against it; the SQLite kit is the canonical *type*, the
 * Postgres kit is cast to it, so that queries are typed once and run on both.
 */
import * as p from "drizzle-orm/pg-core";
import * as s from "drizzle-orm/sqlite-core";

export const sqliteKit = {
  table: s.sqliteTable,
  index: s.index,
  uniqueIndex: s.uniqueIndex,
  primaryKey: s.primaryKey,
  /** Surrogate key, never reused. */
  id: () => s.integer().primaryKey({ autoIncrement: true }),
  /** 64-bit integer; in JavaScript a number below 2^53. Ids, quota, epoch times, counts. */
  int: () => s.integer(),
  real: () => s.real(),
  text: () => s.text(),
  bool: () => s.integer({ mode: "boolean" }),
};

export type Kit = typeof sqliteKit;

/** No `jsonb`: drizzle and bun-sql encode it twice. JSON is kept as text on both engines. */
export const pgKit = {
  table: p.pgTable,
  index: p.index,
  uniqueIndex: p.uniqueIndex,
  primaryKey: p.primaryKey,
  id: () => p.bigint({ mode: "number" }).primaryKey().generatedByDefaultAsIdentity(),
  int: () => p.bigint({ mode: "number" }),
  real: () => p.doublePrecision(),
  text: () => p.text(),
  bool: () => p.boolean(),
  // The two builders differ in brand only; every column above has the same JavaScript type on both sides.
} as unknown as Kit;
