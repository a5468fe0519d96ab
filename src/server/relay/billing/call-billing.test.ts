import { afterAll, describe, expect, test } from "bun:test";
import { startFakeUpstream } from "../../../../tests/kit/fake-upstream/server";
import {
  type Bench,
  chatBody,
  frames,
  makeBench,
  makeChannel,
  pieces,
  scripted,
  type ScriptedStream,
  VirtualTime,
} from "../../../../tests/relay/kit";
import { AppError } from "../../../shared/errors";
import type { LimitRequest, Used } from "../../contracts/rate-limits";
import type { CallLedger, HoldRefusal } from "../../contracts/ledger";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());
const path = "/v1/chat/completions";
const bench = (): Bench => makeBench([makeChannel(1, upstream.url)]);
const away = (): Promise<never> => Promise.reject(new Error("away"));

async function refusal(response: Response): Promise<[status: number, code: string, message: string]> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return [response.status, error.code, error.message];
}

describe("a hold", () => {
  test("that threw may have been taken: the call is refused, and the hold is given back later", async () => {
    const { ledger, send } = bench();
    ledger.hold = away;
    expect((await refusal(await send(path, chatBody("gpt-4o")))).slice(0, 2)).toEqual([503, "database_unavailable"]);
    expect(ledger.late).toEqual([{ undo: "req-1" }]);
    expect(ledger.settlements).toEqual([]);
  });

  test("that was refused before any database query leaves nothing to give back", async () => {
    const { ledger, send } = bench();
    ledger.hold = () => Promise.reject(new AppError("database_unavailable", { retry_after_s: 15 }));
    expect((await refusal(await send(path, chatBody("gpt-4o")))).slice(0, 2)).toEqual([503, "database_unavailable"]);
    expect(ledger.late).toEqual([]);
  });

  test("that ended in an AppError with a cause may have been taken as well", async () => {
    const { ledger, send } = bench();
    ledger.hold = () =>
      Promise.reject(new AppError("database_unavailable", {}, { cause: new Error("the connection was lost") }));
    await (await send(path, chatBody("gpt-4o"))).text();
    expect(ledger.late).toEqual([{ undo: "req-1" }]);
  });

  test("that is refused reports why, by status and code", async () => {
    const said: [reason: HoldRefusal, balance: number, status: number, code: string][] = [
      ["user_quota", 5, 429, "insufficient_quota"],
      ["token_quota", 5, 429, "insufficient_quota"],
      ["token_quota", 0, 429, "insufficient_quota"],
      ["token_unusable", 5, 401, "token_disabled"],
      ["user_unusable", 5, 403, "user_banned"],
      ["user_quota", 0, 429, "insufficient_quota"],
    ];
    for (const [reason, balance, status, code] of said) {
      const { ledger, send } = bench();
      ledger.hold = async () => ({ ok: false, reason, balance });
      const answer = await refusal(await send(path, chatBody("gpt-4o")));
      expect([reason, balance, ...answer.slice(0, 2)]).toEqual([reason, balance, status, code]);
      expect([ledger.late, ledger.settlements]).toEqual([[], []]);
    }
  });

  test("that is refused reports how many tokens would be covered", async () => {
    const tokens = async (more: object, body: Record<string, unknown> = {}): Promise<string | undefined> => {
      const { ledger, send } = bench();
      ledger.hold = async () => ({ ok: false, reason: "user_quota", balance: 2_000, ...more });
      const [, , message] = await refusal(await send(path, chatBody("gpt-4o", { max_tokens: 5_000, ...body })));
      return /(\d+) (?:output )?tokens/.exec(message)?.[1];
    };
    const all = Number(await tokens({}));
    // Two units per output token; the prompt's possible cost is subtracted.
    expect(all).toBeGreaterThan(900);
    expect(all).toBeLessThan(1_000);
    // Less is left than the balance says, and the choices share it.
    expect(Number(await tokens({ left: 1_000 }))).toBe(all - 500);
    // No number is suggested above the highest usual limit, and a price per call has none.
    expect(Number(await tokens({ balance: 9e12 }))).toBe(1e9);
    expect(await tokens({}, { model: "percall" })).toBeUndefined();
    expect(await tokens({ left: 0 })).toBeUndefined();
    expect(Number(await tokens({}, { n: 2 }))).toBeWithin(all / 2 - 5, all / 2 + 1);
  });

  test("covers the usual output of a stream, the longest output of a whole response, and neither covers more than is allowed", async () => {
    const held = async (body: Record<string, unknown>): Promise<number | undefined> => {
      const { ledger, send } = bench();
      await (await send(path, chatBody("gpt-4o", body))).text();
      return ledger.holdRequests[0]?.amount;
    };
    const [whole = 0, stream = 0] = [await held({}), await held({ stream: true })];
    // The body itself is a few bytes longer or shorter.
    expect(whole - stream).toBeWithin(2 * (4_096 - 500) - 30, 2 * (4_096 - 500) + 1);
    expect(Math.abs((await held({ max_tokens: 100 })) ?? 0) - (stream - 2 * 400)).toBeWithin(0, 30);
    expect(Math.abs((await held({ max_tokens: 100, stream: true })) ?? 0) - (stream - 2 * 400)).toBeWithin(0, 30);
  });
});

