/** Limits that instances share through Postgres, without Redis: each instance a counter with connections of its own. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import pino from "pino";
import { localCounter } from "../../src/server/cluster/local";
import { forgetWindows, postgresCounter } from "../../src/server/cluster/postgres-counter";
import type { Counter, Demand } from "../../src/server/cluster/types";
import type { Caller } from "../../src/server/contracts/caller";
import { WALLET } from "../../src/server/contracts/ledger";
import { openDb } from "../../src/server/db/client";
import type { Connections } from "../../src/server/db/connection-types";
import type { Db } from "../../src/server/db/types";
import { createLimits } from "../../src/server/features/limit/rate-limiter";
import { createSpendStore } from "../../src/server/features/limit/spend";
import { createAdmit } from "../../src/server/features/wallet/admission";
import { createPostgresLedger } from "../../src/server/features/wallet/ledger.pg";
import { defaultValue } from "../../src/shared/options";
import { type FreshDatabase, freshPostgres } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { addToken, addUser, clock, expectBalanced } from "../money/world";

const INSTANCES = 8;

let fresh: FreshDatabase;
const pools: Db[] = [];
const instances: Counter[] = [];
const clientOf = (db: Db): Connections => db.driver.postgres ?? expect.unreachable("not Postgres");
const counter = (client: Connections, instanceId: string): Counter =>
  postgresCounter({ client, instanceId, local: localCounter(Date.now) });

beforeAll(async () => {
  fresh = await freshPostgres(2);
  pools.push(...(await Promise.all(Array.from({ length: INSTANCES }, () => openDb({ url: fresh.url, pool: 2 })))));
  instances.push(...pools.map((db, i) => counter(clientOf(db), `i${i}`)));
}, 2 * HOOK_MS);
afterAll(async () => {
  for (const one of instances) await one.close();
  for (const db of pools) await db.close();
  await fresh.close();
});

const rule = (key: string, amount: number, limit: number, window_seconds = 60): Demand => ({
  key,
  amount,
  limit,
  window_seconds,
});
const gauge = (key: string, limit: number, amount = 1): Demand => rule(key, amount, limit, 0);
const instance = (i: number): Counter => instances[i % INSTANCES] ?? expect.unreachable("no instance");
/** So many requests at once, in turn over all instances. */
const burst = (times: number, ...demands: Demand[]) =>
  Promise.all(Array.from({ length: times }, (_, i) => instance(i).reserve(demands)));
const granted = <T extends { refused: number }>(answers: readonly T[]): T[] => answers.filter((one) => one.refused < 0);
const left = async (on: Counter, demand: Demand) => (await on.reserve([{ ...demand, amount: 0 }])).states[0]?.remaining;

/** Waits until an instance sees so much left. */
async function untilLeft(on: Counter, demand: Demand, wanted: number): Promise<void> {
  for (const end = performance.now() + 10_000; (await left(on, demand)) !== wanted && performance.now() < end;)
    await Bun.sleep(5);
  expect(await left(on, demand)).toBe(wanted);
}

test("eight instances let 100 requests a minute through, never 101", async () => {
  for (let round = 0; round < 5; round++)
    expect(granted(await burst(400, rule(`rpm-${round}`, 1, 100)))).toHaveLength(100);
  expect(granted(await burst(80, rule("rpm-0", 1, 100)))).toHaveLength(0);
});

test("ends of calls far below their limit travel with the next request, or alone a moment later; near it at once", async () => {
  const pool = clientOf(pools[0] ?? expect.unreachable("no pool"));
  let statements = 0;
  const one = counter({ ...pool, unsafe: (...of) => (statements++, pool.unsafe(...of)) }, "ends");
  const [wide, narrow] = [gauge("ends-wide", 100), gauge("ends-narrow", 10)];
  for (let call = 0; call < 10; call++) (await one.reserve([wide])).end([1]);
  expect(statements).toBeLessThanOrEqual(12);
  await untilLeft(instance(1), wide, 100);
  const [first, second] = [await one.reserve([narrow]), await one.reserve([wide])];
  statements = 0;
  second.end([1]);
  await Bun.sleep(0);
  expect(statements).toBe(0);
  first.end([1]);
  await Bun.sleep(0);
  expect(statements).toBe(1);
  await untilLeft(instance(1), narrow, 10);
  await one.close();
});

