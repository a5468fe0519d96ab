/** Odd bodies and odd vendors in memory: a few of the cases of scripts/fuzz.ts, always the same. */
import { expect, test } from "bun:test";
import { fuzzRelay } from "../kit/fuzz";
import { randomOf } from "../kit/trial/random";

const CASES = 1000;

test("odd bodies, answers and frames end with an answer and no open hold, and block nothing", async () => {
  const { broken, cases, statuses, longest_ms } = await fuzzRelay((n) => randomOf(1, "fuzz", n), 0, CASES);
  expect(broken).toEqual([]);
  expect(cases).toBe(CASES);
  // Neither are all refused, nor all accepted.
  for (const status of [200, 400, 502]) expect(statuses.get(status) ?? 0).toBeGreaterThan(CASES / 20);
  expect(longest_ms).toBeLessThan(150);
}, 60_000);