describe("less than the whole hold", () => {
  /**
   * A whole response for a caller with so many units; returns the requests to the ledger, the limits and the upstream.
   */
  async function asked(
    balance: number,
    body: Record<string, unknown> = {},
    { isBudgetFull = false, ...options }: { isBudgetFull?: boolean; preConsumedTokens?: number } = {},
  ) {
    const bodies: Record<string, unknown>[] = [];
    const made = makeBench([makeChannel(1, "http://up.test")], {
      fetch: scripted((_, request) => {
        bodies.push(request.body);
        const choices = [{ index: 0, message: { role: "assistant", content: "a" }, finish_reason: "stop" }];
        return Response.json({ choices, usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } });
      }),
      reachable: async () => true,
    });
    made.ledger.balance = balance;
    Object.assign(made.options, options);
    const used: Used[] = [];
    const needs: LimitRequest[] = [];
    made.controlPlane.limits.enterChannel = (_channel, _caller, limitRequest) => (
      needs.push({ ...limitRequest }),
      undefined
    );
    const told: number[] = [];
    made.limits.admit = (_, limitRequest) => {
      needs.push({ ...limitRequest });
      return Promise.resolve({
        end: (what) => (used.push(what), undefined),
        ...(isBudgetFull && { more: async (units) => (told.push(units), false) }),
      });
    };
    const response = await made.send(path, chatBody("gpt-4o", body));
    const answer = (await response.json()) as { error?: { code: string } };
    return {
      made,
      status: response.status,
      answer,
      hold: made.ledger.holdRequests[0],
      limitRequest: needs[0],
      later: needs[1],
      used,
      told,
      sent: bodies[0],
    };
  }

  test("is enough for a whole response whose caller names no limit: the prompt and the usual output", async () => {
    const { hold, limitRequest, used, sent } = await asked(1_000_000);
    const { amount = 0, least = 0 } = hold ?? {};
    expect(amount - least).toBe(2 * (4_096 - 500));
    expect(limitRequest).toMatchObject({ model: "gpt-4o", units: least });
    expect(limitRequest?.tokens).toBe(4_096 + (amount - 2 * 4_096));
    // Everything was available, so the upstream gets no limit.
    expect(sent).not.toHaveProperty("max_tokens");
    expect(used).toEqual([{ tokens: 7, success: true, units: 11 }]);
  });

  test("is not enough for a stream, for a limit that the caller names, for a price per call, or where the usual output is all", async () => {
    for (const body of [{ stream: true }, { max_tokens: 4_000 }, { model: "percall" }]) {
      const { hold } = await asked(1_000_000, body);
      expect([body, hold?.least]).toEqual([body, undefined]);
    }
    for (const [preConsumedTokens, isLess] of [
      [4_095, true],
      [4_096, false],
      [9_000, false],
    ] as const) {
      const { hold } = await asked(1_000_000, {}, { preConsumedTokens });
      expect([preConsumedTokens, hold?.least !== undefined]).toEqual([preConsumedTokens, isLess]);
    }
  });

  test("becomes an output limit that the upstream enforces: the hold covers every response up to it", async () => {
    const { hold, made, sent, status, later } = await asked(6_000);
    expect(status).toBe(200);
    const prompt = (hold?.amount ?? 0) - 2 * 4_096;
    // A quarter of 6,000 units.
    const limit = Math.floor((1_500 - prompt) / 2);
    expect(sent).toMatchObject({ max_tokens: limit });
    // The channel's own limits get the same amount.
    expect(later).toMatchObject({ model: "gpt-4o", tokens: prompt + limit, units: 1_500 });
    expect(made.ledger.balance + made.ledger.charged).toBe(6_000);
  });

  test("is shared by the choices", async () => {
    const { hold, sent } = await asked(6_000, { n: 2 });
    const prompt = (hold?.amount ?? 0) - 2 * 4_096;
    expect(sent).toMatchObject({ max_tokens: Math.floor((1_500 - prompt) / 4) });
  });

  test("stays at its least where a budget does not cover more", async () => {
    const { hold, told, sent } = await asked(1_000_000, {}, { isBudgetFull: true });
    expect(told).toEqual([(hold?.amount ?? 0) - (hold?.least ?? 0)]);
    expect(sent).toMatchObject({ max_tokens: 500 });
  });
});

test("a call priced by its request holds no output tokens", async () => {
  const { limits, send } = bench();
  const needs: LimitRequest[] = [];
  limits.admit = (_, limitRequest) => (needs.push({ ...limitRequest }), undefined);
  await (await send("/v1/images/generations", { model: "percall", prompt: "a cat", n: 2 })).text();
  expect(needs).toHaveLength(1);
  expect(needs[0]?.units).toBe(200);
  expect(needs[0]?.tokens).toBeWithin(1, 1_000);
});