test("eight instances admit 100 calls of a token's limit and hold for those alone, and a budget is never passed", async () => {
  const silent = pino({ level: "silent" });
  const options = { get: defaultValue };
  const admits = pools.map((db, i) => {
    const ledger = createPostgresLedger(db, clientOf(db), `i${i}`, clock);
    const spend = createSpendStore({ db, log: silent });
    const limits = createLimits({ cluster: { counter: instance(i) }, options, now: clock, spend });
    return { ledger, admit: createAdmit({ limits, ledger: { ...ledger, later: async () => undefined }, log: silent }) };
  });
  const { ledger } = admits[0] ?? expect.unreachable("no instance");
  const admitted = async (limits: Partial<Caller>): Promise<{ user_id: number; codes: string[] }> => {
    const user_id = await addUser(fresh.db, ledger, 1_000_000);
    const token_id = await addToken(fresh.db, user_id, { unlimited_quota: true });
    const names = { username: "ann", token_name: "t", user_group: "default", group: "default" };
    const caller: Caller = {
      user_id,
      token_id,
      ...names,
      role: 1,
      rpm: 0,
      tpm: 0,
      concurrency: 0,
      lang: "en",
      ...limits,
    };
    const outcomes = await Promise.all(
      Array.from({ length: 160 }, (_, i) => {
        const request_id = `admit-${user_id}-${i}`;
        return (admits[i % INSTANCES] as (typeof admits)[number]).admit({
          caller,
          limits: { model: "gpt-4o", tokens: 10, units: 30 },
          hold: { request_id, user_id, token_id, sources: WALLET, amount: 30, draft: "{}" },
        });
      }),
    );
    return { user_id, codes: outcomes.flatMap((one) => (one.granted ? [] : [one.by === "limit" ? one.code : one.by])) };
  };
  const hurried = await admitted({ rpm: 100 });
  expect(hurried.codes).toEqual(Array(60).fill("rate_limited_requests"));
  expect(await expectBalanced(fresh.db, hurried.user_id)).toMatchObject({ held: 100 * 30 });
  const thrifty = await admitted({ budget_day: 1_000, concurrency: 50 });
  expect(160 - thrifty.codes.length).toBeLessThanOrEqual(33);
  expect(await expectBalanced(fresh.db, thrifty.user_id)).toMatchObject({ held: (160 - thrifty.codes.length) * 30 });
}, 60_000);

test("several limits are taken in one step by all instances, all or nothing", async () => {
  const demands = [rule("r", 1, 100), rule("t", 10, 250), gauge("g", 40)];
  const answers = await burst(60, ...demands);
  expect(granted(answers)).toHaveLength(25);
  expect(answers.filter(({ refused }) => refused === 1)).toHaveLength(35);
  expect(await left(instance(1), rule("r", 1, 100))).toBe(75); // a refusal took nothing
  for (const one of granted(answers)) {
    one.end([1, 4, 0]);
    one.end([1, 4, 0]);
  }
  await untilLeft(instance(3), rule("t", 0, 250), 250 - 25 * 4);
  await untilLeft(instance(3), gauge("g", 40), 40);
  expect(await left(instance(5), rule("r", 0, 100))).toBe(75);
});

test("as many calls run at once as the limit says, and as many again when they have ended", async () => {
  for (let round = 0; round < 3; round++) {
    const answers = granted(await burst(40, gauge("calls", 7)));
    expect(answers).toHaveLength(7);
    for (const one of answers) one.end([0]);
    await untilLeft(instance(round), gauge("calls", 7), 7);
  }
});

test("an instance that asks again at once finds free what its own call has just left", async () => {
  for (let call = 0; call < 20; call++) {
    const one = await instance(0).reserve([gauge("own", 1)]);
    expect(one.refused).toBe(-1);
    one.end([0]);
  }
});

test("a window ends by the database's clock, and a correction after its end leaves the next one alone", async () => {
  const [late] = await burst(1, rule("short", 90, 100, 1));
  expect(granted(await burst(1, rule("short", 20, 100, 1)))).toHaveLength(0);
  await Bun.sleep(1_050);
  expect(granted(await burst(1, rule("short", 20, 100, 1)))).toHaveLength(1);
  late?.end([0]);
  expect(await left(instance(0), rule("short", 0, 100, 1))).toBe(80);
});

