/** Real processes, killed, on both engines: no confirmed charge is lost, no hold leaks, no answer is free. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { eq, like, sql } from "drizzle-orm";
import { localBus, localCounter, localLease } from "../../src/server/cluster/local";
import type { Db } from "../../src/server/db/types";
import { fold } from "../../src/server/features/log/fold";
import { audit } from "../../src/server/features/wallet/audit";
import { type Instance, startInstance } from "../../src/server/features/wallet/instances";
import type { Ledger } from "../../src/server/contracts/ledger";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { refundRequestId } from "../../src/server/features/wallet/refund";
import { sweepSilent, sweptRequestId } from "../../src/server/features/wallet/sweep";
import { ENGINES, type FreshDatabase, freshDatabase } from "../kit/databases";
import { addToken, addUser, calls, expectBalanced, tokenOf } from "./world";

const MILLION = 1_000_000;

describe.each(ENGINES)("processes on %s", (engine) => {
  let fresh: FreshDatabase;
  let db: Db;
  let ledger: Ledger;
  let instance: Instance;
  let user: number;
  let token: number;
  const cluster = { instanceId: "parent", bus: localBus(), lease: localLease(), counter: localCounter(Date.now) };
  beforeAll(async () => {
    fresh = await freshDatabase(engine, 6);
    db = fresh.db;
    ledger = createLedger(db, "parent", Date.now);
    instance = await startInstance(db, "parent", "test", { failed: (error) => console.error(error) });
    user = await addUser(db, ledger, 1000 * MILLION);
    token = await addToken(db, user, { remain_quota: 900 * MILLION });
  });
  afterAll(async () => {
    await instance.stop();
    await fresh.close();
  });

  function startWorker(id: string, heard: (lines: string[]) => void) {
    const script = join(import.meta.dir, "worker.ts");
    const url = engine === "postgres" ? `${fresh.url}?application_name=${id}` : fresh.url;
    const child = spawn(process.execPath, [script, url, id, String(user), String(token)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      heard(text.split("\n").slice(0, -1));
    });
    const ended = new Promise<string[]>((resolve) => child.on("close", () => resolve(text.split("\n").slice(0, -1))));
    return { child, ended };
  }
  /** A killed process's statements still finish on the Postgres server, and commit. */
  async function lastStatementsDone(id: string) {
    const { postgres } = db.driver;
    if (!postgres) return;
    while ((await postgres.unsafe("select 1 from pg_stat_activity where application_name = $1", [id])).length > 0)
      await Bun.sleep(10);
  }
  const endAt = (child: ChildProcess, signal: NodeJS.Signals, line: number) => (lines: string[]) => {
    if (lines.length >= line) child.kill(signal);
  };
  /** request id -> units, of lines that begin with `word`. */
  const promises = (lines: string[], word: string) =>
    new Map(
      lines
        .map((line) => line.split(" "))
        .filter(([first]) => first === word)
        .map(([, id = "", units]) => [id, Number(units)]),
    );

  async function auditIsClean() {
    await fold({ db, cluster, now: Date.now });
    expect(await Array.fromAsync(audit(db))).toEqual([]);
    const { remain_quota, used_quota } = await tokenOf(db, token);
    expect(remain_quota + used_quota).toBe(900 * MILLION);
  }

  test("SIGKILL at ten different points loses no settled call and no refund, leaks no hold and leaves no answer free", async () => {
    let orphans = 0;
    for (const [round, point] of [1, 2, 5, 9, 17, 33, 64, 120, 200, 333].entries()) {
      const id = `${engine}-killed-${round}`;
      let react: (lines: string[]) => void = () => {};
      const { child, ended } = startWorker(id, (lines) => react(lines));
      react = endAt(child, "SIGKILL", point);
      const lines = await ended;
      expect(child.signalCode).toBe("SIGKILL");
      expect(lines.length).toBeGreaterThanOrEqual(point);
      await lastStatementsDone(id);
      // half a minute later
      await db.q
        .update(db.t.instances)
        .set({ heartbeat_at: sql`heartbeat_at - 60` })
        .where(eq(db.t.instances.id, id))
        .returning();
      await db.q
        .update(db.t.holds)
        .set({ created_at: sql`created_at - 60` })
        .where(eq(db.t.holds.instance_id, id))
        .returning();
      const held = await db.q.select().from(db.t.holds);
      const swept = await sweepSilent(db, ledger, "parent");
      expect(swept.settled + swept.released).toBe(held.length);
      orphans += held.length;

      expect(await db.q.select().from(db.t.holds)).toEqual([]);
      const rows = await db.q
        .select()
        .from(db.t.logs)
        .where(like(db.t.logs.request_id, `${id}-%`));
      const charged = new Map(rows.filter((row) => row.type === 2).map((row) => [row.request_id, row.quota]));
      const settled = promises(lines, "settled");
      for (const [request, units] of settled) expect([request, charged.get(request)]).toEqual([request, units]);
      const refunded = new Map(rows.filter((row) => row.type === 6).map((row) => [row.request_id, row.quota]));
      for (const [request, units] of promises(lines, "refunded")) {
        expect([request, refunded.get(refundRequestId(request))]).toEqual([request, units]);
      }
      for (const [request, units] of promises(lines, "running")) {
        // streamed and not yet answered: charged at its running cost, or at its settlement that could not be printed
        if (!settled.has(request)) expect([units, units - 10]).toContain(charged.get(request) ?? 0);
        expect(rows.some((row) => row.request_id === sweptRequestId(request))).toBe(false);
      }
      await expectBalanced(db, user);
    }
    expect(orphans).toBeGreaterThan(10); // the kills did hit calls
    await auditIsClean();
  }, 60_000);

  test("an old process that drains beside a new one keeps its calls, and the ledger balances", async () => {
    const id = `${engine}-old`;
    const working = Promise.withResolvers<void>();
    const worker = startWorker(id, (lines) => {
      if (lines.length >= 20) working.resolve();
    });
    await working.promise;
    const { hold, settle } = calls(ledger, user, token);
    for (let i = 0; i < 100; i++) {
      expect(await hold(`${engine}-new-${i}`, 100)).toEqual({ ok: true });
      if (i % 10 === 0) expect(await sweepSilent(db, ledger, "parent")).toEqual({ settled: 0, released: 0 });
      if (i === 50) worker.child.kill("SIGTERM");
      expect(await settle(`${engine}-new-${i}`, 80)).toEqual({ settled: true, hold_missing: false });
    }
    const lines = await worker.ended;
    expect(worker.child.exitCode).toBe(0);
    expect(lines.at(-1)).toBe("drained");
    expect(await sweepSilent(db, ledger, "parent")).toEqual({ settled: 0, released: 0 });
    expect(await db.q.select().from(db.t.holds)).toEqual([]);
    for (const [request, units] of promises(lines, "settled")) {
      const [row] = await db.q
        .select({ quota: db.t.logs.quota })
        .from(db.t.logs)
        .where(eq(db.t.logs.request_id, request));
      expect(row?.quota).toBe(units);
    }
    const rows = await db.q.select({ id: db.t.instances.id }).from(db.t.instances);
    expect(rows.map((row) => row.id)).not.toContain(id);
    await expectBalanced(db, user);
    await auditIsClean();
  }, 30_000);
});
