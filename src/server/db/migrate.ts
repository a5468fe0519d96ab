/**
 * Migrations: embedded, in order, under a lock, with a copy of a SQLite database before anything changes.
 *
 * Releases expand before they contract, so a process may serve on its own schema and on that of the next release (an
 * upgrade in progress), and refuses any later one.
 */
import type { Database } from "bun:sqlite";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SQL } from "bun";
import { CannotStart } from "../lib/cannot-start";
import { isTimeout } from "./errors";
import { migrations } from "./migrations.macro" with { type: "macro" };

/** Raised by one in every release with a migration. */
export const SCHEMA_RELEASE = 4;

export const sqliteMigrations = migrations("sqlite");
export const postgresMigrations = migrations("postgres");

export class SchemaTooNew extends CannotStart {
  constructor(found: number) {
    super(
      `The database was migrated by a later release (schema ${found}, this program knows ${SCHEMA_RELEASE} and ` +
        `serves up to ${SCHEMA_RELEASE + 1}). Start the newer program, or restore the copy made before the upgrade.`,
    );
  }
}

/** The schema release recorded in the database; 0 for an empty one. */
const readRelease = (rows: { value: string }[]) => Number(rows[0]?.value ?? 0);

const RECORD = (release: number) =>
  `INSERT INTO meta (name, value) VALUES ('schema_release', '${release}') ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

/** Applies what is missing. Drizzle's table records which; ours records the release. */
export function migrateSqlite(client: Database, path: string, apply: () => void): void {
  const has = client.query("SELECT 1 FROM sqlite_master WHERE name = 'meta'").get();
  const found = has
    ? readRelease(client.query<{ value: string }, []>("SELECT value FROM meta WHERE name = 'schema_release'").all())
    : 0;
  if (found > SCHEMA_RELEASE + 1) throw new SchemaTooNew(found);
  if (found > SCHEMA_RELEASE) return;
  const done = has
    ? (client.query<{ n: number }, []>("SELECT count(*) AS n FROM __drizzle_migrations").get()?.n ?? 0)
    : 0;
  if (done >= sqliteMigrations.length && found === SCHEMA_RELEASE) return;
  if (has && path !== ":memory:") copyBefore(client, path);
  client.exec("PRAGMA foreign_keys=OFF");
  apply();
  client.exec(RECORD(SCHEMA_RELEASE));
  client.exec("PRAGMA foreign_keys=ON");
}

/** `VACUUM INTO` beside the database; the last three are kept. */
function copyBefore(client: Database, path: string): void {
  const dir = join(dirname(path), "backups");
  mkdirSync(dir, { recursive: true });
  const name = `before-schema-${SCHEMA_RELEASE}-${new Date().toISOString().replace(/[:.]/g, "-")}.db`;
  client.query("VACUUM INTO ?").run(join(dir, name));
  const copies = readdirSync(dir)
    .filter((f) => f.startsWith("before-schema-"))
    .sort();
  for (const old of copies.slice(0, -3)) rmSync(join(dir, old), { force: true });
}

/** Any fixed number: two programs that migrate one database must agree on it. */
const MIGRATION_LOCK = 727_301_001;

/** Attempts at the locks that migrations need, a second between them. */
const LOCK_ATTEMPTS = 120;

/**
 * Migrations wait for a lock for a moment only, because everyone else waits behind them. Each attempt is one
 * transaction: it leaves all or nothing.
 */
async function applyWhenFree(apply: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await apply();
    } catch (error) {
      if (attempt >= LOCK_ATTEMPTS || !isTimeout(error)) throw error;
      await Bun.sleep(1000);
    }
  }
}

export async function migratePostgres(client: SQL, apply: () => Promise<void>): Promise<void> {
  const lock = await client.reserve();
  try {
    await lock`select pg_advisory_lock(${MIGRATION_LOCK})`;
    const [table] = await lock`select to_regclass('meta') as name`;
    const found = table?.name ? readRelease(await lock`select value from meta where name = 'schema_release'`) : 0;
    if (found > SCHEMA_RELEASE + 1) throw new SchemaTooNew(found);
    if (found > SCHEMA_RELEASE) return;
    await applyWhenFree(apply);
    await lock.unsafe(RECORD(SCHEMA_RELEASE));
  } finally {
    await lock`select pg_advisory_unlock(${MIGRATION_LOCK})`.catch(() => {});
    lock.release();
  }
}
