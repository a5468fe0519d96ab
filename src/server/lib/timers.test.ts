import { afterEach, expect, setSystemTime, test } from "bun:test";
import { steadyOf } from "./timers";

afterEach(() => setSystemTime());

test("lengths of time are measured by a clock that goes on when the wall clock is set forward or back", async () => {
  const now = steadyOf(Date.now);
  const began = now();
  expect(Math.abs(began - Date.now())).toBeLessThan(60_000);
  for (const hours of [-1, 5, -48]) {
    setSystemTime(new Date(Date.now() + hours * 3_600_000));
    expect(now() - began).toBeWithin(0, 10_000);
  }
  await Bun.sleep(5);
  expect(now()).toBeGreaterThan(began);
});

test("a test's own clock stays what it is", () => {
  const own = (): number => 7;
  expect(steadyOf(own)).toBe(own);
});
