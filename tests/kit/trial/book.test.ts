/** The book must be able to fail: each kind of broken promise, told to it, is said. */
import { describe, expect, test } from "bun:test";
import { brokenPromises, type Expected, expectationOf, type LedgerAtRest } from "./book";
import { addressOf, callOf, type CallRecord, randomCall } from "./calls";
import { randomOf } from "./random";
import type { Fate, VendorAnswer } from "./vendors";

const record = (facts: Partial<CallRecord> = {}): CallRecord => ({
  call: 7,
  planned: { caller: "chat", vendor: "anthropic", stream: true, input: 30, output: 12, pieces: 10 },
  node: "node 0",
  life: 1,
  status: 200,
  request_id: "req-7",
  whole: true,
  content: true,
  left: false,
  late: false,
  ...facts,
});
const answers = (...fates: Fate[]): VendorAnswer[] =>
  fates.map((fate) => ({ fate, dialect: "anthropic", started: true, whole: fate === "answers" }));
const expected = (facts: Partial<CallRecord>, sent: VendorAnswer[], survived = true): Expected =>
  expectationOf(record(facts), sent, survived);

const delivered = expected({}, answers("answers"));
const clean: LedgerAtRest = {
  charges: [{ request_id: "req-7", call: 7, units: 42 }],
  holds: [],
  findings: [],
  accounts: [{ name: "the user", given: 1000, left: 958, used: 42 }],
};

describe("what a call must have cost", () => {
  test("an answer delivered whole costs exactly what its vendor counted, also when the node was killed afterwards", () => {
    expect(delivered).toMatchObject({ least: 42, most: 42 });
    expect(expected({}, answers("answers"), false)).toMatchObject({ least: 42, most: 42 });
    expect(expected({}, answers("fails", "answers"))).toMatchObject({ least: 42, most: 42 });
  });

  test("a call whose vendors sent no content costs nothing", () => {
    for (const fate of ["dead", "bad_key", "no_quota", "rate_limited", "stalls_before_head"] as const)
      expect(expected({ whole: false, content: false, status: 502 }, answers(fate))).toMatchObject({
        least: 0,
        most: 0,
      });
    expect(expected({ whole: false, content: false, status: 0 }, [])).toMatchObject({ least: 0, most: 0 });
  });

  test("content that was delivered is not free while its process lives, and its cost has a bound", () => {
    const part = { whole: false, content: true };
    expect(expected(part, answers("cut_in_stream"))).toMatchObject({ least: 1, most: 1122 });
    expect(expected(part, answers("cut_in_stream"), false)).toMatchObject({ least: 0, most: 1122 });
    expect(expected({}, answers("no_usage"))).toMatchObject({ least: 1, most: 1122 });
    expect(expected({}, answers("claims_too_much")).most).toBeLessThan(9_000_000);
  });
});

describe("the book says", () => {
  test("nothing where the ledger is right", () => {
    expect(brokenPromises([delivered], clean)).toEqual([]);
  });

  test("that a call is charged twice", () => {
    const charges = [...clean.charges, { request_id: "req-8", call: 7, units: 42 }];
    expect(brokenPromises([delivered], { ...clean, charges })).toEqual([
      expect.stringMatching(/^req-7: call 7 .* is charged 2 times: req-7 42, req-8 42$/),
    ]);
  });

  test("what a session's charges add up to, and that it has more of them than responses", () => {
    const session: Expected = { call: 8, least: 30, most: 50, rows: 2, words: "a session" };
    const charges = (...units: number[]): LedgerAtRest => ({
      ...clean,
      charges: units.map((amount, n) => ({ request_id: `req-8-${n}`, call: 8, units: amount })),
    });
    expect(brokenPromises([session], charges(15, 20))).toEqual([]);
    expect(brokenPromises([session], charges(15, 10))).toEqual([
      "a session is charged 25 units as req-8-0 and req-8-1, and costs 30 to 50 units",
    ]);
    expect(brokenPromises([session], charges(15, 20, 5))).toEqual([
      "a session is charged 3 times: req-8-0 15, req-8-1 20, req-8-2 5",
    ]);
  });

  test("that a delivered answer is not charged, or at another price", () => {
    expect(brokenPromises([delivered], { ...clean, charges: [] })).toEqual([
      expect.stringMatching(/^req-7: .* is not charged, and costs 42 units$/),
    ]);
    const charges = [{ request_id: "req-7", call: 7, units: 41 }];
    expect(brokenPromises([delivered], { ...clean, charges })).toEqual([
      expect.stringMatching(/^req-7: .* is charged 41 units as req-7, and costs 42 units$/),
    ]);
  });

  test("that something is charged although nothing was sent, or no such call was made", () => {
    const refused = expected({ whole: false, content: false, status: 503 }, []);
    expect(brokenPromises([refused], clean)).toEqual([expect.stringContaining("is charged 42 units")]);
    expect(brokenPromises([], clean)).toEqual(["req-7: 42 units for a call that was not made"]);
    const charges = [...clean.charges, { request_id: "req-9", call: undefined, units: 5 }];
    expect(brokenPromises([delivered], { ...clean, charges })).toEqual(["req-9: 5 units for a call that was not made"]);
  });

  test("that a hold is left, an audit finds something, or an account does not add up", () => {
    const ledger = {
      ...clean,
      holds: ["req-3"],
      findings: ["balance users 1 100 90"],
      accounts: [{ name: "the user", given: 1000, left: 950, used: 42 }],
    };
    expect(brokenPromises([delivered], ledger)).toEqual([
      "req-3: still held",
      "audit: balance users 1 100 90",
      "the user: 950 left and 42 used of 1000",
    ]);
  });
});

test("the same seed gives the same schedule, another seed another", () => {
  const schedule = (seed: number) => {
    const random = randomOf(seed, "kills", 1);
    return Array.from({ length: 50 }, () => randomCall(random));
  };
  expect(schedule(1)).toEqual(schedule(1));
  expect(schedule(1)).not.toEqual(schedule(2));
});

test("the address of a call names it", () => {
  for (const call of [1, 255, 256, 70_000]) expect(callOf(addressOf(call))).toBe(call);
  expect(callOf("127.0.0.1")).toBeUndefined();
});
