/** Limits that instances share through Postgres, without Redis: each instance a counter with connections of its own. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import pino from "pino";
import { localCounter } from "../../src/server/cluster/local";
import { forgetWindows, postgresCounter } from "../../src/server/cluster/postgres-counter";
import type { Counter, Demand } from "../../src/server/cluster/types";
import type { Admit } from "../../src/server/contracts/admission";
import type { Caller } from "../../src/server/contracts/caller";
import { type LateEnd, type Ledger, WALLET } from "../../src/server/contracts/ledger";
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
import { addToken, addUser, calls, clock, expectBalanced } from "../money/world";

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

const silent = pino({ level: "silent" });

/** The admission of an instance; `ended` has the holds that it is to end later. */
function admission(db: Db, instanceId: string, counters: Counter, client: Connections = clientOf(db)) {
  const ended: LateEnd[] = [];
  const ledger = createPostgresLedger(db, client, instanceId, clock);
  const spend = createSpendStore({ db, log: silent });
  const limits = createLimits({ cluster: { counter: counters }, options: { get: defaultValue }, now: clock, spend });
  const admit = createAdmit({ limits, ledger: { ...ledger, later: async (end) => void ended.push(end) }, log: silent });
  return { ledger, admit, ended };
}

/** A caller with `quota` units whose token has `remain_quota`, and the request of a call that holds 30. */
async function newCaller(ledger: Ledger, own: Partial<Caller>, quota = 1_000_000, remain_quota?: number) {
  const user_id = await addUser(fresh.db, ledger, quota);
  const purse = remain_quota === undefined ? { unlimited_quota: true } : { remain_quota };
  const token_id = await addToken(fresh.db, user_id, purse);
  const names = { username: "ann", token_name: "t", user_group: "default", group: "default" };
  const none = { role: 1, rpm: 0, tpm: 0, concurrency: 0, lang: "en" } as const;
  const caller: Caller = { user_id, token_id, ...names, ...none, ...own };
  const asking = (name: number | string) => ({
    caller,
    limits: { model: "gpt-4o", tokens: 10, units: 30 },
    hold: { request_id: `admit-${user_id}-${name}`, user_id, token_id, sources: WALLET, amount: 30, draft: "{}" },
  });
  return { user_id, token_id, asking };
}

