/** `weir move`: every row of SQLite in Postgres, copied ahead while a server runs, proven equal at the end. */
import { afterAll, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asc, eq } from "drizzle-orm";
import { SQL } from "bun";
import { type FreshDatabase, freshPostgres } from "../../../tests/kit/databases";
import { fullRow } from "../../../tests/kit/full-row";
import { openDb } from "../db/client";
import { lockFile } from "../db/lock";
import { copyRows } from "../db/move";
import { sqliteTables } from "../db/schema";
import type { Db } from "../db/types";
import { readEnv } from "../env";
import { startInstance } from "../features/wallet/instances";
import { openServices } from "../wiring/services";
import { createLogger } from "../lib/log";
import { moveCommand } from "./move";

/** The first one may start the Postgres server. */
const LIMIT_MS = 90_000;

const folder = mkdtempSync(join(tmpdir(), "weir-move-"));
const env = readEnv({ WEIR_DATA_DIR: folder, WEIR_SECRET: "a secret of sixteen" }, () => {});
const out = spyOn(console, "log").mockImplementation(() => {});
const err = spyOn(console, "error").mockImplementation(() => {});
beforeEach(() => void out.mockClear());
const opened: FreshDatabase[] = [];
afterAll(async () => {
  out.mockRestore();
  err.mockRestore();
  for (const one of opened) await one.close();
  rmSync(folder, { recursive: true, force: true });
});
const postgres = async (): Promise<FreshDatabase> => {
  const fresh = await freshPostgres();
  opened.push(fresh);
  return fresh;
};
const said = (): string => out.mock.calls.flat().join("\n");
const log = createLogger({ level: "error", format: "json" });

type TableName = keyof typeof sqliteTables;
const NAMES = Object.keys(sqliteTables) as TableName[];
const LEFT: readonly string[] = ["instances", "leases", "versions", "meta"];

/** Every table with rows, the columns of all of them filled. */
async function fill(db: Db): Promise<void> {
  for (const name of NAMES.filter((one) => !LEFT.includes(one))) {
    const table = db.t[name];
    for (let i = 1; i <= 3; i++) {
      const row = fullRow(table) as Record<string, unknown>;
      for (const [column, value] of Object.entries(row)) {
        if (typeof value === "string") row[column] = `${value}${i} 鱼\n"\\u0000`;
        if (typeof value === "number") row[column] = value + 1000 * i;
      }
      if ("id" in row && typeof row.id === "number") row.id = i * 5;
      for (const column of ["user_id", "channel_id"]) if (column in row) row[column] = i * 5;
      await db.q.insert(table).values(row as never);
    }
  }
}

const withoutNul = (value: unknown): unknown => (typeof value === "string" ? value.replaceAll("\0", "") : value);

async function rowsOf(db: Db): Promise<Record<string, unknown[]>> {
  const all: Record<string, unknown[]> = {};
  for (const name of NAMES.filter((one) => !LEFT.includes(one))) {
    const rows: object[] = await db.q.select().from(db.t[name]);
    // Postgres has no NUL in texts.
    all[name] = rows.map((row) => JSON.stringify(row, (_, value) => withoutNul(value))).sort();
  }
  return all;
}

