import { describe, expect, test } from "bun:test";
import type { SeriesRule } from "../../../shared/alert-rules";
import { judge, lookBack } from "./judge";
import { isFault } from "../log/failed-attempts";
import { type Item, Series, type Sums } from "./series";
import { pauseAfter, quietUntil } from "./deliver";

const NOW = 1_763_875_000; // 2025-11-23
const MINUTE = 60;

interface Calls extends Partial<Item & Sums> {
  minutesAgo: number;
  times?: number;
  failed?: boolean;
}

function seriesOf(calls: readonly Calls[]): Series {
  const series = new Series();
  for (const { minutesAgo, times = 1, failed = false, quota = 10, seconds = 2, ...item } of calls) {
    const minute = Math.floor(NOW / MINUTE) - minutesAgo;
    const sums = { calls: times, errors: failed ? times : 0, quota: quota * times, seconds: seconds * times };
    series.add(minute, { channel: 3, model_name: "gpt-5", group: "default", user_id: 12, ...item }, sums);
  }
  return series;
}
const states = (rule: SeriesRule, series: Series, open: readonly string[] = []) =>
  Object.fromEntries(judge(rule, series, NOW, new Set(open)).map(({ subject, state }) => [subject, state]));

describe("a share of errors", () => {
  const rule: SeriesRule = { name: "r", kind: "share", per: "channel", minutes: 5, percent: 20, at_least: 20 };

  test("begins at its percentage of enough calls, goes on down to four fifths of it, and is fine below", () => {
    const share = (failed: number, all: number) =>
      states(
        rule,
        seriesOf([
          { minutesAgo: 1, times: failed, failed: true },
          { minutesAgo: 1, times: all - failed },
        ]),
      );
    expect(share(4, 20)).toEqual({ "channel:3": "on" });
    expect(share(20, 100)).toEqual({ "channel:3": "on" });
    expect(share(19, 100)).toEqual({ "channel:3": "hold" });
    expect(share(16, 100)).toEqual({ "channel:3": "hold" });
    expect(share(15, 100)).toEqual({});
    expect(share(19, 19)).toEqual({ "channel:3": "hold" });
    expect(share(0, 19)).toEqual({ "channel:3": "unknown" });
  });

  test("counts only the minutes of its window, and each subject for itself", () => {
    const series = seriesOf([
      { minutesAgo: 5, times: 50, failed: true },
      { minutesAgo: 4, times: 30, failed: true, channel: 4 },
      { minutesAgo: 4, times: 30 },
    ]);
    expect(states(rule, series)).toEqual({ "channel:4": "on" });
    expect(states({ ...rule, only: ["3"] }, series)).toEqual({});
    expect(states({ ...rule, per: "server" }, series)).toEqual({ "": "on" });
    expect(states({ ...rule, per: "model" }, series)).toEqual({ "model:gpt-5": "on" });
  });

  test("of an open incident without any call is not known, which is not fine", () => {
    expect(states(rule, seriesOf([]), ["channel:3"])).toEqual({ "channel:3": "unknown" });
  });

  test("a failed attempt counts for its channel although another one answered the call", () => {
    const series = seriesOf([{ minutesAgo: 1, times: 30, channel: 5 }]);
    series.addAttempts(Math.floor(NOW / MINUTE) - 1, 3, 30);
    expect(states(rule, series)).toEqual({ "channel:3": "on" });
    expect(states({ ...rule, per: "server" }, series)).toEqual({});
  });

  test("does not count what is the caller's own mistake", () => {
    expect(["failure.caller_mistake", "failure.context_too_long", "invalid_parameter"].map(isFault)).toEqual([
      false,
      false,
      false,
    ]);
    expect(["failure.timeout", "failure.quota_exhausted", "channels_paused", "later_release"].map(isFault)).toEqual([
      true,
      true,
      true,
      true,
    ]);
  });
});

