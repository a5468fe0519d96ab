import { describe, expect, test } from "bun:test";
import { makeChannel } from "../../../../tests/relay/kit";
import { Cooldown } from "./cooldown";
import type { PoolChannel } from "../../contracts/channel";
import { Selection } from "./channel-selector";

/** A repeatable source of chance (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const channel = (id: number, priority: number, weight: number): PoolChannel =>
  makeChannel(id, "http://x", { priority, weight });

function order(candidates: PoolChannel[], cooldown = new Cooldown(() => 0), random = seeded(1)): number[] {
  const selection = new Selection({ candidates, model: "m", cooldown, supports: () => true, random });
  const ids = [];
  for (let next = selection.next(); next; next = selection.next()) ids.push(next.id);
  return ids;
}

/** How often each channel comes first in 1000 draws. */
function firsts(candidates: PoolChannel[], cooldown?: Cooldown): Map<number, number> {
  const random = seeded(7);
  const counts = new Map<number, number>();
  for (let i = 0; i < 1000; i++) {
    const first = order(candidates, cooldown, random)[0] ?? 0;
    counts.set(first, (counts.get(first) ?? 0) + 1);
  }
  return counts;
}

describe("selection", () => {
  test("a tier is exhausted before the next one, and no channel comes twice", () => {
    const candidates = [channel(1, 0, 5), channel(2, 10, 1), channel(3, 10, 0), channel(4, 10, 1), channel(5, -1, 0)];
    for (let seed = 0; seed < 50; seed++) {
      const ids = order(candidates, undefined, seeded(seed));
      expect(new Set(ids.slice(0, 3))).toEqual(new Set([2, 3, 4]));
      expect(ids.slice(3)).toEqual([1, 5]);
      // A weight of 0 beside positive ones waits for them.
      // spec: C-662
      expect(ids[2]).toBe(3);
    }
  });

  test("a thousand draws follow the weights", () => {
    const counts = firsts([channel(1, 0, 10), channel(2, 0, 30), channel(3, 0, 60), channel(4, 0, 0)]);
    // spec: C-662
    expect(Math.abs((counts.get(1) ?? 0) - 100)).toBeLessThan(40);
    expect(Math.abs((counts.get(2) ?? 0) - 300)).toBeLessThan(60);
    expect(Math.abs((counts.get(3) ?? 0) - 600)).toBeLessThan(60);
    // spec: C-662
    expect(counts.get(4)).toBeUndefined();
  });

  test("weights that are all 0 mean equal shares", () => {
    const counts = firsts([channel(1, 0, 0), channel(2, 0, 0)]);
    // spec: C-662
    expect(Math.abs((counts.get(1) ?? 0) - 500)).toBeLessThan(60);
  });

  test("a cooling channel is passed over while another is left, and tried last when none is", () => {
    let now = 0;
    const cooldown = new Cooldown(() => now);
    const candidates = [channel(1, 10, 1), channel(2, 0, 1)];
    cooldown.add(1, "m", 5_000);
    cooldown.add(2, "another model", 5_000);
    // spec: C-662
    expect(order(candidates, cooldown)).toEqual([2, 1]);
    now = 5_000;
    expect(order(candidates, cooldown)).toEqual([1, 2]);
  });

  test("the explanation names candidates, tiers and who was passed over", () => {
    const cooldown = new Cooldown(() => 0);
    cooldown.add(1, "m", 3_000);
    const selection = new Selection({
      candidates: [channel(1, 5, 1), channel(2, 5, 2), channel(3, 0, 0)],
      model: "m",
      cooldown,
      supports: ({ id }) => id !== 3,
      random: () => 0,
    });
    expect(selection.next()?.id).toBe(2);
    expect(selection.explain()).toEqual({
      candidates: 3,
      tiers: [
        {
          priority: 5,
          channels: [
            { id: 1, weight: 1 },
            { id: 2, weight: 2 },
          ],
        },
        { priority: 0, channels: [{ id: 3, weight: 0 }] },
      ],
      skipped: [
        { channel: 3, why: "unsupported" },
        { channel: 1, why: "cooling", remaining_ms: 3_000 },
      ],
    });
  });
});
