/** The certification can fail: what a run must have done is judged against the same at its vendor. */
import { expect, test } from "bun:test";
import type { Run } from "./bench";
import type { Client } from "./client";
import { judgeRun } from "./verdict";
import { DONE, NOTES } from "./vendors/script";
import type { Fate } from "./vendors/server";

const client: Client = {
  name: "a client",
  version: "1",
  kind: "sdk",
  from: "project",
  door: "anthropic",
  models: ["m"],
  obeys: true,
  fates: ["answers"],
  tooLong: /prompt is too long/,
  missing: () => undefined,
  run: () => Promise.reject(new Error("not run here")),
};
const words = Object.values(NOTES);
const whole = `${DONE}: ${words.join(" ")}`;

interface Facts {
  ended?: Run["outcome"]["ended"];
  says?: string;
  statuses?: number[];
  asked?: number;
  refusal?: string;
  seen?: readonly string[];
  bill?: string;
}

const runOf = (
  fate: Fate,
  { ended = "answered", says = whole, statuses = [200], asked = 1, refusal, seen = words, bill = "" }: Facts = {},
): Run => ({
  outcome: { ended, says },
  vendor: {
    fate,
    asked: Array.from({ length: asked }, () => ({
      path: "/",
      model: "m",
      stream: true,
      status: 200,
      ...(refusal && { refusal }),
    })),
    remarks: [],
    issued: new Set(),
    returned: new Set(),
    words: new Set(seen),
  },
  door: { statuses, lost: new Set() },
  bill,
  seconds: 1,
});
const verdictOf = (fate: Fate, facts: Facts, own: Facts = {}): string =>
  judgeRun(client, fate, runOf(fate, facts), runOf(fate, own)).verdict;

test("a run of three turns is right when it tells all that its tools read, and the bill is the vendor's", () => {
  expect(verdictOf("answers", {})).toBe("ok");
  expect(verdictOf("answers", { bill: "the log says less" })).toBe("FAIL");
  expect(verdictOf("answers", { refusal: "a rule: no" })).toBe("FAIL");
  expect(verdictOf("answers", { seen: words.slice(1) })).toBe("FAIL");
  expect(verdictOf("answers", { says: `${DONE}: ${words[0]}` })).toBe("FAIL");
  expect(verdictOf("answers", { ended: "failed", says: "no" })).toBe("FAIL");
  expect(verdictOf("answers", { ended: "too late" })).toBe("FAIL");
});

test("what fails at the vendor, too, is not judged, and what is right passes whatever the baseline does", () => {
  expect(verdictOf("answers", { ended: "failed", says: "no" }, { ended: "failed", says: "no" })).toBe("not judged");
  expect(verdictOf("answers", {}, { ended: "failed", says: "no" })).toBe("ok");
});

const failed = (says: string, statuses: number[], asked = statuses.length): Facts => ({
  ended: "failed",
  says,
  statuses,
  asked,
});

test("after an error a client ends, sees its cause in English, and asks no more often than at its vendor", () => {
  const own = failed("invalid x-api-key", [401]);
  expect(verdictOf("dead_key", failed("the account", [502], 1), own)).toBe("ok");
  expect(verdictOf("dead_key", failed("the account", [502, 502, 502], 1), own)).toBe("FAIL");
  expect(verdictOf("dead_key", { ...failed("", [502]), ended: "too late" }, own)).toBe("FAIL");
  expect(verdictOf("too_long", failed("prompt is too long", [400]), failed("prompt is too long", [400]))).toBe("ok");
  expect(verdictOf("too_long", failed("bad request", [400]), failed("prompt is too long", [400]))).toBe("FAIL");
  const poor = failed("credit balance is too low", [400]);
  expect(verdictOf("out_of_quota", failed("billing_error: no balance", [402], 0), poor)).toBe("ok");
  expect(verdictOf("out_of_quota", failed("billing_error: 额度不足", [402], 0), poor)).toBe("FAIL");
  expect(verdictOf("out_of_quota", failed("billing_error: no balance", [402], 1), poor)).toBe("FAIL");
  expect(verdictOf("unknown_model", failed("not found", [503], 0), failed("not found", [404]))).toBe("FAIL");
});

test("a client that does not try again hears a limit as a limit", () => {
  const own = failed("rate limit", [429]);
  expect(verdictOf("rate_limited", failed("rate limit", [429]), own)).toBe("ok");
  expect(verdictOf("rate_limited", failed("an error", [500]), own)).toBe("FAIL");
  expect(verdictOf("rate_limited", failed("rate limit", [429]), { statuses: [429, 429, 200] })).toBe("FAIL");
});

test("a stream that broke does not pass for a whole answer", () => {
  expect(verdictOf("error_in_stream", failed("overloaded", [200]))).toBe("ok");
  expect(verdictOf("error_in_stream", { says: "I read " })).toBe("FAIL");
});
