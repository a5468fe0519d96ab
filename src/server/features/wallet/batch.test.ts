/** What one group commit of the SQLite ledger adds up, row by row. */
import type { Database } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { type FreshDatabase, freshSqlite } from "../../../../tests/kit/databases";
import { addToken, callLog, NOON, tokenOf, userOf } from "../../../../tests/money/world";
import { Batch } from "./batch.sqlite";

let fresh: FreshDatabase;
let client: Database;
let batch: Batch;
let user: number;
let token: number;
let users = 0;
/** Up to which hour the sums of the log are made (features/log/sums.ts). */
const SUMMED_UNTIL = "usage_summed_until";
/** An hour that has begun, the second of a pair, and the time in it. */
const HOUR = NOON - (NOON % 7_200) + 3_600;
const CLOCK = HOUR + 1_800;
beforeAll(async () => {
  fresh = await freshSqlite();
  if (!fresh.db.driver.sqlite) throw new Error("not SQLite");
  client = fresh.db.driver.sqlite;
  batch = new Batch(client, () => CLOCK);
  await fresh.db.q
    .insert(fresh.db.t.channels)
    .values([1, 2].map((id) => ({ id, type: 1, name: `c${id}`, created_time: NOON })))
    .returning();
});
afterAll(() => fresh.close());
beforeEach(async () => {
  const { db } = fresh;
  const [row] = await db.q
    .insert(db.t.users)
    .values({ username: `batch-${++users}`, password_hash: "x", created_at: NOON, quota: 1_000, used_quota: 10 })
    .returning({ id: db.t.users.id });
  user = row?.id ?? 0;
  token = await addToken(db, user, { remain_quota: 500 });
});

const hours = async () => {
  const { usage_hourly } = fresh.db.t;
  const rows = await fresh.db.q.select().from(usage_hourly).where(eq(usage_hourly.user_id, user));
  return rows.sort((a, b) => a.hour - b.hour || a.channel - b.channel || a.token_id - b.token_id);
};
const log = (more: object) => callLog(`r${Math.random()}`, user, token, 0, { use_time: 2, ...more });

describe("what a transaction sees", () => {
  test("is what is stored and what its batch has moved", () => {
    expect(batch.user(user)).toEqual({ quota: 1_000, usable: true });
    batch.move(user, -100, token, -40);
    expect([batch.user(user)?.quota, batch.token(token)?.remain_quota]).toEqual([900, 460]);
    batch.charge(user, token, 30);
    expect([batch.user(user)?.quota, batch.token(token)?.remain_quota]).toEqual([870, 430]);
    batch.move(user, 0, token, 0);
    batch.clear();
    expect([batch.user(user)?.quota, batch.token(token)?.remain_quota]).toEqual([1_000, 500]);
    batch.clear();
  });

  test("of an unlimited token is what is stored, whatever is charged", async () => {
    const free = await addToken(fresh.db, user, { unlimited_quota: true, remain_quota: 7 });
    batch.charge(user, free, 30);
    expect(batch.token(free)?.remain_quota).toBe(7);
    batch.clear();
  });

  test("of nobody is nothing", () => {
    expect([batch.user(999_999), batch.token(999_999)]).toEqual([undefined, undefined]);
    batch.clear();
  });

  test("as room for a charge is what is left, what is given back with it, and what was used", async () => {
    expect(batch.room(user, 20, token, 5)).toEqual({ quota: 1_020, used_quota: 10, remain_quota: 505 });
    batch.charge(user, token, 30);
    expect(batch.room(user, 20, token, 5)).toEqual({ quota: 990, used_quota: 40, remain_quota: 475 });
    expect(batch.room(user, 0, 0, 5).remain_quota).toBeUndefined();
    // The first token is one like any other.
    expect(batch.room(user, 0, 1, 5).remain_quota).toBeNumber();
    const free = await addToken(fresh.db, user, { unlimited_quota: true });
    expect(batch.room(user, 0, free, 5).remain_quota).toBeUndefined();
    expect(batch.room(999_999, 20, 999_999, 5)).toEqual({ quota: 20, used_quota: 0, remain_quota: undefined });
    batch.clear();
  });
});

describe("what is written", () => {
  test("of a charge: user and token pay, and the token's use is noted", async () => {
    batch.move(user, -100, token, -100);
    batch.move(user, 100, token, 100);
    batch.charge(user, token, 30);
    batch.charge(user, token, 0);
    batch.write();
    expect(await userOf(fresh.db, user)).toMatchObject({ quota: 970, used_quota: 40, request_count: 2 });
    expect(await tokenOf(fresh.db, token)).toMatchObject({ remain_quota: 470, used_quota: 30, accessed_time: CLOCK });
    // Written once: the next batch begins with nothing.
    batch.write();
    expect(await userOf(fresh.db, user)).toMatchObject({ quota: 970, used_quota: 40, request_count: 2 });
  });

  test("of a hold: what it took, and no use of the token", async () => {
    batch.move(user, -100, token, -70);
    batch.write();
    expect(await userOf(fresh.db, user)).toMatchObject({ quota: 900, used_quota: 10, request_count: 0 });
    expect(await tokenOf(fresh.db, token)).toMatchObject({ remain_quota: 430, used_quota: 0, accessed_time: 0 });
  });

  test("of a single unit, too", async () => {
    batch.move(user, 1, token, 1);
    batch.write();
    expect(await userOf(fresh.db, user)).toMatchObject({ quota: 1_001, request_count: 0 });
    expect(await tokenOf(fresh.db, token)).toMatchObject({ remain_quota: 501 });
  });

  test("of a call without a token: the user alone pays", async () => {
    batch.charge(user, 0, 30);
    batch.write();
    expect(await userOf(fresh.db, user)).toMatchObject({ quota: 970, used_quota: 40, request_count: 1 });
    expect(await tokenOf(fresh.db, token)).toMatchObject({ remain_quota: 500, used_quota: 0 });
  });

  test("of a token that became unlimited: what was held comes back, and nothing is paid", async () => {
    const free = await addToken(fresh.db, user, { unlimited_quota: true, remain_quota: 7 });
    batch.move(user, 50, free, 50);
    batch.charge(user, free, 30);
    batch.write();
    expect(await tokenOf(fresh.db, free)).toMatchObject({ remain_quota: 57, used_quota: 30 });
  });
});

