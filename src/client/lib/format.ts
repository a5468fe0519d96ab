import { currentLanguage } from "./i18n";

const UNITS = [
  { from: 1e9, sign: "B" },
  { from: 1e6, sign: "M" },
  { from: 1e4, sign: "k", by: 1e3 },
] as const;

/** A count in short: 9999, 12.3k, 1.2M, 1.0B (D-81). The full number belongs in the tooltip. */
export function formatCount(count: number): string {
  const sign = count < 0 ? "-" : "";
  const size = Math.abs(count);
  for (const [index, unit] of UNITS.entries()) {
    if (size < unit.from) continue;
    const short = (size / ("by" in unit ? unit.by : unit.from)).toFixed(1);
    // 999,960 is 1.0M and not 1000.0k.
    const above = UNITS[index - 1];
    if (short === "1000.0" && above) return `${sign}1.0${above.sign}`;
    return `${sign}${short}${unit.sign}`;
  }
  return formatNumber(count);
}

/** A number in full, with separators. */
export function formatNumber(value: number): string {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: 6 }).format(value);
}

/** Quota units as dollars, 2 decimals unless said otherwise: 500000 -> $1.00, 1234567 -> $2.47. */
export function formatDollars(quota: number, quotaPerUnit: number, decimals = 2): string {
  const dollars = Math.abs(quota) / quotaPerUnit;
  const text = new Intl.NumberFormat("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return `${quota < 0 ? "-" : ""}$${text.format(dollars)}`;
}

/** A moment in the user's own time zone: 2026-11-21 09:30:15. */
export function formatTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  const two = (number: number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** How long ago or ahead `seconds` is, seen from `now` (both epoch seconds). */
export function formatRelative(seconds: number, now: number): string {
  const distance = seconds - now;
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: "auto", style: "short" });
  for (const [unit, length] of STEPS) {
    if (Math.abs(distance) >= length) return words.format(Math.trunc(distance / length), unit);
  }
  return words.format(Math.trunc(distance), "second");
}

/** Milliseconds as people read them: 850 ms, 1.2 s, 3 m 20 s. */
export function formatMilliseconds(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 100_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
}

/** A share from 0 to 1 as percent with one decimal, rounded down: only all is 100.0%. */
export function formatPercent(share: number): string {
  return `${(Math.floor(share * 1000) / 10).toFixed(1)}%`;
}

function locale(): string {
  return currentLanguage() === "zh" ? "zh-CN" : "en-US";
}
