/**
 * Texts of incidents, from code and values in the reader's language (decision 46), and where the console leads from
 * one.
 */
import * as z from "zod";
import { type Measure, SEVERITIES, type Severity } from "./alert-rules";
import { isStoredText, logText } from "./log-text";
import { longPageSize, pageShape } from "./paging";
import { fillText, type Lang, type Text, type TextParams } from "./text";

/** `{what}` is the subject, `{name}` and `{id}` are its parts. */
export const INCIDENTS = {
  errors_share: {
    zh: "{what}的错误率 {percent}%：{minutes} 分钟内 {calls} 次调用失败 {errors} 次",
    en: "{what}: {percent}% errors, {errors} of {calls} calls in {minutes} min",
  },
  threshold_over: {
    zh: "{what}的{measure}为 {value:units}（{minutes} 分钟内），达到阈值 {limit:units}",
    en: "{what}: {measure} {value:units} in {minutes} min, the threshold is {limit:units}",
  },
  threshold_under: {
    zh: "{what}的{measure}仅为 {value:units}（{minutes} 分钟内），阈值 {limit:units}",
    en: "{what}: {measure} only {value:units} in {minutes} min, the threshold is {limit:units}",
  },
  change_up: {
    zh: "{what}的{measure}为 {value:units}（{minutes} 分钟内），之前同样长的时间内为 {before:units}",
    en: "{what}: {measure} {value:units} in {minutes} min, up from {before:units} in the time before",
  },
  change_down: {
    zh: "{what}的{measure}降至 {value:units}（{minutes} 分钟内），之前同样长的时间内为 {before:units}",
    en: "{what}: {measure} {value:units} in {minutes} min, down from {before:units} in the time before",
  },
  silence: {
    zh: "{what}已有 {minutes} 分钟没有调用，之前一小时有 {calls} 次",
    en: "{what}: no call for {minutes} min, {calls} in the hour before",
  },
  event: { zh: "{text}", en: "{text}" },
  budget_step: {
    zh: "{what}的{period}预算已用 {percent}%：{spent:units} / {limit:units}",
    en: "{what}: {percent}% of the {period} budget is used, {spent:units} of {limit:units}",
  },
  models_gained: {
    zh: "{what}的上游新增 {count} 个模型：{models}",
    en: "{what}: {count} new models upstream: {models}",
  },
  models_lost: {
    zh: "{what}的上游已不再列出该渠道提供的 {count} 个模型：{models}",
    en: "{what}: the upstream no longer lists {count} models that the channel serves: {models}",
  },
  balance_dry: {
    zh: "{what}的上游余额约 {hours} 小时后用完（剩余 {balance} {currency}，每小时约 {pace} {currency}）",
    en: "{what}: the upstream balance lasts about {hours} h ({balance} {currency} left, {pace} {currency} an hour)",
  },
  key_expires: {
    zh: "{what}的密钥{hint}将于 {date} 到期（还有 {days} 天）",
    en: "{what}: its key {hint} expires on {date} (in {days} d)",
  },
  test: {
    zh: "这是一条测试告警。渠道名称示例：{name}",
    en: "This is a test alert. A channel's name for example: {name}",
  },
} as const satisfies Record<string, Text>;
export type IncidentCode = keyof typeof INCIDENTS;
const isIncidentCode = (code: string): code is IncidentCode => Object.hasOwn(INCIDENTS, code);

export const MEASURE_NAMES: Readonly<Record<Measure, Text>> = {
  calls: { zh: "调用数", en: "calls" },
  errors: { zh: "错误数", en: "errors" },
  quota: { zh: "消费", en: "spending" },
  seconds: { zh: "平均耗时（秒）", en: "mean duration (s)" },
};

const PERIODS: Readonly<Record<"day" | "month", Text>> = {
  day: { zh: "每日", en: "daily" },
  month: { zh: "每月", en: "monthly" },
};

export const SEVERITY_NAMES: Readonly<Record<Severity, Text>> = {
  info: { zh: "提示", en: "Info" },
  warning: { zh: "警告", en: "Warning" },
  critical: { zh: "严重", en: "Critical" },
};

/** "channel:3" -> ["channel", "3"]; a model's name may contain colons. */
function subjectParts(subject: string): { kind: string; item: string } {
  const at = subject.indexOf(":");
  return at < 0 ? { kind: subject, item: "" } : { kind: subject.slice(0, at), item: subject.slice(at + 1) };
}

