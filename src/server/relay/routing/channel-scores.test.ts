/** Routing by score: simulated over recorded latencies, and its rules one by one. */
import { describe, expect, test } from "bun:test";
import { makeChannel } from "../../../../tests/relay/kit";
import { RECORDED_LATENCIES } from "../../../../tests/relay/recorded-latencies";
import type { PoolChannel } from "../../contracts/channel";
import { ChannelScores } from "./channel-scores";
import { Selection } from "./channel-selector";
import { Cooldown } from "./cooldown";

/** Repeatable numbers in [0, 1) (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Simulated {
  /** Seconds of the beginning. */
  at: number;
  channel: number;
  ms: number;
}

const LIMIT = 60;
const SLOW = 1;

/**
 * Four channels of one vendor under `rate` calls a second, which answer as it was recorded, each from another place on;
 * between two seconds one of them takes eight times as long.
 */
function simulate(
  seed: number,
  vendor: string,
  { until, rate, slowFrom, slowTo }: Record<"until" | "rate" | "slowFrom" | "slowTo", number>,
) {
  const recorded = RECORDED_LATENCIES[vendor] ?? [];
  const played = new Map<number, number>();
  const next = (id: number): number => {
    const place = played.get(id) ?? id * 10;
    played.set(id, place + 1);
    return recorded[place % recorded.length] ?? 0;
  };
  let now = 0;
  const random = numbers(seed);
  const scores = new ChannelScores(() => now);
  const cooldown = new Cooldown(() => now);
  const channels = [1, 2, 3, 4].map((id) => makeChannel(id, "", { limits: { concurrency: LIMIT } }));
  const call = { model: "m", stream: true };
  const calls: Simulated[] = [];
  const running: { end: number; ms: number; channel: PoolChannel; selection: Selection }[] = [];
  const load = new Map<number, number>();
  let most = 0;
  let refused = 0;
  for (let i = 0; i < until * rate; i++) {
    now = (i / rate) * 1000;
    for (const done of running.filter(({ end }) => end <= now)) {
      done.selection.measured(done.channel, done.ms);
      done.selection.ended();
      load.set(done.channel.id, (load.get(done.channel.id) ?? 0) - 1);
      running.splice(running.indexOf(done), 1);
    }
    const options = { candidates: channels, model: "m", cooldown, random, supports: () => true };
    const selection = new Selection({ ...options, scoring: { scores, call, applies: () => true } });
    let channel = selection.next();
    // The limit itself is kept by the channel's limits, which refuse what is chosen where all are full.
    while (channel && (load.get(channel.id) ?? 0) >= LIMIT) {
      selection.limited(channel, "rate_limited_channels", 0);
      refused++;
      channel = selection.next();
    }
    if (!channel) continue;
    selection.began(channel);
    load.set(channel.id, (load.get(channel.id) ?? 0) + 1);
    most = Math.max(most, ...load.values());
    const slow = channel.id === SLOW && now >= slowFrom * 1000 && now < slowTo * 1000;
    const ms = next(channel.id) * (slow ? 8 : 1);
    running.push({ end: now + ms, ms, channel, selection });
    calls.push({ at: now / 1000, channel: channel.id, ms });
  }
  return { calls, most, refused };
}

const between = (calls: readonly Simulated[], from: number, to: number) =>
  calls.filter(({ at }) => at >= from && at < to);
const p95 = (calls: readonly Simulated[]): number =>
  calls.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(calls.length * 0.95)] ?? 0;
const share = (calls: readonly Simulated[], channel: number): number =>
  calls.filter((one) => one.channel === channel).length / calls.length;

describe("one of four channels turns slow and heals", () => {
  for (const [vendor, seed] of Object.keys(RECORDED_LATENCIES).flatMap((name) => [1, 2].map((n) => [name, n] as const)))
    test(`${vendor}, seed ${seed}: p95, shares, healing, directions and limits stay as promised`, () => {
      const [slowFrom, slowTo, until, rate] = [120, 240, 480, 25];
      const { calls, most, refused } = simulate(seed, vendor, { until, rate, slowFrom, slowTo });
      const slow = between(calls, slowFrom + 30, slowTo);
      const healthy = slow.filter(({ channel }) => channel !== SLOW);
      expect(p95(slow)).toBeLessThanOrEqual(p95(healthy) * 1.25);
      expect(share(slow, SLOW)).toBeGreaterThan(0);
      expect(share(slow, SLOW)).toBeLessThanOrEqual(0.05);
      const healed = between(calls, slowTo + 120, until);
      for (const id of [1, 2, 3, 4]) expect(Math.abs(share(healed, id) / 0.25 - 1)).toBeLessThanOrEqual(0.1);
      // Shares of half a minute; what chance alone moves them is no change of direction.
      const windows = Array.from({ length: until / 30 }, (_, i) => between(calls, i * 30, i * 30 + 30));
      for (const id of [1, 2, 3, 4]) {
        const shares = windows.map((window) => share(window, id));
        for (let start = 0; start + 10 <= shares.length; start++)
          expect(turns(shares.slice(start, start + 10), 30 * rate)).toBeLessThanOrEqual(2);
      }
      expect([most <= LIMIT, refused]).toEqual([true, 0]);
    }, 30_000);

  test("a full channel is not chosen while another has room, so that limits refuse only when all are full", () => {
    const { most, refused } = simulate(7, "together", { until: 30, rate: 330, slowFrom: 100, slowTo: 200 });
    expect([most <= LIMIT, refused]).toEqual([true, 0]);
    expect(simulate(7, "together", { until: 20, rate: 700, slowFrom: 100, slowTo: 200 }).most).toBe(LIMIT);
  });
});

