/** The contract of admission (contracts/admission.ts), over both engines of the ledger and the real limits. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import pino from "pino";
import { localCounter } from "../../src/server/cluster/local";
import type { AdmissionRequest, Admit } from "../../src/server/contracts/admission";
import type { Caller } from "../../src/server/contracts/caller";
import {
  type AdmittingLedger,
  type LateEnd,
  type Ledger,
  type Source,
  WALLET,
} from "../../src/server/contracts/ledger";
import type { Db } from "../../src/server/db/types";
import { createLimits } from "../../src/server/features/limit/rate-limiter";
import { createSpendStore } from "../../src/server/features/limit/spend";
import { createAdmit } from "../../src/server/features/wallet/admission";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { AppError } from "../../src/shared/errors";
import { defaultText, type OptionKey, type OptionValue, parseOption } from "../../src/shared/options";
import { ENGINES, type FreshDatabase, freshDatabase } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { addToken, addUser, callLog, calls, clock, expectBalanced, NOON } from "./world";

const silent = pino({ level: "silent" });

/** The use of the limits by a call that costs nothing. */
const FREE = { model: "gpt-4o", tokens: 0, units: 0 } as const;

/** Options at their defaults: no limits but the caller's own. */
const options = {
  get<K extends OptionKey>(key: K): OptionValue<K> {
    const parsed = parseOption(key, defaultText(key));
    return (parsed.ok ? parsed.value : undefined) as OptionValue<K>;
  },
};