/** "channel “x” (#3)". `name`: of a channel or user, as it was when the incident began. */
function subjectText(subject: string, name: string, lang: Lang): string {
  const { kind, item } = subjectParts(subject);
  const zh = lang === "zh";
  const quoted = zh ? `「${name || item}」` : ` “${name || item}”`;
  const id = item.split(":")[0] ?? "";
  const number = zh ? `（#${id}）` : ` (#${id})`;
  switch (kind) {
    case "channel":
      return name === "" ? `${zh ? "渠道" : "Channel"} #${id}` : `${zh ? "渠道" : "Channel"}${quoted}${number}`;
    case "user":
      return name === "" ? `${zh ? "用户" : "User"} #${id}` : `${zh ? "用户" : "User"}${quoted}${number}`;
    case "token":
      return name === "" ? `${zh ? "令牌" : "Token"} #${id}` : `${zh ? "令牌" : "Token"}${quoted}${number}`;
    case "model":
      return `${zh ? "模型" : "Model"}${quoted}`;
    case "group":
      return `${zh ? "分组" : "Group"}${quoted}`;
    default:
      return zh ? "全站" : "The whole server";
  }
}

export interface IncidentText {
  readonly code: string;
  readonly params: TextParams;
  readonly subject: string;
}

const round = (value: number): string => String(Math.round(value * 100) / 100);

/** The text of an incident in a language; `units` writes an amount of units. An unknown code is shown as it is. */
export function incidentText(
  { code, params, subject }: IncidentText,
  lang: Lang,
  units: (amount: number) => string = String,
): string {
  if (!isIncidentCode(code)) return code;
  const name = typeof params.name === "string" ? params.name : "";
  const measure = params.measure as Measure | undefined;
  const values = { ...params, what: subjectText(subject, name, lang) };
  return fillText(INCIDENTS[code][lang], values, (value, unit) => {
    if (isStoredText(value)) return logText(value, lang, units) ?? value.code;
    if (Array.isArray(value)) return value.join(lang === "zh" ? "、" : ", ");
    if (typeof value === "string" && value === measure) return MEASURE_NAMES[measure]?.[lang] ?? value;
    if (value === "day" || value === "month") return PERIODS[value][lang];
    if (typeof value !== "number") return String(value ?? "");
    return unit === "units" && (measure === undefined || measure === "quota") ? units(value) : round(value);
  });
}

/** What follows the name in the subject of a budget: its period and the step. */
const BUDGET_STEP = /:\d{4}-\d\d(?:-\d\d)?:[\d.]+$/;

/** The page of the console about an incident's subject, where it can be mended. */
export function incidentPath(subject: string): string {
  const { kind, item } = subjectParts(subject.replace(BUDGET_STEP, ""));
  const id = item.split(":")[0] ?? "";
  switch (kind) {
    case "channel":
      return `/channel?open=${id}`;
    case "user":
      return `/user?open=${id}`;
    case "model":
      return `/log?model_name=${encodeURIComponent(item)}`;
    case "group":
      return `/log?group=${encodeURIComponent(item)}`;
    case "token":
      return `/log?token_id=${id}`;
    default:
      return "/incident";
  }
}

/** GET /api/incident/. Absent filters let everything through. */
export const incidentListInput = z.object({
  ...pageShape,
  page_size: longPageSize,
  state: z.enum(["", "open", "closed", "unseen"]).default(""),
  severity: z.enum(["", ...SEVERITIES]).default(""),
  rule: z.string().max(60).default(""),
  /** "channel:3"; a beginning is enough. */
  subject: z.string().max(300).default(""),
});

/** Without ids: all that are not seen yet. */
export const seenInput = z.object({ ids: z.array(z.int().positive()).max(1000).default([]) });

/** 0 ends the mute. */
export const muteInput = z.object({ id: z.coerce.number().int().positive(), hours: z.number().min(0).max(720) });

export interface IncidentView {
  id: number;
  rule: string;
  subject: string;
  severity: Severity;
  code: string;
  params: TextParams;
  /** In the language of the request; the console writes its own from code and values. */
  text: string;
  /** The console's page about it. */
  path: string;
  opened_at: number;
  last_at: number;
  /** 0 = still on. */
  closed_at: number;
  count: number;
  muted_until: number;
  /** Id of the user who marked it, 0 = not seen. */
  seen_by: number;
}

/** A message about an incident, and what became of it. */
export interface DeliveryView {
  id: number;
  kind: string;
  target: string;
  attempts: number;
  /** 0 = over. */
  next_at: number;
  /** 0 = not sent. */
  sent_at: number;
  error: string;
}

/** What the bell shows. */
export interface Bell {
  /** Incidents that were not seen, whether open or over; at most BELL_MOST. */
  unseen: number;
  open: number;
  /** Of those that are open; "" without any. */
  worst: Severity | "";
  /** The newest open ones. */
  items: IncidentView[];
}
export const BELL_MOST = 100;
