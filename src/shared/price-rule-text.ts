/** Rules of prices as sentences. */
import {
  type DateRange,
  type HourWindow,
  isServiceRule,
  type NumberRange,
  type PriceRule,
  type RuleConditions,
  type RuleKind,
} from "./price-rules";
import type { Lang, Text } from "./text";

const DAYS: readonly Text[] = [
  { zh: "一", en: "Mon" },
  { zh: "二", en: "Tue" },
  { zh: "三", en: "Wed" },
  { zh: "四", en: "Thu" },
  { zh: "五", en: "Fri" },
  { zh: "六", en: "Sat" },
  { zh: "日", en: "Sun" },
];

/** The name of a day, 1 Monday to 7 Sunday. */
export const dayName = (day: number, lang: Lang): string =>
  `${lang === "zh" ? "周" : ""}${DAYS[day - 1]?.[lang] ?? ""}`;

/** "Mon–Fri", "Sat, Sun"; runs of three days and more by their ends. */
function daysText(days: readonly number[], lang: Lang): string {
  const sorted = [...new Set(days)].sort((a, b) => a - b);
  const runs: number[][] = [];
  for (const day of sorted) {
    const run = runs.at(-1);
    if (run && run.at(-1) === day - 1) run.push(day);
    else runs.push([day]);
  }
  const name = (day: number | undefined): string => DAYS[(day ?? 1) - 1]?.[lang] ?? "";
  const parts = runs.flatMap((run) =>
    run.length > 2
      ? [`${name(run[0])}${lang === "zh" ? "至周" : "–"}${name(run.at(-1))}`]
      : run.map((day) => name(day)),
  );
  return lang === "zh" ? parts.map((part) => `周${part}`).join("、") : parts.join(", ");
}

/** "Mon–Fri 09:00–12:00 (Asia/Shanghai)". */
function windowText({ zone, days, from, to, except }: HourWindow, lang: Lang): string {
  const on = days && days.length < 7 ? `${daysText(days, lang)} ` : lang === "zh" ? "每天 " : "daily ";
  const without = except ? (lang === "zh" ? `，${except.join("、")} 除外` : `, except ${except.join(", ")}`) : "";
  return `${on}${from}–${to}${lang === "zh" ? `（${zone}${without}）` : ` (${zone}${without})`}`;
}

/** "2026-10-01 to 2026-12-31 (UTC)", both days included. */
function datesText({ zone, from, until }: DateRange, lang: Lang): string {
  if (lang === "zh") {
    const end = until === undefined ? "起" : from === undefined ? `截至 ${until}` : ` 至 ${until}`;
    return `${from ?? ""}${end}（${zone}）`;
  }
  const days = from === undefined ? `until ${until}` : until === undefined ? `from ${from} on` : `${from} to ${until}`;
  return `${days} (${zone})`;
}

function rangeText({ over, up_to }: NumberRange, unit: Text, lang: Lang): string {
  const more = over !== undefined && (lang === "zh" ? `超过 ${over}` : `over ${over}`);
  const most = up_to !== undefined && (lang === "zh" ? `至多 ${up_to}` : `up to ${up_to}`);
  const parts = [more, most].filter((part) => part !== false);
  return lang === "zh" ? `${parts.join("、")} ${unit.zh}` : `${parts.join(" and ")} ${unit.en}`;
}

const TOKENS: Text = { zh: "个 Token", en: "tokens" };
const SECONDS: Text = { zh: "秒", en: "seconds" };

