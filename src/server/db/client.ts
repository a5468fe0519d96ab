/**
 * One database, two engines. Features see `Db`: the portable part of drizzle's builder and generator transactions.
 *
 * drizzle's bun-sqlite transactions are synchronous: an async callback would commit at its first await and not roll
 * back. A transaction here is a generator: on SQLite it runs to completion in one go inside BEGIN IMMEDIATE, on
 * Postgres step by step. Waiting for the network inside one cannot be written.
 */
import { Database } from "bun:sqlite";
import { SQL } from "bun";
import { drizzle as drizzleSqlite } from "drizzle-orm/bun-sqlite";
import { sql } from "drizzle-orm";
import { type BunSQLDatabase, drizzle as drizzlePostgres } from "drizzle-orm/bun-sql";
import { openConnections } from "./connections";
import { type Connections, type Limit, LIMITS_MS } from "./connection-types";
import { migratePostgres, migrateSqlite, postgresMigrations, sqliteMigrations } from "./migrate";
import { openReader } from "./reader";
import { makeTables, sqliteTables } from "./schema";
import { pgKit } from "./columns";
import { isTransient } from "./errors";
import { AfterCommit, type Steps } from "./transaction";
import type { Db, Q, TxOptions } from "./types";

type Postgres = BunSQLDatabase<Record<string, never>>;

export interface OpenOptions {
  /** `postgres://…`, or the path of a SQLite file, or `:memory:` (without the read worker: tests only). */
  url: string;
  /** PRAGMA synchronous: `normal` may lose the last usage charges in a power cut, `full` loses nothing. */
  sqliteSync?: "normal" | "full";
  /** Most Postgres connections. */
  pool?: number;
  /** For an operator's command: no statement is given up before `LIMITS_MS.command`, and little is kept in memory. */
  commandLimits?: boolean;
  /** Called with the reason when a connection to Postgres is given up. */
  gaveUp?(reason: string): void;
  /** SQLite: no other process may have the database open before `close`. Fails with SQLITE_BUSY while one has. */
  exclusive?: boolean;
}

export function openDb(options: OpenOptions): Promise<Db> {
  return /^postgres(ql)?:\/\//.test(options.url) ? openPostgres(options) : openSqlite(options);
}

/** Bytes of a SQLite file that a server reads as memory. */
const MAPPED = 268_435_456;

interface SyncPrepared {
  execute(): { sync(): unknown };
}

