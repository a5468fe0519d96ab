import { describe, expect, test } from "bun:test";
import { makeChannel } from "../../../../tests/relay/kit";
import { Cooldown } from "./cooldown";
import type { RelayStats } from "../../contracts/relay-stats";
import type { PoolChannel } from "../../contracts/channel";
import { Selection, type SelectionOptions } from "./channel-selector";
import { draw } from "./draw";
import { SessionAffinity } from "./session-affinity";

/** A repeatable random source (mulberry32). */
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

  test("a channel in cooldown is skipped while another is left, and tried last when none is", () => {
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

  test("the explanation names candidates, tiers and the channels that were skipped", () => {
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

const noStats = (): RelayStats => ({
  open_calls: 0,
  open_streams: 0,
  open_sessions: 0,
  late_settles: 0,
  missing_holds: 0,
  sticky_calls: 0,
  sticky_hits: 0,
});

/** A selection among these channels; the draw takes the first of a tier. */
function select(candidates: PoolChannel[], more: Partial<SelectionOptions> = {}): Selection {
  const cooldown = more.cooldown ?? new Cooldown(() => 0);
  return new Selection({ candidates, model: "m", supports: () => true, random: () => 0, ...more, cooldown });
}

function rest(selection: Selection): number[] {
  const ids = [];
  for (let next = selection.next(); next; next = selection.next()) ids.push(next.id);
  return ids;
}

describe("session affinity", () => {
  const three = (): PoolChannel[] => [channel(1, 0, 1), channel(2, 0, 1), channel(3, 0, 1)];
  function known(id: number): SessionAffinity {
    const sticky = new SessionAffinity(() => 0);
    sticky.set("talk", id);
    return sticky;
  }

  test("puts the conversation's previous channel first in its tier and notes it; the others follow", () => {
    const selection = select(three());
    const stats = noStats();
    selection.prefer(known(3), "talk", stats);
    expect(selection.preferred).toBe(3);
    expect(rest(selection)).toEqual([3, 1, 2]);
    expect(selection.explain()).toMatchObject({ sticky: 3 });
    expect([stats.sticky_calls, stats.sticky_hits]).toEqual([1, 1]);
  });

  test("does not apply to an unknown conversation, which counts as a call without a hit", () => {
    const selection = select(three());
    const stats = noStats();
    selection.prefer(known(3), "another", stats);
    expect(selection.preferred).toBeUndefined();
    expect(selection.next()?.id).toBe(1);
    expect([stats.sticky_calls, stats.sticky_hits]).toEqual([1, 0]);
    expect(selection.explain()).not.toHaveProperty("sticky");
  });

  test("forgets a channel in cooldown, and the draw decides", () => {
    const cooldown = new Cooldown(() => 0);
    cooldown.add(3, "m", 5_000);
    const sticky = known(3);
    const stats = noStats();
    const selection = select(three(), { cooldown });
    selection.prefer(sticky, "talk", stats);
    expect(selection.preferred).toBeUndefined();
    expect(sticky.get("talk")).toBeUndefined();
    expect(rest(selection)).toEqual([1, 2, 3]);
    expect(stats.sticky_hits).toBe(0);
    // The same when every channel is in cooldown and all are tried.
    for (const id of [1, 2]) cooldown.add(id, "m", 5_000);
    const desperate = select(three(), { cooldown });
    desperate.prefer(known(3), "talk");
    expect(desperate.next()?.id).toBe(1);
  });

  test("remembers a channel that is not among the candidates", () => {
    const sticky = known(9);
    select(three()).prefer(sticky, "talk");
    expect(sticky.get("talk")).toBe(9);
  });

  test("waits for the channel's tier, and counts no hit where there was no choice", () => {
    const stats = noStats();
    const lower = select([channel(1, 5, 1), channel(2, 0, 1), channel(3, 0, 1)]);
    lower.prefer(known(3), "talk", stats);
    expect(lower.next()?.id).toBe(1);
    const alone = select([channel(3, 5, 1), channel(2, 0, 1)]);
    alone.prefer(known(3), "talk", stats);
    expect(alone.next()?.id).toBe(3);
    expect(alone.explain()).not.toHaveProperty("sticky");
    expect([stats.sticky_calls, stats.sticky_hits]).toEqual([2, 0]);
  });

  test("counts no hit for a channel at its limit, which is reported as limited with the limit and the time until it is free", () => {
    const selection = select(three());
    const stats = noStats();
    selection.prefer(known(3), "talk", stats);
    const first = selection.next();
    if (first) selection.limited(first, "rate_limited_channels", 700);
    expect(selection.explain()).toMatchObject({
      skipped: [{ channel: 3, why: "limited", limit: "rate_limited_channels", remaining_ms: 700 }],
    });
    expect(selection.explain()).not.toHaveProperty("sticky");
    expect(stats.sticky_hits).toBe(0);
  });

  test("keeps its hit when another channel is at its limit", () => {
    const selection = select(three());
    const stats = noStats();
    selection.prefer(known(3), "talk", stats);
    selection.next();
    const second = selection.next();
    if (second) selection.limited(second, "rate_limited_channels", 700);
    expect(selection.explain()).toMatchObject({ sticky: 3 });
    expect(stats.sticky_hits).toBe(1);
  });
});

describe("channels left out of the draw", () => {
  test("an input that is too long for a channel skips it; one of exactly its maximum does not", () => {
    const candidates = [
      makeChannel(1, "http://x", { max_input_tokens: 100 }),
      makeChannel(2, "http://x", { max_input_tokens: 101 }),
      makeChannel(3, "http://x", { max_input_tokens: 0 }),
    ];
    const selection = select(candidates, { input: 101 });
    expect([selection.tooLong, selection.left]).toEqual([true, 2]);
    expect(rest(selection)).toEqual([2, 3]);
    expect(selection.explain().skipped).toEqual([{ channel: 1, why: "too_long" }]);
    expect(select([makeChannel(4, "http://x", { max_input_tokens: 1 })], { input: 2 }).left).toBe(0);
    const unknown = select(candidates);
    expect([unknown.tooLong, unknown.left]).toEqual([false, 3]);
  });

  test("a channel with a running probe is reported as probing, once", () => {
    let now = 0;
    const cooldown = new Cooldown(() => now);
    cooldown.add(1, "m", 10);
    now = 10;
    cooldown.begin(1, "m", {});
    const selection = select([channel(1, 9, 1), channel(2, 0, 1), channel(3, 0, 1)], { cooldown });
    expect(rest(selection)).toEqual([2, 3, 1]);
    expect(selection.explain().skipped).toEqual([{ channel: 1, why: "probing" }]);
  });

  test("only the channels that hold the object of the call are left, with the key that holds it", () => {
    const knowing = makeChannel(2, "http://x", { key: "the one that knows" });
    const selection = select([channel(1, 0, 1), channel(2, 0, 1), channel(3, 0, 1)], {
      supports: ({ id }) => id !== 3,
    });
    selection.restrictTo(({ id }) => (id === 2 ? knowing : undefined));
    expect(selection.next()).toBe(knowing);
    expect(selection.next()).toBeUndefined();
    expect(selection.explain().skipped).toEqual([
      { channel: 3, why: "unsupported" },
      { channel: 1, why: "elsewhere" },
    ]);
  });

  test("a channel that is returned is tried once more", () => {
    const selection = select([channel(1, 5, 1), channel(2, 0, 1)]);
    const first = selection.next();
    if (first) selection.requeue(first);
    expect(selection.left).toBe(2);
    expect(rest(selection)).toEqual([1, 2]);
  });
});

describe("group auto", () => {
  const cheap = channel(1, 0, 1);
  const both = channel(2, 9, 1);
  const dear = channel(3, 99, 1);
  const stages = [
    { group: "cheap", candidates: [cheap, both] },
    { group: "dear", candidates: [both, dear] },
  ];
  const open = (cooldown?: Cooldown): Selection =>
    select([cheap, both, dear], { stages, ...(cooldown && { cooldown }) });

  test("the channels of the first group come first, whatever the priority of the others; a channel belongs to the first", () => {
    const selection = open();
    expect(rest(selection)).toEqual([2, 1, 3]);
    expect([cheap, both, dear].map((one) => selection.groupOf(one))).toEqual(["cheap", "cheap", "dear"]);
    expect(selection.explain()).toMatchObject({ groups: ["cheap", "dear"] });
    expect(select([cheap]).groupOf(cheap)).toBeUndefined();
  });

  test("the first group with a channel out of cooldown comes first", () => {
    const cooldown = new Cooldown(() => 0);
    for (const id of [1, 2]) cooldown.add(id, "m", 5_000);
    expect(rest(open(cooldown))).toEqual([3, 2, 1]);
  });

  test("a channel stays in its group with another of its keys", () => {
    const selection = open();
    const other = { ...dear, key: "another key" };
    selection.restrictTo((one) => (one === dear ? other : one));
    expect(rest(selection)).toEqual([2, 1, 3]);
    expect(selection.groupOf(other)).toBe("dear");
  });
});

describe("the plan of a dry run", () => {
  const shares = (selection: Selection): [id: number, turn: number, share: number, standing: unknown][] =>
    selection.plan().map(({ channel: { id }, turn, share, standing }) => [id, turn, share, standing]);

  test("shows every candidate in order of its tier, with the probability to be the first of its tier", () => {
    const cooldown = new Cooldown(() => 0);
    cooldown.add(4, "m", 5_000);
    const candidates = [channel(1, 0, 0), channel(2, 5, 1), channel(3, 5, 3), channel(4, 9, 1), channel(5, 9, 1)];
    const selection = select(candidates, { cooldown, supports: ({ id }) => id !== 5 });
    expect(shares(selection)).toEqual([
      [2, 1, 0.25, "ready"],
      [3, 1, 0.75, "ready"],
      [1, 2, 1, "ready"],
      [4, 3, 1, 5_000],
      [5, 0, 0, "unsupported"],
    ]);
    expect(shares(select([channel(1, 0, 0), channel(2, 0, 0)])).map(([, , share]) => share)).toEqual([0.5, 0.5]);
    // The plan drew nothing.
    expect(rest(selection)).toEqual([2, 3, 1, 4]);
  });

  test("the conversation's previous channel comes first in the first tier, and in no other", () => {
    const sticky = new SessionAffinity(() => 0);
    sticky.set("talk", 3);
    const first = select([channel(2, 5, 1), channel(3, 5, 3)]);
    first.prefer(sticky, "talk");
    expect(shares(first)).toEqual([
      [2, 1, 0, "ready"],
      [3, 1, 1, "ready"],
    ]);
    const second = select([channel(1, 9, 1), channel(2, 5, 1), channel(3, 5, 3)]);
    second.prefer(sticky, "talk");
    expect(shares(second).map(([id, turn, share]) => [id, turn, share])).toEqual([
      [1, 1, 1],
      [2, 2, 0.25],
      [3, 2, 0.75],
    ]);
  });
});

describe("a draw", () => {
  const two = [channel(1, 0, 1), channel(2, 0, 3)];

  test("takes each channel for the part of the range that its weight is", () => {
    const at = (point: number): number | undefined => draw(two, () => point)?.id;
    expect([0, 0.24, 0.25, 0.99].map(at)).toEqual([1, 1, 2, 2]);
  });

  test("of equal shares takes each for its part of the range", () => {
    const equal = [channel(1, 0, 0), channel(2, 0, 0)];
    expect([0, 0.49, 0.5, 0.99].map((point) => draw(equal, () => point)?.id)).toEqual([1, 1, 2, 2]);
  });

  test("of one channel or none needs no random number", () => {
    const never = (): number => {
      throw new Error("chance was asked");
    };
    expect([draw([], never), draw(two.slice(0, 1), never)?.id]).toEqual([undefined, 1]);
  });

  test("takes the last channel with a weight where rounding leaves a rest", () => {
    expect(draw([...two, channel(3, 0, 0)], () => 1)?.id).toBe(2);
  });
});
