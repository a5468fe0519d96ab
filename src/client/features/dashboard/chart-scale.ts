/** Heights of a chart: round marks, and few labels below. */

/** About `count` round values from 0 up to at least `max`: 0, 50, 100. At least [0, 1]. */
export function ticks(max: number, count = 4): number[] {
  if (!(max > 0) || !Number.isFinite(max)) return [0, 1];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  // What is counted are whole things.
  const step = Math.max(1, ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power);
  return Array.from({ length: Math.ceil(max / step - 1e-9) + 1 }, (_, i) => i * step);
}

/** Which of `length` columns get a label, so that about `most` do. */
export function labelled(length: number, most: number): number[] {
  const step = Math.max(1, Math.ceil(length / most));
  return Array.from({ length: Math.ceil(length / step) }, (_, i) => i * step);
}

/** By how much `now` differs from `before`, as a share of it; undefined when there was nothing. */
export const change = (now: number, before: number): number | undefined => (before === 0 ? undefined : (now - before) / Math.abs(before));