interface Call {
  on: number;
  amount: number;
  /** What its window counts after its end. */
  used: number;
  granted: boolean;
  /** Places in the order of all events; Infinity while it has not come to that. */
  asked: number;
  answered: number;
  ended: number;
}

const HISTORIES = 30;
const CALLERS = 9;
const LIMITS = { tokens: 60, calls: 4 };

/** Callers on three instances that ask, wait a little and end, and what is counted when all have ended. */
async function history(name: string, random: () => number): Promise<{ calls: Call[]; left: (number | undefined)[] }> {
  const calls: Call[] = [];
  let events = 0;
  const demands = (amount: number, at_once = 1): Demand[] => [
    rule(`${name}-t`, amount, LIMITS.tokens, 3600),
    gauge(`${name}-c`, LIMITS.calls, at_once),
  ];
  const caller = async (_: unknown, i: number): Promise<void> => {
    for (let n = 0; n < 3; n++) {
      const amount = 1 + Math.floor(random() * 6);
      const call: Call = {
        on: i % 3,
        amount,
        used: Math.floor(random() * 8),
        granted: false,
        asked: ++events,
        answered: Infinity,
        ended: Infinity,
      };
      calls.push(call);
      const answer = await instance(call.on).reserve(demands(amount));
      call.answered = ++events;
      call.granted = answer.refused < 0;
      await Bun.sleep(random() * 4);
      call.ended = ++events;
      answer.end([call.used, 0]);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  for (let i = 0; i < 3; i++) await untilLeft(instance(i), gauge(`${name}-c`, LIMITS.calls), LIMITS.calls);
  const { states } = await instance(0).reserve(demands(0, 0));
  return { calls, left: states.map(({ remaining }) => remaining) };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

test("histories on three instances are explained in both directions: nothing too much is granted, and nothing refused that fits", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  let state = seed;
  const random = (): number => (state = (state * 48_271 + 11) % 2_147_483_647) / 2_147_483_647;
  let refusals = 0;
  for (let h = 0; h < HISTORIES; h++) {
    const { calls, left } = await history(`history-${h}`, random);
    const granted = calls.filter((call) => call.granted);
    for (const { asked, answered, amount, granted: let_in, on } of calls) {
      const what = JSON.stringify({ seed, h, calls });
      if (let_in) {
        // What surely counted when the last of those that were let in by then was.
        const before = granted.filter((call) => call.answered <= answered);
        const running = before.filter((call) => call.ended > answered);
        const least = before.map((call) => (call.ended < answered ? Math.min(call.amount, call.used) : call.amount));
        if (running.length > LIMITS.calls || sum(least) > LIMITS.tokens) throw new Error(`too much: ${what}`);
      } else {
        refusals++;
        // What may have counted: an end on its own instance was said before it was asked.
        const before = granted.filter((call) => call.asked < answered);
        const running = before.filter((call) => !(call.on === on && call.ended < asked));
        const most = before.map((call) => (call.ended < answered ? Math.max(call.amount, call.used) : call.amount));
        if (running.length + 1 <= LIMITS.calls && sum(most) + amount <= LIMITS.tokens)
          throw new Error(`too little: ${what}`);
      }
    }
    expect([seed, h, ...left]).toEqual([
      seed,
      h,
      Math.max(0, LIMITS.tokens - sum(granted.map(({ used }) => used))),
      LIMITS.calls,
    ]);
  }
  expect(refusals).toBeGreaterThan(HISTORIES);
}, 120_000);

/** Loses the answer to the next statements, which are committed. */
function lossy(client: Connections) {
  const over = { losing: 0 };
  const connections: Connections = {
    ...client,
    unsafe: ((text: string, values: unknown[]) => {
      const answered = client.unsafe(text, values);
      if (over.losing-- <= 0) return answered;
      return answered.then(() =>
        Promise.reject(Object.assign(new Error("lost"), { code: "ERR_POSTGRES_CONNECTION_CLOSED" })),
      );
    }) as typeof client.unsafe,
  };
  return { over, connections };
}

test("an answer that was lost is asked for again: a call counts once among those at once, and a window never less", async () => {
  const { over, connections } = lossy(clientOf(fresh.db));
  const shaky = counter(connections, "shaky");
  over.losing = 1;
  const one = await shaky.reserve([gauge("lost", 5), rule("lost-rpm", 1, 5)]);
  expect(one.refused).toBe(-1);
  expect(await left(instance(0), gauge("lost", 5))).toBe(4);
  expect(await left(instance(0), rule("lost-rpm", 0, 5))).toBe(3);
  one.end([0, 1]);
  await untilLeft(instance(0), gauge("lost", 5), 5);
  await shaky.close();
});

test("where the database does not answer a request is refused with its error, and what it may have taken is given back", async () => {
  const { over, connections } = lossy(clientOf(fresh.db));
  const shaky = counter(connections, "given-up");
  over.losing = 3;
  await expect(shaky.reserve([gauge("gone", 5)])).rejects.toThrow("lost");
  await untilLeft(instance(0), gauge("gone", 5), 5);
  await shaky.close();
});

test("a crash of the server forgets counters, and running calls are counted again with the next batch", async () => {
  const [first] = await burst(1, gauge("crash", 3), rule("crash-rpm", 3, 3));
  await clientOf(fresh.db).unsafe("TRUNCATE limit_windows, limit_leases"); // what a crash does to unlogged tables
  expect(await left(instance(1), rule("crash-rpm", 0, 3))).toBe(3);
  expect(granted(await burst(1, gauge("crash", 3)))).toHaveLength(1);
  expect(await left(instance(1), gauge("crash", 3))).toBe(1);
  first?.end([0, 3]);
  await untilLeft(instance(1), gauge("crash", 3), 2);
});

test("what is over is dropped, and what counts stays", async () => {
  const client = clientOf(fresh.db);
  await client.unsafe("TRUNCATE limit_windows, limit_leases");
  const [busy] = await burst(1, gauge("stays", 3), rule("stays-rpm", 1, 3));
  const [over] = await burst(1, gauge("goes", 3), rule("goes-rpm", 1, 3, 1));
  over?.end([0, 1]);
  await Bun.sleep(1_050);
  await left(instance(0), gauge("goes", 3));
  await forgetWindows(client);
  const keys = await client.unsafe<{ key: string }>(
    "SELECT key FROM limit_windows UNION SELECT key FROM limit_leases ORDER BY 1",
  );
  expect(keys.map(({ key }) => key)).toEqual(["stays", "stays-rpm"]);
  busy?.end([0, 1]);
});

test("no batch scans a table, however small it was when its plans were made", async () => {
  const own = await freshPostgres(1); // scans of a connection are counted beyond its transaction
  const scanned = await clientOf(own.db).begin(async (tx) => {
    const list = (length: number, of: (i: number) => string | number) =>
      `{${Array.from({ length }, (_, i) => of(i)).join(",")}}`;
    for (let batch = 1; batch <= 3; batch++)
      await tx.unsafe("SELECT limits_batch_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)", [
        "scan",
        batch,
        list(40, (i) => `scan-${i}`),
        list(40, (i) => (i % 2 ? 60_000 : 0)),
        list(40, () => 0),
        "{}",
        "{}",
        "{}",
        list(40, (i) => i),
        list(40, (i) => i + 1),
        list(40, () => 1),
        list(40, () => 100),
      ]);
    return tx.unsafe<{ relname: string }[]>(
      "SELECT relname FROM pg_class WHERE relname IN ('limit_windows', 'limit_leases') AND pg_stat_get_xact_numscans(oid) > 0",
    );
  });
  expect([...scanned]).toEqual([]);
  await own.close();
});

test("an address that asks too often costs the database nothing", async () => {
  const { over, connections } = lossy(clientOf(fresh.db));
  over.losing = 1;
  const guarded = counter(connections, "guarded");
  expect((await guarded.take("api:1", 1, 1, 60)).allowed).toBe(true);
  expect((await guarded.take("api:1", 1, 1, 60)).allowed).toBe(false);
  expect(over.losing).toBe(1);
});
