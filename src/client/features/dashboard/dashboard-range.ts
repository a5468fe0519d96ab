/** Ranges of time in the viewer's own time zone, and what the address says of them. */
import { GRANULARITIES, type Granularity, MAX_BUCKETS } from "../../../shared/dashboard";

export const PRESETS = ["24h", "today", "7d", "30d", "month", "last_month"] as const;
export type Preset = (typeof PRESETS)[number];

/** Epoch seconds, `end` excluded. */
export interface Range {
  start: number;
  end: number;
}

const HOUR = 3600;
const DAY = 86_400;
const toSeconds = (date: Date): number => Math.floor(date.getTime() / 1000);

/**
 * The range of a preset as seen from `now`: days and months begin at the viewer's midnight. What goes up to now ends
 * with the hour that runs, so that the same question is asked for an hour.
 */
export function rangeOf(preset: Preset, now: Date): Range {
  const midnight = (daysAgo: number) => toSeconds(new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo));
  const month = (monthsAgo: number) => toSeconds(new Date(now.getFullYear(), now.getMonth() - monthsAgo, 1));
  const end = (Math.floor(toSeconds(now) / HOUR) + 1) * HOUR;
  switch (preset) {
    case "24h":
      return { start: end - DAY, end };
    case "today":
      return { start: midnight(0), end };
    case "7d":
      return { start: midnight(6), end };
    case "30d":
      return { start: midnight(29), end };
    case "month":
      return { start: month(0), end };
    case "last_month":
      return { start: month(1), end: month(0) };
  }
}

/**
 * The granularity that is wanted, or the next coarser one of which the range has no more columns than a chart can take.
 */
export function granularityFor(wanted: Granularity, { start, end }: Range): Granularity {
  return wanted === "hour" && Math.ceil((end - start) / HOUR) >= MAX_BUCKETS ? "day" : wanted;
}

export const isGranularity = (text: string | null): text is Granularity => GRANULARITIES.some((one) => one === text);

/** The viewer's IANA time zone. */
export const timeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

const two = (number: number) => String(number).padStart(2, "0");

/** The beginning of a column as its label: "09:00", or "11-21", with the day or year where it is not clear. */
export function bucketLabel(granularity: Granularity, start: number, full = false): string {
  const date = new Date(start * 1000);
  const day = `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const long = full ? `${date.getFullYear()}-${day}` : day;
  if (granularity !== "hour") return long;
  return full || date.getHours() === 0
    ? `${long} ${two(date.getHours())}:${two(date.getMinutes())}`
    : `${two(date.getHours())}:${two(date.getMinutes())}`;
}
