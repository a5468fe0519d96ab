import { beforeEach, describe, expect, test } from "bun:test";
import { Cooldown } from "./cooldown";

const MODEL = "m";
let now = 0;
let cooldown: Cooldown;
beforeEach(() => {
  now = 1_000_000;
  cooldown = new Cooldown(() => now);
});

const failure = (cool_ms = 5_000) => ({ cool_ms, retry_after_s: undefined, owner: "upstream" as const });
const standing = (channel: number | string = 1) => cooldown.standing(channel, MODEL);
/** The pair fails for the first time and its cooldown ends: it is half open. */
function halfOpen(cool_ms = 5_000): void {
  cooldown.failed(1, MODEL, {}, now, failure(cool_ms));
  now += cool_ms;
}
function probe(): { attempt: object; started: number } {
  const attempt = {};
  cooldown.begin(1, MODEL, attempt);
  return { attempt, started: now };
}

describe("the cooldown", () => {
  test("belongs to one channel and one model", () => {
    cooldown.add(1, MODEL, 5_000);
    expect(standing()).toBe(5_000);
    expect(standing(2)).toBe("ready");
    expect(cooldown.standing(1, "another")).toBe("ready");
  });

  test("gets shorter with time, and is over at its end, not before", () => {
    cooldown.add(1, MODEL, 5_000);
    now += 4_999;
    expect(standing()).toBe(1);
    now += 1;
    expect(standing()).toBe("ready");
  });

  test("of no time is none, and of a millisecond is one", () => {
    cooldown.add(1, MODEL, 0);
    expect(standing()).toBe("ready");
    // And the next failure is the first one.
    cooldown.failed(1, MODEL, {}, now, failure(1));
    expect(standing()).toBe(1);
  });

  test("is lengthened by a second failure and never shortened", () => {
    cooldown.add(1, MODEL, 5_000);
    cooldown.add(1, MODEL, 9_000);
    expect(standing()).toBe(9_000);
    cooldown.add(1, MODEL, 100);
    expect(standing()).toBe(9_000);
  });

  test("ends with the success of an attempt that began at the failure or later, not of an earlier one", () => {
    const before = now;
    now += 10;
    cooldown.add(1, MODEL, 5_000);
    cooldown.served(1, MODEL, before);
    expect(standing()).toBe(5_000);
    cooldown.served(1, MODEL, now);
    expect(standing()).toBe("ready");
  });

  test("does not begin with the success of a channel that never failed", () => {
    cooldown.add(1, MODEL, 5_000);
    cooldown.served(2, MODEL, now);
    expect(standing()).toBe(5_000);
  });
});

