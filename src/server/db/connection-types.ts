/** Connections to Postgres as the rest of db/ sees them, and how long a statement may take. */
import type { SQL, TransactionSQL } from "bun";

/** All time limits of the database. The server's statement_timeout is a second shorter. */
export const LIMITS_MS = {
  /** A statement or a transaction that a caller waits for. */
  usual: 6_000,
  /** Lists, statistics, exports, and jobs that change many rows at a time. */
  long: 60_000,
  /** Migrations, and commands of an operator: audit, secret rotate, seeds. */
  command: 3_600_000,
} as const;

export type Limit = keyof typeof LIMITS_MS;

/** One statement as drizzle and the ledger send it: it is sent when it is awaited. */
export interface Statement<Row> extends PromiseLike<Row[]> {
  /** Rows as arrays. */
  values(): Statement<Row>;
}

export interface Connections {
  unsafe<Row = Record<string, unknown>>(text: string, values?: unknown[]): Statement<Row>;
  /** A transaction; the limit is for all of its statements together. */
  begin<T>(work: (tx: TransactionSQL) => Promise<T>): Promise<T>;
  /** The same connections with another limit; `ms` shortens the caller's wait. */
  within(limit: Limit, ms?: number): Connections;
  /** The same connections at the front of the queue. */
  readonly urgent: Connections;
  /** A separate client, for LISTEN; its user closes it. */
  listener(): SQL;
  /** Waits for what runs, at most `ms`, and closes. */
  close(ms?: number): Promise<void>;
}
