/** Heights of a chart: round marks, and few labels below. */
import type { Granularity } from "../../../shared/dashboard";

/** About `count` round values from 0 up to at least `max`: 0, 50, 100. At least [0, 1]. */
export function ticks(max: number, count = 4): number[] {
  if (!(max > 0) || !Number.isFinite(max)) return [0, 1];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  // What is counted are whole things.
  const step = Math.max(1, ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power);
  return Array.from({ length: Math.ceil(max / step - 1e-9) + 1 }, (_, i) => i * step);
}

const MANY_HOURS = 48;

/** What the labels below name: with many hours their days. */
export const labelUnit = (granularity: Granularity, columns: number): Granularity =>
  granularity === "hour" && columns > MANY_HOURS ? "day" : granularity;

/** Which columns get a label below, about `most` of them: where there are many hours, only those that begin a day. */
export function labelled(buckets: readonly { start: number }[], granularity: Granularity, most: number): number[] {
  const all = buckets.map((_, index) => index);
  const beginsDay = (index: number) => new Date((buckets[index]?.start ?? 0) * 1000).getHours() === 0;
  const marked = labelUnit(granularity, buckets.length) !== granularity ? all.filter(beginsDay) : all;
  const step = Math.max(1, Math.ceil(marked.length / most));
  return marked.filter((_, place) => place % step === 0);
}

/** By how much `now` differs from `before`, as a share of it; undefined when there was nothing. */
export const change = (now: number, before: number): number | undefined =>
  before === 0 ? undefined : (now - before) / Math.abs(before);
