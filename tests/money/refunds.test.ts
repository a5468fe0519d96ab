/** A refund reverses its charge: once, never more than it, for user, token, channel and hour. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { localBus, localCounter, localLease } from "../../src/server/cluster/local";
import type { Db } from "../../src/server/db/types";
import { run } from "../../src/server/db/transaction";
import { fold } from "../../src/server/features/log/fold";
import { audit } from "../../src/server/features/wallet/audit";
import type { Ledger } from "../../src/server/contracts/ledger";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { refundRequestId, refundSteps, undoRefundSteps } from "../../src/server/features/wallet/refund";
import { ENGINES, type FreshDatabase, freshDatabase } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { addToken, addUser, calls, clock, expectBalanced, NOON, tokenOf, userOf } from "./world";

describe.each(ENGINES)("refunds on %s", (engine) => {
  let fresh: FreshDatabase;
  let db: Db;
  let ledger: Ledger;
  const cluster = { instanceId: "x", bus: localBus(), lease: localLease(), counter: localCounter(Date.now) };
  beforeAll(async () => {
    fresh = await freshDatabase(engine, 20);
    db = fresh.db;
    ledger = createLedger(db, "x", clock);
    await db.q.insert(db.t.channels).values({ id: 1, type: 1, name: "one", created_time: NOON }).returning();
  }, HOOK_MS);
  afterAll(async () => {
    await fold({ db, cluster, now: clock });
    expect(await Array.fromAsync(audit(db))).toEqual([]);
    await fresh.close();
  });
  const rowOf = async (request_id: string) =>
    (await db.q.select().from(db.t.logs).where(eq(db.t.logs.request_id, request_id)))[0];
  async function charged(
    request_id: string,
    units: number,
    token: Parameters<typeof addToken>[2] = { remain_quota: 500 },
  ) {
    const user = await addUser(db, ledger, 1000);
    const token_id = await addToken(db, user, token);
    const { hold, settle } = calls(ledger, user, token_id);
    await hold(request_id, units);
    await settle(request_id, units);
    return { user, token_id };
  }

  test("the whole charge is refunded to user and token, and a row of type 6 names the charge it reverses", async () => {
    const { user, token_id } = await charged("whole", 120);
    expect(
      await ledger.refund({
        charge_id: "whole",
        text: () => ({ code: "job_failed", params: { task_id: "t1\u0000" } }),
        other: { task_id: "t1" },
      }),
    ).toEqual({
      refunded: true,
      quota: 120,
    });
    expect(await userOf(db, user)).toMatchObject({ quota: 1000, used_quota: 0, request_count: 1 });
    expect(await tokenOf(db, token_id)).toMatchObject({ remain_quota: 500, used_quota: 0 });
    const charge = await rowOf("whole");
    const back = await rowOf(refundRequestId("whole"));
    expect(charge).toMatchObject({ type: 2, quota: 120 });
    expect(back).toMatchObject({
      type: 6,
      quota: 120,
      user_id: user,
      token_id,
      channel: 1,
      model_name: "gpt-4o",
      group: "default",
      username: `u${user}`,
      code: "job_failed",
      params: '{"task_id":"t1"}',
      refund_of: "whole",
      prompt_tokens: 0,
      completion_tokens: 0,
      created_at: NOON,
    });
    expect(JSON.parse(back?.other ?? "")).toEqual({ task_id: "t1", refund_of: "whole" });
    await expectBalanced(db, user);
  });

  test("budgets that counted the charge are refunded once, others are not", async () => {
    const user = await addUser(db, ledger, 1000);
    const { budget_spend } = db.t;
    const names = [`user:${user}:2026-11-21`, `user:${user}:2026-11`];
    await db.q
      .insert(budget_spend)
      .values([...names, "user:0:2026-11"].map((name) => ({ name, amount: 500, expires_at: NOON + 8 * 86_400 })));
    const other = JSON.stringify({
      model_ratio: 1,
      admin_info: { use_channel: ["1"], attempts: [], budgets: [...names, "model:gone:2026-10"] },
    });
    await calls(ledger, user, 0).settle("counted", 200, { other });
    await ledger.refund({ charge_id: "counted", quota: 150 });
    await ledger.refund({ charge_id: "counted", quota: 150 });
    const rows = await db.q.select().from(budget_spend);
    expect(Object.fromEntries(rows.map(({ name, amount }) => [name, amount]))).toEqual({
      [names[0] ?? ""]: 350,
      [names[1] ?? ""]: 350,
      "user:0:2026-11": 500,
    });
    // A row that names none, or an invalid list, is refunded as well.
    for (const [i, text] of ["", `{"admin_info":{"budgets":7}}`].entries()) {
      await calls(ledger, user, 0).settle(`odd-${i}`, 10, { other: text });
      expect(await ledger.refund({ charge_id: `odd-${i}` })).toEqual({ refunded: true, quota: 10 });
    }
  });

  test("fifty concurrent refunds of one charge refund it once", async () => {
    const { user } = await charged("fifty", 300);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => ledger.refund({ charge_id: "fifty", quota: 100 + i })),
    );
    expect(answers.filter((answer) => answer.refunded)).toHaveLength(1);
    expect(answers.filter((answer) => !answer.refunded && answer.reason === "duplicate")).toHaveLength(49);
    const { quota } = (await rowOf(refundRequestId("fifty"))) ?? { quota: 0 };
    expect((await expectBalanced(db, user)).quota).toBe(700 + quota);
  });

  test("twenty parallel refunds of one charge never give back more than it, each in whole or not at all", async () => {
    const { user } = await charged("twenty", 300);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => ledger.refund({ charge_id: "twenty", name: `part-${i}`, quota: 50 + i })),
    );
    const given = answers.reduce((sum, answer) => sum + (answer.refunded ? answer.quota : 0), 0);
    expect(given).toBeLessThanOrEqual(300);
    // Another of the smallest would not have fitted.
    expect(given).toBeGreaterThan(300 - 50);
    for (const answer of answers) if (!answer.refunded) expect(answer.reason).toBe("exceeds_charge");
    expect(await ledger.refund({ charge_id: "twenty", name: "rest" })).toMatchObject(
      given === 300 ? { refunded: false } : { refunded: true, quota: 300 - given },
    );
    expect((await expectBalanced(db, user)).quota).toBe(1000);
    const racing = await charged("undone", 100);
    await ledger.refund({ charge_id: "undone", name: "a" });
    const undone = await Promise.all(
      Array.from({ length: 20 }, () =>
        db.tx((q) => undoRefundSteps(db, q, refundRequestId("undone", "a"), {}, NOON), { durable: true }),
      ),
    );
    expect(undone.filter((answer) => answer.undone)).toHaveLength(1);
    expect((await expectBalanced(db, racing.user)).quota).toBe(900);
  });

  test("more than the charge, an unknown charge and rows that are not charges are refused, and nothing moves", async () => {
    const { user } = await charged("small", 80);
    const before = await userOf(db, user);
    expect(await ledger.refund({ charge_id: "small", quota: 81 })).toEqual({
      refunded: false,
      reason: "exceeds_charge",
    });
    expect(await ledger.refund({ charge_id: "nobody" })).toEqual({ refunded: false, reason: "charge_missing" });
    expect(await ledger.refund({ charge_id: "" })).toEqual({ refunded: false, reason: "charge_missing" });
    for (const quota of [-1, 0.5, Number.NaN, 2 ** 53]) {
      await expect(ledger.refund({ charge_id: "small", quota })).rejects.toThrow(RangeError);
    }
    expect(await userOf(db, user)).toEqual(before);
    expect(await ledger.refund({ charge_id: "small", quota: 80 })).toMatchObject({ refunded: true });
    // A refund is not a charge, so it cannot be refunded.
    expect(await ledger.refund({ charge_id: refundRequestId("small") })).toEqual({
      refunded: false,
      reason: "charge_missing",
    });
  });

  test("an unlimited token counts the refund and its remaining quota stays; a call without a token refunds its user", async () => {
    const { token_id } = await charged("unlimited", 70, { unlimited_quota: true, remain_quota: 7 });
    await ledger.refund({ charge_id: "unlimited", quota: 50 });
    expect(await tokenOf(db, token_id)).toMatchObject({ remain_quota: 7, used_quota: 20 });
    const user = await addUser(db, ledger, 100);
    await calls(ledger, user, 0).settle("tokenless", 40);
    expect(await ledger.refund({ charge_id: "tokenless" })).toEqual({ refunded: true, quota: 40 });
    expect((await expectBalanced(db, user)).quota).toBe(100);
  });

  test("channel totals and hourly sums are net of refunds after the fold", async () => {
    await fold({ db, cluster, now: clock });
    const totalOf = async () => (await db.q.select().from(db.t.channels))[0]?.used_quota ?? 0;
    const before = await totalOf();
    const { user } = await charged("folded", 90);
    await ledger.refund({ charge_id: "folded", quota: 60 });
    await fold({ db, cluster, now: clock });
    expect((await totalOf()) - before).toBe(30);
    const hours = await db.q.select().from(db.t.usage_hourly).where(eq(db.t.usage_hourly.user_id, user));
    expect(hours).toMatchObject([{ hour: NOON, channel: 1, count: 1, error_count: 0, quota: 30 }]);
    expect(await Array.fromAsync(audit(db))).toEqual([]);
  });

  test("a verb that closes a task refunds in the same transaction: if the verb throws, nothing moved", async () => {
    const { user } = await charged("task", 90);
    const close = (fails: boolean) =>
      db.tx(
        function* (q) {
          const result = yield* refundSteps(db, q, { charge_id: "task" }, NOON);
          yield* run(q.update(db.t.users).set({ display_name: "closed" }).where(eq(db.t.users.id, user)));
          if (fails) throw new Error("the task could not be closed");
          return result;
        },
        { durable: true },
      );
    await expect(close(true)).rejects.toThrow("could not be closed");
    expect(await userOf(db, user)).toMatchObject({ quota: 910, used_quota: 90, display_name: "" });
    expect(await close(false)).toEqual({ refunded: true, quota: 90 });
    expect(await userOf(db, user)).toMatchObject({ quota: 1000, used_quota: 0, display_name: "closed" });
  });

  test("refunds beside holds and settles of the same user neither deadlock nor lose a unit", async () => {
    const user = await addUser(db, ledger, 100_000);
    const token = await addToken(db, user, { remain_quota: 90_000 });
    const { hold, settle } = calls(ledger, user, token);
    await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        await hold(`busy-${i}`, 100);
        await settle(`busy-${i}`, 60 + i);
        if (i % 2) await ledger.refund({ charge_id: `busy-${i}`, quota: 30 });
      }),
    );
    const { logged, quota } = await expectBalanced(db, user);
    expect(logged).toBe(60 * 60 + (59 * 60) / 2 - 30 * 30);
    expect(quota).toBe(100_000 - logged);
    expect(await tokenOf(db, token)).toMatchObject({ remain_quota: 90_000 - logged, used_quota: logged });
  });
});
