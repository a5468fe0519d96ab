/** `weir doctor`: what it finds on each kind of installation, and that it changes nothing. */
import { Database } from "bun:sqlite";
import { afterAll, beforeEach, expect, spyOn, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENGINES, emptyPostgres, freshPostgres } from "../../../tests/kit/databases";
import { fullRow } from "../../../tests/kit/full-row";
import { required } from "../../../tests/kit/required";
import { startRedis } from "../../../tests/kit/trial/redis";
import { ROLE } from "../../shared/roles";
import { openDb } from "../db/client";
import { SCHEMA_RELEASE } from "../db/migrate";
import type { Db } from "../db/types";
import { readEnv } from "../env";
import { startInstance } from "../features/wallet/instances";
import { createSecrets } from "../lib/secrets";
import { CANARY } from "../wiring/secret-source";
import { backupCommand } from "./backup";
import { doctorCommand } from "./doctor";
import type { Found } from "./found";

/** The first one may start the Postgres server. */
const LIMIT_MS = 90_000;
const SECRET = "a secret of sixteen";

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "weir-doctor-"));
  folders.push(folder);
  return folder;
};
const out = spyOn(console, "log").mockImplementation(() => {});
const err = spyOn(console, "error").mockImplementation(() => {});
beforeEach(() => void out.mockClear());
afterAll(() => {
  out.mockRestore();
  err.mockRestore();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

interface Examined {
  code: number;
  checks: Found[];
  /** What was found under a name, each with its state. */
  of(check: string): string[];
}

async function examine(env: Record<string, string>): Promise<Examined> {
  out.mockClear();
  const code = await doctorCommand({ PORT: "0", WEIR_HOST: "127.0.0.1", ...env }, ["--json"]);
  const { healthy, checks } = JSON.parse(out.mock.calls.flat().join("\n")) as { healthy: boolean; checks: Found[] };
  expect(code).toBe(healthy ? 0 : 1);
  for (const { check, state, found, advice } of checks) {
    expect(`${check}: ${found}`).toMatch(/^[^:]+: \S/);
    if (state === "ok") expect(advice).toBeUndefined();
  }
  return {
    code,
    checks,
    of: (name) => checks.filter(({ check }) => check === name).map(({ state, found }) => `${state}: ${found}`),
  };
}

/** A database that a server has used: its secret's canary, and an operator. */
async function use(db: Db, password: string): Promise<void> {
  const { meta, users } = db.t;
  await db.q.insert(meta).values({ name: "canary", value: createSecrets(SECRET).encrypt("canary", CANARY) });
  const password_hash = await Bun.password.hash(password, { algorithm: "bcrypt", cost: 4 });
  const row = { ...fullRow(users), username: "boss", role: ROLE.root, status: 1, deleted_at: null, password_hash };
  await db.q.insert(users).values(row);
}

test("before the first start nothing is wrong, and nothing is made", async () => {
  const folder = join(newFolder(), "data");
  const { code, of } = await examine({ WEIR_DATA_DIR: folder });
  expect([code, of("data folder"), existsSync(folder)]).toEqual([
    0,
    [`ok: ${folder} is made at the first start`],
    false,
  ]);
});

test("bad settings are named all at once, with unknown names as notes; bad arguments are refused", async () => {
  const bad = await examine({ WEIR_PG_POOL: "1", DATABASE_URL: "mysql://host" });
  expect([bad.code, bad.checks.map(({ state }) => state)]).toEqual([1, ["wrong", "wrong"]]);
  expect(bad.of("settings").join()).toMatch(/WEIR_PG_POOL.*postgres:\/\//);
  const odd = await examine({ WEIR_DATA_DIR: newFolder(), WEIR_PG_POLL: "9" });
  expect([odd.code, odd.of("settings").join()]).toEqual([0, expect.stringMatching(/^note: .*WEIR_PG_POLL/)]);
  expect(await doctorCommand({}, ["--loud"])).toBe(2);
});

test("the port says whether it is free, a Weir's that is well or not, or another program's", async () => {
  const folder = newFolder();
  let answer: object = { ready: true, checks: { database: "ok", state: "serving" } };
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json(answer) });
  const look = async () => (await examine({ WEIR_DATA_DIR: folder, PORT: String(server.port) })).of("port");
  expect(await look()).toEqual([expect.stringMatching(/^ok: a Weir serves on \d+, and is ready$/)]);
  answer = { ready: false, checks: { database: "unreachable", state: "serving" } };
  expect(await look()).toEqual([expect.stringMatching(/^wrong: .* not ready: database: unreachable$/)]);
  answer = { hello: "world" };
  expect(await look()).toEqual([expect.stringMatching(/^wrong: \d+ is taken by another program$/)]);
  await server.stop(true);
  expect(await look()).toEqual([expect.stringMatching(/^ok: \d+ is free/)]);
});

test("a data folder that cannot be written, and a secret that others can read, are wrong", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "file"), "");
  const { of, code } = await examine({ WEIR_DATA_DIR: join(folder, "file", "data") });
  expect([code, of("data folder").join()]).toEqual([1, expect.stringMatching(/^wrong: .*cannot be written/)]);
  mkdirSync(join(folder, "open"));
  chmodSync(join(folder, "open"), 0o755);
  writeFileSync(join(folder, "open", "secret"), SECRET, { mode: 0o644 });
  const open = await examine({ WEIR_DATA_DIR: join(folder, "open") });
  expect([open.code, open.of("file permissions").join()]).toEqual([1, expect.stringMatching(/^wrong: .*mode 644/)]);
  chmodSync(join(folder, "open"), 0o700);
  expect((await examine({ WEIR_DATA_DIR: join(folder, "open") })).of("file permissions")).toEqual([]);
});

