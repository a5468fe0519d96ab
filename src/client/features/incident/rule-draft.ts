/** A rule while it is typed: all fields of all kinds, of which the kind's own are kept. */
import {
  type AlertRule,
  type AlertSubject,
  type Measure,
  parseAlertRules,
  type RuleKind,
  type Severity,
} from "../../../shared/alert-rules";

export interface RuleDraft {
  name: string;
  kind: RuleKind;
  severity: Severity;
  per: AlertSubject;
  only: string[];
  targets: string[];
  measure: Measure;
  bound: "over" | "under";
  direction: "up" | "down";
  minutes: number | null;
  percent: number | null;
  at_least: number | null;
  figure: number | null;
  hours: number | null;
  days: number | null;
  steps: string[];
  events: string[];
  owner: boolean;
}

const EMPTY: RuleDraft = {
  name: "",
  kind: "share",
  severity: "warning",
  per: "channel",
  only: [],
  targets: [],
  measure: "quota",
  bound: "over",
  direction: "up",
  minutes: 5,
  percent: 20,
  at_least: 20,
  figure: 100,
  hours: 24,
  days: 7,
  steps: ["50", "80", "100"],
  events: [],
  owner: true,
};

/** What the form begins with: a rule, or a new one. */
export function draftOf(rule: AlertRule | undefined): RuleDraft {
  if (!rule) return EMPTY;
  const threshold: Partial<RuleDraft> =
    rule.kind === "threshold"
      ? {
          bound: rule.over === undefined ? "under" : "over",
          figure: rule.over ?? rule.under ?? null,
          at_least: rule.at_least ?? null,
        }
      : {};
  const { steps, events, ...plain } = { steps: undefined, events: undefined, ...rule };
  return {
    ...EMPTY,
    ...(plain as Partial<RuleDraft>), // fields of one name have one type in rule and draft
    ...threshold,
    steps: steps?.map(String) ?? EMPTY.steps,
    events: events ?? EMPTY.events,
  };
}

/** The fields that a kind has besides name, kind, severity and targets. */
export const FIELDS: Readonly<Record<RuleKind, readonly (keyof RuleDraft)[]>> = {
  share: ["per", "only", "minutes", "percent", "at_least"],
  threshold: ["per", "only", "measure", "bound", "figure", "minutes", "at_least"],
  change: ["per", "only", "measure", "direction", "percent", "minutes", "at_least"],
  silence: ["per", "only", "minutes", "at_least"],
  event: ["events", "minutes"],
  budget: ["steps", "owner"],
  models: [],
  balance: ["hours"],
  key: ["days"],
};

/** The rule of a draft, or what is wrong with it. */
export function ruleOf(draft: RuleDraft, on: boolean | undefined): { rule: AlertRule } | { problem: string } {
  const has = (field: keyof RuleDraft): boolean => FIELDS[draft.kind].includes(field);
  const members: Record<string, unknown> = { name: draft.name.trim(), kind: draft.kind };
  if (on === false) members.on = false;
  if (draft.severity !== "warning") members.severity = draft.severity;
  if (draft.targets.length > 0) members.targets = draft.targets;
  for (const field of [
    "per",
    "measure",
    "direction",
    "minutes",
    "percent",
    "at_least",
    "hours",
    "days",
    "events",
  ] as const)
    if (has(field) && draft[field] !== null) members[field] = draft[field];
  if (has("only") && draft.only.length > 0 && draft.per !== "server") members.only = draft.only;
  if (has("figure")) members[draft.bound] = draft.figure ?? undefined;
  if (has("steps")) members.steps = draft.steps.map(Number);
  if (has("owner") && !draft.owner) members.owner = false;
  const parsed = parseAlertRules([members]);
  if ("problem" in parsed) return { problem: parsed.problem.replace(/^0\./, "") };
  const [rule] = parsed.rules;
  return rule ? { rule } : { problem: "" };
}
