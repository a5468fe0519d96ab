/** Holds of dead processes are swept; holds of living ones are not touched. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, like } from "drizzle-orm";
import { localBus, localCounter, localLease } from "../../src/server/cluster/local";
import { postgresCounter } from "../../src/server/cluster/postgres-counter";
import type { Db } from "../../src/server/db/types";
import { fold } from "../../src/server/features/log/fold";
import { audit } from "../../src/server/features/wallet/audit";
import {
  countConnections,
  forgetInstances,
  HEARTBEAT_MS,
  type Instance,
  livingInstances,
  SILENT_SECONDS,
  reportLost,
  startInstance,
} from "../../src/server/features/wallet/instances";
import type { Cluster } from "../../src/server/cluster/types";
import type { GatewayEvent } from "../../src/server/contracts/events";
import type { Ledger } from "../../src/server/contracts/ledger";
import type { LogRow } from "../../src/server/db/schema";
import { createEvents } from "../../src/server/features/log/events";
import { createBackground } from "../../src/server/lib/background";
import { createLogger } from "../../src/server/lib/log";
import { rowText } from "../../src/shared/row-text";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { sweep, sweepSilent, sweptRequestId } from "../../src/server/features/wallet/sweep";
import { openDb } from "../../src/server/db/client";
import { ENGINES, type FreshDatabase, freshDatabase } from "../kit/databases";
import { addToken, addUser, callLog, calls, expectBalanced, tokenOf } from "./world";

const log = createLogger({ level: "fatal", format: "json" });

const unexpected = (error: unknown) => {
  throw error;
};

describe.each(ENGINES)("the sweep on %s", (engine) => {
  let fresh: FreshDatabase;
  let db: Db;
  let alive: Ledger;
  let instance: Instance;
  beforeAll(async () => {
    fresh = await freshDatabase(engine, 8);
    db = fresh.db;
    alive = createLedger(db, "alive", Date.now);
    instance = await startInstance(db, "alive", "1", { failed: unexpected });
  });
  afterAll(async () => {
    await instance.stop();
    await fresh.close();
  });

  /** A process that took holds a minute ago and whose last heartbeat was `silence` seconds ago. */
  async function olderProcess(id: string, silence: number) {
    const ledger = createLedger(db, id, () => Date.now() - 60_000);
    await startInstance(db, id, "0", { failed: unexpected }).then((instance) => instance.stop());
    const now = Math.floor(Date.now() / 1000);
    await db.q
      .insert(db.t.instances)
      .values({ id, started_at: now - 100, heartbeat_at: now - silence })
      .returning();
    return ledger;
  }
  const eventsOf = (cluster: Cluster) =>
    createEvents({ db, cluster, now: Date.now, log, background: createBackground(log) });
  const logOf = async (request_id: string) =>
    (await db.q.select().from(db.t.logs).where(eq(db.t.logs.request_id, request_id)))[0];

  test("the heartbeat interval is well below the limit after which a process counts as dead", () => {
    expect(HEARTBEAT_MS * 4).toBeLessThan(SILENT_SECONDS * 1000);
  });

  test("a heartbeat tells how far the process's clock is from the database's, and when that begins and ends", async () => {
    let ahead = 90_000;
    const told: number[] = [];
    const clock = () => Date.now() + ahead * 1000;
    const other = await startInstance(db, "ahead", "1", { failed: unexpected, clock: (by) => told.push(by) }, clock);
    const far = engine === "postgres";
    expect(other.clockAhead()).toBeWithin(far ? 89_990 : 0, far ? 90_002 : 1);
    for (ahead of [-90_000, 59, 0]) await other.beat();
    expect(other.clockAhead()).toBeWithin(0, 1);
    expect(told).toHaveLength(far ? 2 : 0);
    if (far) expect(told[1]).toBe(0);
    await other.stop();
  });

  test("holds that cannot be ended keep no other from being ended, and a round comes to its end", async () => {
    const dead = await olderProcess("stuck", 31);
    const user = await addUser(db, alive, 1000);
    const owner = calls(dead, user, 0);
    const broken = "stuck-1-broken";
    await owner.hold(broken, 10);
    const ownerless = Array.from({ length: 200 }, (_, i) => ({
      request_id: `stuck-5-${i}`,
      user_id: 999_999,
      amount: 5,
      token_amount: 0,
      created_at: 1,
      instance_id: "stuck",
    }));
    await db.q.insert(db.t.holds).values(ownerless).returning();
    await owner.hold("stuck-9-last", 10);
    const failing: Ledger = {
      ...alive,
      release: (id) => (id === broken ? Promise.reject(new Error("this one")) : alive.release(id)),
    };
    await expect(sweepSilent(db, failing, "alive")).rejects.toThrow("this one");
    const left = await db.q.select({ id: db.t.holds.request_id }).from(db.t.holds).where(eq(db.t.holds.user_id, user));
    expect(left).toEqual([{ id: broken }]);
    await db.q.delete(db.t.holds).where(eq(db.t.holds.user_id, 999_999)).returning();
    expect(await sweepSilent(db, alive, "alive")).toEqual({ settled: 0, released: 1 });
    await expectBalanced(db, user);
  }, 30_000);

  test("a dead stream is charged at its running cost, a call without any is released; both leave a row", async () => {
    const dead = await olderProcess("dead", 31);
    const user = await addUser(db, alive, 1000);
    const token = await addToken(db, user, { remain_quota: 900 });
    const { hold } = calls(dead, user, token);
    await hold("stream", 100);
    await dead.extend("stream", 200, 150);
    await hold("plain", 50);
    expect(await sweepSilent(db, alive, "alive")).toEqual({ settled: 1, released: 1 });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 850, used_quota: 150, held: 0 });
    expect(await tokenOf(db, token)).toMatchObject({ remain_quota: 750, used_quota: 150 });
    const charged = await logOf("stream");
    expect(charged).toMatchObject({
      type: 2,
      quota: 150,
      end_reason: "gateway_restart",
      model_name: "gpt-4o",
      user_id: user,
    });
    expect(JSON.parse(charged?.other ?? "")).toEqual({ end_reason: "gateway_restart", estimated: true, swept: true });
    expect(await logOf(sweptRequestId("plain"))).toMatchObject({ type: 5, quota: 0, end_reason: "gateway_restart" });
    expect(await sweepSilent(db, alive, "alive")).toEqual({ settled: 0, released: 0 });
  });

  test("heartbeats and holds of a clock that was set back an hour are swept after the usual silence", async () => {
    const ahead = await olderProcess("ahead", -3600);
    const user = await addUser(db, alive, 1000);
    await calls(ahead, user, 0).hold("ahead-1", 100);
    const { holds, instances } = db.t;
    const in_an_hour = Math.floor(Date.now() / 1000) + 3600;
    await db.q.update(holds).set({ created_at: in_an_hour }).where(eq(holds.request_id, "ahead-1"));
    expect(await sweepSilent(db, alive, "alive")).toEqual({ settled: 0, released: 0 });
    const [seen] = await db.q.select().from(instances).where(eq(instances.id, "ahead"));
    const [held] = await db.q.select().from(holds).where(eq(holds.request_id, "ahead-1"));
    const silent = Math.floor(Date.now() / 1000) - SILENT_SECONDS - 1;
    for (const time of [seen?.heartbeat_at, held?.created_at]) expect(time).toBeWithin(silent, in_an_hour - 3500);
    await db.q.update(instances).set({ heartbeat_at: silent }).where(eq(instances.id, "ahead"));
    await db.q.update(holds).set({ created_at: silent }).where(eq(holds.request_id, "ahead-1"));
    expect(await sweepSilent(db, alive, "alive")).toEqual({ settled: 0, released: 1 });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 1000, held: 0 });
  });

  test("holds of a living instance are not swept, however old they are", async () => {
    const draining = await olderProcess("draining", 25);
    const user = await addUser(db, alive, 1000);
    const old = calls(draining, user, 0);
    await old.hold("draining-1", 100);
    await calls(alive, user, 0).hold("alive-1", 100);
    expect(await sweepSilent(db, alive, "alive")).toEqual({ settled: 0, released: 0 });
    expect(await expectBalanced(db, user)).toMatchObject({ held: 200 });
    expect(await old.settle("draining-1", 70)).toEqual({ settled: true, hold_missing: false });
    await alive.release("alive-1");
  });

  test("a process that shut down but left a hold is swept; a fresh hold of a silent one waits a round", async () => {
    const gone = await olderProcess("gone", 31);
    await db.q.delete(db.t.instances).where(eq(db.t.instances.id, "gone")).returning();
    const waking = await olderProcess("waking", 31);
    const user = await addUser(db, alive, 1000);
    await calls(gone, user, 0).hold("gone-1", 100);
    await calls(createLedger(db, "waking", Date.now), user, 0).hold("waking-1", 100);
    expect(await sweepSilent(db, alive, "alive")).toEqual({ settled: 0, released: 1 });
    expect(await waking.release("waking-1")).toBe(true);
  });

  test("a late settle of a released call still charges; of a charged one it corrects the charge, once", async () => {
    const stalled = await olderProcess("stalled", 40);
    const user = await addUser(db, alive, 1000);
    const { hold, settle } = calls(stalled, user, 0);
    await hold("late-plain", 100);
    await hold("late-stream", 100);
    await stalled.extend("late-stream", 0, 60);
    await sweepSilent(db, alive, "alive");
    expect(await settle("late-plain", 80)).toEqual({ settled: true, hold_missing: true });
    const answers = await Promise.all([
      settle("late-stream", 90),
      settle("late-stream", 90),
      settle("late-stream", 90),
    ]);
    expect(answers.filter(({ settled }) => settled)).toEqual([{ settled: true, hold_missing: true, swept_quota: 60 }]);
    expect(await settle("late-stream", 50)).toEqual({ settled: false });
    expect(await stalled.extend("late-stream", 10, 70)).toBe(false);
    expect(await logOf("late-stream")).toMatchObject({ quota: 90, other: callLog("late-stream", user, 0).other ?? "" });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 830, used_quota: 170, calls: 2, held: 0 });
  });

  test("a correction moves limited token, hour and channel too, whether the sweep's row was folded before or not; what was refunded stays", async () => {
    const stalled = await olderProcess("corrected", 40);
    const user = await addUser(db, alive, 1000);
    const token = await addToken(db, user, { remain_quota: 900 });
    const { hold, settle } = calls(stalled, user, token);
    const cluster = { instanceId: "alive", bus: localBus(), lease: localLease(), counter: localCounter(Date.now) };
    const books = async () => {
      await fold({ db, cluster, now: Date.now });
      expect(await Array.fromAsync(audit(db))).toEqual([]);
    };
    for (const id of ["up", "down", "to-nothing", "given-back"]) {
      await hold(id, 100);
      await stalled.extend(id, 0, 60);
    }
    await sweepSilent(db, alive, "alive");
    expect(await settle("up", 95)).toMatchObject({ settled: true });
    await books();
    await alive.refund({ charge_id: "given-back" });
    expect(await settle("down", 10)).toMatchObject({ settled: true });
    expect(await settle("to-nothing", 0)).toMatchObject({ settled: true });
    expect(await settle("given-back", 70)).toEqual({ settled: false });
    await books();
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 895, used_quota: 105, calls: 4, held: 0 });
    expect(await tokenOf(db, token)).toMatchObject({ remain_quota: 795, used_quota: 105 });
  });

  test("a hold that its owner ends between the sweep's look and its settle is not charged", async () => {
    const dead = await olderProcess("woken", 31);
    const user = await addUser(db, alive, 1000);
    const { hold, settle } = calls(dead, user, 0);
    for (const id of ["woken-released", "woken-settled"]) {
      await hold(id, 100);
      await dead.extend(id, 0, 90);
    }
    expect(await dead.release("woken-released")).toBe(true);
    expect(await settle("woken-settled", 30)).toMatchObject({ settled: true });
    for (const request_id of ["woken-released", "woken-settled"]) {
      expect(
        await alive.settle({
          request_id,
          user_id: user,
          token_id: 0,
          quota: 90,
          log: callLog(request_id, user, 0, 90),
          held_only: true,
        }),
      ).toEqual({ settled: false });
    }
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 970, used_quota: 30, held: 0 });
  });

  test("two sweeps and the returning process at once end every hold exactly once", async () => {
    const shaky = await olderProcess("shaky", 31);
    const user = await addUser(db, alive, 100_000);
    const { hold, settle } = calls(shaky, user, 0);
    const ids = Array.from({ length: 60 }, (_, i) => `shaky-${i}`);
    await Promise.all(ids.map((id) => hold(id, 100)));
    await Promise.all(ids.map((id, i) => (i % 2 ? shaky.extend(id, 50, 70) : undefined)));
    await Promise.all([
      sweepSilent(db, alive, "alive"),
      sweepSilent(db, alive, "alive"),
      ...ids.map((id) => settle(id, 90)),
    ]);
    const books = await expectBalanced(db, user);
    expect(books).toMatchObject({ held: 0, calls: 60 });
    expect(books.used_quota).toBeGreaterThanOrEqual(60 * 70);
    expect(books.used_quota).toBeLessThanOrEqual(60 * 90);
  });

  test("two living processes on one database do not sweep each other's holds", async () => {
    const other = await openDb({ url: fresh.url, ...(engine === "postgres" && { pool: 4 }) });
    const beside = await startInstance(other, "second", "2", { failed: unexpected });
    const second = createLedger(other, "second", Date.now);
    const user = await addUser(db, alive, 1_000_000);
    const [a, b] = [calls(alive, user, 0), calls(second, user, 0)];
    const work = async ({ hold, settle }: typeof a, name: string, ledger: Ledger, on: Db) => {
      for (let i = 0; i < 30; i++) {
        await hold(`${name}-${i}`, 100);
        if (i % 10 === 0) await sweepSilent(on, ledger, name.slice(name.length - 1) === "a" ? "alive" : "second");
        await settle(`${name}-${i}`, 60);
      }
    };
    await Promise.all([work(a, `${engine}-a`, alive, db), work(b, `${engine}-b`, second, other)]);
    expect(await expectBalanced(db, user)).toMatchObject({ calls: 60, used_quota: 3600, held: 0 });
    const swept = await db.q
      .select()
      .from(db.t.logs)
      .where(like(db.t.logs.request_id, `${engine}-%/swept`));
    expect(swept).toEqual([]);
    await beside.stop();
    await other.close();
  });

  test("the round runs under a lease: of two at once, one sweeps", async () => {
    const cluster = { instanceId: "alive", bus: localBus(), lease: localLease(), counter: localCounter(Date.now) };
    const services = { db, ledger: alive, cluster, events: eventsOf(cluster) };
    const rounds = await Promise.all([sweep(services), sweep(services)]);
    expect(rounds).toEqual([{ settled: 0, released: 0 }, undefined]);
  });

  if (engine === "postgres")
    test("calls at once of a dead instance no longer count after a sweep, and a zombie's count again when it wakes", async () => {
      const counterOf = (instanceId: string) =>
        postgresCounter({
          client: db.driver.postgres ?? expect.unreachable("not Postgres"),
          instanceId,
          local: localCounter(Date.now),
        });
      await olderProcess("frozen", 31);
      const [frozen, counter] = [counterOf("frozen"), counterOf("alive")];
      const cluster = { instanceId: "alive", bus: localBus(), lease: localLease(), counter };
      const call = { key: "at-once", amount: 1, limit: 3, window_seconds: 0 };
      const free = async () => (await counter.reserve([{ ...call, amount: 0 }])).states[0]?.remaining;
      const old = await frozen.reserve([call]);
      await counter.reserve([call]);
      expect(await free()).toBe(1);
      await sweep({ db, ledger: alive, cluster, events: eventsOf(cluster) });
      expect(await free()).toBe(2);
      const young = await frozen.reserve([call]);
      expect([young.refused, await free()]).toEqual([-1, 0]);
      old.end([0]);
      await frozen.close();
      expect(await free()).toBe(2);
    });

  test("the connections that all living instances may open are counted against what the server has", async () => {
    const living = await livingInstances(db);
    const counted = await countConnections(db, 20);
    if (engine === "sqlite") expect(counted).toBeUndefined();
    else expect(counted).toEqual({ instances: living, each: 21, usable: expect.any(Number) });
    if (counted) expect(counted.usable).toBeWithin(90, 300); // the kit's server has 300, of which some are reserved
  });

  test("an instance that fell silent is an event of the log, once, whichever instances see it", async () => {
    const id = `lost-${engine}`;
    await olderProcess(id, 60);
    const heard: GatewayEvent[] = [];
    const see = async (instanceId: string) => {
      const cluster = { instanceId, bus: localBus(), lease: localLease(), counter: localCounter(Date.now) };
      const events = eventsOf(cluster);
      events.subscribe((event) => void heard.push(event));
      await reportLost({ db, cluster, events });
    };
    await see("alive");
    await see("second");
    const rows = await db.q.select().from(db.t.logs).where(eq(db.t.logs.code, "node_lost"));
    const mine = rows.filter(({ params }) => params.includes(id));
    expect(mine).toHaveLength(1);
    expect(rowText(mine[0] as LogRow, "en", String)).toMatch(new RegExp(`^Instance ${id} .* 6\\d s ago`));
    expect(mine[0]).toMatchObject({ type: 4, user_id: 0, folded: 2 });
    expect(heard.filter(({ params }) => params.instance === id)).toMatchObject([
      { name: "node_lost", subject: "node", level: "warning", own: true },
    ]);
  });

  test("instances silent for a day are deleted, unless they still hold something", async () => {
    await olderProcess("ancient", 90_000);
    const holding = await olderProcess("holding", 90_000);
    await calls(holding, await addUser(db, alive, 1000), 0).hold("holding-1", 100);
    await forgetInstances(db);
    const rows = await db.q.select({ id: db.t.instances.id }).from(db.t.instances);
    expect(rows.map((row) => row.id)).toContain("alive");
    expect(rows.map((row) => row.id)).toContain("holding");
    expect(rows.map((row) => row.id)).not.toContain("ancient");
  });
});
