import "../../../tests/dom";
import { i18n } from "@lingui/core";
import { beforeAll, describe, expect, test } from "bun:test";
import { formatCount, formatDollars, formatMilliseconds, formatRelative } from "./format";

beforeAll(() => i18n.loadAndActivate({ locale: "en", messages: {} }));

describe("quota as money", () => {
  test.each([
    [500_000, "$1.00"],
    [1_234_567, "$2.47"],
    [0, "$0.00"],
    [-750_000, "-$1.50"],
    [617_283_500_000, "$1,234,567.00"],
  ])("%d units are %s", (quota, text) => {
    // spec: C-001
    // spec: A-011
    expect(formatDollars(quota, 500_000)).toBe(text);
  });

  test("the operator's own unit is honoured and the inspector sees six decimals", () => {
    expect(formatDollars(1000, 1000)).toBe("$1.00");
    expect(formatDollars(1, 500_000, 6)).toBe("$0.000002");
  });
});

describe("counts in short", () => {
  test.each([
    [0, "0"],
    // spec: A-528
    [9_999, "9,999"],
    [10_000, "10.0k"],
    // spec: A-525, D-81
    [12_345, "12.3k"],
    [999_960, "1.0M"],
    // spec: A-526, D-81
    [1_234_567, "1.2M"],
    // spec: A-527
    [1_500_000_000, "1.5B"],
    [-12_345, "-12.3k"],
  ])("%d is %s", (count, text) => {
    // spec, D-81
    expect(formatCount(count)).toBe(text);
  });
});

describe("times", () => {
  test("distances in time are shown in the largest unit that fits", () => {
    expect(formatRelative(1000, 1000)).toBe("now");
    expect(formatRelative(1000, 1185)).toBe("3 min. ago");
    expect(formatRelative(90_000, 0)).toBe("tomorrow");
  });

  test("durations are shown in readable units", () => {
    expect(formatMilliseconds(850)).toBe("850 ms");
    expect(formatMilliseconds(1240)).toBe("1.2 s");
    expect(formatMilliseconds(200_000)).toBe("3 m 20 s");
  });
});
