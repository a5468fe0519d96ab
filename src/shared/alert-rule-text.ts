/** A rule of alerts as a sentence, for its list. */
import type { AlertRule, AlertSubject, Measure } from "./alert-rules";
import { EVENTS } from "./events";
import { MEASURE_NAMES } from "./incidents";
import type { Lang, Text } from "./text";

export const SUBJECT_NAMES: Readonly<Record<AlertSubject, Text>> = {
  server: { zh: "全站", en: "The whole server" },
  channel: { zh: "每个渠道", en: "Each channel" },
  model: { zh: "每个模型", en: "Each model" },
  group: { zh: "每个分组", en: "Each group" },
  user: { zh: "每个用户", en: "Each user" },
};

/** The words of an event without its values. */
const eventName = (name: keyof typeof EVENTS, lang: Lang): string =>
  EVENTS[name][lang].replaceAll(/\[[^\]]*\]|[:：]\s*\{\w+\}|\{[^}]*\}/g, "…");

const measure = (name: Measure, lang: Lang): string => MEASURE_NAMES[name][lang];

/** What must be so for an incident to begin. `units` writes an amount of units. */
export function ruleText(rule: AlertRule, lang: Lang, units: (amount: number) => string = String): string {
  const zh = lang === "zh";
  const figure = (value: number, of: Measure): string => (of === "quota" ? units(value) : String(value));
  const per = "per" in rule ? SUBJECT_NAMES[rule.per][lang] : "";
  switch (rule.kind) {
    case "share":
      return zh
        ? `${per}：${rule.minutes} 分钟内至少 ${rule.at_least} 次调用，失败占 ${rule.percent}% 以上`
        : `${per}: ${rule.percent}% or more of at least ${rule.at_least} calls fail within ${rule.minutes} min`;
    case "threshold": {
      const name = measure(rule.measure, lang);
      const over = rule.over !== undefined;
      const value = figure(rule.over ?? rule.under ?? 0, rule.measure);
      if (zh) return `${per}：${rule.minutes} 分钟内${name}${over ? "达到" : "不超过"} ${value}`;
      return `${per}: ${name} ${over ? "at least" : "at most"} ${value} within ${rule.minutes} min`;
    }
    case "change": {
      const name = measure(rule.measure, lang);
      const up = rule.direction === "up";
      return zh
        ? `${per}：${rule.minutes} 分钟内${name}比之前${up ? "上升" : "下降"} ${rule.percent}% 以上（之前至少 ${rule.at_least} 次调用）`
        : `${per}: ${name} ${up ? "up" : "down"} by ${rule.percent}% or more against the ${rule.minutes} min before (with at least ${rule.at_least} calls)`;
    }
    case "silence":
      return zh
        ? `${per}：${rule.minutes} 分钟没有调用，之前一小时至少 ${rule.at_least} 次`
        : `${per}: no call for ${rule.minutes} min after at least ${rule.at_least} in the hour before`;
    case "event": {
      const names = rule.events.map((name) => eventName(name, lang));
      return names.join(zh ? "；" : "; ");
    }
    case "budget":
      return zh
        ? `预算用到 ${rule.steps.join("、")}%${rule.owner === false ? "" : "，同时通知预算的所有者"}`
        : `A budget is used to ${rule.steps.join(", ")}%${rule.owner === false ? "" : "; its owner is told too"}`;
    case "models":
      return zh
        ? "上游的模型列表有增减（每天检查）"
        : "Models appear in or vanish from an upstream's list (asked daily)";
    case "balance":
      return zh
        ? `按目前速度，上游余额不足 ${rule.hours} 小时`
        : `At the present pace an upstream balance lasts ${rule.hours} h or less`;
    case "key":
      return zh ? `渠道密钥 ${rule.days} 天内到期` : `A channel's key expires within ${rule.days} d`;
  }
}
