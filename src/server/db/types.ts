/** The database as features see it: the portable part of the builder, and transactions. */
import type { Database } from "bun:sqlite";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";
import type { Tables } from "./schema";
import type { Steps } from "./transaction";
import type { Connections } from "./connection-types";

export type Native = BunSQLiteDatabase<Record<string, never>>;

/** The portable builder: always awaited; `.returning()` returns the changed rows. */
export type Q = Pick<Native, "select" | "selectDistinct" | "insert" | "update" | "delete" | "$count">;

export interface TxOptions {
  /** Wait for the disk before resolving (credits). Postgres always does. */
  durable?: boolean;
  /** For many rows: it has the limit of statistics (LIMITS_MS). */
  long?: boolean;
}

export interface Db {
  readonly engine: "sqlite" | "postgres";
  readonly t: Tables;
  /** Point reads and writes. SQLite: on the main thread. */
  readonly q: Q;
  /** Lists, search, statistics, export, audit. SQLite: on the read worker. Postgres: with the long limit. */
  readonly read: Pick<Q, "select" | "selectDistinct">;
  /** Jobs whose statements change many rows. Postgres: with the long limit. */
  readonly bulk: Q;
  /**
   * A read of many rows by several indexes. On Postgres with more memory: where the bitmaps of two indexes do not fit
   * into work_mem (4 MB by default), whole pages are read instead of rows. There no table is scanned where it has an
   * index for the reading.
   */
  gather<T>(read: (q: Pick<Q, "select">) => Promise<T>): Promise<T>;
  tx<T>(steps: (q: Q) => Steps<T>, options?: TxOptions): Promise<T>;
  close(): Promise<void>;
  /** The driver, for `ledger.sqlite.ts`, `ledger.pg.ts`, `spend.ts`, `log/partitions.ts` and `cluster/` alone. */
  readonly driver: { sqlite: Database; postgres?: undefined } | { sqlite?: undefined; postgres: Connections };
}
