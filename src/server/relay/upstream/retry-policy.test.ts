import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { RetryBudget } from "../routing/retry-budget";

describe("retries of a model", () => {
  const budget = (): { at: (ms: number) => void; retries: RetryBudget } => {
    let now = 0;
    return { at: (ms) => void (now = ms), retries: new RetryBudget(() => now) };
  };
  const takes = (retries: RetryBudget, times: number, model = "m"): number =>
    Array.from({ length: times }, () => retries.take(model)).filter(Boolean).length;

  test("the first ten in ten seconds are free, and each model has its own", () => {
    const { retries } = budget();
    expect(takes(retries, 30)).toBe(10);
    expect(takes(retries, 30, "other")).toBe(10);
  });

  test("beyond them every tenth call may be retried", () => {
    const { retries } = budget();
    for (let call = 0; call < 250; call++) retries.called("m");
    expect(takes(retries, 300)).toBe(25);
  });

  test("after ten seconds all ten are free again", () => {
    const { at, retries } = budget();
    at(500);
    expect(takes(retries, 30)).toBe(10);
    at(10_500);
    expect(takes(retries, 30)).toBe(0);
    at(11_000);
    expect(takes(retries, 30)).toBe(10);
  });

  test("at any time: the ten seconds before a retry had at most nine others, or ten calls for each", () => {
    const step = fc.record({
      after: fc.integer({ min: 0, max: 4000 }),
      calls: fc.integer({ min: 0, max: 60 }),
      tries: fc.integer({ min: 0, max: 20 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { at, retries } = budget();
        const [calls, taken]: [number[], number[]] = [[], []];
        let now = 0;
        for (const { after, calls: more, tries } of steps) {
          at((now += after));
          for (let call = 0; call < more; call++) {
            retries.called("m");
            calls.push(now);
          }
          for (let one = 0; one < tries; one++) {
            if (!retries.take("m")) continue;
            taken.push(now);
            const within = (times: number[]): number => times.filter((time) => time > now - 10_000).length;
            expect(within(taken)).toBeLessThanOrEqual(Math.max(10, within(calls) / 10));
          }
        }
      }),
    );
  });
});
