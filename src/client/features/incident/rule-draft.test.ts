import { expect, test } from "bun:test";
import { type AlertRule, DEFAULT_RULES, parseAlertRules, RULE_KINDS } from "../../../shared/alert-rules";
import { ruleText } from "../../../shared/alert-rule-text";
import { draftOf, ruleOf } from "./rule-draft";

const MORE: readonly AlertRule[] = [
  { name: "t", kind: "threshold", per: "user", measure: "quota", under: 5, minutes: 5, only: ["3"], targets: ["a"] },
  { name: "o", kind: "threshold", per: "model", measure: "seconds", over: 30, minutes: 5, at_least: 3, on: false },
];

test("a rule goes through the form unchanged, whatever its kind, and every kind reads as a sentence", () => {
  const rules = [...DEFAULT_RULES, ...MORE];
  expect(new Set(rules.map(({ kind }) => kind)).size).toBe(Object.keys(RULE_KINDS).length);
  for (const rule of rules) {
    expect(ruleOf(draftOf(rule), rule.on)).toEqual({ rule });
    for (const lang of ["zh", "en"] as const) expect(ruleText(rule, lang).length).toBeGreaterThan(5);
  }
  expect(parseAlertRules(rules)).toEqual({ rules });
});

test("a draft that is not complete says what is missing", () => {
  expect(ruleOf({ ...draftOf(undefined), name: "" }, undefined)).toMatchObject({
    problem: expect.stringContaining("name"),
  });
  expect(ruleOf({ ...draftOf(undefined), name: "a", minutes: null }, undefined)).toMatchObject({
    problem: expect.stringContaining("minutes"),
  });
  expect(ruleOf({ ...draftOf(undefined), name: "a b" }, undefined)).toEqual({
    problem: "name: no spaces and colons in a name",
  });
  expect(ruleOf({ ...draftOf(undefined), name: "e", kind: "event" }, undefined)).toMatchObject({
    problem: expect.stringContaining("events"),
  });
});