/** How often a row of shares turns round, by more than chance: three deviations of so many calls. */
function turns(shares: readonly number[], calls: number): number {
  const noise = 3 * Math.sqrt((0.25 * 0.75) / calls);
  let [low, high, direction, count] = [shares[0] ?? 0, shares[0] ?? 0, 0, 0];
  for (const value of shares) {
    [low, high] = [Math.min(low, value), Math.max(high, value)];
    const next = value > low + noise && direction !== 1 ? 1 : value < high - noise && direction !== -1 ? -1 : 0;
    if (next === 0) continue;
    if (direction !== 0) count++;
    direction = next;
    [low, high] = [value, value];
  }
  return count;
}

describe("the rules of a score", () => {
  const call = { model: "gpt-4o", stream: true, input: 1000 };
  const pair = [makeChannel(1, ""), makeChannel(2, "")];
  const [one, two] = pair as [PoolChannel, PoolChannel];
  const known = (channels: readonly PoolChannel[], times: readonly number[]) => {
    const scores = new ChannelScores(() => 0);
    channels.forEach(({ id }, i) => {
      for (let n = 0; n < 30; n++) scores.measured(id, call, times[i]);
    });
    return scores;
  };
  const shares = (scores: ChannelScores, channels: readonly PoolChannel[]) =>
    scores.shares(channels, scores.factors(channels, call));

  test("what is not measured counts as the others; times within a quarter count as equal", () => {
    expect(shares(new ChannelScores(() => 0), pair)).toEqual([0.5, 0.5]);
    expect(shares(known([one], [900]), pair)).toEqual([0.5, 0.5]);
    expect(shares(known(pair, [400, 480]), pair)).toEqual([0.5, 0.5]);
    expect(shares(known(pair, [400, 1600]), pair)[1]).toBeCloseTo(0.03, 5);
  });

  test("failures, a full channel and a higher price make a share smaller", () => {
    const failing = known(pair, [400, 400]);
    for (let n = 0; n < 3; n++) failing.measured(2, call, undefined);
    expect(shares(failing, pair)[1]).toBeLessThan(0.2);
    const dear = [makeChannel(1, "", { setting: { cost_percent: 20 } }), makeChannel(2, "")];
    expect(shares(known(dear, [400, 400]), dear)[1]).toBeLessThan(0.35);
    const busy = [makeChannel(1, ""), makeChannel(2, "", { limits: { concurrency: 10 } })];
    const scores = known(busy, [400, 400]);
    for (let n = 0; n < 8; n++) scores.began(2);
    expect(shares(scores, busy)[1]).toBeLessThan(0.1);
  });

  test("a conversation stays while the gain is less than the cache that it would lose", () => {
    const scores = known(pair, [400, 1400]);
    const factors = scores.factors(pair, call);
    expect(scores.keeps(two, factors, { ...call, input: 20_000 })).toBe(true);
    expect(scores.keeps(two, factors, { ...call, input: 1000 })).toBe(false);
    expect(scores.keeps(one, factors, call)).toBe(true);
  });

  test("the record of a choice has every factor; a group by weight has none", () => {
    const options = {
      candidates: pair,
      model: "gpt-4o",
      cooldown: new Cooldown(() => 0),
      random: () => 0,
      supports: () => true,
    };
    const scored = new Selection({
      ...options,
      scoring: { scores: known(pair, [400, 800]), call, applies: () => true },
    });
    scored.next();
    expect(scored.explain().scores).toMatchObject([
      { channel: 1, first_token_ms: 400, success: 1, free: 1 },
      { channel: 2, first_token_ms: 800, score: expect.any(Number) },
    ]);
    const plain = new Selection(options);
    plain.next();
    expect(plain.explain()).not.toHaveProperty("scores");
  });
});
