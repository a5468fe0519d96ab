/** What is counted, in words and in figures. */
import { useLingui } from "@lingui/react/macro";
import type { DashboardItem, Dimension, Granularity, Measure } from "../../../shared/dashboard";
import { formatCount, formatDollars } from "../../lib/format";
import { displayInCurrency, quotaPerUnit, useStatus } from "../../lib/status";
import type { Preset } from "./dashboard-range";

/** Colours of the series in the order of the ranking; written out, because Tailwind reads the source. */
export const FILLS = [
  "fill-chart-1",
  "fill-chart-2",
  "fill-chart-3",
  "fill-chart-4",
  "fill-chart-5",
  "fill-chart-6",
  "fill-chart-7",
] as const;
export const DOTS = [
  "bg-chart-1",
  "bg-chart-2",
  "bg-chart-3",
  "bg-chart-4",
  "bg-chart-5",
  "bg-chart-6",
  "bg-chart-7",
] as const;
/** Of everything that has no series of its own. */
export const REST_FILL = "fill-chart-8";
export const REST_DOT = "bg-chart-8";

/** An amount in short. Small sums of money get the decimals that tell them apart. */
export function measureText(measure: Measure, value: number): string {
  if (measure !== "quota" || !displayInCurrency()) return formatCount(value);
  const dollars = Math.abs(value) / quotaPerUnit();
  return formatDollars(value, quotaPerUnit(), dollars > 0 && dollars < 1 ? 4 : 2);
}

/** A mark of an axis: all marks have the decimals that tell them apart, by the step between them. */
export function axisText(measure: Measure, mark: number, step: number): string {
  if (measure !== "quota" || !displayInCurrency()) return formatCount(mark);
  const dollars = step / quotaPerUnit();
  return formatDollars(mark, quotaPerUnit(), Math.min(9, Math.max(2, 1 + Math.ceil(-Math.log10(dollars)))));
}

export function useDashboardWords() {
  const { t } = useLingui();
  // Renders again when the unit of money arrives.
  useStatus();
  const dimensions: Record<Dimension, string> = {
    model: t`模型`,
    user: t`用户`,
    channel: t({ message: "渠道", context: "singular" }),
    token: t`令牌`,
    group: t`分组`,
  };
  const measures: Record<Measure, string> = { quota: t`消耗`, count: t`请求数`, tokens: t`Token 数` };
  const granularities: Record<Granularity, string> = { hour: t`按小时`, day: t`按天`, week: t`按周` };
  const presets: Record<Preset, string> = {
    "24h": t`近 24 小时`,
    today: t`今天`,
    "7d": t`近 7 天`,
    "30d": t`近 30 天`,
    month: t`本月`,
    last_month: t`上月`,
  };
  /** What an item is called: its name (a token's with its owner's), else its number, else that it has none. */
  const nameOf = ({ key, label, owner }: DashboardItem): string =>
    label ? [label, owner].filter(Boolean).join(" · ") : key ? `#${key}` : t`（无）`;
  return { dimensions, measures, granularities, presets, nameOf };
}
