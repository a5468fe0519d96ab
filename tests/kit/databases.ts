/**
 * Fresh databases for tests: a SQLite file, or a database of its own on a real Postgres server. The server is started
 * once for all test processes of this checkout (`postgres-server.ts`) and stops by itself after the last of them;
 * WEIR_TEST_POSTGRES_URL (postgres://user@host:port, no database) names another one to use instead.
 */
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { openDb } from "../../src/server/db/client";
import type { Db } from "../../src/server/db/types";
import { postgresMigrations } from "../../src/server/db/migrate";
import { isAlive, withLock } from "./lock";

export interface FreshDatabase {
  db: Db;
  /** For another connection or another process. */
  url: string;
  /** Closes `db` and removes the database. */
  close(): Promise<void>;
}

export type Engine = Db["engine"];
export const ENGINES = ["sqlite", "postgres"] as const satisfies readonly Engine[];

export const freshDatabase = (engine: Engine, pool?: number): Promise<FreshDatabase> =>
  engine === "sqlite" ? freshSqlite() : freshPostgres(pool);

export async function freshSqlite(): Promise<FreshDatabase> {
  const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
  const url = join(folder, "weir.db");
  const db = await openDb({ url });
  return {
    db,
    url,
    close: async () => {
      await db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A copy of a migrated template: about 30 ms. `pool`: connections of `db`. */
export async function freshPostgres(pool = 4): Promise<FreshDatabase> {
  const server = await postgresServer();
  const name = `weir_${process.pid}_${crypto.randomUUID().slice(0, 8)}`;
  await asAdmin(server, (sql) => sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${templateName()} STRATEGY FILE_COPY`));
  const url = `${server}/${name}`;
  const db = await openDb({ url, pool });
  return {
    db,
    url,
    close: async () => {
      await db.close();
      await dropPostgres(server, name);
    },
  };
}

/** A database without tables, for a program that migrates it itself. */
export async function emptyPostgres(): Promise<Omit<FreshDatabase, "db">> {
  const server = await postgresServer();
  const name = `weir_${process.pid}_${crypto.randomUUID().slice(0, 8)}`;
  await asAdmin(server, (sql) => sql.unsafe(`CREATE DATABASE ${name}`));
  return { url: `${server}/${name}`, close: () => dropPostgres(server, name) };
}

const dropPostgres = (server: string, name: string): Promise<void> =>
  asAdmin(server, async (sql) => void (await sql.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)));

let server: Promise<string> | undefined;

/** `postgres://user@host:port` of the shared server, started if need be. */
export function postgresServer(): Promise<string> {
  server ??= process.env.WEIR_TEST_POSTGRES_URL
    ? prepareGivenServer(process.env.WEIR_TEST_POSTGRES_URL)
    : joinSharedServer();
  return server;
}

/** The template's name contains a hash of its migrations. */
const templateName = () => `weir_template_${Bun.hash(postgresMigrations.map((m) => m.hash).join()).toString(36)}`;

async function asAdmin<T>(url: string, work: (sql: SQL) => Promise<T>): Promise<T> {
  const sql = new SQL(`${url}/postgres`, { max: 1 });
  try {
    return await work(sql);
  } finally {
    await sql.close();
  }
}

async function makeTemplate(url: string): Promise<void> {
  const name = templateName();
  const there = await asAdmin(url, (sql) => sql`select 1 from pg_database where datname = ${name}`);
  if (there.length > 0) return;
  const draft = `${name}_draft`;
  await asAdmin(url, async (sql) => {
    await sql.unsafe(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
    await sql.unsafe(`CREATE DATABASE ${draft}`);
  });
  await (await openDb({ url: `${url}/${draft}`, pool: 2 })).close();
  await asAdmin(url, (sql) => sql.unsafe(`ALTER DATABASE ${draft} RENAME TO ${name}`));
}

const sharedFolder = () => {
  const checkout = Bun.hash(join(import.meta.dir, "../..")).toString(36);
  return join(tmpdir(), `weir-test-postgres-${userInfo().uid}-${checkout}`);
};

async function prepareGivenServer(url: string): Promise<string> {
  const base = url.replace(/\/+$/, "");
  const folder = sharedFolder();
  mkdirSync(folder, { recursive: true });
  await withLock(join(folder, "lock"), () => makeTemplate(base));
  return base;
}

async function joinSharedServer(): Promise<string> {
  const folder = sharedFolder();
  mkdirSync(join(folder, "clients"), { recursive: true });
  return withLock(join(folder, "lock"), async () => {
    writeFileSync(join(folder, "clients", String(process.pid)), "");
    const url = readState(folder) ?? (await startServer(folder));
    await makeTemplate(url);
    return url;
  });
}

function readState(folder: string): string | undefined {
  const file = join(folder, "state.json");
  if (!existsSync(file)) return undefined;
  const { url, pid } = JSON.parse(readFileSync(file, "utf8")) as { url: string; pid: number };
  return isAlive(pid) ? url : undefined;
}

async function startServer(folder: string): Promise<string> {
  rmSync(join(folder, "state.json"), { force: true });
  rmSync(join(folder, "data"), { recursive: true, force: true });
  const log = openSync(join(folder, "server.log"), "w");
  // Started by a shell that ends at once: Bun ends the children of a test file with the file (measured, --parallel).
  const keeper = spawn(
    "/bin/sh",
    ["-c", '"$0" "$@" &', process.execPath, join(import.meta.dir, "postgres-server.ts"), folder],
    {
      detached: true,
      stdio: ["ignore", log, log],
    },
  );
  closeSync(log);
  keeper.unref();
  for (let waited = 0; waited < 30_000; waited += 50) {
    const url = readState(folder);
    if (url) return url;
    if (keeper.exitCode !== null && keeper.exitCode !== 0) break;
    await Bun.sleep(50);
  }
  throw new Error(`The test Postgres server did not start: ${readFileSync(join(folder, "server.log"), "utf8")}`);
}
