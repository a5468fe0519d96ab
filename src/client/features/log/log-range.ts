import { useEffect, useState } from "react";
import type { GridState } from "../../components/data-grid/grid-state";
import type { LogFilterKey } from "./log-filter";

const HOUR = 3600;

/**
 * The range of an unfiltered list: from 00:00 of today, local time, to an hour from now (C-642, C-643).
 */
export function firstRange(now: Date): { start_timestamp: string; end_timestamp: string } {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  return {
    start_timestamp: String(midnight.getTime() / 1000),
    end_timestamp: String(Math.floor(now.getTime() / 1000) + HOUR),
  };
}

/**
 * The filters of the list. Where the address names none, no row and no place when the page opens, the first range is
 * written into it, where it can be changed or cleared like any other filter.
 */
export function useLogFilters(grid: GridState<LogFilterKey>): Readonly<Record<LogFilterKey, string>> {
  const [first, setFirst] = useState(() =>
    grid.open === null && grid.at === null && grid.filterKeys.every((key) => grid.filters[key] === "")
      ? firstRange(new Date())
      : null,
  );
  useEffect(() => {
    if (first === null) return;
    grid.setFilters(first);
    setFirst(null);
  }, [first, grid]);
  return first === null ? grid.filters : { ...grid.filters, ...first };
}
