/** Limits over the relay: parallel calls, every way a call can end, and what the caller is told. */
import { afterAll, describe, expect, test } from "bun:test";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { type Bench, chatBody, makeBench, makeChannel } from "./kit";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());
const chat = "/v1/chat/completions";
const bench = (now?: () => number): Bench => makeBench([makeChannel(1, upstream.url)], now ? { now } : {});
const statuses = (responses: Response[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
const parallel = (b: Bench, count: number, model = "gpt-4o"): Promise<Response[]> =>
  Promise.all(Array.from({ length: count }, () => b.send(chat, chatBody(model))));
/** How many more concurrent calls the token allows. */
async function freeCalls(b: Bench, limit: number): Promise<number> {
  const demand = { key: `calls:token:${b.caller.token_id}`, amount: 1, limit, window_seconds: 0 };
  let free = 0;
  const taken = [];
  for (; free <= limit; free++) {
    const reservation = await b.counter.reserve([demand]);
    taken.push(reservation);
    if (reservation.refused >= 0) break;
  }
  for (const reservation of taken) reservation.end([0]);
  return free;
}

describe("requests a minute", () => {
  test("of many calls at once exactly as many pass as the token allows; the others are 429 with their row, and cost nothing", async () => {
    let now = 1_700_000_000_000;
    const b = bench(() => now);
    b.caller.rpm = 5;
    const responses = await parallel(b, 20);
    // spec: C-262
    expect(statuses(responses)).toEqual({ 200: 5, 429: 15 });
    const refused = responses.find(({ status }) => status === 429);
    // spec: C-262
    expect(refused?.headers.get("retry-after")).toBe("60");
    expect(refused?.headers.get("x-ratelimit-limit-requests")).toBe("5");
    expect(refused?.headers.get("x-ratelimit-remaining-requests")).toBe("0");
    expect(refused?.headers.get("x-ratelimit-reset-requests")).toBe("60s");
    expect(await refused?.json()).toMatchObject({ error: { type: "rate_limit_error", code: "rate_limited_requests" } });
    expect(b.failures).toHaveLength(15);
    expect(b.failures[0]).toMatchObject({
      end_reason: "refused",
      model_name: "gpt-4o",
      token_id: 7,
      code: "rate_limited_requests",
      params: expect.stringContaining('"limit":5'),
    });
    expect(b.ledger.holdRequests).toHaveLength(5);
    now += 60_000;
    expect(statuses(await parallel(b, 6))).toEqual({ 200: 5, 429: 1 });
  });

  test("a response says how much is left; without limits there is no such header", async () => {
    const b = bench();
    // spec: C-262
    expect((await b.send(chat, chatBody("gpt-4o"))).headers.has("x-ratelimit-limit-requests")).toBe(false);
    b.caller.rpm = 3;
    const left = [];
    for (const stream of [false, true]) {
      const response = await b.send(chat, chatBody("gpt-4o", { stream }), { headers: { origin: "http://app.test" } });
      left.push(response.headers.get("x-ratelimit-remaining-requests"));
      expect(response.headers.get("access-control-expose-headers")).toContain("x-ratelimit-remaining-requests");
      await response.text();
    }
    expect(left).toEqual(["2", "1"]);
  });
});

describe("tokens a minute", () => {
  test("a call takes its estimate and returns the unused part", async () => {
    const b = bench();
    b.caller.tpm = 1000;
    const first = await b.send(chat, chatBody("gpt-4o+usage:100:50", { max_tokens: 400 }));
    const estimate = 1000 - Number(first.headers.get("x-ratelimit-remaining-tokens"));
    expect(estimate).toBeGreaterThan(400);
    const second = await b.send(chat, chatBody("gpt-4o+usage:100:50", { max_tokens: 400 }));
    expect(Number(second.headers.get("x-ratelimit-remaining-tokens"))).toBe(1000 - 150 - estimate);
  });

  test("an estimate above the whole limit takes the window alone, and usage above it counts", async () => {
    let now = 1_700_000_000_000;
    const b = bench(() => now);
    b.caller.tpm = 500;
    expect((await b.send(chat, chatBody("gpt-4o+usage:400:400"))).status).toBe(200);
    const refused = await b.send(chat, chatBody("gpt-4o", { max_tokens: 1 }));
    // spec: C-262
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ error: { code: "rate_limited_tokens" } });
    now += 60_000;
    expect((await b.send(chat, chatBody("gpt-4o", { max_tokens: 1 }))).status).toBe(200);
  });

  test("a call that ends in the next window does not change that window", async () => {
    let now = 1_700_000_000_000;
    const b = bench(() => now);
    b.caller.tpm = 10_000;
    const hold = Promise.withResolvers<void>();
    const { hold: take } = b.ledger;
    b.ledger.hold = async (request) => (await hold.promise, take.call(b.ledger, request));
    const late = b.send(chat, chatBody("gpt-4o+usage:10:10", { max_tokens: 9_000 }));
    await Bun.sleep(5);
    now += 60_000;
    b.ledger.hold = take;
    await b.send(chat, chatBody("gpt-4o+usage:10:10", { max_tokens: 1 }));
    hold.resolve();
    await late;
    const third = await b.send(chat, chatBody("gpt-4o+usage:10:10", { max_tokens: 100 }));
    expect(Number(third.headers.get("x-ratelimit-remaining-tokens"))).toBeLessThan(10_000 - 100);
    expect(Number(third.headers.get("x-ratelimit-remaining-tokens"))).toBeGreaterThan(9_000);
  });

  test("a refusal by one limit takes nothing of the others", async () => {
    const b = bench();
    b.caller.rpm = 3;
    b.caller.tpm = 1000;
    await b.send(chat, chatBody("gpt-4o+usage:800:100", { max_tokens: 200 }));
    expect(statuses(await parallel(b, 10))).toEqual({ 429: 10 });
    b.caller.tpm = 0;
    expect(statuses(await parallel(b, 4))).toEqual({ 200: 2, 429: 2 });
  });
});

