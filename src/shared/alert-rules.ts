/**
 * Rules of alerts: what must be true of calls, events, budgets or upstream accounts for an incident to begin. A rule is
 * data; the defaults cover what every operator wants to know, so nothing has to be written (docs/alerts.md).
 */
import { z } from "zod";
import { EVENTS, type EventName } from "./events";
import type { Shape } from "./options/kinds";
import { hourWindow } from "./price-rules";
import type { Text } from "./text";

/** What a rule looks at one by one; `server`: everything together. */
export const ALERT_SUBJECTS = ["server", "channel", "model", "group", "user"] as const;
export type AlertSubject = (typeof ALERT_SUBJECTS)[number];

/** `info` is shown in the console and sent to no target that does not ask for it. */
export const SEVERITIES = ["info", "warning", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];
export const severityRank = (severity: string): number => SEVERITIES.findIndex((one) => one === severity);

/** `seconds`: the mean duration of a call; `quota`: units charged. */
export const MEASURES = ["calls", "errors", "quota", "seconds"] as const;
export type Measure = (typeof MEASURES)[number];

const MOST_RULES = 100;
/** The longest window; two of them and an hour are kept in memory. */
const MOST_MINUTES = 180;

const minutes = z.int().min(1).max(MOST_MINUTES);
const at_least = z.int().min(1).max(1e9);
const figure = z.number().positive().max(1e15);
const targetName = z.string().min(1).max(60);

const common = {
  /** Its incidents are named after it. */
  name: z
    .string()
    .trim()
    .min(1)
    .max(60)
    .regex(/^[^\s:]+$/, "no spaces and colons in a name"),
  /** Absent: on. */
  on: z.boolean().optional(),
  severity: z.enum(SEVERITIES).optional(),
  /** Names of targets; absent: all. */
  targets: z.array(targetName).max(50).optional(),
};
const series = {
  ...common,
  per: z.enum(ALERT_SUBJECTS),
  /** Ids of channels and users, names of models and groups; absent: all. */
  only: z.array(z.string().min(1).max(200)).min(1).max(500).optional(),
  minutes,
};

const rule = z.discriminatedUnion("kind", [
  /** Errors are `percent` or more of at least `at_least` calls. */
  z.strictObject({ kind: z.literal("share"), ...series, percent: z.number().positive().max(100), at_least }),
  /** A measure is `over` or more, or `under` or less; of `at_least` calls where it is a mean. */
  z
    .strictObject({
      kind: z.literal("threshold"),
      ...series,
      measure: z.enum(MEASURES),
      over: figure.optional(),
      under: z.number().min(0).max(1e15).optional(),
      at_least: at_least.optional(),
    })
    .refine(({ over, under }) => (over === undefined) !== (under === undefined), { error: "either over or under" }),
  /** A measure is `percent` higher or lower than in the window before, in which there were `at_least` calls. */
  z.strictObject({
    kind: z.literal("change"),
    ...series,
    measure: z.enum(MEASURES),
    direction: z.enum(["up", "down"]),
    percent: figure,
    at_least,
  }),
  /** No call, where there were `at_least` in the hour before. */
  z.strictObject({ kind: z.literal("silence"), ...series, at_least }),
  /** One of these events; it ends by its opposite, or after `minutes` without another. */
  z.strictObject({
    kind: z.literal("event"),
    ...common,
    events: z
      .array(z.custom<EventName>((name) => typeof name === "string" && Object.hasOwn(EVENTS, name), "unknown event"))
      .min(1)
      .max(30),
    minutes: z.int().min(1).max(10_080),
  }),
  /** A budget of a user, token, group, model or channel is used up to one of these shares, in percent. */
  z.strictObject({
    kind: z.literal("budget"),
    ...common,
    steps: z.array(z.number().positive().max(100)).min(1).max(10),
    /** Also tell the user whose budget it is, as their notices are set. Absent: yes. */
    owner: z.boolean().optional(),
  }),
  /** A channel's upstream: models in its list, hours that its balance lasts, days until its key expires. */
  z.strictObject({ kind: z.literal("models"), ...common }),
  z.strictObject({ kind: z.literal("balance"), ...common, hours: z.number().positive().max(720) }),
  z.strictObject({ kind: z.literal("key"), ...common, days: z.number().positive().max(365) }),
]);