test("eight instances admit 100 calls of a token's limit and hold for those alone, and a budget is never passed", async () => {
  const admits = pools.map((db, i) => admission(db, `i${i}`, instance(i)));
  const { ledger } = admits[0] ?? expect.unreachable("no instance");
  const admitted = async (own: Partial<Caller>): Promise<{ user_id: number; codes: string[] }> => {
    const { user_id, asking } = await newCaller(ledger, own);
    const outcomes = await Promise.all(
      Array.from({ length: 160 }, (_, i) => (admits[i % INSTANCES] as (typeof admits)[number]).admit(asking(i))),
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

/** An instance whose statements are counted, and whose next answers may be lost after their commit. */
function lone(name: string, db = fresh.db) {
  const { over, connections } = lossy(clientOf(db));
  const texts: string[] = [];
  const client: Connections = {
    ...connections,
    unsafe: ((text: string, values: unknown[]) => (
      texts.push(/\w+_1(?=\()|INTO holds|DELETE/.exec(text)?.[0] ?? text),
      connections.unsafe(text, values)
    )) as typeof connections.unsafe,
  };
  client.within = () => client;
  const counters = counter(client, name);
  return { over, texts, counters, ...admission(db, name, counters, client) };
}

test("limits and hold of a call that is alone are one statement, and its end is told to the limits by the next", async () => {
  const { texts, counters, ledger, admit } = lone("alone");
  const { user_id, asking } = await newCaller(ledger, { rpm: 1000, tpm: 1000, concurrency: 100 }, 1000, 500);
  for (let call = 0; call < 3; call++) {
    texts.length = 0;
    const one = await admit(asking(call));
    expect([one, texts]).toMatchObject([{ granted: true, held: undefined }, ["admit_1"]]);
    if (one.granted) void one.limits?.end({ tokens: 4, success: true, units: 30 });
    await ledger.release(`admit-${user_id}-${call}`);
  }
  expect(await expectBalanced(fresh.db, user_id)).toMatchObject({ quota: 1000, held: 0 });
  // The ends of the first two were said by the second and third: 4 tokens each and 10 that are held.
  const after = await admit(asking("last"));
  expect(after).toMatchObject({
    limits: { tokens: { remaining: 1000 - 3 * 4 - 10 }, requests: { remaining: 1000 - 4 } },
  });
  expect(await expectBalanced(fresh.db, user_id)).toMatchObject({ quota: 970, held: 30 });
  await counters.close();
});

test("what the one statement refuses holds nothing: by a limit, by the balance, by the token", async () => {
  const { counters, ledger, admit, ended } = lone("refusing");
  const limited = await newCaller(ledger, { rpm: 1 });
  expect(await admit(limited.asking(1))).toMatchObject({ granted: true });
  expect(await admit(limited.asking(2))).toMatchObject({ by: "limit", code: "rate_limited_requests" });
  expect(await expectBalanced(fresh.db, limited.user_id)).toMatchObject({ held: 30 });

  const poor = await newCaller(ledger, { concurrency: 1 }, 20);
  expect(await admit(poor.asking(1))).toMatchObject({ by: "ledger", reason: "user_quota", balance: 20 });
  const short = await newCaller(ledger, { concurrency: 1 }, 1000, 20);
  expect(await admit(short.asking(1))).toMatchObject({ by: "ledger", reason: "token_quota", balance: 20 });
  for (const { user_id, asking } of [poor, short]) {
    // Its place among the calls at once was given back.
    for (let call = 2; call < 4; call++)
      expect([call, await admit(asking(call))]).toMatchObject([call, { by: "ledger" }]);
    expect(await expectBalanced(fresh.db, user_id)).toMatchObject({ held: 0 });
  }
  expect(ended).toEqual([]);
  await counters.close();
});

test("a lost answer to the one statement holds once and counts at least once; a call that is refused then has its hold undone", async () => {
  const { over, texts, counters, ledger, admit, ended } = lone("losing");
  const { user_id, asking } = await newCaller(ledger, { rpm: 3, concurrency: 5 });
  over.losing = 1;
  const first = await admit(asking(1));
  expect(first).toMatchObject({ granted: true, limits: { requests: { remaining: 1 } } });
  expect(texts).toEqual(["admit_1", "limits_batch_1", "INTO holds"]);
  expect(await expectBalanced(fresh.db, user_id)).toMatchObject({ held: 30 });
  expect(await left(instance(0), gauge(`calls:token:${asking(1).caller.token_id}`, 5))).toBe(4);

  over.losing = 1; // counted twice, so the limit refuses it
  expect(await admit(asking(2))).toMatchObject({ by: "limit", code: "rate_limited_requests" });
  expect(ended).toEqual([{ undo: asking(2).hold.request_id }]);

  over.losing = 4; // the database is away
  await expect(admit(asking(3))).rejects.toThrow("lost");
  expect(ended).toHaveLength(2);
  await counters.close();
});

test("a user's row that stays locked keeps no other caller's limits waiting", async () => {
  const [stuck, free] = [lone("stuck", pools[0]), lone("free", pools[1])];
  const locked = await newCaller(stuck.ledger, { rpm: 5 });
  const other = await newCaller(stuck.ledger, { rpm: 5 });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: taken, resolve: take } = Promise.withResolvers<void>();
  const holding = clientOf(fresh.db).begin(async (tx) => {
    await tx.unsafe("SELECT 1 FROM users WHERE id = $1 FOR UPDATE", [locked.user_id]);
    take();
    await released;
  });
  await taken;
  const waiting = stuck.admit(locked.asking(1));
  await Bun.sleep(20);
  const began = performance.now();
  for (let call = 1; call <= 3; call++) expect(await free.admit(other.asking(call))).toMatchObject({ granted: true });
  expect(performance.now() - began).toBeLessThan(150);
  // The locked caller's limit is counted by itself meanwhile.
  await untilLeft(instance(1), rule(`rpm:token:${locked.token_id}`, 0, 5), 4);
  release();
  await holding;
  expect(await waiting).toMatchObject({ granted: true });
  expect(await expectBalanced(fresh.db, locked.user_id)).toMatchObject({ held: 30 });
  for (const one of [stuck, free]) await one.counters.close();
});

test("the one statement decides as the two do, whatever came before", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  let state = seed;
  const random = (most: number): number => (state = (state * 48_271 + 11) % 2_147_483_647) % (most + 1);
  const [joint, apart] = [lone("joint"), lone("apart")];
  const own = { rpm: 12, tpm: 90, concurrency: 4 };
  const callers = [await newCaller(joint.ledger, own, 500, 300), await newCaller(joint.ledger, own, 500, 300)];
  const { jointHold: _, ...single } = apart.ledger;
  const limits = createLimits({
    cluster: { counter: apart.counters },
    options: { get: defaultValue },
    now: clock,
    spend: createSpendStore({ db: fresh.db, log: silent }),
  });
  const admits = [
    joint.admit,
    createAdmit({ limits, ledger: { ...single, later: async () => undefined }, log: silent }),
  ] as const;
  const running: { ids: string[]; end(used: number): Promise<unknown> }[] = [];
  for (let step = 0; step < 150; step++) {
    if (random(2) === 0 && running.length > 0) {
      const [one] = running.splice(random(running.length - 1), 1);
      await one?.end(random(20));
      continue;
    }
    const amount = random(90);
    const least = random(amount);
    const tokens = random(25);
    const outcomes: Awaited<ReturnType<Admit>>[] = [];
    const requests = callers.map(({ asking }) => asking(step));
    for (const [i, { caller, hold }] of requests.entries())
      outcomes.push(
        await admits[i === 0 ? 0 : 1]({
          caller,
          limits: { model: "gpt-4o", tokens, units: amount },
          hold: { ...hold, amount, least },
        }),
      );
    const [one, two] = outcomes.map((outcome) => {
      if (outcome.granted) return { held: outcome.held, tokens: outcome.limits?.tokens?.remaining };
      return outcome.by === "outage" ? outcome : { ...outcome, limits: outcome.limits?.requests?.remaining };
    });
    expect<unknown>({ seed, step, ...one }).toEqual({ seed, step, ...two });
    if (!outcomes.every(({ granted }) => granted)) continue;
    running.push({
      ids: requests.map(({ hold }) => hold.request_id),
      async end(used) {
        for (const outcome of outcomes)
          if (outcome.granted) void outcome.limits?.end({ tokens: used, success: true, units: 0 });
        for (const id of this.ids) await joint.ledger.release(id);
      },
    });
  }
  const [first, second] = await Promise.all(callers.map(({ user_id }) => expectBalanced(fresh.db, user_id)));
  expect<unknown>(first).toEqual(second);
  expect(joint.texts.filter((text) => text === "admit_1").length).toBeGreaterThan(40);
  expect(apart.texts).not.toContain("admit_1");
  for (const one of [joint, apart]) await one.counters.close();
}, 60_000);

test("holds, alone, together or with limits, wait for no disk; the ends of calls do", async () => {
  const client = clientOf(fresh.db);
  const { ledger } = admission(fresh.db, "disk", instance(0));
  const { user_id, token_id, asking } = await newCaller(ledger, { rpm: 50 });
  const usual = (await client.unsafe<{ on: string }>("SHOW synchronous_commit"))[0];
  /** What the setting is when the work was done, in a transaction that begins with `on`. */
  const after = (work: (of: ReturnType<typeof admission>) => Promise<unknown>): Promise<unknown> =>
    client.begin(async (tx) => {
      await tx.unsafe("SET LOCAL synchronous_commit = on");
      const over = { ...client, unsafe: tx.unsafe.bind(tx) as unknown as typeof client.unsafe };
      const counters = counter(over, "disk");
      await work(admission(fresh.db, "disk", counters, over));
      const [row] = await tx.unsafe<{ on: string }[]>("SELECT current_setting('synchronous_commit') AS on");
      return row?.on;
    });
  const hold = (n: number) => asking(n).hold;
  const { settle } = calls(ledger, user_id, token_id);
  expect(await after((of) => of.ledger.hold(hold(1)))).toBe("off");
  expect(await after((of) => Promise.all([2, 3, 4].map((n) => of.ledger.hold(hold(n)))))).toBe("off");
  expect(await after((of) => of.ledger.extend(hold(1).request_id, 5, 5))).toBe("off");
  expect(await after((of) => of.admit(asking(5)))).toBe("off");
  expect(await after((of) => calls(of.ledger, user_id, token_id).settle(hold(1).request_id, 7))).toBe("on");
  expect(await after((of) => Promise.all([of.ledger.release(hold(2).request_id), of.ledger.hold(hold(6))]))).toBe("on");
  expect((await client.unsafe<{ on: string }>("SHOW synchronous_commit"))[0]).toEqual(usual);
  await settle(hold(3).request_id, 30);
  expect(await expectBalanced(fresh.db, user_id)).toMatchObject({ held: 30 * 3, used_quota: 37 });
});

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
    for (let call = 1; call <= 3; call++)
      await tx.unsafe("SELECT admit_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, $11, 1, 1, 1, 1, '{}')", [
        "scan",
        3 + call,
        "{scan-a,scan-b}",
        "{60000,0}",
        "{0,0}",
        "{1}",
        "{1}",
        "{1}",
        "{1,1}",
        "{100,100}",
        `scan-${call}`,
      ]);
    return tx.unsafe<{ relname: string }[]>(
      `SELECT relname FROM pg_class WHERE relname IN ('limit_windows', 'limit_leases', 'users', 'tokens', 'holds')
       AND pg_stat_get_xact_numscans(oid) > 0`,
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
