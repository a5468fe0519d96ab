import { describe, expect, test } from "bun:test";
import { NO_SUMS } from "../../../shared/dashboard";
import { change, labelled, ticks } from "./chart-scale";
import { logLink } from "./dashboard-links";
import { axisText } from "./measure";
import { bucketLabel, granularityFor, PRESETS, rangeOf } from "./dashboard-range";

const HOUR = 3600;
const DAY = 86_400;
const at = (...parts: [number, number, number, number?, number?]): Date => new Date(...parts);
const seconds = (date: Date): number => date.getTime() / 1000;

describe("a preset", () => {
  test("begins days and months at the viewer's midnight, also where a month has 31 days and a year ends", () => {
    const now = at(2027, 0, 31, 9, 30);
    const end = seconds(at(2027, 0, 31, 10));
    expect(rangeOf("today", now)).toEqual({ start: seconds(at(2027, 0, 31)), end });
    expect(rangeOf("7d", now)).toEqual({ start: seconds(at(2027, 0, 25)), end });
    expect(rangeOf("30d", now)).toEqual({ start: seconds(at(2027, 0, 2)), end });
    expect(rangeOf("month", now)).toEqual({ start: seconds(at(2027, 0, 1)), end });
    expect(rangeOf("last_month", now)).toEqual({ start: seconds(at(2026, 11, 1)), end: seconds(at(2027, 0, 1)) });
    expect(rangeOf("24h", now)).toEqual({ start: end - DAY, end });
  });

  test("asks the same question all through an hour, and is never empty", () => {
    for (const preset of PRESETS) {
      for (const now of [at(2026, 10, 1), at(2026, 10, 1, 0, 59), at(2026, 10, 30, 23, 59)]) {
        const { start, end } = rangeOf(preset, now);
        expect(end).toBeGreaterThan(start);
        expect(rangeOf(preset, new Date(Math.floor(now.getTime() / 3_600_000) * 3_600_000))).toEqual({ start, end });
      }
    }
  });
});

test("hours become days when a chart could not show them all", () => {
  expect(granularityFor("hour", { start: 0, end: 31 * DAY })).toBe("hour");
  expect(granularityFor("hour", { start: 0, end: 32 * DAY })).toBe("day");
  expect(granularityFor("week", { start: 0, end: 366 * DAY })).toBe("week");
});

test("a column is called by its hour, the first of a day by the day too", () => {
  const noon = seconds(at(2026, 10, 21, 12));
  expect(bucketLabel("hour", noon)).toBe("12:00");
  expect(bucketLabel("hour", noon - 12 * HOUR)).toBe("11-21 00:00");
  expect(bucketLabel("day", noon)).toBe("11-21");
  expect(bucketLabel("week", noon, true)).toBe("2026-11-21");
});

test("the marks of a chart are round, begin at 0 and reach the largest value", () => {
  expect(ticks(100)).toEqual([0, 25, 50, 75, 100]);
  expect(ticks(7)).toEqual([0, 2, 4, 6, 8]);
  for (const none of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) expect(ticks(none)).toEqual([0, 1]);
  for (let max = 1; max < 1e12; max *= 1.37) {
    const marks = ticks(max);
    expect(marks.at(-1)).toBeGreaterThanOrEqual(max * (1 - 1e-9));
    expect(marks.length).toBeLessThanOrEqual(6);
  }
  expect(ticks(1)).toEqual([0, 1]);
});

test("labels are few, and name days where there are many hours", () => {
  const midnight = seconds(at(2026, 10, 20));
  const hours = (count: number, from = midnight) =>
    Array.from({ length: count }, (_, i) => ({ start: from + i * HOUR }));
  expect(labelled(hours(24), "hour", 8)).toEqual([0, 3, 6, 9, 12, 15, 18, 21]);
  expect(labelled(hours(72, midnight - 5 * HOUR), "hour", 8)).toEqual([5, 29, 53]);
  expect(labelled(hours(240), "hour", 4)).toEqual([0, 72, 144, 216]);
  expect(labelled(hours(30), "day", 4)).toEqual([0, 8, 16, 24]);
  expect(labelled([], "day", 8)).toEqual([]);
});

test("a change is shown against the period before, and not at all when that was zero", () => {
  expect([change(15, 10), change(0, 10), change(5, 0), change(5, -10)]).toEqual([0.5, -1, undefined, 1.5]);
});

test("a link to the log names range and item, and there is none for what no filter can name", () => {
  const range = { start: 3600, end: 7200 };
  const item = (key: string, label = key) => ({ ...NO_SUMS, key, label, owner: "" });
  const of = (link: string | null) => link && Object.fromEntries(new URLSearchParams(link.split("?")[1]));
  const times = { start_timestamp: "3600", end_timestamp: "7199" };
  expect(of(logLink(range))).toEqual(times);
  expect(of(logLink(range, { dimension: "model", item: item("a&b=c #1") }))).toEqual({
    ...times,
    model_name: "a&b=c #1",
  });
  expect(of(logLink(range, { dimension: "token", item: item("7", ""), errors: true }))).toEqual({
    ...times,
    type: "5",
    token_id: "7",
  });
  expect(of(logLink(range, { dimension: "user", item: item("3", "bob"), username: "x" }))).toEqual({
    ...times,
    username: "bob",
  });
  expect(of(logLink(range, { dimension: "channel", item: item("12", "gone") }))).toEqual({ ...times, channel: "12" });
  for (const dimension of ["model", "user", "channel", "token", "group"] as const)
    expect(logLink(range, { dimension, item: item("", "") })).toBeNull();
});

test("the marks of one axis have one form", () => {
  const marks = ticks(600_000);
  const step = marks[1] ?? 0;
  expect(marks.map((mark) => axisText("quota", mark, step))).toEqual(["$0.00", "$0.40", "$0.80", "$1.20"]);
  expect([0, 10, 20].map((mark) => axisText("quota", mark, 10))).toEqual(["$0.000000", "$0.000020", "$0.000040"]);
  expect([0, 500_000, 1_000_000].map((mark) => axisText("quota", mark, 500_000))).toEqual(["$0.00", "$1.00", "$2.00"]);
});
