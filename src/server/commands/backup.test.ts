import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addToken, addUser } from "../../../tests/money/world";
import { openDb } from "../db/client";
import { type Env, readEnv } from "../env";
import { fold } from "../features/log/fold";
import { audit } from "../features/wallet/audit";
import { createLedger } from "../features/wallet/open-ledger";
import { localBus, localCounter, localLease } from "../cluster/local";
import { CannotStart } from "../lib/cannot-start";
import { createLogger } from "../lib/log";
import { openSecrets } from "../wiring/secret-source";
import { backupCommand, restoreCommand } from "./backup";

const quiet = createLogger({ level: "silent", format: "json" });

describe("weir backup and weir restore", () => {
  const home = mkdtempSync(join(tmpdir(), "weir-backup-"));
  const place = (name: string): Env => readEnv({ WEIR_DATA_DIR: join(home, name) });
  const live = place("live");
  const backup = join(home, "monday.db");
  let worker: ChildProcess;
  let user: number;

  /** A database in use by another process: eight callers that hold, extend, settle and are refunded without end. */
  beforeAll(async () => {
    mkdirSync(live.dataDir);
    const db = await openDb({ url: live.databaseUrl });
    await openSecrets(live, db, quiet);
    const ledger = createLedger(db, "setup", Date.now);
    user = await addUser(db, ledger, 1_000_000_000);
    const token = await addToken(db, user, { unlimited_quota: true });
    await db.q.insert(db.t.channels).values({ id: 1, type: 1, name: "c", created_time: 1 }).returning();
    const session = { token_hash: "x", user_id: user, created_at: 1, last_seen_at: 1, expires_at: 9_999_999_999 };
    await db.q.insert(db.t.sessions).values(session).returning();
    await db.close();
    const script = join(import.meta.dir, "../../../tests/money/worker.ts");
    worker = spawn(process.execPath, [script, live.databaseUrl, "busy", String(user), String(token)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise<void>((resolve) => {
      let lines = 0;
      worker.stdout?.on("data", (chunk: Buffer) => {
        lines += chunk.toString().split("\n").length - 1;
        if (lines > 100) resolve();
      });
    });
  }, 30_000);
  afterAll(() => {
    worker.kill("SIGKILL");
    rmSync(home, { recursive: true, force: true });
  });

  async function booksOf(env: Env) {
    const db = await openDb({ url: env.databaseUrl });
    try {
      await fold({
        db,
        cluster: { instanceId: "a", bus: localBus(), lease: localLease(), counter: localCounter(Date.now) },
        now: Date.now,
      });
      const [row] = await db.q.select().from(db.t.users);
      const sessions = await db.q.select().from(db.t.sessions);
      return { findings: await Array.fromAsync(audit(db)), calls: row?.request_count ?? 0, sessions: sessions.length };
    } finally {
      await db.close();
    }
  }

  test("a backup taken while another process charges is one moment: restored elsewhere, its balances add up", async () => {
    expect(backupCommand(live, backup)).toBe(0);
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    const there = place("there");
    mkdirSync(there.dataDir);
    copyFileSync(join(live.dataDir, "secret"), join(there.dataDir, "secret"));
    expect(restoreCommand(there, backup)).toBe(0);
    expect(statSync(there.databaseUrl).mode & 0o777).toBe(0o600);
    const books = await booksOf(there);
    expect(books.findings).toEqual([]);
    expect(books.calls).toBeGreaterThan(10);
    expect(books.sessions).toBe(0);
    // The copied secret decrypts what is in it.
    const db = await openDb({ url: there.databaseUrl });
    await openSecrets(there, db, quiet);
    await db.close();
  });

  test("a backup never overwrites a file, and leaves nothing behind when it cannot be written", () => {
    const before = readFileSync(backup);
    expect(() => backupCommand(live, backup)).toThrow("exists already");
    expect(readFileSync(backup)).toEqual(before);
    expect(() => backupCommand(live, join(home, "no-such-folder", "x.db"))).toThrow("could not be written: ENOENT");
    expect(() => backupCommand(place("nowhere"), join(home, "y.db"))).toThrow("there is no database");
    expect(existsSync(join(home, "y.db"))).toBe(false);
    expect(readdirSync(home).filter((name) => name.includes(".part"))).toEqual([]);
  });

  test("a restore over a database that a process has open is refused, and that process keeps running", async () => {
    const calls = worker.stdout ? await nextLines(worker, 5) : 0;
    expect(calls).toBeGreaterThan(0);
    expect(() => restoreCommand(live, backup)).toThrow("is in use. Stop Weir first; nothing was changed.");
    expect(await nextLines(worker, 50)).toBeGreaterThan(0);
    expect(readdirSync(live.dataDir).filter((name) => /restored|part|backups/.test(name))).toEqual([]);
  }, 30_000);

  test("what is damaged, foreign, missing, in use or locked by another secret is refused before anything changes", async () => {
    const target = place("target");
    mkdirSync(target.dataDir);
    const refused = (file: string) => {
      try {
        restoreCommand(target, file);
        return "restored";
      } catch (error) {
        return error instanceof CannotStart ? error.message : error;
      }
    };
    expect(refused(backup)).toContain("the master secret of this backup is not here");
    writeFileSync(join(target.dataDir, "secret"), "another secret altogether\n");
    expect(refused(backup)).toContain("the master secret here does not fit this backup");
    copyFileSync(join(live.dataDir, "secret"), join(target.dataDir, "secret"));
    chmodSync(join(target.dataDir, "secret"), 0o600);

    const junk = join(home, "junk.db");
    writeFileSync(junk, "this is no database ".repeat(100));
    expect(refused(junk)).toContain("cannot be read as a database of Weir");
    const empty = join(home, "empty.db");
    writeFileSync(empty, "");
    expect(refused(empty)).toContain("is not a database of Weir");
    const torn = join(home, "torn.db");
    const bytes = readFileSync(backup);
    writeFileSync(torn, bytes.fill(0x55, bytes.length / 2, bytes.length / 2 + 20_000));
    expect(refused(torn)).toMatch(/is damaged|cannot be read/);
    const cut = join(home, "cut.db");
    writeFileSync(cut, readFileSync(backup).subarray(0, 12_000));
    expect(refused(cut)).toMatch(/is damaged|cannot be read/);
    expect(refused(join(home, "missing.db"))).toContain("there is no file");
    expect(refused(live.databaseUrl)).toContain("is in use");
    expect(() => restoreCommand(live, live.databaseUrl)).toThrow("is the database itself");
    expect(existsSync(target.databaseUrl)).toBe(false);
    expect(readdirSync(target.dataDir)).toEqual(["secret"]);
  });

  test("a restore after a killed process keeps the previous database, whole, under another name", async () => {
    const ended = new Promise((resolve) => worker.on("close", resolve));
    worker.kill("SIGKILL");
    await ended;
    expect(restoreCommand(live, backup)).toBe(0);
    const [kept] = readdirSync(join(live.dataDir, "backups"));
    expect(kept).toStartWith("before-restore-");
    const restored = await booksOf(live);
    const old = await booksOf({ ...live, databaseUrl: join(live.dataDir, "backups", kept ?? "") });
    expect(restored.findings).toEqual([]);
    expect(old.findings).toEqual([]);
    expect(old.calls).toBeGreaterThan(restored.calls);
    expect(old.sessions).toBe(1);
  }, 30_000);

  test("with Postgres both commands name the tools to use instead", () => {
    const env = readEnv({ DATABASE_URL: "postgres://u:planted@h/d" });
    expect(() => backupCommand(env, "x.dump")).toThrow('pg_dump -Fc --no-owner "$DATABASE_URL" -f x.dump');
    expect(() => restoreCommand(env, "x.dump")).toThrow('pg_restore --no-owner -d "$DATABASE_URL" x.dump');
    expect(() => backupCommand(env, "x.dump")).not.toThrow("planted");
  });

  test("on the command line a refusal is one line and exit code 1, a missing file name 2", () => {
    const run = (...args: string[]) => {
      const env = { PATH: process.env.PATH ?? "", WEIR_DATA_DIR: join(home, "nowhere") };
      const { exitCode, stderr } = Bun.spawnSync([process.execPath, join(import.meta.dir, "../main.ts"), ...args], {
        env,
      });
      return { exitCode, said: stderr.toString() };
    };
    expect(run("backup", join(home, "z.db"))).toEqual({
      exitCode: 1,
      said: `weir backup: there is no database at ${join(home, "nowhere", "weir.db")}. Set WEIR_DATA_DIR.\n`,
    });
    expect(run("restore").exitCode).toBe(2);
    expect(run("restore", "a", "b").exitCode).toBe(2);
  }, 30_000);
});

/** Waits until the process has printed `n` more lines. */
function nextLines(child: ChildProcess, n: number): Promise<number> {
  return new Promise((resolve) => {
    let lines = 0;
    const read = (chunk: Buffer) => {
      lines += chunk.toString().split("\n").length - 1;
      if (lines < n) return;
      child.stdout?.off("data", read);
      resolve(lines);
    };
    child.stdout?.on("data", read);
  });
}