for (const engine of ENGINES) {
  test(
    `on ${engine} it finds a later schema, a secret that does not fit, rows of the future and a password that everybody knows`,
    async () => {
      const folder = newFolder();
      const fresh = engine === "postgres" ? await freshPostgres() : undefined;
      const db = fresh?.db ?? (await openDb({ url: join(folder, "weir.db") }));
      const env = { WEIR_DATA_DIR: folder, WEIR_SECRET: SECRET, ...(fresh && { DATABASE_URL: fresh.url }) };
      try {
        await use(db, "123456");
        const { meta, logs, users } = db.t;
        const ahead = Math.floor(Date.now() / 1000) + 7200;
        await db.q.insert(logs).values({ ...fullRow(logs), created_at: ahead });
        await db.q
          .update(meta)
          .set({ value: String(SCHEMA_RELEASE + 2) })
          .returning({ name: meta.name });
        const bad = await examine({ ...env, WEIR_SECRET: "another secret here" });
        expect(bad.of("schema").join()).toMatch(/^wrong: release/);
        expect(bad.of("secret").join()).toMatch(/^wrong: it does not open/);
        expect(bad.of("clock").join()).toMatch(/wrong: the newest row of the log is 7\d\d\d s ahead/);
        expect(bad.of("passwords")).toEqual(["wrong: the operator boss has a password that everybody knows"]);

        await db.q.delete(logs).returning({ id: logs.id });
        await db.q
          .update(meta)
          .set({ value: String(SCHEMA_RELEASE) })
          .returning({ name: meta.name });
        const password_hash = await Bun.password.hash("correct-horse-9", { algorithm: "bcrypt", cost: 4 });
        await db.q.update(users).set({ password_hash }).returning({ id: users.id });
        const value = createSecrets(SECRET).encrypt("canary", CANARY);
        await db.q
          .insert(meta)
          .values({ name: "canary", value })
          .onConflictDoUpdate({ target: meta.name, set: { value } });
        const good = await examine(env);
        for (const check of ["schema", "secret", "passwords"]) expect(good.of(check).join()).toMatch(/^ok: /);
        expect(good.of("clock").join()).not.toContain("wrong");
      } finally {
        await (fresh ? fresh.close() : db.close());
      }
    },
    LIMIT_MS,
  );
}