describe("half open", () => {
  test("one attempt probes at a time; the others skip the pair", () => {
    halfOpen();
    const first = probe();
    expect(standing()).toBe("probing");
    probe();
    cooldown.failed(1, MODEL, first.attempt, first.started, failure());
    // The second one began beside the probe and was none.
    now += 10_000;
    expect(standing()).toBe("ready");
  });

  test("an attempt during the cooldown is no probe", () => {
    cooldown.add(1, MODEL, 5_000);
    probe();
    now += 5_000;
    expect(standing()).toBe("ready");
  });

  test("an attempt at a pair that never failed is no probe", () => {
    probe();
    expect(standing()).toBe("ready");
    cooldown.add(2, MODEL, 5_000);
    probe();
    expect(standing()).toBe("ready");
  });

  test("each failed probe doubles the first cooldown, up to ten minutes", () => {
    halfOpen();
    const pauses = [];
    for (let round = 0; round < 9; round++) {
      const { attempt, started } = probe();
      cooldown.failed(1, MODEL, attempt, started, failure());
      const pause = standing();
      pauses.push(pause);
      now += Number(pause);
    }
    expect(pauses).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000, 600_000]);
  });

  test("a failure that names no cooldown doubles the first one", () => {
    halfOpen(3_000);
    const { attempt, started } = probe();
    cooldown.failed(1, MODEL, attempt, started, failure(0));
    expect(standing()).toBe(6_000);
  });

  test("a cooldown that the upstream names with Retry-After stays as named", () => {
    halfOpen();
    const { attempt, started } = probe();
    cooldown.failed(1, MODEL, attempt, started, { ...failure(3_000), retry_after_s: 3 });
    expect(standing()).toBe(3_000);
  });

  test("a successful probe resets the pair: the next failure begins with the first cooldown", () => {
    halfOpen();
    const { started } = probe();
    cooldown.served(1, MODEL, started);
    expect(standing()).toBe("ready");
    cooldown.failed(1, MODEL, {}, now, failure());
    expect(standing()).toBe(5_000);
  });

  test("a caller's mistake ends a probe: an upstream that rejects the request is reachable again", () => {
    halfOpen();
    const { attempt, started } = probe();
    cooldown.failed(1, MODEL, attempt, started, { ...failure(0), owner: "caller" });
    expect(standing()).toBe("ready");
    // The whole entry is forgotten, not only the probe.
    cooldown.failed(1, MODEL, {}, now, failure());
    expect(standing()).toBe(5_000);
  });

  test("a caller's mistake outside of a probe begins no cooldown", () => {
    cooldown.failed(1, MODEL, {}, now, { ...failure(0), owner: "caller" });
    expect(standing()).toBe("ready");
  });

  test("the failure of an attempt that began before the cooldown does not end another attempt's probe and doubles nothing", () => {
    const early = {};
    const started = now;
    now += 10;
    halfOpen();
    const { attempt, started: probed } = probe();
    cooldown.failed(1, MODEL, early, started, failure(1_000));
    now += 1_000;
    expect(standing()).toBe("probing");
    cooldown.failed(1, MODEL, attempt, probed, failure());
    expect(standing()).toBe(10_000);
  });

  test("a probe that fails during another failure's cooldown is over", () => {
    halfOpen();
    const { attempt, started } = probe();
    cooldown.add(1, MODEL, 2_000);
    cooldown.failed(1, MODEL, attempt, started, failure(2_000));
    now += 2_000;
    expect(standing()).toBe("ready");
  });

  test("the failure of an attempt that is no probe does not end another attempt's probe", () => {
    halfOpen();
    probe();
    cooldown.failed(1, MODEL, {}, now, failure());
    now += 10_000;
    expect(standing()).toBe("probing");
  });

  test("a pair without attempts for more than ten minutes begins with its first cooldown again", () => {
    halfOpen();
    const first = probe();
    cooldown.failed(1, MODEL, first.attempt, first.started, failure());
    now += 10_000 + 600_000;
    const second = probe();
    cooldown.failed(1, MODEL, second.attempt, second.started, failure());
    expect(standing()).toBe(20_000);
    now += 20_000 + 600_001;
    const third = probe();
    cooldown.failed(1, MODEL, third.attempt, third.started, failure());
    expect(standing()).toBe(5_000);
  });
});

describe("more than a thousand pairs", () => {
  const addMany = (from: number, to: number): void => {
    for (let channel = from; channel < to; channel++) cooldown.add(channel, MODEL, 1_000);
  };
  test("those whose cooldown ended more than ten minutes ago are forgotten, the others and those being probed are kept", () => {
    addMany(0, 2);
    now += 1_000;
    cooldown.begin(0, MODEL, {});
    now += 1;
    addMany(2, 3);
    now += 600_500;
    addMany(10, 11);
    now += 500;
    addMany(100, 1_097);
    // 1,001 pairs: two whose cooldown ended more than ten minutes ago, of which one is being probed.
    for (const channel of [1, 2]) cooldown.begin(channel, MODEL, {});
    expect([0, 1, 2, 10].map(standing)).toEqual(["probing", "ready", "probing", 500]);
  });

  test("a thousand are all kept", () => {
    addMany(0, 1);
    now += 1_000 + 600_001;
    addMany(100, 1_099);
    // A half-open pair can be probed; a forgotten one cannot.
    cooldown.begin(0, MODEL, {});
    expect(standing(0)).toBe("probing");
    addMany(2_000, 2_001);
    expect(standing(0)).toBe("probing");
  });
});
