/** Channel totals and hourly sums equal the log to the unit; the audit finds every inconsistency. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { localBus, localCounter, localLease } from "../../src/server/cluster/local";
import type { Db } from "../../src/server/db/types";
import { fold, foldBatch } from "../../src/server/features/log/fold";
import { audit, type Finding } from "../../src/server/features/wallet/audit";
import type { Ledger } from "../../src/server/contracts/ledger";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { ENGINES, type FreshDatabase, freshDatabase } from "../kit/databases";
import { addToken, addUser, callLog, calls, clock, NOON } from "./world";

async function findings(db: Db): Promise<Finding[]> {
  return Array.fromAsync(audit(db));
}

describe.each(ENGINES)("roll-ups and audit on %s", (engine) => {
  let fresh: FreshDatabase;
  let db: Db;
  let ledger: Ledger;
  const cluster = { instanceId: "x", bus: localBus(), lease: localLease(), counter: localCounter(Date.now) };
  let user: number;
  let token: number;
  beforeAll(async () => {
    fresh = await freshDatabase(engine, 6);
    db = fresh.db;
    ledger = createLedger(db, "x", clock);
    user = await addUser(db, ledger, 10_000_000);
    token = await addToken(db, user, { unlimited_quota: true });
    await db.q
      .insert(db.t.channels)
      .values([
        { id: 1, type: 1, name: "one", created_time: NOON },
        { id: 2, type: 1, name: "two", created_time: NOON },
      ])
      .returning();
  });
  afterAll(() => fresh.close());
  const totals = async () =>
    Object.fromEntries((await db.q.select().from(db.t.channels)).map((channel) => [channel.id, channel.used_quota]));

  test("charges, errors and refunds fold into the right hour and channel, and other rows into none", async () => {
    const { settle } = calls(ledger, user, token);
    const streamed = (frt: number) => ({ is_stream: true, other: JSON.stringify({ frt, request_path: '"frt":9' }) });
    await settle("r1", 100, { use_time: 3, upstream_cost: 4_000, ...streamed(250) });
    // In one batch.
    await Promise.all([
      settle("r2", 50, { created_at: NOON + 3599, upstream_cost: null, ...streamed(-1) }),
      settle("r3", 30, { created_at: NOON + 3600, channel: 2 }),
      settle("r4", 7, { channel: 0, visible: false }),
      settle("r5", 20, { use_time: 4, upstream_cost: 3_000, ...streamed(50) }),
    ]);
    const row = (request_id: string, type: number, quota: number) => ({
      ...callLog(request_id, user, token, quota),
      type,
    });
    await db.q
      .insert(db.t.logs)
      .values([row("e1", 5, 0), row("top", 1, 999), row("back", 6, 40)])
      .returning();
    // Charges are added up in the commit that charges; the fold takes the other rows.
    expect(await fold({ db, cluster, now: clock })).toBe(3);
    expect(await fold({ db, cluster, now: clock })).toBe(0);
    expect(await totals()).toEqual({ 1: 130, 2: 30 });
    const hours = await db.q
      .select()
      .from(db.t.usage_hourly)
      .orderBy(db.t.usage_hourly.hour, db.t.usage_hourly.channel);
    const common = {
      user_id: user,
      token_id: token,
      model_name: "gpt-4o",
      group: "default",
      username: `u${user}`,
      use_time: 0,
      upstream_cost: 0,
      costed_quota: 0,
      first_token_ms: 0,
      first_tokens: 0,
    };
    expect(hours).toEqual([
      {
        ...common,
        hour: NOON,
        channel: 0,
        count: 1,
        error_count: 0,
        quota: 7,
        prompt_tokens: 10,
        completion_tokens: 5,
      },
      {
        ...common,
        hour: NOON,
        channel: 1,
        count: 3,
        error_count: 1,
        quota: 130,
        prompt_tokens: 30,
        completion_tokens: 15,
        use_time: 7,
        upstream_cost: 7_000,
        costed_quota: 120,
        first_token_ms: 300,
        first_tokens: 2,
      },
      {
        ...common,
        hour: NOON + 3600,
        channel: 2,
        count: 1,
        error_count: 0,
        quota: 30,
        prompt_tokens: 10,
        completion_tokens: 5,
      },
    ]);
    // The refund row above had no ledger entry: correct the user's and token's balances by hand before the audit.
    await db.q
      .update(db.t.users)
      .set({ quota: sql`quota + 40`, used_quota: sql`used_quota - 40` })
      .returning();
    await db.q
      .update(db.t.tokens)
      .set({ used_quota: sql`used_quota - 40` })
      .returning();
    expect(await findings(db)).toEqual([]);
  });

  test("every charge is counted once, though several fold at the same time while charges arrive", async () => {
    const before = await totals();
    const { settle } = calls(ledger, user, token);
    let charging = true;
    const folding = Array.from({ length: 4 }, async () => {
      let folded = 0;
      while (charging) {
        folded += await foldBatch(db);
        await Bun.sleep(1);
      }
      return folded;
    });
    await Promise.all(Array.from({ length: 1000 }, (_, i) => settle(`many-${i}`, i, { channel: 1 + (i % 2) })));
    charging = false;
    let folded = (await Promise.all(folding)).reduce((a, b) => a + b);
    folded += await fold({ db, cluster, now: clock });
    expect(folded).toBe(0);
    const after = await totals();
    expect((after[1] ?? 0) - (before[1] ?? 0)).toBe(249_500);
    expect((after[2] ?? 0) - (before[2] ?? 0)).toBe(250_000);
    expect(await findings(db)).toEqual([]);
  });

  test("a clean audit stays clean with holds running and rows not yet folded", async () => {
    const { hold, settle } = calls(ledger, user, token);
    await hold("running", 500);
    await settle("unfolded", 11);
    expect(await findings(db)).toEqual([]);
  });

  test("the audit names every row that breaks a rule", async () => {
    const broken = await addUser(db, ledger, 100);
    const mine = await addToken(db, broken, { unlimited_quota: true });
    await calls(ledger, broken, mine).settle("broken-1", 10, { channel: 2 });
    await fold({ db, cluster, now: clock });
    const { users, tokens, channels, usage_hourly } = db.t;
    await db.q
      .update(users)
      .set({ quota: sql`quota + 1`, request_count: 5 })
      .where(eq(users.id, broken))
      .returning();
    await db.q.update(tokens).set({ used_quota: 12 }).where(eq(tokens.id, mine)).returning();
    await db.q
      .update(channels)
      .set({ used_quota: sql`used_quota + 3` })
      .where(eq(channels.id, 1))
      .returning();
    await db.q.update(usage_hourly).set({ quota: 14, count: 3 }).where(eq(usage_hourly.user_id, broken)).returning();
    const key = `usage_hourly ${NOON}/${broken}/${mine}/2/gpt-4o/default`;
    const found = await findings(db);
    const [one, two] = [(await totals())[1] ?? 0, (await totals())[2] ?? 0];
    expect(found).toEqual([
      { rule: "balance", row: `users ${broken}`, expected: 100, found: 101 },
      { rule: "user_charges", row: `users ${broken}`, expected: 14, found: 10 },
      { rule: "user_calls", row: `users ${broken}`, expected: 3, found: 5 },
      { rule: "token_charges", row: `tokens ${mine}`, expected: 14, found: 12 },
      { rule: "channel_total", row: "channels 1", expected: one - 3, found: one },
      { rule: "channel_total", row: "channels 2", expected: two + 4, found: two },
      { rule: "hourly_quota", row: key, expected: 10, found: 14 },
      { rule: "hourly_count", row: key, expected: 1, found: 3 },
    ]);
  });
});