function conditionTexts(when: RuleConditions, lang: Lang): string[] {
  const zh = lang === "zh";
  const listed = (values: readonly string[]): string => values.join(zh ? " 或 " : " or ");
  const named = (values: readonly string[] | undefined, name: Text): string[] =>
    values ? [zh ? `${name.zh}为 ${listed(values)}` : `${name.en} is ${listed(values)}`] : [];
  const { hours, dates, input, cached, seconds, member } = when;
  return [
    ...(dates ? [dates.map((range) => datesText(range, lang)).join(zh ? "或" : " or ")] : []),
    ...(hours ? [hours.map((window) => windowText(window, lang)).join(zh ? "或" : " or ")] : []),
    ...(input ? [`${zh ? "输入" : "the input is "}${rangeText(input, TOKENS, lang)}`] : []),
    ...(cached === undefined
      ? []
      : [
          zh
            ? `输入${cached ? "有一部分" : "没有"}命中缓存`
            : `${cached ? "a part" : "no part"} of the input is read from a cache`,
        ]),
    ...named(when.service_tier, { zh: "服务档位", en: "the service tier" }),
    ...named(when.region, { zh: "处理地区", en: "the region" }),
    ...(when.batch ? [zh ? "属于批处理" : "the call is part of a batch"] : []),
    ...named(when.size, { zh: "图片尺寸", en: "the image's size" }),
    ...named(when.quality, { zh: "图片质量", en: "the image's quality" }),
    ...(seconds ? [`${zh ? "时长" : "the length is "}${rangeText(seconds, SECONDS, lang)}`] : []),
    ...named(when.resolution, { zh: "分辨率", en: "the resolution" }),
    ...named(member?.values, { zh: `请求的 ${member?.path} `, en: `the request's ${member?.path}` }),
  ];
}

/** What a rule may name a price in dollars for. */
export const RULE_KINDS = {
  input: { zh: "输入", en: "input" },
  output: { zh: "输出", en: "output" },
  reasoning: { zh: "推理", en: "reasoning" },
  cache_read: { zh: "缓存读取", en: "cache reads" },
  cache_write_5m: { zh: "缓存写入（5 分钟）", en: "cache writes (5 minutes)" },
  cache_write_1h: { zh: "缓存写入（1 小时）", en: "cache writes (1 hour)" },
  audio_in: { zh: "音频输入", en: "audio input" },
  audio_out: { zh: "音频输出", en: "audio output" },
  image_in: { zh: "图片输入", en: "image input" },
  image_out: { zh: "图片输出", en: "image output" },
  call: { zh: "每次", en: "a call" },
} as const satisfies Readonly<Record<RuleKind, Text>>;

function outcomeText({ then }: PriceRule, lang: Lang): string {
  const zh = lang === "zh";
  if ("factor" in then) return zh ? `价格 × ${then.factor}` : `the price × ${then.factor}`;
  if ("input" in then)
    return zh ? `输入 × ${then.input}，输出 × ${then.output}` : `input × ${then.input}, output × ${then.output}`;
  const { call, ...tokens } = then.usd;
  // Its own keys.
  const prices = (Object.entries(tokens) as [RuleKind, number][]).map(
    ([kind, usd]) => `${RULE_KINDS[kind][lang]} $${usd}`,
  );
  const perMillion = prices.length > 0 ? [`${prices.join(zh ? "、" : ", ")}${zh ? "（每百万）" : " per million"}`] : [];
  const perCall = call === undefined ? [] : [zh ? `每次 $${call}` : `$${call} a call`];
  return [...perMillion, ...perCall].join(zh ? "，" : ", ");
}

const CALLERS: Text = { zh: "（调用者可借此降低价格）", en: " (callers may lower their price by it)" };
const SERVED: Text = { zh: "（上游的应答如此说明时）", en: " (where the upstream's answer says so)" };

/** The rule as a sentence: when, then what. */
export function ruleText(rule: PriceRule, lang: Lang): string {
  const when = conditionTexts(rule.when, lang);
  const then = outcomeText(rule, lang);
  const cheaper = rule.cheaper ? (isServiceRule(rule) ? SERVED : CALLERS)[lang] : "";
  if (lang === "zh") {
    const all = when.join("，且");
    // Latin words keep their distance.
    return `${when.length > 0 ? `当${all}${/\w$/.test(all) ? " " : ""}时` : "任何时候"}：${then}${cheaper}`;
  }
  return `${when.length > 0 ? `When ${when.join(", and ")}` : "Always"}: ${then}${cheaper}`;
}
