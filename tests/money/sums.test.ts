/**
 * Sums by a single dimension (usage_sums) equal the hours they are made of, also when a call is counted long after its
 * hour.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { localBus, localCounter, localLease } from "../../src/server/cluster/local";
import { run } from "../../src/server/db/transaction";
import type { Db } from "../../src/server/db/types";
import { addToHours, fold, foldBatch, NOTHING } from "../../src/server/features/log/fold";
import { reopenSteps, sumHours, summedUntil, sumsBy } from "../../src/server/features/log/sums";
import { audit } from "../../src/server/features/wallet/audit";
import type { Ledger } from "../../src/server/contracts/ledger";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { ENGINES, type FreshDatabase, freshDatabase } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { addToken, addUser, calls, NOON } from "./world";

const HOUR = 3600;

describe.each(ENGINES)("sums by one thing on %s", (engine) => {
  let fresh: FreshDatabase;
  let db: Db;
  let ledger: Ledger;
  const cluster = { instanceId: "x", bus: localBus(), lease: localLease(), counter: localCounter(Date.now) };
  /** Epoch seconds. */
  let now = NOON;
  const round = () => fold({ db, cluster, now: () => now * 1000 });
  const range = { start: NOON, end: NOON + 10 * HOUR };
  const byModel = async (end = range.end) =>
    await db.read
      .select({
        item: sql<string>`item`,
        quota: sql<number>`sum(quota)`.mapWith(Number),
        count: sql<number>`sum("count")`.mapWith(Number),
      })
      .from(sql`(${sumsBy("model", { start: NOON, end }, await summedUntil(db))}) AS sums`)
      .groupBy(sql`item`)
      .orderBy(sql`item`);
  const findings = () => Array.fromAsync(audit(db));
  let settle: ReturnType<typeof calls>["settle"];

  beforeAll(async () => {
    fresh = await freshDatabase(engine, 6);
    db = fresh.db;
    ledger = createLedger(db, "x", () => now * 1000);
    const user = await addUser(db, ledger, 10_000_000);
    settle = calls(ledger, user, await addToken(db, user, { unlimited_quota: true })).settle;
    await db.q.insert(db.t.channels).values({ id: 1, type: 1, name: "one", created_time: NOON }).returning();
  }, HOOK_MS);
  afterAll(() => fresh.close());

  test("an hour is added up some time after its end, and queries return the same before and after", async () => {
    await settle("a", 100);
    await settle("b", 20, { model_name: "o1" });
    await settle("c", 3, { created_at: NOON + HOUR });
    const both = [
      { item: "gpt-4o", quota: 103, count: 2 },
      { item: "o1", quota: 20, count: 1 },
    ];
    now = NOON + HOUR + 600;
    await round();
    expect(await summedUntil(db)).toBe(NOON);
    expect(await db.q.$count(db.t.usage_sums)).toBe(0);
    expect(await byModel()).toEqual(both);
    now = NOON + HOUR + 901;
    await round();
    expect(await summedUntil(db)).toBe(NOON + HOUR);
    // Two models; one each of user, channel, token and group.
    expect(await db.q.$count(db.t.usage_sums)).toBe(6);
    expect(await byModel()).toEqual(both);
    expect(await byModel(NOON + HOUR)).toEqual([
      { item: "gpt-4o", quota: 100, count: 1 },
      { item: "o1", quota: 20, count: 1 },
    ]);
    expect(await findings()).toEqual([]);
  });

  test("a call that ends long after its hour resets the mark, and the hour is added up again", async () => {
    now = NOON + 5 * HOUR;
    await round();
    expect(await summedUntil(db)).toBe(NOON + 4 * HOUR);
    await settle("late", 1000);
    await round();
    expect(await summedUntil(db)).toBe(NOON + 4 * HOUR);
    expect(await byModel()).toEqual([
      { item: "gpt-4o", quota: 1103, count: 3 },
      { item: "o1", quota: 20, count: 1 },
    ]);
    expect(await db.q.$count(db.t.usage_sums)).toBe(11);
    expect(await findings()).toEqual([]);
  });

  test("hours are added up once, though several do so while late calls arrive", async () => {
    now = NOON + 9 * HOUR;
    let charging = true;
    const summing = Array.from({ length: 3 }, async () => {
      while (charging) {
        await sumHours(db, now);
        await round();
        await Bun.sleep(1);
      }
    });
    for (let i = 0; i < 20; i++) {
      await Promise.all(
        Array.from({ length: 10 }, (_, j) => settle(`both-${i}-${j}`, 1, { created_at: NOON + ((i + j) % 8) * HOUR })),
      );
    }
    charging = false;
    await Promise.all(summing);
    await round();
    await round();
    expect((await byModel())[0]).toEqual({ item: "gpt-4o", quota: 1303, count: 203 });
    expect(await summedUntil(db)).toBe(NOON + 8 * HOUR);
    expect(await findings()).toEqual([]);
  });

  // SQLite has one writer: nothing can come between.
  if (engine === "postgres") {
    test("charges of the hour that runs wait for nobody who adds hours up; those of an earlier one do", async () => {
      const running = Math.floor(Date.now() / 1000);
      const [locked, unlock] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const adding = db.tx(function* (q) {
        yield* reopenSteps(db, q, running);
        locked.resolve();
        yield* run(unlock.promise);
      });
      await locked.promise;
      await settle("running alone", 1, { created_at: running });
      await Promise.all([1, 2, 3].map((n) => settle(`running together ${n}`, 1, { created_at: running })));
      let ended = 0;
      const late = [settle("of an earlier hour", 1)].map((one) => one.finally(() => ended++));
      await Bun.sleep(300);
      expect(ended).toBe(0);
      unlock.resolve();
      await Promise.all([adding, ...late]);
      await foldBatch(db);
      await round();
      expect(await findings()).toEqual([]);
    });

    test("an hour whose mark is already set back is not added up while a count in it is uncommitted", async () => {
      await settle("sets the mark back", 1);
      await foldBatch(db);
      expect(await summedUntil(db)).toBe(NOON);
      const counted = Promise.withResolvers<void>();
      const commit = Promise.withResolvers<void>();
      const counting = db.tx(function* (q) {
        const hour = { hour: NOON, user_id: 1, token_id: 1, channel: 1, model_name: "o1", group: "default" };
        yield* addToHours(db, q, [{ ...NOTHING, ...hour, error_count: 1 }]);
        counted.resolve();
        yield* run(commit.promise);
      });
      await counted.promise;
      const summing = sumHours(db, now);
      const first = await Promise.race([summing.then(() => "summed"), Bun.sleep(300).then(() => "waits")]);
      commit.resolve();
      await Promise.all([counting, summing]);
      expect(first).toBe("waits");
      expect((await findings()).filter(({ rule }) => rule.startsWith("sums_"))).toEqual([]);
      // The count had no log row.
      await db.q
        .update(db.t.usage_hourly)
        .set({ error_count: 0 })
        .where(eq(db.t.usage_hourly.error_count, 1))
        .returning();
      await db.tx((q) => reopenSteps(db, q, NOON));
      await round();
      expect(await findings()).toEqual([]);
    });
  }

  test("the audit names a sum that is wrong, and one that is missing", async () => {
    const { usage_sums } = db.t;
    await db.q
      .update(usage_sums)
      .set({ quota: sql`quota + 7` })
      .where(sql`dimension = 'model' and item = 'o1'`)
      .returning();
    await db.q
      .delete(usage_sums)
      .where(sql`dimension = 'channel' and "hour" = ${NOON}`)
      .returning();
    const found = await findings();
    expect(found).toContainEqual({ rule: "sums_quota", row: `usage_sums model/${NOON}/o1`, expected: 20, found: 27 });
    expect(found.map(({ rule, row }) => `${rule} ${row}`).sort()).toEqual([
      `sums_count usage_sums channel/${NOON}/1`,
      `sums_quota usage_sums channel/${NOON}/1`,
      `sums_quota usage_sums model/${NOON}/o1`,
    ]);
  });
});

