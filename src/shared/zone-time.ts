/** The clock and the calendar of a time zone (IANA name), by the platform's zone data. */

export interface LocalTime {
  /** 1 Monday to 7 Sunday (ISO 8601). */
  readonly day: number;
  /** Minute of the day, 0 to 1439. */
  readonly minute: number;
  /** YYYY-MM-DD. */
  readonly date: string;
}

const QUARTER_MS = 900_000;
const DAY_MS = 86_400_000;
const formatters = new Map<string, Intl.DateTimeFormat>();
/** The last offset of each zone: offsets of the present change at full quarters of an hour only. */
const offsets = new Map<string, { readonly quarter: number; readonly offset: number }>();

function formatterOf(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone);
  if (!formatter) {
    const fields = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const;
    formatter = new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", ...fields });
    formatters.set(zone, formatter);
  }
  return formatter;
}

/** Whether the platform knows the zone. */
export function isZone(zone: string): boolean {
  try {
    formatterOf(zone);
    return true;
  } catch {
    return false;
  }
}

function offsetOf(zone: string, moment: number): number {
  const quarter = Math.floor(moment / QUARTER_MS);
  const known = offsets.get(zone);
  if (known?.quarter === quarter) return known.offset;
  const start = quarter * QUARTER_MS;
  const parts = formatterOf(zone).formatToParts(start);
  const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value);
  const local = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"));
  const offset = local - start;
  offsets.set(zone, { quarter, offset });
  return offset;
}

/** The local time of a moment (epoch milliseconds). */
export function localTime(zone: string, moment: number): LocalTime {
  const local = moment + offsetOf(zone, moment);
  const date = new Date(local);
  return {
    day: ((date.getUTCDay() + 6) % 7) + 1,
    minute: Math.floor((local - Math.floor(local / DAY_MS) * DAY_MS) / 60_000),
    date: date.toISOString().slice(0, 10),
  };
}

/** The local day before. */
export const dayBefore = ({ day, date }: LocalTime): Pick<LocalTime, "day" | "date"> => ({
  day: day === 1 ? 7 : day - 1,
  date: new Date(Date.parse(date) - DAY_MS).toISOString().slice(0, 10),
});

/** The moment at which a local date (YYYY-MM-DD) begins, epoch milliseconds. */
export function startOfDay(zone: string, date: string): number {
  const midnight = Date.parse(date);
  // The offset before a change of the clock may put the day an hour off: the second look corrects it.
  const guess = midnight - offsetOf(zone, midnight);
  return midnight - offsetOf(zone, guess);
}

/** The local day after a date. */
export const nextDate = (date: string): string => new Date(Date.parse(date) + DAY_MS).toISOString().slice(0, 10);
