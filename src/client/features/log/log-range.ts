import { useEffect, useMemo, useState } from "react";
import { type GridState, useGridState } from "../../components/data-grid/grid-state";
import { LOG_FILTERS, type LogFilterKey } from "./log-filter";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Ranges that end now. The address keeps their name, so that a link and a page left open go on with the time. */
export const LOG_RANGES = ["today", "1h", "24h", "3d", "7d", "30d"] as const;
export type LogRange = (typeof LOG_RANGES)[number];

const SECONDS: Record<Exclude<LogRange, "today">, number> = {
  "1h": HOUR,
  "24h": DAY,
  "3d": 3 * DAY,
  "7d": 7 * DAY,
  "30d": 30 * DAY,
};

/**
 * The times of a range as seen from `now`; text, as filters are. Today is from 00:00, local time, to an hour from now
 * (C-642, C-643); the others are open at their end.
 */
export function timesOf(range: LogRange, now: Date): { start_timestamp: string; end_timestamp: string } {
  const seconds = Math.floor(now.getTime() / 1000);
  if (range !== "today")
    return { start_timestamp: String(seconds - (seconds % MINUTE) - SECONDS[range]), end_timestamp: "" };
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  return { start_timestamp: String(midnight.getTime() / 1000), end_timestamp: String(seconds + HOUR) };
}

/**
 * The state of the log's list. Its filters have the times that the address's range stands for at the last `refresh`;
 * changing one of the times makes both of them fixed. Where the address names no filter, no row and no place when the
 * page opens, today is written into it.
 */
export function useLogGrid(): { grid: GridState<LogFilterKey>; range: LogRange | undefined; refresh: () => void } {
  const inner = useGridState({ name: "log", filterKeys: LOG_FILTERS });
  const [now, setNow] = useState(() => new Date());
  const [isFirst, setFirst] = useState(
    () => inner.open === null && inner.at === null && LOG_FILTERS.every((key) => inner.filters[key] === ""),
  );
  useEffect(() => {
    if (!isFirst) return;
    inner.setFilters({ range: "today" }, false);
    setFirst(false);
  }, [isFirst, inner]);

  const named = isFirst ? "today" : inner.filters.range;
  const range = LOG_RANGES.find((known) => known === named);
  const grid = useMemo(() => {
    if (range === undefined) return inner;
    const times = timesOf(range, now);
    return {
      ...inner,
      filters: { ...inner.filters, ...times, range },
      setFilters: (changes: Partial<Record<LogFilterKey, string>>, step?: boolean) => {
        const fixed = changes.start_timestamp !== undefined || changes.end_timestamp !== undefined;
        inner.setFilters(fixed ? { ...times, range: "", ...changes } : changes, step);
      },
    };
  }, [inner, range, now]);
  return { grid, range, refresh: () => setNow(new Date()) };
}
