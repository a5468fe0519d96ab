/**
 * Random money histories against the model. A history is rounds of up to four concurrent verbs (on Postgres over four
 * real connections); its answers and its final state must be those of *some* order of each round, so this checks
 * linearisability, not only sums. A failure prints its seed and a shrunk history; run it again with MONEY_SEED=… (and
 * MONEY_HISTORIES=… for more than the 2,000).
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { and, asc, eq, inArray } from "drizzle-orm";
import fc from "fast-check";
import { chargeOf, estimateUpperBound } from "../../src/shared/charge";
import { compilePrice } from "../../src/shared/pricing";
import { priceAt } from "../../src/shared/ruled-price";
import type { Db } from "../../src/server/db/types";
import { audit } from "../../src/server/features/wallet/audit";
import { type Ledger, WALLET } from "../../src/server/contracts/ledger";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { refundRequestId, undoRefundSteps } from "../../src/server/features/wallet/refund";
import { ENGINES, type FreshDatabase, freshDatabase } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { type Answer, apply, type State, type Step, tokenOfCall } from "./model";
import { callLog, clock, NOON } from "./world";

const HISTORIES = Number(process.env.MONEY_HISTORIES ?? 2000);
const SEED = Number(process.env.MONEY_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** One unit a token, three times that from 09:00 to 17:00 in New York, and twice for more than ten input tokens. */
const ruled = {
  ...compilePrice(
    "m",
    "default",
    { model_ratio: { value: 1, source: "test" } },
    { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
  ),
  rules: [
    { name: "day", when: { hours: [{ zone: "America/New_York", from: "09:00", to: "17:00" }] }, then: { factor: 3 } },
    { name: "long", when: { input: { over: 10 } }, then: { factor: 2 } },
  ],
};
/** A call at an hour of the day on which New York's clocks go back. */
const pricedCall = fc.record({
  call: fc.integer({ min: 0, max: 5 }),
  hour: fc.integer({ min: 0, max: 24 }),
  input: fc.integer({ min: 0, max: 20 }),
  output: fc.integer({ min: 0, max: 10 }),
});
const priceOf = (hour: number) =>
  priceAt(ruled, { moment: Date.parse("2026-11-01T00:00:00Z") + hour * 3_600_000, member: () => [] });

const call = fc.integer({ min: 0, max: 5 });
const part = fc.integer({ min: 1, max: 2 });
const amount = fc.integer({ min: 0, max: 60 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record(
      { verb: fc.constant("hold" as const), call, amount, least: amount },
      { requiredKeys: ["verb", "call", "amount"] },
    ),
  },
  {
    weight: 2,
    arbitrary: pricedCall.map(({ call: number, hour, input, output }) => ({
      verb: "hold" as const,
      call: number,
      amount: estimateUpperBound(priceOf(hour), input, output),
    })),
  },
  {
    weight: 2,
    arbitrary: pricedCall.map(({ call: number, hour, input, output }) => ({
      verb: "settle" as const,
      call: number,
      quota: chargeOf(priceOf(hour), { input, output }).quota,
    })),
  },
  { weight: 3, arbitrary: fc.record({ verb: fc.constant("extend" as const), call, amount, running: amount }) },
  {
    weight: 5,
    arbitrary: fc.record({ verb: fc.constant("settle" as const), call, quota: fc.integer({ min: 0, max: 90 }) }),
  },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant("release" as const), call }) },
  {
    weight: 3,
    arbitrary: fc.record(
      { verb: fc.constant("refund" as const), call, quota: fc.integer({ min: 0, max: 90 }) },
      { requiredKeys: ["verb", "call"] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record(
      { verb: fc.constant("refund part" as const), call, part, quota: fc.integer({ min: 0, max: 50 }) },
      { requiredKeys: ["verb", "call", "part"] },
    ),
  },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant("undo" as const), call, part }) },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: fc.constant("credit" as const),
      key: fc.integer({ min: 0, max: 2 }),
      amount: fc.integer({ min: -80, max: 80 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant("user" as const), status: fc.constantFrom(1, 1, 2) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: fc.constant("token" as const),
      token: fc.integer({ min: 0, max: 1 }),
      status: fc.constantFrom(1, 1, 2),
      unlimited: fc.boolean(),
    }),
  },
);
const history = fc.record({
  quota: fc.integer({ min: 0, max: 200 }),
  remain: fc.integer({ min: 0, max: 120 }),
  rounds: fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 }),
});

