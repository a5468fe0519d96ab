/**
 * The periods of budgets: calendar days and months in the time zone of the process (its TZ). Several instances must run
 * in one time zone, or their days differ.
 */

export interface Period {
  /** "2026-11-21" or "2026-11". */
  name: string;
  /** Epoch seconds. */
  ends: number;
}

const two = (value: number): string => String(value).padStart(2, "0");

/** The day and the month that `ms` (epoch milliseconds) is in. */
export function periodsAt(ms: number): { day: Period; month: Period } {
  const date = new Date(ms);
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
  const name = `${year}-${two(month + 1)}`;
  // Date knows how long this day is where the clocks change.
  const seconds = (next: Date): number => Math.floor(next.getTime() / 1000);
  return {
    day: { name: `${name}-${two(day)}`, ends: seconds(new Date(year, month, day + 1)) },
    month: { name, ends: seconds(new Date(year, month + 1, 1)) },
  };
}
