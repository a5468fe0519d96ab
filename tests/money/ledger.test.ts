/** The guarantees of every ledger, on both engines with real parallel connections. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Db } from "../../src/server/db/types";
import type { Ledger } from "../../src/server/contracts/ledger";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { ENGINES, type FreshDatabase, freshDatabase } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { addToken, addUser, booksOf, callLog, calls, clock, expectBalanced, NOON, tokenOf, userOf } from "./world";

describe.each(ENGINES)("the ledger on %s", (engine) => {
  let fresh: FreshDatabase;
  let db: Db;
  let ledger: Ledger;
  beforeAll(async () => {
    fresh = await freshDatabase(engine, 20);
    db = fresh.db;
    ledger = createLedger(db, "instance-a", clock);
  }, HOOK_MS);
  afterAll(() => fresh.close());

  test("of 200 concurrent holds on a balance that covers 37, exactly 37 are granted", async () => {
    const user = await addUser(db, ledger, 37 * 100 + 99);
    const token = await addToken(db, user, { unlimited_quota: true });
    const { hold, settle } = calls(ledger, user, token);
    const ids = Array.from({ length: 200 }, (_, i) => `c200-${engine}-${i}`);
    const answers = await Promise.all(ids.map((id) => hold(id, 100)));
    const granted = ids.filter((_, i) => answers[i]?.ok);
    expect(granted).toHaveLength(37);
    for (const answer of answers)
      if (!answer.ok) expect(answer).toEqual({ ok: false, reason: "user_quota", balance: 99 });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 99, held: 3700 });
    await Promise.all(granted.map((id) => settle(id, 100)));
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 99, held: 0, used_quota: 3700, calls: 37 });
  });

  test("of 200 concurrent holds on a token that covers 37, exactly 37 are granted and the user pays for no other", async () => {
    const user = await addUser(db, ledger, 1_000_000);
    const token = await addToken(db, user, { remain_quota: 3700 });
    const { hold } = calls(ledger, user, token);
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => hold(`t200-${engine}-${i}`, 100)));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(37);
    expect((await tokenOf(db, token)).remain_quota).toBe(0);
    expect(await expectBalanced(db, user)).toMatchObject({ held: 3700, quota: 1_000_000 - 3700 });
  });

  test("settle releases what was held beyond the charge, for user and token, and counts the call", async () => {
    const user = await addUser(db, ledger, 1000);
    const token = await addToken(db, user, { remain_quota: 500 });
    const { hold, settle } = calls(ledger, user, token);
    expect(await hold(`s-${engine}`, 300)).toEqual({ ok: true });
    expect(await settle(`s-${engine}`, 120)).toEqual({ settled: true, hold_missing: false });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 880, used_quota: 120, held: 0, calls: 1 });
    expect(await tokenOf(db, token)).toMatchObject({ remain_quota: 380, used_quota: 120, accessed_time: NOON });
  });

  test("only settle takes a balance below zero, and the debt blocks further calls until a credit pays it", async () => {
    const user = await addUser(db, ledger, 100);
    const token = await addToken(db, user, { remain_quota: 100 });
    const { hold, settle } = calls(ledger, user, token);
    await hold(`debt-${engine}`, 100);
    await settle(`debt-${engine}`, 130);
    expect(await expectBalanced(db, user)).toMatchObject({ quota: -30, used_quota: 130 });
    expect((await tokenOf(db, token)).remain_quota).toBe(-30);
    expect(await hold(`debt2-${engine}`, 0)).toEqual({ ok: false, reason: "user_quota", balance: -30 });
    const paid = await ledger.credit({ user_id: user, amount: 50, kind: "adjust", idempotency_key: `debt:${user}` });
    expect(paid).toEqual({ applied: true, balance: 20 });
    expect(await hold(`debt3-${engine}`, 0)).toEqual({ ok: false, reason: "token_quota", balance: -30 });
  });

  test("a flexible hold takes a quarter of what user and limited token have left, never less than its minimum nor more than requested", async () => {
    const user = await addUser(db, ledger, 1000);
    const token = await addToken(db, user, { remain_quota: 400 });
    const free = await addToken(db, user, { unlimited_quota: true });
    const ask = (name: string, amount: number, least: number, of = token) =>
      calls(ledger, user, of).hold(`range-${engine}-${name}`, amount, least);
    expect(await ask("quarter", 900, 10)).toEqual({ ok: true, held: 100 });
    expect(await ask("next", 900, 10)).toEqual({ ok: true, held: 75 });
    expect(await ask("least", 900, 200)).toEqual({ ok: true, held: 200 });
    expect(await ask("asked", 5, 1)).toEqual({ ok: true });
    expect(await ask("again", 900, 21)).toEqual({ ok: false, reason: "token_quota", balance: 20 });
    expect(await ask("both", 900, 800)).toEqual({ ok: false, reason: "user_quota", balance: 620, left: 20 });
    expect(await ask("unlimited", 900, 10, free)).toEqual({ ok: true, held: 155 });
    expect(await ask("nothing left", 900, 466, free)).toEqual({ ok: false, reason: "user_quota", balance: 465 });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 465, held: 535 });
    expect((await tokenOf(db, token)).remain_quota).toBe(20);
  });

  test("concurrent flexible holds never take more than the balance", async () => {
    const user = await addUser(db, ledger, 1000);
    const token = await addToken(db, user, { remain_quota: 500 });
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => calls(ledger, user, token).hold(`crowd-${engine}-${i}`, 5000, 40)),
    );
    const held = answers.flatMap((answer) => (answer.ok ? [answer.held ?? 5000] : []));
    expect(Math.min(...held)).toBeGreaterThanOrEqual(40);
    expect(Math.max(...held)).toBe(125);
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 1000 - held.reduce((sum, units) => sum + units, 0) });
    expect((await tokenOf(db, token)).remain_quota).toBe(500 - held.reduce((sum, units) => sum + units, 0));
    expect((await tokenOf(db, token)).remain_quota).toBeLessThan(40);
  });

  test("an unlimited token keeps its remain_quota and counts its use", async () => {
    const user = await addUser(db, ledger, 1000);
    const token = await addToken(db, user, { unlimited_quota: true, remain_quota: 7 });
    const { hold, settle } = calls(ledger, user, token);
    await hold(`unl-${engine}`, 300);
    expect((await tokenOf(db, token)).remain_quota).toBe(7);
    await settle(`unl-${engine}`, 120);
    expect(await tokenOf(db, token)).toMatchObject({ remain_quota: 7, used_quota: 120 });
  });

  test("a token that became unlimited during a call gets its hold back and pays nothing", async () => {
    const user = await addUser(db, ledger, 1000);
    const token = await addToken(db, user, { remain_quota: 500 });
    const { hold, settle } = calls(ledger, user, token);
    await hold(`turn-${engine}`, 300);
    await db.q.update(db.t.tokens).set({ unlimited_quota: true }).where(eq(db.t.tokens.id, token)).returning();
    await settle(`turn-${engine}`, 120);
    expect(await tokenOf(db, token)).toMatchObject({ remain_quota: 500, used_quota: 120 });
    await expectBalanced(db, user);
  });

  test("calls without a token move the user's balance only", async () => {
    const user = await addUser(db, ledger, 1000);
    const { hold, settle } = calls(ledger, user, 0);
    expect(await hold(`none-${engine}`, 300)).toEqual({ ok: true });
    expect(await settle(`none-${engine}`, 120)).toEqual({ settled: true, hold_missing: false });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 880 });
  });

  test("a hold is refused, with the reason and the balance, and nothing moves", async () => {
    const user = await addUser(db, ledger, 1000);
    const banned = await addUser(db, ledger, 1000);
    const empty = await addUser(db, ledger, 0);
    const deleted = await addUser(db, ledger, 1000);
    await db.q.update(db.t.users).set({ status: 2 }).where(eq(db.t.users.id, banned)).returning();
    await db.q.update(db.t.users).set({ deleted_at: NOON }).where(eq(db.t.users.id, deleted)).returning();
    const unlimited = { unlimited_quota: true };
    const disabled = await addToken(db, user, { ...unlimited, status: 2 });
    const expired = await addToken(db, user, { ...unlimited, expired_time: NOON - 1 });
    const erased = await addToken(db, user, { ...unlimited, deleted_at: NOON });
    const foreign = await addToken(db, banned, unlimited);
    const small = await addToken(db, user, { remain_quota: 99 });
    const later = await addToken(db, user, { ...unlimited, expired_time: NOON + 60 });
    const ask = (u: number, t: number, amount = 100) =>
      calls(ledger, u, t).hold(`refuse-${engine}-${u}-${t}-${amount}`, amount);
    expect(await ask(999_999, 0)).toEqual({ ok: false, reason: "user_unusable", balance: 0 });
    expect(await ask(banned, foreign)).toEqual({ ok: false, reason: "user_unusable", balance: 1000 });
    expect(await ask(deleted, 0)).toEqual({ ok: false, reason: "user_unusable", balance: 1000 });
    expect(await ask(empty, 0, 0)).toEqual({ ok: false, reason: "user_quota", balance: 0 });
    expect(await ask(user, 0, 1001)).toEqual({ ok: false, reason: "user_quota", balance: 1000 });
    expect(await ask(user, 888_888)).toEqual({ ok: false, reason: "token_unusable", balance: 0 });
    for (const token of [disabled, expired, erased, foreign]) {
      expect(await ask(user, token)).toEqual({ ok: false, reason: "token_unusable", balance: 0 });
    }
    expect(await ask(user, small)).toEqual({ ok: false, reason: "token_quota", balance: 99 });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 1000, held: 0 });
    expect((await tokenOf(db, small)).remain_quota).toBe(99);
    expect(await ask(user, small, 99)).toEqual({ ok: true });
    expect(await ask(user, later)).toEqual({ ok: true });
  });

  test("a repeated hold with the same request id takes nothing more", async () => {
    const user = await addUser(db, ledger, 1000);
    const { hold } = calls(ledger, user, 0);
    const answers = await Promise.all(Array.from({ length: 8 }, () => hold(`again-${engine}`, 300)));
    expect(answers.every((answer) => answer.ok)).toBe(true);
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 700, held: 300 });
  });

  test("extend takes more while it is covered, and records the running cost even when it is not", async () => {
    const user = await addUser(db, ledger, 500);
    const token = await addToken(db, user, { remain_quota: 400 });
    const { hold, settle } = calls(ledger, user, token);
    const id = `ext-${engine}`;
    await hold(id, 100);
    expect(await ledger.extend(id, 200, 60)).toBe(true);
    expect((await tokenOf(db, token)).remain_quota).toBe(100);
    expect(await ledger.extend(id, 101, 250)).toBe(false); // the token covers 100
    const [row] = await db.q.select().from(db.t.holds).where(eq(db.t.holds.request_id, id));
    expect(row).toMatchObject({ amount: 300, token_amount: 300, running: 250 });
    expect(await ledger.extend(id, 0, 260)).toBe(true);
    expect(await ledger.extend(`gone-${engine}`, 1, 1)).toBe(false);
    expect(await settle(id, 299)).toEqual({ settled: true, hold_missing: false });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 201, held: 0 });
    expect((await tokenOf(db, token)).remain_quota).toBe(101);
  });

  test("concurrent extends never take more than the balance", async () => {
    const user = await addUser(db, ledger, 1050);
    const { hold } = calls(ledger, user, 0);
    const ids = Array.from({ length: 20 }, (_, i) => `exts-${engine}-${i}`);
    await Promise.all(ids.map((id) => hold(id, 10)));
    const answers = await Promise.all(ids.flatMap((id) => [ledger.extend(id, 50, 5), ledger.extend(id, 50, 6)]));
    expect(answers.filter(Boolean)).toHaveLength(17);
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 0, held: 1050 });
  });

  test("of many settles of one call, one charges", async () => {
    const user = await addUser(db, ledger, 1000);
    const { hold, settle } = calls(ledger, user, 0);
    await hold(`twice-${engine}`, 300);
    const answers = await Promise.all(Array.from({ length: 10 }, () => settle(`twice-${engine}`, 100)));
    expect(answers.filter((answer) => answer.settled)).toEqual([{ settled: true, hold_missing: false }]);
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 900, used_quota: 100, held: 0 });
  });

  test("a settle whose hold is gone still charges, and says so", async () => {
    const user = await addUser(db, ledger, 1000);
    const { hold, settle } = calls(ledger, user, 0);
    await hold(`gone-${engine}`, 300);
    expect(await ledger.release(`gone-${engine}`)).toBe(true);
    expect(await settle(`gone-${engine}`, 100)).toEqual({ settled: true, hold_missing: true });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 900, held: 0 });
  });

  test("when release races settle, the hold ends once and the call is charged once", async () => {
    const user = await addUser(db, ledger, 100_000);
    const { hold, settle } = calls(ledger, user, 0);
    const ids = Array.from({ length: 50 }, (_, i) => `race-${engine}-${i}`);
    await Promise.all(ids.map((id) => hold(id, 300)));
    const results = await Promise.all(
      ids.map((id, i) =>
        i % 2 === 0
          ? Promise.all([settle(id, 100), ledger.release(id)])
          : Promise.all([ledger.release(id), settle(id, 100)]).then(
              ([released, settled]) => [settled, released] as const,
            ),
      ),
    );
    for (const [settled, released] of results) expect(settled).toEqual({ settled: true, hold_missing: released });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 95_000, held: 0, calls: 50 });
  });

  test("a hold made after its call was settled is released by the next settle, not charged again", async () => {
    const user = await addUser(db, ledger, 1000);
    const token = await addToken(db, user, { remain_quota: 1000 });
    const { hold, settle } = calls(ledger, user, token);
    await settle(`late-${engine}`, 100);
    await hold(`late-${engine}`, 300);
    expect(await settle(`late-${engine}`, 100)).toEqual({ settled: false });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 900, held: 0 });
    expect((await tokenOf(db, token)).remain_quota).toBe(900);
  });

  test("a settle of what is held alone charges nothing where the hold is gone", async () => {
    const user = await addUser(db, ledger, 1000);
    const { hold } = calls(ledger, user, 0);
    const id = `only-${engine}`;
    const only = { request_id: id, user_id: user, token_id: 0, quota: 100, held_only: true };
    expect(await ledger.settle({ ...only, log: callLog(id, user, 0, 100) })).toEqual({ settled: false });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 1000, calls: 0 });
    await hold(id, 300);
    expect(await ledger.settle({ ...only, log: callLog(id, user, 0, 100) })).toEqual({
      settled: true,
      hold_missing: false,
    });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 900, held: 0, calls: 1 });
  });

  test("times are whole seconds that have begun", async () => {
    const late = createLedger(db, "instance-late", () => NOON * 1000 + 999);
    const user = await addUser(db, late, 1000);
    const token = await addToken(db, user, { remain_quota: 1000 });
    const { hold, settle } = calls(late, user, token);
    await hold(`late-${engine}-1`, 10);
    const [row] = await db.q.select().from(db.t.holds).where(eq(db.t.holds.user_id, user));
    expect(row).toMatchObject({ created_at: NOON, instance_id: "instance-late" });
    await settle(`late-${engine}-1`, 10);
    expect((await tokenOf(db, token)).accessed_time).toBe(NOON);
  });

  test("release gives everything back once", async () => {
    const user = await addUser(db, ledger, 1000);
    const token = await addToken(db, user, { remain_quota: 600 });
    const { hold } = calls(ledger, user, token);
    await hold(`rel-${engine}`, 300);
    const answers = await Promise.all(Array.from({ length: 5 }, () => ledger.release(`rel-${engine}`)));
    expect(answers.filter(Boolean)).toHaveLength(1);
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 1000, held: 0 });
    expect((await tokenOf(db, token)).remain_quota).toBe(600);
  });

  test("the log row of a charge is complete, invisible on request, and folded only where its commit has counted it", async () => {
    const user = await addUser(db, ledger, 1000);
    const { settle } = calls(ledger, user, 0);
    await settle(`row-${engine}`, 12, {
      visible: false,
      content: "a\u0000b",
      code: "job_cost_more",
      params: '{"task_id":"t"}',
      upstream_cost: 1_234_567,
      price_rule: "night\u0000",
      plan_quota: 5,
      tags: '["team"]',
      is_stream: true,
      end_reason: "complete",
      ip: "::1",
    });
    const [row] = await db.q
      .select()
      .from(db.t.logs)
      .where(eq(db.t.logs.request_id, `row-${engine}`));
    expect<unknown>(row).toEqual({
      ...callLog(`row-${engine}`, user, 0, 12),
      id: row?.id ?? 0,
      type: 2,
      visible: false,
      content: "ab",
      code: "job_cost_more",
      params: '{"task_id":"t"}',
      upstream_cost: 1_234_567,
      price_rule: "night",
      plan_quota: 5,
      tags: '["team"]',
      refund_of: "",
      repeated: 0,
      repeated_until: 0,
      is_stream: true,
      end_reason: "complete",
      ip: "::1",
      use_time: 0,
      upstream_request_id: "",
      folded: 1,
    });
  });

  test("fifty parallel credits with one key credit once", async () => {
    const user = await addUser(db, ledger, 10);
    const credit = { user_id: user, amount: 100, kind: "order", idempotency_key: `order:${engine}:${user}` } as const;
    const answers = await Promise.all(Array.from({ length: 50 }, () => ledger.credit(credit)));
    expect(answers.filter((answer) => answer.applied)).toEqual([{ applied: true, balance: 110 }]);
    expect(answers.find((answer) => !answer.applied)).toEqual({ applied: false, balance: 110, reason: "duplicate" });
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 110, credited: 110 });
  });

  test("one key credits one user only, even when two credits run at the same moment", async () => {
    const [a, b] = [await addUser(db, ledger, 0), await addUser(db, ledger, 0)];
    const key = `shared:${engine}`;
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        ledger.credit({ user_id: i % 2 ? a : b, amount: 5, kind: "redeem", idempotency_key: key }),
      ),
    );
    expect(answers.filter((answer) => answer.applied)).toHaveLength(1);
    expect((await expectBalanced(db, a)).quota + (await expectBalanced(db, b)).quota).toBe(5);
  });

  test("a deduction never takes a balance below zero, and an unknown user is not credited", async () => {
    const user = await addUser(db, ledger, 100);
    const deduct = (amount: number, key: string) =>
      ledger.credit({ user_id: user, amount, kind: "adjust", idempotency_key: `${key}:${user}` });
    expect(await deduct(-101, "much")).toEqual({ applied: false, balance: 100, reason: "insufficient" });
    expect(await deduct(-100, "all")).toEqual({ applied: true, balance: 0 });
    expect(await deduct(-100, "all")).toEqual({ applied: false, balance: 0, reason: "duplicate" });
    const nobody = await ledger.credit({
      user_id: 999_999,
      amount: 1,
      kind: "adjust",
      idempotency_key: `no:${engine}`,
    });
    expect(nobody).toEqual({ applied: false, balance: 0, reason: "user_missing" });
    await expectBalanced(db, user);
  });

  test("amounts are exact beyond 32 bits", async () => {
    const rich = 5_000_000_000_007;
    const user = await addUser(db, ledger, rich);
    const { hold, settle } = calls(ledger, user, 0);
    await hold(`big-${engine}`, 4_000_000_000_001);
    await settle(`big-${engine}`, 3_000_000_000_003);
    expect(await expectBalanced(db, user)).toMatchObject({ quota: rich - 3_000_000_000_003 });
  });

  test("an amount that is not whole units is an error and moves nothing", async () => {
    const user = await addUser(db, ledger, 100);
    const { hold, settle } = calls(ledger, user, 0);
    for (const amount of [-1, 0.5, Number.NaN, 2 ** 53]) {
      await expect(hold(`bad-${engine}`, amount)).rejects.toThrow(RangeError);
      await expect(settle(`bad-${engine}`, amount)).rejects.toThrow(RangeError);
    }
    expect(await booksOf(db, user)).toMatchObject({ quota: 100, held: 0, calls: 0 });
  });

  test("a verb that fails rolls back alone: those queued with it succeed", async () => {
    const user = await addUser(db, ledger, 1000);
    const { hold, settle } = calls(ledger, user, 0);
    // NaN as time: the row cannot be written, when the hold is already deleted.
    const broken = { ...callLog(`broken-${engine}`, user, 0, 5), created_at: Number.NaN };
    await hold(`broken-${engine}`, 50);
    const results = await Promise.allSettled([
      hold(`fine1-${engine}`, 100),
      ledger.settle({ request_id: `broken-${engine}`, user_id: user, token_id: 0, quota: 5, log: broken }),
      hold(`fine2-${engine}`, 100),
    ]);
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 750, held: 250 });
    await settle(`broken-${engine}`, 5);
    expect(await expectBalanced(db, user)).toMatchObject({ quota: 795, held: 200 });
  });

  test("flush waits for every earlier call", async () => {
    const user = await addUser(db, ledger, 1_000_000);
    const { hold } = calls(ledger, user, 0);
    const asked = Array.from({ length: 300 }, (_, i) => hold(`flush-${engine}-${i}`, 10));
    await ledger.flush();
    expect(await expectBalanced(db, user)).toMatchObject({ held: 3000 });
    await Promise.all(asked);
    expect((await userOf(db, user)).quota).toBe(997_000);
  });
});