test("on SQLite a backup is asked for until one was made, and nothing else is wrong", async () => {
  const folder = newFolder();
  const env = readEnv({ WEIR_DATA_DIR: folder, WEIR_SECRET: SECRET }, () => {});
  const db = await openDb({ url: env.databaseUrl });
  await use(db, "correct-horse-9");
  const look = () => examine({ WEIR_DATA_DIR: folder, WEIR_SECRET: SECRET });
  expect((await look()).of("backup")).toEqual(["note: `weir backup` was never run"]);
  expect(backupCommand(env, join(folder, "copy.db"))).toBe(0);
  const { code, of } = await look();
  expect([code, of("backup")]).toEqual([0, ["ok: the last `weir backup` is 0 days old"]]);
  const copy = new Database(join(folder, "copy.db"), { readonly: true });
  expect(copy.query("SELECT 1 FROM meta WHERE name = 'last_backup'").get()).toBeNull();
  copy.close();
  await db.close();
});

test(
  "on Postgres it counts connections with all living instances, and names settings that lose charges",
  async () => {
    const fresh = await freshPostgres();
    const folder = newFolder();
    const env = { WEIR_DATA_DIR: folder, DATABASE_URL: fresh.url, WEIR_PG_POOL: "20" };
    try {
      const others = [1, 2, 3].map((n) => startInstance(fresh.db, `other-${n}`, `${n}`, { failed: () => {} }));
      const instances = await Promise.all(others);
      const found = await examine({ ...env, WEIR_PG_POOL: "200" });
      expect(found.of("connections").join()).toMatch(/^wrong: 3 instances x \(WEIR_PG_POOL 200 \+ 1\) = 603 of \d+/);
      expect((await examine(env)).of("connections").join()).toMatch(/^ok: 3 instances x .* = 63 of/);
      expect(found.of("instances")).toEqual(["note: of several releases: 1, 2, 3"]);
      expect(found.of("pooler").join()).toMatch(/^ok: /);
      expect(found.of("database").join()).toMatch(/^ok: Postgres .* UTF8$/);
      // The kit's server is fast and survives no crash.
      expect(
        found
          .of("durability")
          .map((line) => line.split(" is off")[0])
          .toSorted(),
      ).toEqual(["note: synchronous_commit", "wrong: fsync", "wrong: full_page_writes"]);
      expect(found.of("secret").join()).toContain("note: WEIR_SECRET is not set");
      await Promise.all(instances.map((one) => one.stop()));
    } finally {
      await fresh.close();
    }
  },
  LIMIT_MS,
);

test(
  "an empty Postgres database stays empty, and one that cannot be reached is one line with what to do",
  async () => {
    const empty = await emptyPostgres();
    const env = { WEIR_DATA_DIR: newFolder(), WEIR_SECRET: SECRET };
    const { of } = await examine({ ...env, DATABASE_URL: empty.url });
    expect(of("schema")).toEqual(["ok: the database is empty: the first start makes the tables"]);
    expect((await examine({ ...env, DATABASE_URL: empty.url })).of("schema")).toEqual(of("schema"));
    await empty.close();
    const away = await examine({ ...env, DATABASE_URL: "postgres://weir@127.0.0.1:1/weir" });
    expect([away.code, away.of("database").join()]).toEqual([1, expect.stringMatching(/^wrong: .*cannot be reached/)]);
  },
  LIMIT_MS,
);

test("Redis that is away is wrong, and one that forgets keys when memory is short", async () => {
  const env = { WEIR_DATA_DIR: newFolder() };
  const away = await examine({ ...env, REDIS_URL: "redis://127.0.0.1:1" });
  expect([away.code, away.of("Redis").join()]).toEqual([1, expect.stringMatching(/^wrong: .*cannot be reached/)]);
  const program = required("redis-server");
  if (!program) return;
  const redis = await startRedis(program);
  try {
    expect((await examine({ ...env, REDIS_URL: redis.url })).of("Redis").join()).toMatch(/^ok: version \d/);
    const client = new Bun.RedisClient(redis.url);
    await client.send("CONFIG", ["SET", "maxmemory", "100mb"]);
    await client.send("CONFIG", ["SET", "maxmemory-policy", "allkeys-lru"]);
    client.close();
    const found = await examine({ ...env, REDIS_URL: redis.url });
    expect([found.code, found.of("Redis").at(-1)]).toEqual([1, expect.stringMatching(/^wrong: .*allkeys-lru/)]);
  } finally {
    await redis.kill();
  }
});
