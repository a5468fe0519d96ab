/**
 * The data dashboard: consumption over time, from the hourly roll-ups. Two APIs: `/api/data/*` with rows that existing
 * front-ends add up themselves, and one for the console with finished sums.
 */
import * as z from "zod";

/** Also the choices of the option DataExportDefaultTime (A-217). */
export const GRANULARITIES = ["hour", "day", "week"] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/** Breakdowns of consumption; ordinary users have OWN_DIMENSIONS. */
export const DIMENSIONS = ["model", "user", "channel", "token", "group"] as const;
export type Dimension = (typeof DIMENSIONS)[number];
export const OWN_DIMENSIONS = ["model", "token", "group"] as const satisfies readonly Dimension[];

/** Units of quota, calls that were answered, prompt and completion tokens together. */
export const MEASURES = ["quota", "count", "tokens"] as const;
export type Measure = (typeof MEASURES)[number];

/** Columns of one chart: 31 days of hours fit. */
export const MAX_BUCKETS = 760;
export const MAX_DAYS = 366;
/** Days that ordinary users may query at `GET /api/data/self` (2,592,000 seconds). */
export const MAX_OWN_DAYS = 30;
/** Series with an own colour; the rest is one more. */
export const MAX_SERIES = 7;
/** Items of a ranking. */
export const MAX_RANKED = 50;

export interface Sums {
  /** Units charged, minus refunds. */
  quota: number;
  /** Calls answered and charged. */
  count: number;
  error_count: number;
  /** Prompt and completion. */
  tokens: number;
}

export const NO_SUMS: Readonly<Sums> = { quota: 0, count: 0, error_count: 0, tokens: 0 };

export interface DashboardItem extends Sums {
  /** The model or group itself, or the id of user, channel or token; "" for calls without one. */
  key: string;
  /** Its display name; "" when it has none any more. */
  label: string;
  /** The owner of a token, for administrators; else "". */
  owner: string;
}

/**
 * A column: the hours that began in [start, end), epoch seconds. `parts` are those of the first MAX_SERIES items, the
 * last is all others.
 */
export interface DashboardBucket {
  start: number;
  end: number;
  parts: Sums[];
}

export interface DashboardView {
  /** The range as counted: whole hours, epoch seconds, `end` excluded. */
  start: number;
  end: number;
  totals: Sums;
  /** Every bucket of the range, oldest first, also empty ones. */
  buckets: DashboardBucket[];
  /** Largest first by the measure, at most MAX_RANKED. */
  items: DashboardItem[];
  /** Interval of the next request (DataExportInterval). */
  refresh_seconds: number;
}

/** What calls brought and what they cost, in one item. Calls whose cost is not known are no part of `costed`. */
export interface MarginItem {
  /** As of DashboardItem; of days "2026-11-22" (UTC). */
  key: string;
  label: string;
  owner: string;
  /** Units charged, minus refunds. */
  quota: number;
  /** The part of it whose upstream's cost is known. */
  costed_quota: number;
  /** What the upstream takes for that part, in billionths of a dollar. */
  upstream_cost: number;
}

export interface MarginView {
  start: number;
  end: number;
  totals: Pick<MarginItem, "quota" | "costed_quota" | "upstream_cost">;
  /** Highest charge first, days in order; at most MAX_MARGINS. */
  items: MarginItem[];
}

/** Items of the margin: also what its export has. */
export const MAX_MARGINS = 1000;

/** A channel whose known balance is below this, in its own currency, needs a top-up. */
export const LOW_BALANCE = 1;

/** What waits for an administrator. */
export interface Attention {
  /** All channels, of any state. */
  channels: number;
  auto_disabled: number;
  /** Enabled channels with a known balance below LOW_BALANCE. */
  low_balances: number;
  /** Enabled channels whose last test failed within the last day. */
  failing_tests: number;
  /** Models of enabled channels without a price: calls of them are refused. */
  unpriced_models: string[];
  /** Withdrawals that are not settled yet. */
  withdrawals: number;
  /** Address of a proxy that WEIR_TRUSTED_PROXIES does not list; "" = none was seen. For root alone. */
  unlisted_proxy: string;
}

/** One row of `/api/data/*`: an hour of a model. `id` is always 0: these are sums, not rows of a table. */
export interface DataRow {
  id: number;
  user_id: number;
  username: string;
  model_name: string;
  /** Start of the hour, epoch seconds. */
  created_at: number;
  /** Prompt and completion tokens. */
  token_used: number;
  count: number;
  quota: number;
}

/** An IANA name that this runtime knows, "Asia/Shanghai". */
function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const moment = z.int().min(0).max(100_000_000_000);
const range = { start_timestamp: moment, end_timestamp: moment };
const measure = z.enum(MEASURES).default("quota");
/** One user alone; "" and absent: all users. */
const username = z.string().max(200).optional();

const ownShape = {
  ...range,
  granularity: z.enum(GRANULARITIES).default("hour"),
  measure,
  /** The time zone of days and weeks (they begin on Monday). */
  time_zone: z.string().max(64).refine(isTimeZone).default("UTC"),
};
export const dashboardOwnInput = z.object({ ...ownShape, group_by: z.enum(OWN_DIMENSIONS).default("model") });
export const dashboardInput = z.object({ ...ownShape, group_by: z.enum(DIMENSIONS).default("model"), username });
export type DashboardQuery = z.output<typeof dashboardInput>;

export const totalsOwnInput = z.object(range);
export const totalsInput = z.object({ ...range, username });
export type TotalsQuery = z.output<typeof totalsInput>;

export const rankingInput = z.object({ ...range, group_by: z.enum(DIMENSIONS), measure, username });
export type RankingQuery = z.output<typeof rankingInput>;

export const marginInput = z.object({ ...range, group_by: z.enum([...DIMENSIONS, "day"]).default("model") });
export type MarginQuery = z.output<typeof marginInput>;

/** Old front-ends send `NaN`, and `default_time`, by which they add up themselves: it has no effect here. */
const restRange = {
  start_timestamp: moment.optional().catch(undefined),
  end_timestamp: moment.optional().catch(undefined),
};
export const dataSelfRest = z.object(restRange);
export const dataRest = z.object({ ...restRange, username });
export type DataQuery = z.output<typeof dataRest>;
