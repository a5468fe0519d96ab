/** Limits of users, groups, models and channels, and budgets, over the relay. */
import { afterAll, describe, expect, test } from "bun:test";
import type { LimitRequest } from "../../src/server/contracts/rate-limits";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { type Bench, chatBody, frames, makeBench, makeChannel, pieces, scripted } from "./kit";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());
const chat = "/v1/chat/completions";
const bench = (now?: () => number): Bench => makeBench([makeChannel(1, upstream.url)], now ? { now } : {});
const statuses = (responses: Response[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
const parallel = (b: Bench, count: number, body = chatBody("gpt-4o")): Promise<Response[]> =>
  Promise.all(Array.from({ length: count }, () => b.send(chat, body)));
const codeOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { error: { code: string } }).error.code;
/** Noon, so that no minute here is a midnight. */
const noon = new Date(2026, 10, 21, 12).getTime();

describe("limits of the user, the group and the model", () => {
  test("a user's limits apply to all their tokens together, in addition to the token's own", async () => {
    const b = bench();
    b.caller.user_limits = { rpm: 4 };
    b.caller.rpm = 3;
    expect(statuses(await parallel(b, 6))).toEqual({ 200: 3, 429: 3 });
    b.caller.token_id = 8;
    const refused = (await parallel(b, 3)).find(({ status }) => status === 429);
    expect(await refused?.json()).toMatchObject({
      error: { code: "rate_limited_requests", message: expect.stringContaining("Your account may make 4 requests") },
    });
    expect(b.ledger.holdRequests).toHaveLength(4);
  });

  test("a group's and a model's limits apply to all callers together", async () => {
    const b = bench();
    b.set.set("GroupLimits", { default: { rpm: 5 } });
    b.set.set("ModelLimits", { "gpt-4o": { rpm: 3 }, constructor: { rpm: 1 } });
    const mixed = await Promise.all(
      Array.from({ length: 10 }, (_, i) => {
        Object.assign(b.caller, { user_id: i, token_id: 100 + i });
        return b.send(chat, chatBody(i % 2 ? "gpt-4o" : "other"));
      }),
    );
    expect(statuses(mixed)[200]).toBe(5);
    b.caller.group = "vip";
    expect(statuses(await parallel(b, 5, chatBody("gpt-4o")))[200]).toBeLessThanOrEqual(3);
    expect(statuses(await parallel(b, 5, chatBody("other")))).toEqual({ 200: 5 });
    b.set.set("ModelLimits", { nobody: { rpm: 1 } });
    expect(statuses(await parallel(b, 2, chatBody("toString")))).toEqual({ 200: 2 });
  });

  test("with group auto the serving group's limit counts, and the next group serves when it is reached", async () => {
    const [cheap, dear] = [makeChannel(1, upstream.url), makeChannel(2, upstream.url)];
    const b = makeBench([cheap, dear]);
    b.caller.group = "auto";
    b.caller.groups = ["cheap", "dear"];
    b.controlPlane.pool.candidates = (group) => (group === "cheap" ? [cheap] : group === "dear" ? [dear] : []);
    b.set.set("GroupLimits", { cheap: { rpm: 2 } });
    expect(statuses(await parallel(b, 5))).toEqual({ 200: 5 });
    expect(b.ledger.settlements.map(({ log }) => log.group).toSorted()).toEqual([
      "cheap",
      "cheap",
      "dear",
      "dear",
      "dear",
    ]);
  });

  test("the refusal is a 429 with Retry-After in every dialect", async () => {
    const b = bench();
    b.caller.user_limits = { concurrency: 1, rpm: 1 };
    await b.send(chat, chatBody("gpt-4o"));
    const openai = await b.send("/v1/responses", { model: "gpt-4o", input: "hi" });
    const anthropic = await b.send("/v1/messages", {
      model: "gpt-4o",
      max_tokens: 5,
      messages: [{ role: "user", content: "hi" }],
    });
    const gemini = await b.send("/v1beta/models/gpt-4o:generateContent", {
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
    });
    for (const response of [openai, anthropic, gemini]) {
      expect(response.status).toBe(429);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(response.headers.get("x-ratelimit-limit-requests")).toBe("1");
    }
    expect(await openai.json()).toMatchObject({ error: { type: "rate_limit_error" } });
    expect(await anthropic.json()).toMatchObject({ type: "error", error: { type: "rate_limit_error" } });
    expect(await gemini.json()).toMatchObject({ error: { code: 429, status: "RESOURCE_EXHAUSTED" } });
  });
});

describe("limits of a channel", () => {
  test("a channel at its limit is skipped, which is not an attempt, and the row says so", async () => {
    const b = makeBench([
      makeChannel(1, upstream.url, { priority: 9, limits: { rpm: 2 } }),
      makeChannel(2, upstream.url),
    ]);
    for (let i = 0; i < 5; i++) expect((await b.send(chat, chatBody("gpt-4o"))).status).toBe(200);
    expect(b.ledger.settlements.map(({ log }) => log.channel)).toEqual([1, 1, 2, 2, 2]);
    const { admin_info } = JSON.parse(b.ledger.settlements[4]?.log.other ?? "{}");
    expect(admin_info.use_channel).toEqual(["2"]);
    expect(admin_info.selection.skipped).toEqual([
      { channel: 1, why: "limited", limit: "rate_limited_requests", remaining_ms: expect.any(Number) },
    ]);
  });

  test("when every channel is at its limit the caller gets a 429 with the soonest time, and nothing is charged", async () => {
    const b = makeBench([
      makeChannel(1, upstream.url, { limits: { rpm: 1 } }),
      makeChannel(2, upstream.url, { limits: { concurrency: 1, rpm: 1 } }),
    ]);
    const balance = b.ledger.balance;
    const responses = await parallel(b, 6);
    expect(statuses(responses)).toEqual({ 200: 2, 429: 4 });
    const refused = responses.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused?.json()).toMatchObject({ error: { type: "rate_limit_error", code: "rate_limited_channels" } });
    expect(b.failures[0]).toMatchObject({ end_reason: "refused", channel: 0 });
    expect(b.ledger.balance).toBe(balance - b.ledger.charged);
  });

  test("an attempt that fails frees its place; so does a stream when it ends or its caller disconnects", async () => {
    const b = makeBench([makeChannel(1, upstream.url, { limits: { concurrency: 1 } })]);
    for (const model of ["error-500", "gpt-4o", "cut-midstream", "gpt-4o+words:200", "error-429", "gpt-4o"]) {
      const response = await b.send(chat, chatBody(model, { stream: true }));
      expect(response.status === 429 ? await codeOf(response) : "").not.toBe("rate_limited_channels");
      if (model.endsWith(":200")) await response.body?.cancel();
      else if (!response.bodyUsed) await response.text();
      await b.quiet();
    }
  });
});