describe.each(ENGINES)("sums and a clock that was ahead, on %s", (engine) => {
  let fresh: FreshDatabase;
  beforeAll(async () => {
    fresh = await freshDatabase(engine, 4);
  }, HOOK_MS);
  afterAll(() => fresh?.close());

  test("once it is set back, the hours that it had counted as over are added up again when they are", async () => {
    const { db } = fresh;
    let now = NOON + 3 * HOUR;
    const cluster = { instanceId: "x", bus: localBus(), lease: localLease(), counter: localCounter(Date.now) };
    const round = () => fold({ db, cluster, now: () => now * 1000 });
    const ledger = createLedger(db, "x", () => now * 1000);
    const user = await addUser(db, ledger, 10_000);
    const { settle } = calls(ledger, user, 0);
    await db.q.insert(db.t.channels).values({ id: 1, type: 1, name: "one", created_time: NOON }).returning();
    await round();
    expect(await summedUntil(db)).toBe(NOON + 2 * HOUR);
    now = NOON + 60;
    await round();
    expect(await summedUntil(db)).toBe(NOON - HOUR);
    await settle("after", 7, { created_at: now });
    now = NOON + HOUR + 901;
    await round();
    expect(await summedUntil(db)).toBe(NOON + HOUR);
    const sums = await db.q.select().from(db.t.usage_sums);
    expect(sums.find(({ dimension }) => dimension === "model")).toMatchObject({ hour: NOON, quota: 7, count: 1 });
    expect(await Array.fromAsync(audit(db))).toEqual([]);
  });
});
