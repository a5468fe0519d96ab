import { expect, test } from "bun:test";
import { addUp, durationOf, firstTokenOf, healthOf, NO_CALLS, speedOf, successOf } from "./health";

test("hours add up, and their means are weighted by what was served", () => {
  const one = { ...NO_CALLS, calls: 10, use_time: 10, completion_tokens: 100, first_token_ms: 500, first_tokens: 10 };
  const two = {
    ...NO_CALLS,
    calls: 32,
    errors: 2,
    use_time: 60,
    completion_tokens: 600,
    first_token_ms: 900,
    first_tokens: 1,
  };
  const both = addUp([one, two]);
  expect(both).toMatchObject({ calls: 42, errors: 2, completion_tokens: 700 });
  expect([durationOf(both), firstTokenOf(both), speedOf(both)]).toEqual([1.8, 127, 10]);
  expect(successOf(both)).toBeCloseTo(40 / 42);
  expect(addUp([])).toEqual({ ...NO_CALLS });
});

test("what has no calls has no figures, and calls that all failed took no time", () => {
  expect([successOf(NO_CALLS), durationOf(NO_CALLS), firstTokenOf(NO_CALLS), speedOf(NO_CALLS)]).toEqual([
    null,
    null,
    null,
    null,
  ]);
  expect([successOf({ calls: 2, errors: 2 }), durationOf({ calls: 2, errors: 2, use_time: 0 })]).toEqual([0, null]);
});

test("health goes by the share of answered calls: 95 and 80 percent are its steps", () => {
  expect([null, 1, 0.95, 0.949, 0.8, 0.79, 0].map(healthOf)).toEqual([
    "unknown",
    "good",
    "good",
    "poor",
    "poor",
    "bad",
    "bad",
  ]);
});
