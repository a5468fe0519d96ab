/** One message of any number of incidents: what is due for a target is told at once, counted where it is much. */
import { type Severity, severityRank } from "../../../shared/alert-rules";
import { incidentPath, incidentText, SEVERITY_NAMES } from "../../../shared/incidents";
import { readParams } from "../../../shared/log-text";
import type { Lang } from "../../../shared/text";
import type { DueMessage, Incident } from "./incidents";

export interface MessageItem {
  id: number;
  kind: "begin" | "end";
  rule: string;
  subject: string;
  severity: string;
  text: string;
  /** Of the console, '' where the server does not know its own address. */
  link: string;
  /** Epoch seconds; `closed_at` 0 = still on. */
  opened_at: number;
  closed_at: number;
}

export interface AlertMessage {
  title: string;
  /** One for each incident, at most MOST_LINES; then how many are left out. */
  lines: string[];
  link: string;
  severity: Severity;
  begun: number;
  ended: number;
  items: MessageItem[];
}

const MOST_LINES = 10;

export interface MessageFacts {
  lang: Lang;
  /** Name of this gateway, '' where the message says it elsewhere. */
  name: string;
  /** The console's address without a trailing slash, or ''. */
  site: string;
  units: (amount: number) => string;
}

const lasted = (seconds: number, lang: Lang): string => {
  const minutes = Math.max(1, Math.round(seconds / 60));
  if (minutes < 120) return lang === "zh" ? `${minutes} 分钟` : `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return lang === "zh" ? `${hours} 小时` : `${hours} h`;
};

function itemOf(incident: Incident, kind: MessageItem["kind"], { lang, site, units }: MessageFacts): MessageItem {
  const { id, rule, subject, severity, opened_at, closed_at } = incident;
  const text = incidentText({ code: incident.code, params: readParams(incident.params), subject }, lang, units);
  return {
    id,
    kind,
    rule,
    subject,
    severity,
    text: text.replaceAll(/\s+/g, " ").trim(),
    link: site === "" ? "" : site + incidentPath(subject),
    opened_at,
    closed_at,
  };
}

function lineOf({ kind, text, severity, opened_at, closed_at }: MessageItem, lang: Lang): string {
  if (kind === "end") {
    const time = lasted(closed_at - opened_at, lang);
    return lang === "zh" ? `✅ 已恢复（持续 ${time}）：${text}` : `✅ Over after ${time}: ${text}`;
  }
  return `${severity === "critical" ? "🔴" : severity === "info" ? "ℹ️" : "🟠"} ${text}`;
}

/** Composes what is due. An incident whose begin and end are both due is told as over. */
export function compose(due: readonly DueMessage[], facts: MessageFacts): AlertMessage {
  const { lang, name, site } = facts;
  const ended = new Set(due.filter(({ delivery }) => delivery.kind === "end").map(({ incident }) => incident.id));
  const items = due
    .filter(({ delivery, incident }) => delivery.kind === "end" || !ended.has(incident.id))
    .map(({ delivery, incident }) => itemOf(incident, delivery.kind === "end" ? "end" : "begin", facts))
    .toSorted(
      (a, b) => a.kind.localeCompare(b.kind) || severityRank(b.severity) - severityRank(a.severity) || a.id - b.id,
    );
  const begun = items.length - ended.size;
  const most = items.reduce(
    (rank, { severity, kind }) => Math.max(rank, kind === "begin" ? severityRank(severity) : 0),
    0,
  );
  const severity: Severity = most === 2 ? "critical" : most === 1 ? "warning" : "info";
  const lines = items.slice(0, MOST_LINES).map((item) => lineOf(item, lang));
  const more = items.length - lines.length;
  if (more > 0) lines.push(lang === "zh" ? `…… 另有 ${more} 条` : `… and ${more} more`);
  const counts =
    lang === "zh"
      ? [begun > 0 ? `${begun} 条告警` : "", ended.size > 0 ? `${ended.size} 条已恢复` : ""].filter(Boolean).join("，")
      : [begun > 0 ? `${begun} alert${begun === 1 ? "" : "s"}` : "", ended.size > 0 ? `${ended.size} over` : ""]
          .filter(Boolean)
          .join(", ");
  const level = begun > 0 ? ` · ${SEVERITY_NAMES[severity][lang]}` : "";
  const [first] = items;
  return {
    title: `${name === "" ? "" : `[${name}] `}${counts}${level}`,
    lines,
    link: items.length === 1 && first ? first.link : site === "" ? "" : `${site}/incident`,
    severity,
    begun,
    ended: ended.size,
    items,
  };
}