export type AlertRule = z.infer<typeof rule>;
export type RuleKind = AlertRule["kind"];
type OfKind<K extends RuleKind> = Extract<AlertRule, { kind: K }>;
export type SeriesRule = OfKind<"share" | "threshold" | "change" | "silence">;
export type EventRule = OfKind<"event">;
export type BudgetRule = OfKind<"budget">;

export const isSeriesRule = (one: AlertRule): one is SeriesRule => "per" in one;
export const isRuleOn = (one: AlertRule): boolean => one.on !== false;
export const severityOf = (one: AlertRule): Severity => one.severity ?? "warning";

export const RULE_KINDS: Readonly<Record<RuleKind, Text>> = {
  share: { zh: "错误占比", en: "Share of errors" },
  threshold: { zh: "阈值", en: "Threshold" },
  change: { zh: "变化", en: "Change" },
  silence: { zh: "无调用", en: "Silence" },
  event: { zh: "事件", en: "Event" },
  budget: { zh: "预算", en: "Budget" },
  models: { zh: "上游模型增减", en: "Models of the upstream" },
  balance: { zh: "上游余额", en: "Balance of the upstream" },
  key: { zh: "密钥到期", en: "Expiry of keys" },
};

/** The rules that hold until an operator writes others. */
export const DEFAULT_RULES: readonly AlertRule[] = [
  { kind: "share", name: "channel-errors", per: "channel", minutes: 5, percent: 20, at_least: 20 },
  { kind: "share", name: "server-errors", severity: "critical", per: "server", minutes: 5, percent: 20, at_least: 20 },
  { kind: "silence", name: "silence", per: "server", minutes: 15, at_least: 300 },
  {
    kind: "change",
    name: "spending",
    per: "user",
    minutes: 60,
    measure: "quota",
    direction: "up",
    percent: 900,
    at_least: 100,
  },
  {
    kind: "event",
    name: "channel-disabled",
    events: ["channel_auto_disabled", "channel_key_auto_disabled"],
    minutes: 1440,
  },
  { kind: "event", name: "node", severity: "critical", events: ["node_lost"], minutes: 60 },
  { kind: "budget", name: "budget", steps: [50, 80, 100] },
  { kind: "models", name: "models" },
  { kind: "balance", name: "balance", hours: 24 },
  { kind: "key", name: "key", days: 7 },
];

const problemOf = (error: z.ZodError): string => {
  const [issue] = error.issues;
  const place = issue?.path.join(".") ?? "";
  return `${place === "" ? "" : `${place}: `}${issue?.message ?? ""}`;
};

/** The rules of option AlertRules. Returns what is wrong with them, in English. */
export function parseAlertRules(value: unknown): { rules: AlertRule[] } | { problem: string } {
  const parsed = z.array(rule).max(MOST_RULES).safeParse(value);
  if (!parsed.success) return { problem: problemOf(parsed.error) };
  const names = parsed.data.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  return twice === undefined ? { rules: parsed.data } : { problem: `two rules of the name ${twice}` };
}

export function alertRulesShape(): Shape<readonly AlertRule[]> {
  return (value) => {
    const parsed = parseAlertRules(value);
    if ("rules" in parsed) return { value: parsed.rules };
    return { zh: `告警规则不合法：${parsed.problem}`, en: `Not valid alert rules: ${parsed.problem}` };
  };
}

const quietHours = z.array(hourWindow).max(20);
export type QuietHours = z.infer<typeof quietHours>;

/** Windows of hours in which only critical incidents are told. */
export function quietHoursShape(): Shape<QuietHours> {
  return (value) => {
    const parsed = quietHours.safeParse(value);
    if (parsed.success) return { value: parsed.data };
    const problem = problemOf(parsed.error);
    return { zh: `静默时段不合法：${problem}`, en: `Not valid quiet hours: ${problem}` };
  };
}