test(
  "while a server runs it copies ahead; after its stop it takes what changed, compares, and is done",
  async () => {
    const { services, close } = await openServices(env, log);
    const { db } = services;
    await fill(db);
    await db.q.update(db.t.logs).set({ content: "a\0b" }).where(eq(db.t.logs.id, 5)).returning({ id: db.t.logs.id });
    const target = await postgres();
    const lock = lockFile(join(folder, "weir.lock"));
    expect(await moveCommand(env, [target.url])).toBe(0);
    expect(said()).toContain("A server runs here.");
    expect(await rowsOf(target.db)).toEqual(await rowsOf(db));
    // Meanwhile: a charge, a name that has gone to another account, rows that are gone and came back under other ids.
    const { users, channel_keys, logs, tokens } = db.t;
    const name = async (id: number, username: string) =>
      db.q.update(users).set({ username }).where(eq(users.id, id)).returning({ id: users.id });
    const [one, two] = await db.q.select().from(users).orderBy(asc(users.id));
    await name(5, "in between");
    await name(10, one?.username ?? "");
    await name(5, two?.username ?? "");
    await db.q.update(users).set({ quota: 12_345 }).where(eq(users.id, 15)).returning({ id: users.id });
    const [key] = await db.q.delete(channel_keys).where(eq(channel_keys.id, 15)).returning();
    if (key) await db.q.insert(channel_keys).values({ ...key, id: 900 });
    await db.q.delete(tokens).where(eq(tokens.id, 10)).returning({ id: tokens.id });
    await db.q.insert(logs).values({ ...fullRow(logs), id: 7000, request_id: "late" });
    await db.q.delete(logs).where(eq(logs.id, 7000)).returning({ id: logs.id });
    lock?.release();
    await close();
    out.mockClear();
    expect(await moveCommand(env, [target.url])).toBe(0);
    expect(said()).toContain("the same rows and sums on both");
    const here = await openDb({ url: env.databaseUrl });
    expect(await rowsOf(target.db)).toEqual(await rowsOf(here));
    await here.close();
    // An id that was given once is not given again.
    const [made] = await target.db.q
      .insert(target.db.t.logs)
      .values({ ...fullRow(target.db.t.logs), id: undefined as never, request_id: "new" })
      .returning();
    expect(made?.id).toBeGreaterThan(7000);
    // The secret opens what came along, and the target has a life of its own.
    const there = await openServices({ ...env, DATABASE_URL: target.url, databaseUrl: target.url } as typeof env, log);
    await there.close();
    await expect(moveCommand(env, [target.url])).rejects.toThrow(/the move to this database is complete/);
  },
  LIMIT_MS,
);

test(
  "a pass that was interrupted is completed by the next; a second one writes nothing",
  async () => {
    const target = await postgres();
    const there = new SQL(target.url, { max: 1 });
    const here = await openDb({ url: env.databaseUrl });
    const source = here.driver.sqlite;
    if (!source) throw new Error("no SQLite");
    const stop = new Error("interrupted");
    const dying = copyRows({
      source,
      target: there,
      progress: (table) => {
        if (table === "channels") throw stop;
      },
    });
    await expect(dying).rejects.toThrow("interrupted");
    expect(await copyRows({ source, target: there })).toBeGreaterThan(0);
    expect(await copyRows({ source, target: there })).toBe(0);
    expect(await rowsOf(target.db)).toEqual(await rowsOf(here));
    await there.close();
    await here.close();
  },
  LIMIT_MS,
);

test(
  "it refuses a target with other data, one that a Weir runs on, and arguments that say nothing",
  async () => {
    const target = await postgres();
    const { users } = target.db.t;
    await target.db.q.insert(users).values({ ...fullRow(users), id: 1 });
    await expect(moveCommand(env, [target.url])).rejects.toThrow(/is not empty/);
    const living = await postgres();
    const instance = await startInstance(living.db, "living", "0", { failed: () => {} });
    await expect(moveCommand(env, [living.url])).rejects.toThrow(/a Weir runs on this database/);
    await instance.stop();
    for (const args of [[], ["file.db"], [target.url, "more"], ["env:NO_SUCH_VARIABLE"]])
      expect(await moveCommand(env, args)).toBe(2);
    const onPostgres = readEnv({ DATABASE_URL: target.url, WEIR_DATA_DIR: folder }, () => {});
    await expect(moveCommand(onPostgres, [target.url])).rejects.toThrow(/on Postgres already/);
    const empty = readEnv({ WEIR_DATA_DIR: join(folder, "none") }, () => {});
    await expect(moveCommand(empty, [target.url])).rejects.toThrow(/there is no database/);
  },
  LIMIT_MS,
);
