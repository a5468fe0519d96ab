/** Connections to Postgres as the rest of db/ sees them, and how long a statement may take. */
import type { SQL, TransactionSQL } from "bun";

/** How long what may take: all limits of the database. The server is told a second less. */
export const LIMITS_MS = {
  /** A statement or a transaction that somebody waits for. */
  usual: 6_000,
  /** Lists, statistics, exports, and jobs that move many rows at a time. */
  long: 60_000,
  /** Migrations, and commands of an operator: audit, secret rotate, seeds. */
  command: 3_600_000,
} as const;

export type Limit = keyof typeof LIMITS_MS;

/** One statement as drizzle and the ledger send it: it begins when it is awaited. */
export interface Statement<Row> extends PromiseLike<Row[]> {
  /** Rows as arrays. */
  values(): Statement<Row>;
}

export interface Connections {
  unsafe<Row = Record<string, unknown>>(text: string, values?: unknown[]): Statement<Row>;
  /** A transaction; its statements together have the limit. */
  begin<T>(work: (tx: TransactionSQL) => Promise<T>): Promise<T>;
  /** The same connections with other limits; `ms` shortens what remains to the caller. */
  within(limit: Limit, ms?: number): Connections;
  /** For what must not wait behind others: the next free connection is its. */
  readonly urgent: Connections;
  /** A client besides, for LISTEN: who takes it looks after it and closes it. */
  listener(): SQL;
  /** Waits for what runs, at most so long, and closes. */
  close(ms?: number): Promise<void>;
}