describe("budgets", () => {
  test("concurrent calls never spend more than the budget, holds included, and the rest can be used again", async () => {
    const b = bench(() => noon);
    b.caller.budget_day = 2_000;
    const asked: number[] = [];
    const { admit } = b.limits;
    b.limits.admit = (caller, limitRequest: LimitRequest) => (
      asked.push(limitRequest.units),
      admit(caller, limitRequest)
    );
    const responses = await parallel(b, 30, chatBody("gpt-4o+usage:20:10", { max_tokens: 100 }));
    const hold = asked[0] ?? 0;
    expect(statuses(responses)[200]).toBe(Math.floor(2_000 / hold));
    expect(b.spend.amounts.get("token:7:2026-11-21")).toBe(b.ledger.charged);
    const refused = responses.find(({ status }) => status === 429);
    expect(await refused?.json()).toMatchObject({ error: { type: "rate_limit_error", code: "budget_day_used_up" } });
    expect(refused?.headers.get("retry-after")).toBe(String(12 * 3600));
    expect(refused?.headers.get("x-should-retry")).toBe("false");
    // In sequence they continue until a hold no longer fits.
    for (let i = 0; i < 100; i++) await b.send(chat, chatBody("gpt-4o+usage:20:10", { max_tokens: 100 }));
    expect(b.ledger.charged).toBeLessThanOrEqual(2_000);
    expect(2_000 - b.ledger.charged).toBeLessThan(hold);
  });

  test("a new day is a new budget, the month continues; user, group, model and channel have theirs beside the token's", async () => {
    let now = noon;
    const b = makeBench([makeChannel(1, upstream.url, { limits: { budget_month: 1e9 } })], { now: () => now });
    Object.assign(b.caller, { budget_day: 500, budget_month: 1e9, user_limits: { budget_month: 1e9 } });
    b.set.set("GroupLimits", { default: { budget_day: 1e9 } });
    b.set.set("ModelLimits", { percall: { budget_day: 1e9 } });
    expect(statuses(await parallel(b, 7, chatBody("percall")))).toEqual({ 200: 5, 429: 2 });
    // The charge's row lists the budgets that a refund returns to.
    expect(JSON.parse(b.ledger.settlements[0]?.log.other ?? "{}").admin_info.budgets.toSorted()).toEqual([
      "channel:1:2026-11",
      "group:default:2026-11-21",
      "model:percall:2026-11-21",
      "token:7:2026-11",
      "token:7:2026-11-21",
      "user:1:2026-11",
    ]);
    now += 86_400_000;
    expect(statuses(await parallel(b, 2, chatBody("percall")))).toEqual({ 200: 2 });
    expect(Object.fromEntries(b.spend.amounts)).toEqual({
      "token:7:2026-11-21": 500,
      "token:7:2026-11-22": 200,
      "token:7:2026-11": 700,
      "user:1:2026-11": 700,
      "channel:1:2026-11": 700,
      "group:default:2026-11-21": 500,
      "group:default:2026-11-22": 200,
      "model:percall:2026-11-21": 500,
      "model:percall:2026-11-22": 200,
    });
  });

  test("however calls end, a budget equals the charges", async () => {
    const b = makeBench([makeChannel(1, upstream.url, { limits: { budget_day: 1e9 } })], { now: () => noon });
    b.options.retryTimes = 1;
    b.caller.budget_day = 1e9;
    const models = [
      "gpt-4o",
      "error-500",
      "error-400",
      "html-200",
      "cut-midstream",
      "no-usage",
      "unpriced",
      "nobody",
      "gpt-4o+words:400",
      "percall",
    ];
    await Promise.all(
      models.flatMap((model) =>
        [true, false].map(async (stream) => {
          const response = await b.send(chat, chatBody(model, { stream }));
          if (model === "gpt-4o+words:400" && stream) await response.body?.cancel();
          else await response.text().catch(() => undefined);
        }),
      ),
    );
    b.ledger.balance = 1;
    expect((await b.send(chat, chatBody("gpt-4o"))).status).toBe(429);
    await b.quiet();
    expect(b.ledger.charged).toBeGreaterThan(0);
    expect(b.spend.amounts.get("token:7:2026-11-21")).toBe(b.ledger.charged);
    expect(b.spend.amounts.get("channel:1:2026-11-21")).toBe(b.ledger.charged);
  });

  test("a charge above what was held is in its budgets before it is in the log, so no crash leaves them lower", async () => {
    const b = makeBench([makeChannel(1, upstream.url, { limits: { budget_day: 1e9 } })], { now: () => noon });
    b.caller.budget_day = 1_000;
    const held: number[] = [];
    const { admit } = b.limits;
    b.limits.admit = (caller, limitRequest) => (held.push(limitRequest.units), admit(caller, limitRequest));
    const names = ["token:7:2026-11-21", "channel:1:2026-11-21"];
    const before: number[] = [];
    const settle = b.ledger.settle.bind(b.ledger);
    b.ledger.settle = (settlement) => {
      before.push(...names.map((name) => (b.spend.amounts.get(name) ?? 0) - settlement.quota));
      return settle(settlement);
    };
    const spent = b.spend.correct.bind(b.spend);
    b.spend.correct = async (...args) => (await Bun.sleep(5), spent(...args));
    await b.send(chat, chatBody("gpt-4o+usage:900:300", { max_tokens: 10 }));
    await b.quiet();
    expect(b.ledger.charged).toBeGreaterThan(held[0] ?? Infinity);
    expect(before).toEqual([0, 0]);
    expect(names.map((name) => b.spend.amounts.get(name))).toEqual([b.ledger.charged, b.ledger.charged]);
  });

  test("a stream that outgrows its budget is cut at a frame with the dialect's error, and charged for what it wrote", async () => {
    const answer = scripted((stream) => {
      stream.write(frames.role);
      const timer = setInterval(() => {
        if (stream.aborted) return clearInterval(timer);
        stream.write(frames.text("word ".repeat(40)));
      }, 1);
    });
    const b = makeBench([makeChannel(1, "http://upstream.test")], { now: () => noon, fetch: answer });
    b.options.preConsumedTokens = 100;
    b.caller.budget_day = 1_500;
    const response = await b.send(chat, chatBody("gpt-4o", { stream: true }));
    const text = await pieces(response).rest();
    expect(text).toContain("insufficient_quota");
    expect(text).not.toContain("[DONE]");
    await b.quiet();
    expect(b.ledger.settlements[0]?.log.end_reason).toBe("out_of_quota");
    expect(b.spend.amounts.get("token:7:2026-11-21")).toBe(b.ledger.charged);
  }, 30_000);

  test("an unreachable budget store refuses the call, and frees its place", async () => {
    const b = bench(() => noon);
    Object.assign(b.caller, { budget_day: 1e9, rpm: 5, concurrency: 1 });
    const { take } = b.spend;
    b.spend.take = () => Promise.reject(new Error("gone"));
    expect((await b.send(chat, chatBody("gpt-4o"))).status).toBe(500);
    b.spend.take = take;
    expect(statuses(await parallel(b, 1))).toEqual({ 200: 1 });
    expect(b.ledger.holds.size).toBe(0);
  });
});

test("a dry run of limits takes nothing and returns the rest", async () => {
  const b = bench(() => noon);
  Object.assign(b.caller, { rpm: 5, budget_day: 1_000, concurrency: 2 });
  await b.send(chat, chatBody("percall"));
  const look = () =>
    b.controlPlane.limits.standing(b.caller, "percall", [makeChannel(9, upstream.url, { limits: { rpm: 7 } })]);
  await look();
  expect(await look()).toEqual([
    { scope: "token", of: 7, kind: "rpm", limit: 5, remaining: 4, reset_seconds: 60 },
    { scope: "token", of: 7, kind: "concurrency", limit: 2, remaining: 2, reset_seconds: 0 },
    { scope: "channel", of: 9, kind: "rpm", limit: 7, remaining: 7, reset_seconds: 60 },
    { scope: "token", of: 7, kind: "budget_day", limit: 1_000, remaining: 900, reset_seconds: 12 * 3600 },
  ]);
});