/** All orders of at most four things. */
function orders<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, i) => orders(items.filter((_, j) => j !== i)).map((rest) => [item, ...rest]));
}

/** States in which some order of the round gives exactly these answers. */
function explain(states: readonly State[], round: readonly Step[], answers: readonly Answer[]): State[] {
  const wanted = round.map((asked, i) => ({ asked, answer: JSON.stringify(answers[i]) }));
  const found = new Map<string, State>();
  for (const start of states) {
    for (const order of orders(wanted)) {
      let state: State | undefined = start;
      for (const { asked, answer } of order) {
        const [next, given]: [State, Answer] = apply(state, asked);
        state = JSON.stringify(given) === answer ? next : undefined;
        if (!state) break;
      }
      if (state) found.set(canonical(state), state);
    }
  }
  return [...found.values()];
}

const byKey = (record: Record<string, unknown>) => Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
const canonical = ({ holds, logs, refunds, credits, ...rest }: State): string =>
  JSON.stringify([
    rest.status,
    rest.quota,
    rest.used,
    rest.count,
    rest.tokens.map(tokenCells),
    byKey(holds),
    byKey(logs),
    byKey(refunds),
    byKey(credits),
  ]);
const tokenCells = (token: State["tokens"][number]) => [token.status, token.unlimited, token.remain, token.used];

interface Person {
  user: number;
  tokens: number[];
}

