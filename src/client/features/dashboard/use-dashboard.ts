/** What the dashboard shows, as the address says it, and the calls that bring it. */
import { keepPreviousData } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { DIMENSIONS, type Granularity, MEASURES, OWN_DIMENSIONS } from "../../../shared/dashboard";
import { ROLE } from "../../../shared/roles";
import { useHasRole } from "../../lib/session";
import { readStored } from "../../lib/storage";
import { useStatus } from "../../lib/status";
import { trpc } from "../../lib/trpc";
import { choiceParam, optionalIntParam, textParam, type UrlParam, useUrlState } from "../../lib/url-state";
import { granularityFor, isGranularity, PRESETS, type Range, rangeOf, timeZone } from "./dashboard-range";

const granularityParam: UrlParam<Granularity | null> = {
  read: (text) => (isGranularity(text) ? text : null),
  write: (value) => value,
};

const PARAMS = {
  range: choiceParam([...PRESETS, "custom"], "24h"),
  from: optionalIntParam(),
  to: optionalIntParam(),
  /** Null: what the operator chose (DataExportDefaultTime). */
  granularity: granularityParam,
  by: choiceParam(DIMENSIONS, "model"),
  measure: choiceParam(MEASURES, "quota"),
  username: textParam(),
};

const MINUTE_MS = 60_000;

/** The time, renewed every minute: "the last 24 hours" move on while the page is open. */
function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** The default granularity as the status was cached. */
function useDefaultGranularity(): Granularity {
  useStatus();
  const stored = readStored("data_export_default_time");
  return isGranularity(stored) ? stored : "hour";
}

export function useDashboard() {
  const admin = useHasRole(ROLE.admin);
  const [url, patch] = useUrlState(PARAMS);
  const now = useNow();
  const fallback = useDefaultGranularity();
  const preset = url.range === "custom" ? rangeOf("24h", now) : rangeOf(url.range, now);
  const range: Range = url.range === "custom" ? { start: url.from ?? preset.start, end: url.to ?? preset.end } : preset;
  const valid = range.end > range.start;
  const granularity = granularityFor(url.granularity ?? fallback, range);
  const username = admin ? url.username : "";
  const own_by = OWN_DIMENSIONS.find((one) => one === url.by) ?? "model";
  const group_by = admin ? url.by : own_by;

  const asked = { start_timestamp: range.start, end_timestamp: range.end };
  const shape = { ...asked, granularity, measure: url.measure, time_zone: timeZone() };
  const options = { placeholderData: keepPreviousData, meta: { quiet: true } } as const;
  // As often as the operator lets it be asked (DataExportInterval).
  const renewed = {
    ...options,
    refetchInterval: (query: { state: { data?: { refresh_seconds: number } | undefined } }) =>
      (query.state.data?.refresh_seconds ?? 0) * 1000 || false,
  } as const;
  const all = trpc.dashboard.view.useQuery({ ...shape, group_by, username }, { ...renewed, enabled: valid && admin });
  const own = trpc.dashboard.own.useQuery({ ...shape, group_by: own_by }, { ...renewed, enabled: valid && !admin });
  const main = admin ? all : own;

  // After the chart, not in parallel: the SQLite read connection runs one query at a time.
  const next = { ...options, enabled: valid && main.isSuccess };
  const before = { start_timestamp: Math.max(0, range.start - (range.end - range.start)), end_timestamp: range.start };
  const comparable = valid && before.start_timestamp < before.end_timestamp;
  const allBefore = trpc.dashboard.totals.useQuery(
    { ...before, username },
    { ...next, enabled: next.enabled && admin && comparable },
  );
  const ownBefore = trpc.dashboard.ownTotals.useQuery(before, {
    ...next,
    enabled: next.enabled && !admin && comparable,
  });
  const users = trpc.dashboard.ranking.useQuery(
    { ...asked, group_by: "user", measure: url.measure },
    { ...next, enabled: next.enabled && admin },
  );
  const channels = trpc.dashboard.ranking.useQuery(
    { ...asked, group_by: "channel", measure: "count", username },
    { ...next, enabled: next.enabled && admin },
  );

  const queries = [main, admin ? allBefore : ownBefore, ...(admin ? [users, channels] : [])];
  return {
    admin,
    url,
    patch,
    now,
    range,
    valid,
    granularity,
    group_by,
    username,
    main,
    before: comparable ? (admin ? allBefore : ownBefore).data : undefined,
    users: users.data,
    channels: channels.data,
    fetching: queries.some((query) => query.isFetching),
    refresh: () => {
      for (const query of queries) if (query.isFetched) void query.refetch();
    },
  };
}

export type Dashboard = ReturnType<typeof useDashboard>;
