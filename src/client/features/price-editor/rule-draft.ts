/** A rule of prices while it is edited: what the fields hold, and the rule that they stand for. */
import { isCallers, type PriceRule, type RuleConditions, type RuleKind } from "../../../shared/price-rules";

export type ConditionKind = keyof RuleConditions;

/** What a rule does to the price: all of it, input and output apart, or other prices in dollars. */
export const outcomeKinds = ["factor", "parts", "usd"] as const;
export type OutcomeKind = (typeof outcomeKinds)[number];

export interface RuleDraft {
  /** Unique in its list. */
  readonly id: number;
  readonly name: string;
  readonly when: RuleConditions;
  readonly outcome: OutcomeKind;
  /** Numbers of the outcomes; null: an empty field. */
  readonly factor: number | null;
  readonly input: number | null;
  readonly output: number | null;
  readonly usd: Readonly<Partial<Record<RuleKind, number>>>;
  readonly cheaper: boolean;
}

/** What stands in a new condition. `zone`: the reader's own. */
export const emptyCondition = (kind: ConditionKind, zone: string): RuleConditions => ({
  [kind]: {
    hours: [{ zone, days: [1, 2, 3, 4, 5], from: "09:00", to: "18:00" }],
    dates: [{ zone }],
    input: {},
    seconds: {},
    cached: true,
    batch: true as const,
    service_tier: [],
    region: [],
    size: [],
    quality: [],
    resolution: [],
    member: { path: "", values: [] },
  }[kind],
});

/** A rule with a name that no other one has. */
export function emptyRule(id: number, rules: readonly RuleDraft[], prefix: string): RuleDraft {
  const taken = new Set(rules.map(({ name }) => name));
  let number = rules.length + 1;
  while (taken.has(`${prefix} ${number}`)) number++;
  return {
    id,
    name: `${prefix} ${number}`,
    when: {},
    outcome: "factor",
    factor: 2,
    input: null,
    output: null,
    usd: {},
    cheaper: false,
  };
}

export const ruleDrafts = (rules: readonly PriceRule[]): RuleDraft[] =>
  rules.map(({ name, when, then, cheaper }, id) => ({
    id,
    name,
    when,
    outcome: "factor" in then ? "factor" : "input" in then ? "parts" : "usd",
    factor: "factor" in then ? then.factor : null,
    input: "input" in then ? then.input : null,
    output: "output" in then ? then.output : null,
    usd: "usd" in then ? then.usd : {},
    cheaper: cheaper === true,
  }));

/** What the fields say, which may be no rule yet. */
export function ruleOf({ name, when, outcome, factor, input, output, usd, cheaper }: RuleDraft): unknown {
  const then = { factor: { factor }, parts: { input, output }, usd: { usd } }[outcome];
  return { name, when, then, ...(cheaper && isCallers({ when }) && { cheaper }) };
}

/** A record with this number; null takes it out. */
export function withNumber<Key extends string>(
  record: Readonly<Partial<Record<Key, number>>>,
  key: Key,
  value: number | null,
): Partial<Record<Key, number>> {
  const { [key]: _, ...others } = record;
  return (value === null ? others : { ...record, [key]: value }) as Partial<Record<Key, number>>; // the same keys
}