describe.each(ENGINES)("money histories on %s", (engine) => {
  let fresh: FreshDatabase;
  let db: Db;
  /** Instances: the verbs of every second person go round, those of the others to the first, in its batches. */
  let ledgers: Ledger[];
  let people: Person[] = [];
  beforeAll(async () => {
    fresh = await freshDatabase(engine, 4);
    db = fresh.db;
    ledgers = (engine === "postgres" ? ["a", "b", "c"] : ["a"]).map((name) => createLedger(db, name, clock));
  }, HOOK_MS);
  afterAll(() => fresh.close());

  let made = 0;
  /** An unused person; a thousand are created at a time. */
  async function nextPerson(): Promise<Person> {
    if (people.length === 0) {
      const names = Array.from({ length: 1000 }, () => `p${++made}`);
      const users = await db.q
        .insert(db.t.users)
        .values(names.map((username) => ({ username, password_hash: "x", created_at: NOON })))
        .returning({ id: db.t.users.id });
      const tokens = await db.q
        .insert(db.t.tokens)
        .values(
          users.flatMap(({ id }) =>
            [0, 1].map((n) => ({
              user_id: id,
              name: `t${n}`,
              key_hash: `${id}-${n}`,
              key_cipher: "x",
              key_hint: "x",
              created_time: NOON,
              unlimited_quota: n === 1,
            })),
          ),
        )
        .returning({ id: db.t.tokens.id });
      people = users.map(({ id }, i) => ({
        user: id,
        tokens: tokens.slice(2 * i, 2 * i + 2).map((token) => token.id),
      }));
    }
    return people.pop() as Person; // filled above
  }

  let asks = 0;
  function ask(person: Person, asked: Step): Promise<Answer> {
    const { user } = person;
    const ledger = ledgers[user % 2 ? asks++ % ledgers.length : 0] as Ledger; // inside the array
    const request = (number: number) => ({
      request_id: `${user}-${number}`,
      user_id: user,
      token_id: person.tokens[tokenOfCall(number)] ?? 0,
    });
    switch (asked.verb) {
      case "hold": {
        const { request_id, token_id } = request(asked.call);
        return ledger.hold({
          ...request(asked.call),
          sources: WALLET,
          amount: asked.amount,
          ...(asked.least !== undefined && { least: asked.least }),
          draft: JSON.stringify(callLog(request_id, user, token_id)),
        });
      }
      case "extend":
        return ledger.extend(request(asked.call).request_id, asked.amount, asked.running);
      case "settle": {
        const { request_id, token_id } = request(asked.call);
        return ledger.settle({ ...request(asked.call), quota: asked.quota, log: callLog(request_id, user, token_id) });
      }
      case "release":
        return ledger.release(request(asked.call).request_id);
      case "refund":
        return ledger.refund({ charge_id: request(asked.call).request_id, quota: asked.quota });
      case "refund part": {
        const { call: number, part: name, quota } = asked;
        return ledger.refund({ charge_id: request(number).request_id, name: `${name}`, quota });
      }
      case "undo": {
        const refund_id = refundRequestId(request(asked.call).request_id, `${asked.part}`);
        return db.tx((q) => undoRefundSteps(db, q, refund_id, {}, NOON), { durable: true });
      }
      case "credit":
        return ledger.credit({
          user_id: user,
          amount: asked.amount,
          kind: "adjust",
          idempotency_key: `${user}-${asked.key}`,
        });
      case "user":
        return db.q
          .update(db.t.users)
          .set({ status: asked.status })
          .where(eq(db.t.users.id, user))
          .returning()
          .then(() => null);
      case "token":
        return db.q
          .update(db.t.tokens)
          .set({ status: asked.status, unlimited_quota: asked.unlimited })
          .where(eq(db.t.tokens.id, person.tokens[asked.token] ?? 0))
          .returning()
          .then(() => null);
    }
  }

  async function stateOf({ user, tokens }: Person): Promise<State> {
    const { t, q } = db;
    const [users, rows, holds, logs, refunds, credits] = await Promise.all([
      q.select().from(t.users).where(eq(t.users.id, user)),
      q.select().from(t.tokens).where(inArray(t.tokens.id, tokens)).orderBy(asc(t.tokens.id)),
      q.select().from(t.holds).where(eq(t.holds.user_id, user)),
      q
        .select({ id: t.logs.request_id, quota: t.logs.quota })
        .from(t.logs)
        .where(and(eq(t.logs.user_id, user), eq(t.logs.type, 2))),
      q
        .select({ id: t.logs.request_id, quota: t.logs.quota })
        .from(t.logs)
        .where(and(eq(t.logs.user_id, user), eq(t.logs.type, 6))),
      q.select().from(t.credits).where(eq(t.credits.user_id, user)),
    ]);
    const key = (id: string) => id.slice(id.indexOf("-") + 1);
    return {
      status: users[0]?.status ?? 0,
      quota: users[0]?.quota ?? 0,
      used: users[0]?.used_quota ?? 0,
      count: users[0]?.request_count ?? 0,
      tokens: rows.map((row) => ({
        status: row.status,
        unlimited: row.unlimited_quota,
        remain: row.remain_quota,
        used: row.used_quota,
      })),
      holds: Object.fromEntries(
        holds.map(({ request_id, amount, token_amount, running }) => [
          key(request_id),
          { amount, token_amount, running },
        ]),
      ),
      logs: Object.fromEntries(logs.map((log) => [key(log.id), log.quota])),
      refunds: Object.fromEntries(refunds.map((log) => [key(log.id).replace("/refund", ""), log.quota])),
      credits: Object.fromEntries(credits.map((credit) => [key(credit.idempotency_key), credit.amount])),
    };
  }

  test(`${HISTORIES} histories of concurrent verbs are each explained by some order of them (seed ${SEED})`, async () => {
    const property = fc.asyncProperty(history, async ({ quota, remain, rounds }) => {
      const person = await nextPerson();
      await Promise.all([
        ledgers[0]?.credit({
          user_id: person.user,
          amount: quota,
          kind: "setup",
          idempotency_key: `${person.user}-start`,
        }),
        db.q
          .update(db.t.tokens)
          .set({ remain_quota: remain })
          .where(eq(db.t.tokens.id, person.tokens[0] ?? 0))
          .returning(),
      ]);
      let states: State[] = [
        {
          status: 1,
          quota,
          used: 0,
          count: 0,
          holds: {},
          logs: {},
          refunds: {},
          credits: { start: quota },
          tokens: [
            { status: 1, unlimited: false, remain, used: 0 },
            { status: 1, unlimited: true, remain: 0, used: 0 },
          ],
        },
      ];
      for (const round of rounds) {
        const answers = await Promise.all(round.map((asked) => ask(person, asked)));
        const explained = explain(states, round, answers);
        if (explained.length === 0) {
          throw new Error(
            `No order explains ${JSON.stringify(answers)} to ${JSON.stringify(round)} from ${JSON.stringify(states)}`,
          );
        }
        states = explained;
      }
      expect(states.map(canonical)).toContain(canonical(await stateOf(person)));
    });
    await fc.assert(property, { numRuns: HISTORIES, seed: SEED });
    expect(await Array.fromAsync(audit(db))).toEqual([]);
  }, 600_000);
});