async function openSqlite({
  url,
  sqliteSync = "normal",
  exclusive = false,
  commandLimits = false,
}: OpenOptions): Promise<Db> {
  const client = new Database(url, { create: true, strict: false });
  const sync = sqliteSync.toUpperCase();
  // The locks are then kept until the connection is closed.
  if (exclusive) client.exec("PRAGMA busy_timeout=1000; PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
  client.exec(
    `PRAGMA journal_mode=WAL; PRAGMA synchronous=${sync}; PRAGMA busy_timeout=5000; PRAGMA foreign_keys=ON; ` +
      `PRAGMA cache_size=${commandLimits ? -8192 : -65536}; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=${commandLimits ? 0 : MAPPED}`,
  );
  // Bun keeps a statement cache behind query(); drizzle calls prepare() (measured: +20 to 25 %).
  (client as { prepare: unknown }).prepare = client.query.bind(client);
  const native = drizzleSqlite({ client });
  migrateSqlite(client, url, () => {
    // `migrate` of drizzle's dialect takes the list itself; its public function wants a folder, which a binary does not
    // have.
    const inner = native as unknown as {
      dialect: { migrate(list: unknown, session: unknown, config: object): void };
      session: unknown;
    };
    inner.dialect.migrate(sqliteMigrations, inner.session, {});
  });
  // The read worker checkpoints the WAL; the main connection only as a backstop.
  if (url !== ":memory:") client.exec("PRAGMA wal_autocheckpoint=20000");
  const reader = url === ":memory:" || exclusive ? undefined : await openReader(url, commandLimits ? 0 : MAPPED);

  const transaction = client.transaction((steps: Steps<unknown>) => {
    let step = steps.next();
    const after: AfterCommit[] = [];
    while (!step.done) {
      if (step.value instanceof AfterCommit) {
        after.push(step.value);
        step = steps.next();
        continue;
      }
      const builder = step.value as unknown as { prepare(): SyncPrepared };
      step = steps.next(builder.prepare().execute().sync());
    }
    return { value: step.value, after };
  });
  const commit = (steps: Steps<unknown>, durable = false) => {
    if (!durable || sqliteSync === "full") return transaction.immediate(steps);
    client.exec("PRAGMA synchronous=FULL");
    try {
      return transaction.immediate(steps);
    } finally {
      client.exec(`PRAGMA synchronous=${sync}`);
    }
  };

  return {
    engine: "sqlite",
    t: sqliteTables,
    q: native,
    read: reader?.q ?? native,
    bulk: native,
    gather: (read) => read(reader?.q ?? native),
    driver: { sqlite: client },
    tx: async <T>(steps: (q: Q) => Steps<T>, { durable }: TxOptions = {}) => {
      const { value, after } = commit(steps(native), durable);
      for (const { work } of after) await work();
      return value as T;
    },
    close: async () => {
      await reader?.close();
      client.exec("PRAGMA optimize");
      client.close(false);
    },
  };
}

/**
 * 32 MB, or the operator's setting where that is higher; and indexes alone: rows of a time lie together, so a scan that
 * ends at a number of rows passes all that lie before them, where it is expected to find them spread out.
 */
const GATHERING = sql`SELECT set_config('work_mem', greatest(pg_size_bytes(current_setting('work_mem')) / 1024, 32768)::text, true), set_config('enable_seqscan', 'off', true)`;

/** On own connections without a statement timeout. */
async function migrate(url: string): Promise<void> {
  const client = new SQL(url, { max: 2, connectionTimeout: 10, bigint: false });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("The migration took too long")), LIMITS_MS.command);
  const migrated = migratePostgres(client, async () => {
    const inner = drizzlePostgres({ client }) as unknown as {
      dialect: { migrate(list: unknown, session: unknown, config: object): Promise<void> };
      session: unknown;
    };
    await inner.dialect.migrate(postgresMigrations, inner.session, {});
  });
  try {
    await Promise.race([migrated, late.promise]);
  } finally {
    clearTimeout(timer);
    await client.close({ timeout: 0 });
  }
}

async function openPostgres({ url, pool = 10, commandLimits = false, gaveUp }: OpenOptions): Promise<Db> {
  await migrate(url);
  const all = openConnections({ url, max: pool, gaveUp });
  const limited = (limit: Limit) => all.within(commandLimits ? "command" : limit);
  const [usual, long] = [limited("usual"), limited("long")];
  // drizzle uses `unsafe` and `begin` of its client, and nothing else.
  const drizzle = (connections: Connections): Postgres => drizzlePostgres({ client: connections as unknown as SQL });
  const [native, slow] = [drizzle(usual), drizzle(long)];
  const attempt = async <T>(steps: (q: Q) => Steps<T>, on: Postgres) => {
    const after: AfterCommit[] = [];
    const value = await on.transaction(async (tx) => {
      const running = steps(tx as unknown as Q);
      let step = running.next();
      while (!step.done) {
        if (step.value instanceof AfterCommit) {
          after.push(step.value);
          step = running.next();
        } else step = running.next(await step.value);
      }
      return step.value;
    });
    for (const { work } of after) await work();
    return value;
  };
  // The canonical builder type is SQLite's; see columns.ts.
  const [q, bulk] = [native, slow] as unknown as [Q, Q];
  return {
    engine: "postgres",
    t: makeTables(pgKit),
    q,
    read: bulk,
    bulk,
    // Local to the transaction, because a pooler may give the connection to another client.
    gather: (read) =>
      slow.transaction(
        async (tx) => {
          await tx.execute(GATHERING);
          return read(tx as unknown as Q);
        },
        { accessMode: "read only" },
      ),
    driver: { postgres: usual },
    tx: async (steps, { long: many = false } = {}) => {
      for (let tries = 1; ; tries++) {
        try {
          return await attempt(steps, many ? slow : native);
        } catch (error) {
          if (tries >= 5 || !isTransient(error)) throw error;
          await Bun.sleep(2 ** tries * 5 * Math.random());
        }
      }
    },
    close: () => all.close(),
  };
}