describe("the end of a call", () => {
  test("an accepted upstream count raises no doubt, and a rejected one is reported once", async () => {
    const { send, controlPlane } = bench();
    const told: number[] = [];
    controlPlane.usageDoubted = (_, doubts) => void told.push(doubts.length);
    await (await send(path, chatBody("gpt-4o+usage:12:34"))).text();
    expect(told).toEqual([]);
    await (await send(path, chatBody("gpt-4o+usage:0:34"))).text();
    expect(told).toEqual([1]);
  });

  test("a settle that failed is kept for a retry, with its charge, and counted", async () => {
    const { ledger, send, relay } = bench();
    ledger.settle = away;
    expect((await send(path, chatBody("gpt-4o+usage:12:34"))).status).toBe(200);
    expect(ledger.late).toMatchObject([{ settle: { request_id: "req-1", user_id: 1, token_id: 7, quota: 80 } }]);
    expect(relay.stats).toMatchObject({ late_settles: 1, missing_holds: 0 });
  });

  test("a settle that found no hold is charged all the same, and counted", async () => {
    const { ledger, send, relay } = bench();
    ledger.settle = async () => ({ settled: true, hold_missing: true });
    await (await send(path, chatBody("gpt-4o"))).text();
    expect(relay.stats).toMatchObject({ late_settles: 0, missing_holds: 1 });
    // A call that was settled before does not count as a missing hold.
    const book: CallLedger = ledger;
    book.settle = async () => ({ settled: false });
    await (await send(path, chatBody("gpt-4o"))).text();
    expect(relay.stats).toMatchObject({ late_settles: 0, missing_holds: 1 });
    expect(ledger.late).toEqual([]);
  });

  test("a release that failed is kept for a retry", async () => {
    const { ledger, send } = bench();
    ledger.release = away;
    expect((await send(path, chatBody("error-500"))).status).toBe(500);
    expect(ledger.late).toEqual([{ release: "req-1" }]);
  });

  test("a call that fails gives its hold back, without a charge", async () => {
    const { ledger, send } = bench();
    await (await send(path, chatBody("error-500"))).text();
    expect(Object.fromEntries(ledger.ends)).toEqual({ "req-1": ["release"] });
    expect([ledger.charged, ledger.balance, ledger.late]).toEqual([0, 1_000_000, []]);
  });
});

describe("a settle without a reply", () => {
  async function ending(): Promise<{ time: VirtualTime; made: Bench; ended: () => boolean }> {
    const time = new VirtualTime();
    let opened: ScriptedStream | undefined;
    const made = makeBench([makeChannel(1, "http://up.test")], {
      now: time.now,
      timers: time.timers,
      fetch: scripted((stream) => void (opened = stream)),
      reachable: async () => true,
    });
    const sent = made.send(path, chatBody("gpt-4o", { stream: true }));
    await time.settle();
    opened?.write(frames.text("a") + frames.finish + frames.usage(3, 4) + frames.done);
    let over = false;
    void sent.then((response) => pieces(response).rest()).then(() => (over = true));
    return { time, made, ended: () => over };
  }

  test("goes into the journal after three seconds, and the response waits no longer than five", async () => {
    const { time, made, ended } = await ending();
    made.ledger.gate = new Promise(() => undefined);
    made.ledger.keeping = new Promise(() => undefined);
    await time.advance(2_999);
    expect([made.ledger.late.length, ended()]).toEqual([0, false]);
    await time.advance(1);
    expect(made.ledger.late).toMatchObject([{ settle: { quota: 11 } }]);
    // For a sweep that finds the hold.
    expect(made.ledger.extends.at(-1)).toMatchObject({ request_id: "req-1", amount: 0, running: 11 });
    await time.advance(1_999);
    expect(ended()).toBe(false);
    await time.advance(1);
    expect(ended()).toBe(true);
    expect([made.relay.stats.late_settles, time.waiting]).toEqual([1, 0]);
  });

  test("is in the journal all the same where its hold cannot be marked for a sweep", async () => {
    const { time, made, ended } = await ending();
    made.ledger.gate = new Promise(() => undefined);
    made.ledger.extend = away;
    await time.advance(5_000);
    expect([made.ledger.late.length, ended()]).toEqual([1, true]);
  });

  test("that arrives late is not stored twice, even when it fails", async () => {
    const { time, made, ended } = await ending();
    const gate = Promise.withResolvers<void>();
    made.ledger.gate = gate.promise;
    await time.advance(3_000);
    expect(made.ledger.late).toHaveLength(1);
    gate.reject(new Error("away"));
    await time.settle();
    expect([made.ledger.late.length, made.relay.stats.late_settles, ended()]).toEqual([1, 1, true]);
  });
});