describe.each(ENGINES)("admission on %s", (engine) => {
  let fresh: FreshDatabase;
  let db: Db;
  let ledger: Ledger;
  /** What the ledger is to end later. */
  const late: LateEnd[] = [];
  let names = 0;
  beforeAll(async () => {
    fresh = await freshDatabase(engine, 20);
    db = fresh.db;
    ledger = createLedger(db, "instance-a", clock);
  }, HOOK_MS);
  afterAll(() => fresh.close());

  const limits = () =>
    createLimits({
      cluster: { counter: localCounter(clock) },
      options,
      now: clock,
      spend: createSpendStore({ db, log: silent }),
    });

  /** Admission with counters of its own; `hold` replaces the ledger's. */
  const admission = (hold: AdmittingLedger["hold"] = ledger.hold): Admit =>
    createAdmit({ limits: limits(), ledger: { hold, later: async (end) => void late.push(end) }, log: silent });

  /** A user with `balance` units and an unlimited token. */
  async function newCaller(balance: number, own: Partial<Caller> = {}): Promise<Caller> {
    const user_id = await addUser(db, ledger, balance);
    return {
      user_id,
      username: "ann",
      role: 1,
      user_group: "default",
      group: "default",
      token_id: await addToken(db, user_id, { unlimited_quota: true }),
      token_name: "t",
      rpm: 0,
      tpm: 0,
      concurrency: 0,
      lang: "en",
      ...own,
    };
  }

  /** A call that holds `amount` units under the caller's limits. */
  function asking(caller: Caller, amount: number, sources: readonly Source[] = WALLET): Required<AdmissionRequest> {
    const { user_id, token_id } = caller;
    const request_id = `admit-${engine}-${++names}`;
    const draft = JSON.stringify(callLog(request_id, user_id, token_id));
    return {
      caller,
      limits: { model: "gpt-4o", tokens: 10, units: amount },
      hold: { request_id, user_id, token_id, sources, amount, draft },
    };
  }

  /** How many more calls the caller's limits let in at once. */
  async function slotsLeft(admit: Admit, caller: Caller): Promise<number> {
    let slots = 0;
    while (slots <= 200 && (await admit({ caller, limits: FREE, hold: undefined })).granted) slots++;
    return slots;
  }

  test("a caller without limits gets the hold and nothing else, and asking for nothing is granted", async () => {
    const caller = await newCaller(1000);
    const admit = admission();
    expect(await admit(asking(caller, 300))).toEqual({ granted: true, limits: undefined, held: undefined });
    expect(await expectBalanced(db, caller.user_id)).toMatchObject({ quota: 700, held: 300 });
    expect(await admit({ caller, limits: undefined, hold: undefined })).toEqual({
      granted: true,
      limits: undefined,
      held: undefined,
    });
    expect(await expectBalanced(db, caller.user_id)).toMatchObject({ quota: 700, held: 300 });
  });

  test("a granted call has its slot, its budget and its hold, and learns of a hold that is less than asked", async () => {
    const caller = await newCaller(1000, { concurrency: 3, rpm: 10, budget_day: 500 });
    const admit = admission();
    const request = asking(caller, 400);
    const flexible = { ...request, limits: { ...request.limits, units: 100 }, hold: { ...request.hold, least: 100 } };
    const outcome = await admit(flexible as AdmissionRequest);
    expect(outcome).toMatchObject({ granted: true, held: 250, limits: { requests: { limit: 10, remaining: 9 } } });
    expect(await expectBalanced(db, caller.user_id)).toMatchObject({ quota: 750, held: 250 });
    // 100 of 500 are spent: 401 more are not to be had, 400 are.
    expect(await admit(asking(caller, 401))).toMatchObject({ granted: false, by: "limit", code: "budget_day_used_up" });
    if (!outcome.granted) throw new Error("not granted");
    expect(await outcome.limits?.more?.(400)).toBe(true);
    expect(await slotsLeft(admit, caller)).toBe(2);
  });

  test("a call that a limit refuses holds nothing, and is told which limit, when to come back and how the limits stand", async () => {
    const caller = await newCaller(1000, { concurrency: 1, rpm: 2 });
    const admit = admission();
    const first = await admit(asking(caller, 100));
    expect(first.granted).toBe(true);
    expect(await admit(asking(caller, 100))).toMatchObject({
      granted: false,
      by: "limit",
      code: "rate_limited_concurrency",
      retry_after_s: 1,
      limits: { requests: { limit: 2, remaining: 1 } },
    });
    expect(await expectBalanced(db, caller.user_id)).toMatchObject({ quota: 900, held: 100 });
    if (first.granted) await first.limits?.end({ tokens: 0, success: true, units: 0 });
    expect((await admit(asking(caller, 100))).granted).toBe(true);
    expect(await admit(asking(caller, 100))).toMatchObject({ by: "limit", code: "rate_limited_requests" });
    expect(await expectBalanced(db, caller.user_id)).toMatchObject({ quota: 800, held: 200 });
  });

  test("a call whose hold is refused gets the reason and the balance, and gives slot and budget back", async () => {
    const own = { concurrency: 2, budget_day: 1000 };
    const caller = await newCaller(50, own);
    const limited = await newCaller(1000, own);
    limited.token_id = await addToken(db, limited.user_id, { remain_quota: 60 });
    const disabled = await newCaller(1000, own);
    disabled.token_id = await addToken(db, disabled.user_id, { unlimited_quota: true, status: 2 });
    const missing = { ...(await newCaller(1000, own)), user_id: 999_999 };
    for (const [who, reason, balance] of [
      [caller, "user_quota", 50],
      [limited, "token_quota", 60],
      [disabled, "token_unusable", 0],
      [missing, "user_unusable", 0],
    ] as const) {
      const admit = admission();
      // Two of them are more than the budget.
      for (let again = 0; again < 3; again++)
        expect(await admit(asking(who, 600))).toMatchObject({ granted: false, by: "ledger", reason, balance });
      expect([reason, await slotsLeft(admit, who)]).toEqual([reason, 2]);
      if (who !== missing) expect(await expectBalanced(db, who.user_id)).toMatchObject({ held: 0 });
    }
    // What user and token allow together, where that is less than the balance.
    const unbudgeted = asking({ ...limited, budget_day: 0 }, 2000);
    expect(await admission()(unbudgeted)).toMatchObject({ reason: "user_quota", balance: 1000, left: 60 });
  });

  test("a call whose hold fails gives slot and budget back, is refused by an error, and its hold is undone later if it was asked for", async () => {
    const caller = await newCaller(1000, { concurrency: 1, rpm: 100, budget_day: 600 });
    const lost = new Error("the connection was lost");
    const full = new AppError("database_unavailable", { retry_after_s: 15 });
    const wrapped = new AppError("database_unavailable", {}, { cause: lost });
    for (const [thrown, undone] of [
      [lost, true],
      [wrapped, true],
      [full, false],
    ] as const) {
      late.length = 0;
      const admit = admission(() => Promise.reject(thrown));
      const request = asking(caller, 600);
      for (let again = 0; again < 2; again++) {
        const outcome = await admit(request);
        expect(outcome).toMatchObject({ granted: false, by: "outage", limits: { requests: { limit: 100 } } });
        if (outcome.granted || outcome.by !== "outage") throw new Error("not an outage");
        expect(outcome.error).toMatchObject({ code: "database_unavailable", ...(undone && { cause: thrown }) });
        if (!undone) expect(outcome.error).toBe(full);
      }
      const undo = { undo: request.hold?.request_id ?? "" };
      expect(late).toEqual(undone ? [undo, undo] : []);
      expect(await slotsLeft(admit, caller)).toBe(1);
    }
    expect(await expectBalanced(db, caller.user_id)).toMatchObject({ quota: 1000, held: 0 });
  });

  test("limits that cannot be asked reject the call, and nothing is held", async () => {
    const caller = await newCaller(1000);
    const away = new Error("no counter");
    const admit = createAdmit({
      limits: { admit: () => Promise.reject(away) },
      ledger: { hold: ledger.hold, later: async () => undefined },
      log: silent,
    });
    await expect(admit(asking(caller, 100))).rejects.toBe(away);
    expect(await expectBalanced(db, caller.user_id)).toMatchObject({ quota: 1000, held: 0 });
  });

  test("of 200 concurrent calls neither the concurrency limit nor the balance is ever exceeded, whichever is tighter", async () => {
    for (const [concurrency, covered] of [
      [10, 37],
      [60, 37],
    ] as const) {
      const caller = await newCaller(covered * 100 + 99, { concurrency });
      const admit = admission();
      const requests = Array.from({ length: 200 }, () => asking(caller, 100));
      const outcomes = await Promise.all(requests.map(admit));
      const granted = Math.min(concurrency, covered);
      expect(outcomes.filter((outcome) => outcome.granted)).toHaveLength(granted);
      expect(await expectBalanced(db, caller.user_id)).toMatchObject({ held: granted * 100 });
      // Every refused hold gave its slot back.
      expect(await slotsLeft(admit, caller)).toBe(concurrency - granted);
    }
  });

  test("a hold that is asked for again after its reply was lost takes nothing more", async () => {
    const caller = await newCaller(1000);
    const admit = admission();
    const request = asking(caller, 300);
    expect(await admit(request)).toEqual(await admit(request));
    expect(await expectBalanced(db, caller.user_id)).toMatchObject({ quota: 700, held: 300 });
  });

  test("a source that the ledger does not know is never charged to the wallet: the hold is refused, and the slot given back", async () => {
    const caller = await newCaller(1000, { concurrency: 1 });
    const plan = { kind: "plan", id: 7 } as unknown as Source;
    for (const sources of [[], [plan], [...WALLET, plan], [plan, ...WALLET]]) {
      const admit = admission();
      const request = asking(caller, 100, sources);
      if (!request.hold) throw new Error("no hold");
      await expect(ledger.hold(request.hold)).rejects.toBeInstanceOf(RangeError);
      expect(await admit(request)).toMatchObject({ by: "outage", error: { cause: expect.any(RangeError) } });
      expect(await slotsLeft(admit, caller)).toBe(1);
    }
    expect(await expectBalanced(db, caller.user_id)).toMatchObject({ quota: 1000, held: 0 });
  });

  test("settle-once never depends on created_at: a repeated settle with another time charges nothing more, held or not", async () => {
    const caller = await newCaller(1000);
    const { hold, settle } = calls(ledger, caller.user_id, caller.token_id);
    const times = [NOON, NOON + 86_400, NOON - 40 * 86_400];
    const id = `once-${engine}`;
    await hold(`${id}-held`, 100);
    for (const [i, created_at] of times.entries())
      expect((await settle(`${id}-held`, 60, { created_at })).settled).toBe(i === 0);
    for (const [i, created_at] of times.entries())
      expect((await settle(`${id}-unheld`, 60, { created_at })).settled).toBe(i === 0);
    await hold(`${id}-together`, 100);
    const together = await Promise.all(times.map((created_at) => settle(`${id}-together`, 60, { created_at })));
    expect(together.filter(({ settled }) => settled)).toHaveLength(1);
    expect(await expectBalanced(db, caller.user_id)).toMatchObject({ quota: 820, used_quota: 180, calls: 3, held: 0 });
  });
});
