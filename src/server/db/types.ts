/** The database as features see it: the portable part of the builder, and transactions. */
import type { Database } from "bun:sqlite";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import type { Tables } from "./schema";
import type { Steps } from "./transaction";
import type { Connections } from "./connection-types";

export type Native = BunSQLiteDatabase<Record<string, never>>;

/** The portable builder: always awaited; `.returning()` tells what changed. */
export type Q = Pick<Native, "select" | "selectDistinct" | "insert" | "update" | "delete" | "$count">;

export interface TxOptions {
  /** Wait for the disk before answering (credits). Postgres always does. */
  durable?: boolean;
  /** Many rows are moved: it may take as long as a statistic (LIMITS_MS). */
  long?: boolean;
}

export interface Db {
  readonly engine: "sqlite" | "postgres";
  readonly t: Tables;
  /** Main door: point reads and writes. */
  readonly q: Q;
  /** Second door: lists, search, statistics, export, audit. On Postgres a statement may take longer here. */
  readonly read: Pick<Q, "select" | "selectDistinct">;
  /** Main door for jobs whose statements move many rows: on Postgres one may take longer than somebody would wait. */
  readonly bulk: Q;
  /**
   * A read that gathers many rows by several indexes. On Postgres with the memory that this takes: where the bitmaps of
   * two indexes do not fit into work_mem (4 MB unless set), whole pages are read instead of rows.
   */
  gather<T>(read: (q: Pick<Q, "select">) => Promise<T>): Promise<T>;
  tx<T>(steps: (q: Q) => Steps<T>, options?: TxOptions): Promise<T>;
  close(): Promise<void>;
  /** The driver, for `ledger.sqlite.ts`, `ledger.pg.ts` and `cluster/` alone. */
  readonly driver: { sqlite: Database; postgres?: undefined } | { sqlite?: undefined; postgres: Connections };
}
