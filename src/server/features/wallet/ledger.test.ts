/** The limits of what each verb takes and gives, and that it touches no other user; other guarantees: tests/money. */
import { afterAll, afterEach, beforeAll, describe, expect, mock, spyOn, test } from "bun:test";
import { eq, inArray } from "drizzle-orm";
import { ENGINES, type FreshDatabase, freshDatabase } from "../../../../tests/kit/databases";
import { HOOK_MS } from "../../../../tests/kit/harness";
import { addToken, addUser, callLog, calls, clock, NOON, tokenOf, userOf } from "../../../../tests/money/world";
import { UNITS_LIMIT } from "../../../shared/quota";
import type { Connections } from "../../db/connection-types";
import { type Ledger, WALLET } from "../../contracts/ledger";
import { createPostgresLedger } from "./ledger.pg";
import { createLedger } from "./open-ledger";

describe.each(ENGINES)("the ledger on %s", (engine) => {
  let fresh: FreshDatabase;
  let ledger: Ledger;
  beforeAll(async () => {
    fresh = await freshDatabase(engine);
    ledger = createLedger(fresh.db, "instance-a", clock);
  }, HOOK_MS);
  afterAll(() => fresh.close());
  let names = 0;
  const id = (): string => `border-${engine}-${++names}`;

  test("a hold takes at most what user and token have, to the unit", async () => {
    const user = await addUser(fresh.db, ledger, 100);
    const token = await addToken(fresh.db, user, { remain_quota: 100 });
    const { hold } = calls(ledger, user, token);
    expect(await hold(id(), 101)).toMatchObject({ ok: false });
    expect(await hold(id(), 100)).toEqual({ ok: true });
    expect([(await userOf(fresh.db, user)).quota, (await tokenOf(fresh.db, token)).remain_quota]).toEqual([0, 0]);
  });

  test("an extend takes at most what is left, to the unit", async () => {
    const user = await addUser(fresh.db, ledger, 100);
    const token = await addToken(fresh.db, user, { remain_quota: 100 });
    const { hold } = calls(ledger, user, token);
    const request = id();
    await hold(request, 40);
    expect(await ledger.extend(request, 61, 5)).toBe(false);
    expect(await ledger.extend(request, 60, 5)).toBe(true);
    expect([(await userOf(fresh.db, user)).quota, (await tokenOf(fresh.db, token)).remain_quota]).toEqual([0, 0]);
  });

  test("a token is valid until the second in which it expires", async () => {
    const user = await addUser(fresh.db, ledger, 100);
    const ask = async (expired_time: number) =>
      calls(ledger, user, await addToken(fresh.db, user, { unlimited_quota: true, expired_time })).hold(id(), 1);
    expect([(await ask(NOON)).ok, (await ask(NOON + 1)).ok, (await ask(-1)).ok]).toEqual([false, true, true]);
  });

  test("one user's calls change no other user's balance, and no other token's", async () => {
    const { db } = fresh;
    const bystander = await addUser(db, ledger, 1000);
    const his = await addToken(db, bystander, { remain_quota: 500 });
    const held = id();
    await calls(ledger, bystander, his).hold(held, 100);
    const user = await addUser(db, ledger, 1000);
    const [token, other] = [
      await addToken(db, user, { remain_quota: 500 }),
      await addToken(db, user, { remain_quota: 500 }),
    ];
    const untouched = async () => [
      await userOf(db, bystander),
      await tokenOf(db, his),
      await tokenOf(db, other),
      await db.q.select().from(db.t.holds).where(eq(db.t.holds.request_id, held)),
    ];
    const before = await untouched();
    const { hold, settle } = calls(ledger, user, token);
    for (const end of [(request: string) => settle(request, 30), (request: string) => ledger.release(request)]) {
      const request = id();
      await hold(request, 50);
      await ledger.extend(request, 20, 7);
      await end(request);
      await settle(request, 11);
    }
    // A settle without a hold, a release and an extend of what is not there.
    await settle(id(), 9);
    await ledger.release(id());
    await ledger.extend(id(), 5, 5);
    await hold(id(), 5_000);
    expect(await untouched()).toEqual(before);
    expect((await userOf(db, user)).used_quota).toBe(30 + 11 + 9);
  });

  // SQLite writes the rows of 21 together, by 16, 4 and 1.
  test.each([21, 1])(
    "of %i calls that end at once, one that was charged before is not charged again",
    async (count) => {
      const { db } = fresh;
      const user = await addUser(db, ledger, 10_000);
      const { hold, settle } = calls(ledger, user, 0);
      const requests = Array.from({ length: count }, id);
      const [twice = ""] = requests;
      await hold(twice, 50);
      await settle(twice, 1_000);
      await Promise.all(requests.map((request) => hold(request, 50)));
      const results = await Promise.all(requests.map((request, i) => settle(request, i + 1)));
      expect(results.map(({ settled }) => settled)).toEqual(requests.map((request) => request !== twice));
      const rows = await db.q.select().from(db.t.logs).where(inArray(db.t.logs.request_id, requests));
      expect(new Map(rows.map((row) => [row.request_id, row.quota]))).toEqual(
        new Map(requests.map((request, i) => [request, request === twice ? 1_000 : i + 1])),
      );
      const charged = rows.reduce((sum, row) => sum + row.quota, 0);
      const { quota, used_quota, request_count } = await userOf(db, user);
      expect([quota, used_quota, request_count]).toEqual([10_000 - charged, charged, count]);
    },
  );

  test("a hold taken again at once with the end of the first is the one that counts", async () => {
    const user = await addUser(fresh.db, ledger, 100);
    const { hold, settle } = calls(ledger, user, 0);
    const request = id();
    await settle(request, 0);
    await hold(request, 0);
    await Promise.all([settle(request, 0), hold(request, 1)]);
    const { holds } = fresh.db.t;
    const [held] = await fresh.db.q.select().from(holds).where(eq(holds.request_id, request));
    expect((await userOf(fresh.db, user)).quota + (held?.amount ?? 0)).toBe(100);
  });

  test("a charge that would overflow a total is cut to the maximum", async () => {
    const { db } = fresh;
    const user = await addUser(db, ledger, 1000);
    await db.q
      .update(db.t.users)
      .set({ used_quota: UNITS_LIMIT - 5 })
      .where(eq(db.t.users.id, user))
      .returning();
    const request = id();
    expect(await calls(ledger, user, 0).settle(request, 100)).toEqual({ settled: true, hold_missing: true });
    const [row] = await db.q.select().from(db.t.logs).where(eq(db.t.logs.request_id, request));
    expect([row?.quota, (await userOf(db, user)).used_quota, (await userOf(db, user)).quota]).toEqual([
      5,
      UNITS_LIMIT,
      995,
    ]);
  });

  test("no verb accepts an invalid amount of units", async () => {
    const user = await addUser(fresh.db, ledger, 1000);
    const request = id();
    await calls(ledger, user, 0).hold(request, 10);
    const base = { request_id: id(), user_id: user, token_id: 0, sources: WALLET, draft: "{}" };
    for (const amount of [-1, 0.5, Number.NaN]) {
      await expect(ledger.hold({ ...base, amount })).rejects.toBeInstanceOf(RangeError);
      await expect(ledger.hold({ ...base, amount: 1, least: amount })).rejects.toBeInstanceOf(RangeError);
      await expect(ledger.hold({ ...base, amount, least: 1 })).rejects.toBeInstanceOf(RangeError);
      await expect(ledger.extend(request, amount, 0)).rejects.toBeInstanceOf(RangeError);
      await expect(ledger.extend(request, 0, amount)).rejects.toBeInstanceOf(RangeError);
    }
    expect((await userOf(fresh.db, user)).quota).toBe(990);
  });

  test("a flush waits for a single verb as well", async () => {
    const user = await addUser(fresh.db, ledger, 1000);
    let answered = false;
    const asked = calls(ledger, user, 0)
      .hold(id(), 10)
      .then(() => (answered = true));
    expect(ledger.queued()).toBe(1);
    await ledger.flush();
    expect(ledger.queued()).toBe(0);
    await asked;
    expect(answered).toBe(true);
  });
});