describe("the hours", () => {
  test("add up what one batch and the next have of the same user, token, channel, model, group and hour", async () => {
    const counts = { prompt_tokens: 10, completion_tokens: 5 };
    batch.count(log({ created_at: HOUR, ...counts }), user, token, 100);
    batch.count(log({ created_at: HOUR + 3_599, ...counts, username: "later name" }), user, token, 11);
    batch.write();
    const one = { hour: HOUR, user_id: user, token_id: token, channel: 1, model_name: "gpt-4o", group: "default" };
    expect(await hours()).toMatchObject([
      { ...one, count: 2, quota: 111, prompt_tokens: 20, completion_tokens: 10, use_time: 4, username: `u${user}` },
    ]);
    batch.count(
      log({ created_at: HOUR + 1, prompt_tokens: 1, completion_tokens: 2, use_time: 3, username: "new" }),
      user,
      token,
      7,
    );
    batch.write();
    expect(await hours()).toMatchObject([
      { ...one, count: 3, quota: 118, prompt_tokens: 21, completion_tokens: 12, use_time: 7, username: "new" },
    ]);
  });

  test("keep apart what differs in any of these", async () => {
    const base = { created_at: HOUR };
    batch.count(log(base), user, token, 1);
    batch.count(log({ created_at: HOUR + 3_600 }), user, token, 2);
    batch.count(log(base), user, 0, 4);
    batch.count(log({ ...base, channel: 2 }), user, token, 8);
    batch.count(log({ ...base, model_name: "m" }), user, token, 16);
    batch.count(log({ ...base, group: "vip" }), user, token, 32);
    batch.write();
    const rows = await hours();
    expect(rows.map(({ quota }) => quota).sort((a, b) => a - b)).toEqual([1, 2, 4, 8, 16, 32]);
    expect(rows.every(({ count, hour }) => count === 1 && hour % 3_600 === 0)).toBe(true);
  });

  test("take what a row does not say as nothing", async () => {
    const { request_id, created_at } = log({ created_at: HOUR });
    batch.count({ request_id, created_at, user_id: user, token_id: token, quota: 5 }, user, token, 5);
    batch.write();
    expect(await hours()).toMatchObject([
      {
        channel: 0,
        model_name: "",
        group: "",
        username: "",
        count: 1,
        quota: 5,
        prompt_tokens: 0,
        completion_tokens: 0,
        use_time: 0,
      },
    ]);
  });

  test("that are over are summed again when something is counted in them", async () => {
    const { meta } = fresh.db.t;
    const mark = async (): Promise<number> => {
      const [row] = await fresh.db.q.select().from(meta).where(eq(meta.name, SUMMED_UNTIL));
      return Number(row?.value);
    };
    const put = async (value: number): Promise<void> => {
      await fresh.db.q.delete(meta).where(eq(meta.name, SUMMED_UNTIL)).returning();
      await fresh.db.q
        .insert(meta)
        .values({ name: SUMMED_UNTIL, value: String(value) })
        .returning();
    };
    await put(HOUR);
    batch.count(log({ created_at: HOUR }), user, token, 1);
    batch.write();
    expect(await mark()).toBe(HOUR);
    // The mark is never beyond this hour by itself: were it, the running hour would leave it alone.
    await put(HOUR + 7_200);
    batch.count(log({ created_at: HOUR }), user, token, 1);
    batch.write();
    expect(await mark()).toBe(HOUR + 7_200);
    await put(HOUR);
    batch.count(log({ created_at: HOUR - 1 }), user, token, 1);
    batch.write();
    expect(await mark()).toBe(HOUR - 3_600);
  });
});

test("channels add up what was charged by them; no channel and nothing charged are none", async () => {
  const { channels } = fresh.db.t;
  const used = async () =>
    Object.fromEntries((await fresh.db.q.select().from(channels)).map(({ id, used_quota }) => [id, used_quota]));
  const before = await used();
  batch.count(log({ channel: 1 }), user, token, 100);
  batch.count(log({ channel: 1 }), user, token, 20);
  batch.count(log({ channel: 2 }), user, token, 1);
  batch.count(log({ channel: 2 }), user, token, 0);
  batch.count(log({ channel: 0 }), user, token, 7);
  batch.write();
  expect(await used()).toEqual({ 1: (before[1] ?? 0) + 120, 2: (before[2] ?? 0) + 1 });
});