describe("thresholds, changes and silence", () => {
  test("a threshold holds over or under its figure; means are of the calls", () => {
    const over: SeriesRule = { name: "r", kind: "threshold", per: "user", measure: "quota", minutes: 10, over: 100 };
    expect(states(over, seriesOf([{ minutesAgo: 1, times: 10 }]))).toEqual({ "user:12": "on" });
    expect(states(over, seriesOf([{ minutesAgo: 1, times: 9 }]))).toEqual({ "user:12": "hold" });
    expect(states(over, seriesOf([{ minutesAgo: 1, times: 7 }]))).toEqual({});
    const slow: SeriesRule = {
      name: "r",
      kind: "threshold",
      per: "model",
      measure: "seconds",
      minutes: 10,
      over: 2,
      at_least: 3,
    };
    expect(states(slow, seriesOf([{ minutesAgo: 1, times: 3 }]))).toEqual({ "model:gpt-5": "on" });
    expect(states(slow, seriesOf([{ minutesAgo: 1, times: 2 }]))).toEqual({});
    const under: SeriesRule = { name: "r", kind: "threshold", per: "group", measure: "calls", minutes: 5, under: 2 };
    expect(states(under, seriesOf([{ minutesAgo: 20, times: 50 }]))).toEqual({ "group:default": "on" });
  });

  test("a change is against the same time before, in either direction", () => {
    const up: SeriesRule = {
      name: "r",
      kind: "change",
      per: "user",
      measure: "quota",
      direction: "up",
      percent: 100,
      minutes: 10,
      at_least: 5,
    };
    const calls = (now: number, before: number) =>
      seriesOf([
        { minutesAgo: 2, times: now },
        { minutesAgo: 12, times: before },
      ]);
    expect(states(up, calls(10, 5))).toEqual({ "user:12": "on" });
    expect(states(up, calls(9, 5))).toEqual({ "user:12": "hold" });
    expect(states(up, calls(8, 5))).toEqual({});
    expect(states(up, calls(100, 4))).toEqual({});
    const down: SeriesRule = { ...up, direction: "down", percent: 50, measure: "calls" };
    expect(states(down, calls(0, 5))).toEqual({ "user:12": "on" });
    expect(states(down, calls(3, 6))).toEqual({ "user:12": "on" });
    expect(states(down, calls(4, 6))).toEqual({});
    expect(lookBack([up])).toBe(71);
  });

  test("silence needs calls before it, lasts as long as it is silent, and ends with a call", () => {
    const rule: SeriesRule = { name: "r", kind: "silence", per: "server", minutes: 15, at_least: 100 };
    expect(states(rule, seriesOf([{ minutesAgo: 20, times: 100 }]))).toEqual({ "": "on" });
    expect(states(rule, seriesOf([{ minutesAgo: 20, times: 99 }]))).toEqual({ "": "hold" });
    expect(states(rule, seriesOf([]), [""])).toEqual({ "": "hold" });
    expect(states(rule, seriesOf([{ minutesAgo: 20, times: 100 }, { minutesAgo: 1 }]), [""])).toEqual({});
    expect(states(rule, seriesOf([]))).toEqual({});
  });
});

describe("quiet hours", () => {
  const at = (text: string) => Date.parse(text);
  const end = (zone: string, moment: string) => {
    const until = quietUntil([{ zone, from: "22:00", to: "08:00" }], at(moment));
    return until === undefined ? undefined : new Date(until * 1000).toISOString();
  };

  test("end at their hour of the zone, also in the nights when its clocks change", () => {
    expect(end("Asia/Shanghai", "2026-11-23T14:30:00Z")).toBe("2026-11-24T00:00:00.000Z");
    expect(end("Asia/Shanghai", "2026-11-23T13:59:00Z")).toBeUndefined();
    // Europe/Berlin: summer time begins on 29 March 2026 and ends on 25 October 2026.
    expect(end("Europe/Berlin", "2026-03-28T21:30:00Z")).toBe("2026-03-29T06:00:00.000Z");
    expect(end("Europe/Berlin", "2026-10-24T20:30:00Z")).toBe("2026-10-25T07:00:00.000Z");
  });

  test("pauses between attempts double up to an hour", () => {
    expect([1, 2, 3, 7, 8, 20].map(pauseAfter)).toEqual([30, 60, 120, 1920, 3600, 3600]);
  });
});