describe("concurrent calls", () => {
  test("as many run at once as the token allows, and a call that ended makes room before its caller knows", async () => {
    const b = bench();
    b.caller.concurrency = 3;
    const responses = await parallel(b, 10, "gpt-4o");
    // spec: C-262
    expect(statuses(responses)).toEqual({ 200: 3, 429: 7 });
    const refused = responses.find(({ status }) => status === 429);
    // spec: C-262
    expect(refused?.headers.get("retry-after")).toBe("1");
    b.caller.concurrency = 1;
    for (let i = 0; i < 5; i++) {
      const response = await b.send(chat, chatBody("gpt-4o", { stream: i % 2 === 0 }));
      expect(response.status).toBe(200);
      await response.text();
    }
  });

  test("however calls end, their places are free again", async () => {
    const limit = 6;
    const b = bench();
    Object.assign(b.caller, { concurrency: limit, rpm: 10_000, tpm: 10_000_000 });
    Object.assign(b.options, { retryTimes: 1, idleTimeoutMs: 150, firstByteTimeoutMs: 150, connectTimeoutMs: 150 });
    const models = [
      "gpt-4o",
      "error-500",
      "error-429",
      "error-400",
      "html-200",
      "cut-midstream",
      "cut-head",
      "error-midstream",
      "hang",
      "lies-gzip",
      "no-usage",
      "unpriced",
      "nobody",
      "big-frame:2048",
      "gpt-4o+words:300",
    ];
    let seed = 11;
    const random = (n: number): number => (seed = (seed * 48_271) % 2_147_483_647) % n;
    const outcomes = new Set<number>();
    for (let round = 0; round < 12; round++) {
      const calls = Array.from({ length: 9 }, async () => {
        const stream = random(2) === 0;
        const poor = random(8) === 0;
        if (poor) b.ledger.balance = 5;
        const leave = random(3) === 0 ? new AbortController() : undefined;
        const sent = b.send(
          chat,
          chatBody(models[random(models.length)] ?? "", { stream }),
          leave ? { signal: leave.signal } : {},
        );
        const pause = random(20);
        if (leave) setTimeout(() => leave.abort(), pause);
        const response = await sent;
        outcomes.add(response.status);
        if (stream && random(3) === 0) await response.body?.cancel();
        else await response.text().catch(() => undefined);
      });
      await Promise.all(calls);
      b.ledger.balance = 1_000_000;
    }
    await b.quiet();
    expect([...outcomes]).toEqual(expect.arrayContaining([200, 404, 429, 500]));
    expect(b.ledger.holds.size).toBe(0);
    expect(await freeCalls(b, limit)).toBe(limit);
  }, 30_000);
});

describe("the options ModelRequestRateLimit", () => {
  const limited = (more: [Parameters<Bench["set"]["set"]>[0], unknown][], now?: () => number): Bench => {
    const b = bench(now);
    b.set.set("ModelRequestRateLimitEnabled", true);
    for (const [key, value] of more) b.set.set(key, value);
    return b;
  };

  test("limit all requests of a user over all tokens", async () => {
    const b = limited([
      ["ModelRequestRateLimitCount", 4],
      ["ModelRequestRateLimitDurationMinutes", 10],
    ]);
    const responses = await parallel(b, 6);
    expect(statuses(responses)).toEqual({ 200: 4, 429: 2 });
    expect(responses.find(({ status }) => status === 429)?.headers.get("retry-after")).toBe("600");
    b.caller.token_id = 8;
    expect((await b.send(chat, chatBody("gpt-4o"))).status).toBe(429);
    b.caller.user_id = 2;
    expect((await b.send(chat, chatBody("gpt-4o"))).status).toBe(200);
    expect((await b.send("/v1/models", undefined)).status).toBe(200);
  });

  test("limit successful requests exactly: failures free their place", async () => {
    const b = limited([["ModelRequestRateLimitSuccessCount", 3]]);
    for (let i = 0; i < 5; i++) expect((await b.send(chat, chatBody("error-500"))).status).toBe(500);
    expect(statuses(await parallel(b, 8))).toEqual({ 200: 3, 429: 5 });
  });

  test("a group's own pair replaces both numbers, 0 means none", async () => {
    const b = limited([
      ["ModelRequestRateLimitCount", 1],
      ["ModelRequestRateLimitSuccessCount", 1],
      ["ModelRequestRateLimitGroup", { vip: [0, 2] }],
    ]);
    b.caller.group = "vip";
    expect(statuses(await parallel(b, 3))).toEqual({ 200: 2, 429: 1 });
    b.caller.group = "default";
    b.caller.user_id = 3;
    expect(statuses(await parallel(b, 3))).toEqual({ 200: 1, 429: 2 });
  });

  test("off, they count nothing", async () => {
    const b = limited([
      ["ModelRequestRateLimitEnabled", false],
      ["ModelRequestRateLimitCount", 1],
    ]);
    expect(statuses(await parallel(b, 3))).toEqual({ 200: 3 });
  });
});