describe("a Postgres that fails for a moment", () => {
  let fresh: FreshDatabase;
  let user: number;
  beforeAll(async () => {
    fresh = await freshDatabase("postgres");
    user = await addUser(fresh.db, createLedger(fresh.db, "a", clock), 1_000);
  }, HOOK_MS);
  afterEach(() => mock.restore());
  afterAll(() => fresh.close());

  /** A ledger whose first statements fail, with the number of attempts, their timeouts, and the waits between them. */
  function failing(times: number, error: object) {
    const real = fresh.db.driver.postgres ?? expect.unreachable("not Postgres");
    const limits: number[] = [];
    const pauses: number[] = [];
    let asked = 0;
    const over = (connections: Connections): Connections => ({
      ...connections,
      unsafe: ((...args: Parameters<typeof real.unsafe>) => {
        if (++asked <= times) throw Object.assign(new Error("failed"), error);
        return connections.unsafe(...args);
      }) as typeof real.unsafe,
      within: (limit, ms = 0) => {
        limits.push(ms);
        return over(connections.within(limit, ms));
      },
    });
    spyOn(Math, "random").mockReturnValue(0.25);
    spyOn(Bun, "sleep").mockImplementation((async (ms: number) => void pauses.push(ms)) as typeof Bun.sleep);
    const ledger = createPostgresLedger(fresh.db, over(real), "a", clock);
    return { ...calls(ledger, user, 0), limits, pauses, asked: () => asked };
  }
  const DEADLOCK = { code: "ERR_POSTGRES_SERVER_ERROR", errno: "40P01" };
  const AWAY = { code: "database_unavailable" };

  test.each([
    ["a deadlock", DEADLOCK],
    ["a connection that is away", AWAY],
  ])("is retried after %s, five times, with growing waits and ten seconds in all", async (name, error) => {
    const { hold, limits, pauses, asked } = failing(5, error);
    expect(await hold(`again after ${name}`, 10)).toEqual({ ok: true });
    expect(asked()).toBe(6);
    expect(pauses).toEqual([7.5, 15, 30, 60, 120]);
    expect(limits).toHaveLength(5);
    for (const ms of limits) expect(ms).toBeWithin(5_000, 10_001);
  });

  test("is given up after six attempts", async () => {
    const { hold, asked } = failing(6, DEADLOCK);
    await expect(hold("given-up", 10)).rejects.toMatchObject({ errno: "40P01" });
    expect(asked()).toBe(6);
  });

  test("is given up when its ten seconds are over", async () => {
    const real = performance.now.bind(performance);
    let ahead = 0;
    spyOn(performance, "now").mockImplementation(() => real() + (ahead += 4_000));
    const { hold, asked } = failing(6, DEADLOCK);
    await expect(hold("too-late", 10)).rejects.toMatchObject({ errno: "40P01" });
    expect(asked()).toBeWithin(2, 4);
  });

  test("is not retried after an error that a retry cannot fix", async () => {
    const { hold, asked, pauses } = failing(1, { code: "ERR_POSTGRES_SERVER_ERROR", errno: "42703" });
    await expect(hold("no-such-column", 10)).rejects.toMatchObject({ errno: "42703" });
    expect([asked(), pauses]).toEqual([1, []]);
  });

  test("a retried settle charges once", async () => {
    const { settle } = failing(2, DEADLOCK);
    const before = await userOf(fresh.db, user);
    expect(await settle("settled-again", 10)).toMatchObject({ settled: true });
    expect((await userOf(fresh.db, user)).used_quota).toBe(before.used_quota + 10);
    const [row] = await fresh.db.q
      .select()
      .from(fresh.db.t.logs)
      .where(eq(fresh.db.t.logs.request_id, "settled-again"));
    expect(row).toMatchObject({ ...callLog("settled-again", user, 0, 10) });
  });
});
