/**
 * Hours, days and weeks of a time zone as arithmetic that both engines do alike: within a stretch of time in which the
 * zone's distance from UTC stays the same, the number of an hour's local day is an integer division.
 *
 * Roll-ups are of UTC hours. Where a zone is half an hour off, the hour across midnight belongs to the day it begins
 * in.
 */
import type { Granularity } from "../../../shared/dashboard";

const HOUR = 3600;
const DAY = 86_400;

/** From `from` (epoch seconds, a whole hour) on, local time is UTC plus `offset` seconds. */
export interface Stretch {
  from: number;
  offset: number;
}

export interface Bucket {
  /** As `bucketOf` numbers it. */
  number: number;
  start: number;
  end: number;
}

/** Seconds that `time_zone` is ahead of UTC at `at`. */
function offsetOf(clock: Intl.DateTimeFormat, at: number): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of clock.formatToParts(at * 1000)) parts[type] = Number(value);
  const { year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Math.round(Date.UTC(year, month - 1, day, hour, minute, second) / 1000) - at;
}

/** The stretches of [start, end), both whole hours: one, and one more for each change of the clocks. */
export function stretches(time_zone: string, start: number, end: number): Stretch[] {
  const clock = new Intl.DateTimeFormat("en-US", {
    timeZone: time_zone,
    calendar: "gregory",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const found: Stretch[] = [{ from: start, offset: offsetOf(clock, start) }];
  for (let at = start; at < end; at += DAY) {
    const next = Math.min(at + DAY, end);
    const before = offsetOf(clock, at);
    const after = offsetOf(clock, next);
    if (before === after) continue;
    // The clocks changed within this day: at which hour?
    let [low, high] = [at, next];
    while (high - low > HOUR) {
      const middle = low + Math.ceil((high - low) / HOUR / 2) * HOUR;
      if (offsetOf(clock, middle) === before) low = middle;
      else high = middle;
    }
    if (high < end) found.push({ from: high, offset: after });
  }
  return found;
}

const DIVIDE: Record<Granularity, (local: number, hour: number) => number> = {
  // Hours stay distinct where the clocks go back and one local hour occurs twice.
  hour: (_local, hour) => Math.floor(hour / HOUR),
  day: (local) => Math.floor(local / DAY),
  // 1 January 1970 was a Thursday; weeks begin on Monday.
  week: (local) => Math.floor((Math.floor(local / DAY) + 3) / 7),
};

/** Number of the bucket that the hour at `hour` belongs to. */
export function bucketOf(granularity: Granularity, parts: readonly Stretch[], hour: number): number {
  const offset = parts.findLast(({ from }) => from <= hour)?.offset ?? parts[0]?.offset ?? 0;
  return DIVIDE[granularity](hour + offset, hour);
}

/** `bucketOf` in SQL over `hour`, a column of epoch seconds; integers only, so it needs no parameters. */
export function bucketSql(granularity: Granularity, parts: readonly Stretch[], hour: string): string {
  if (granularity === "hour") return `${hour} / ${HOUR}`;
  const [first, ...later] = parts;
  const whens = later.toReversed().map(({ from, offset }) => `WHEN ${hour} >= ${from} THEN ${offset}`);
  const offset =
    whens.length === 0 ? `${first?.offset ?? 0}` : `CASE ${whens.join(" ")} ELSE ${first?.offset ?? 0} END`;
  const day = `(${hour} + ${offset}) / ${DAY}`;
  return granularity === "day" ? day : `(${day} + 3) / 7`;
}

/** Every bucket of [start, end), both whole hours; the first and the last may be cut short by the range. */
export function bucketsOf(granularity: Granularity, parts: readonly Stretch[], start: number, end: number): Bucket[] {
  const buckets: Bucket[] = [];
  for (let hour = start; hour < end; hour += HOUR) {
    const number = bucketOf(granularity, parts, hour);
    const last = buckets.at(-1);
    if (last?.number === number) last.end = hour + HOUR;
    else buckets.push({ number, start: hour, end: hour + HOUR });
  }
  return buckets;
}
