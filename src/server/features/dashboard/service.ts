/** Consumption from the hourly roll-ups, about a second behind the log. Everything is read by the second door. */
import { and, desc, eq, gte, inArray, lt, lte, type SQL, sql } from "drizzle-orm";
import {
  type DashboardItem,
  type DashboardQuery,
  type DashboardView,
  type DataQuery,
  type DataRow,
  type Dimension,
  MAX_BUCKETS,
  MAX_DAYS,
  MAX_OWN_DAYS,
  MAX_RANKED,
  MAX_SERIES,
  type Measure,
  NO_SUMS,
  type RankingQuery,
  type Sums,
  type TotalsQuery,
} from "../../../shared/dashboard";
import { fail } from "../../../shared/errors";
import { seconds, type UserCtx } from "../../context";
import { total, withoutNul } from "../../db/sql";
import { type Bucket, bucketSql, bucketsOf, stretches } from "./time-buckets";

/** Whose consumption: everybody's for administrators, else the user's own. */
export type DashboardScope = "all" | "own";

const HOUR = 3600;
const DAY = 86_400;

/** Columns of usage_hourly, as the statement below spells them. */
const COLUMN: Record<Dimension, string> = {
  model: "model_name", user: "user_id", channel: "channel", token: "token_id", group: `"group"`,
};
/** Columns of its own intermediate results. */
const SUM: Record<Measure, string> = { quota: "units", count: "calls", tokens: "tokens" };
const SUMS = sql.raw(`sum(units) AS units, sum(calls) AS calls, sum(errors) AS errors, sum(tokens) AS tokens`);

/** Refuses while the operator has the dashboard switched off (DataExportEnabled). */
const requireEnabled = (ctx: UserCtx): void => {
  if (!ctx.options.get("DataExportEnabled")) fail("dashboard_off");
};

/**
 * Whose rows alone; undefined: everybody's. A name that nobody has answers nothing rather than everything.
 * `username` counts for administrators only.
 */
async function userOf(ctx: UserCtx, scope: DashboardScope, username: string | undefined): Promise<{ id: number; username: string } | undefined> {
  if (scope === "own") return ctx.actor;
  const name = withoutNul(username?.trim() ?? "");
  if (!name) return undefined;
  const { users } = ctx.db.t;
  const [row] = await ctx.db.q.select({ id: users.id, username: users.username }).from(users).where(eq(users.username, name));
  return row ?? { id: -1, username: name };
}

/** The range, widened to whole hours. Throws invalid_parameter (an empty one) and range_too_long. */
function wholeHours({ start_timestamp, end_timestamp }: TotalsQuery): { start: number; end: number } {
  const start = start_timestamp - (start_timestamp % HOUR);
  const end = Math.ceil(end_timestamp / HOUR) * HOUR;
  if (end <= start) fail("invalid_parameter", { detail: "end_timestamp" });
  if (end - start > (MAX_DAYS + 1) * DAY) fail("range_too_long", { days: MAX_DAYS });
  return { start, end };
}

/** Chart, totals and ranking in one answer. Throws dashboard_off, invalid_parameter, range_too_long. */
export async function dashboard(ctx: UserCtx, scope: DashboardScope, query: DashboardQuery): Promise<DashboardView> {
  requireEnabled(ctx);
  const { start, end } = wholeHours(query);
  const { granularity, group_by, measure, time_zone } = query;
  if (granularity === "hour" && (end - start) / HOUR > MAX_BUCKETS) fail("range_too_long", { days: Math.floor((MAX_BUCKETS * HOUR) / DAY) });
  const user_id = (await userOf(ctx, scope, query.username))?.id;
  const parts = stretches(time_zone, start, end);
  const rows = await rolledUp(ctx, { start, end, user_id, group_by, measure, bucket: bucketSql(granularity, parts, `"hour"`) });
  const items = rows.filter((row) => row.bucket === null);
  const buckets = columnsOf(bucketsOf(granularity, parts, start, end), rows, Math.min(items.length, MAX_SERIES));
  return {
    start,
    end,
    totals: buckets.flatMap((bucket) => bucket.parts).reduce(plus, NO_SUMS),
    buckets,
    items: await named(ctx, scope, group_by, items),
    refresh_seconds: ctx.options.get("DataExportInterval") * 60,
  };
}

const plus = (a: Sums, b: Sums): Sums => ({
  quota: a.quota + b.quota,
  count: a.count + b.count,
  error_count: a.error_count + b.error_count,
  tokens: a.tokens + b.tokens,
});

interface Ranked extends Sums {
  item: string;
}

interface Rolled extends Ranked {
  /** Place in the ranking from 1; 0: all that have no series of their own. */
  place: number;
  /** Null: the row is an item of the ranking, else a part of this bucket. */
  bucket: number | null;
}

/**
 * Reads the range once: sums by bucket and item, from them the ranking, from both the parts of every bucket. What is sent
 * is bounded by MAX_RANKED and buckets times series, however many users or tokens there are.
 */
function rolledUp(
  ctx: UserCtx,
  range: { start: number; end: number; user_id: number | undefined; group_by: Dimension; measure: Measure; bucket: string },
): Promise<Rolled[]> {
  const { start, end, user_id, group_by, measure, bucket } = range;
  const raw = sql.raw;
  const statement = rolledUpStatement({
    where: sql`"hour" >= ${raw(String(start))} AND "hour" < ${raw(String(end))}${user_id === undefined ? sql`` : sql` AND user_id = ${user_id}`}`,
    bucket: raw(bucket),
    item: raw(COLUMN[group_by]),
    measure: raw(SUM[measure]),
  });
  const number = (name: string) => sql<number>`${raw(name)}`.mapWith(Number);
  return ctx.db.read
    .select({
      place: number("place"),
      item: sql<string>`item`,
      bucket: sql<number | null>`bucket`.mapWith((value: unknown) => (value === null ? null : Number(value))),
      quota: number("units"),
      count: number("calls"),
      error_count: number("errors"),
      tokens: number("tokens"),
    })
    .from(sql`(${statement}) AS rolled`)
    .orderBy(sql`place`);
}

function rolledUpStatement({ where, bucket, item, measure }: Record<"where" | "bucket" | "item" | "measure", SQL>): SQL {
  return sql`
    WITH cells AS (
      SELECT ${bucket} AS bucket, ${item} AS item, sum(quota) AS units, sum("count") AS calls, sum(error_count) AS errors,
        sum(prompt_tokens + completion_tokens) AS tokens
      FROM usage_hourly WHERE ${where} GROUP BY 1, 2
    ),
    items AS (SELECT item, ${SUMS} FROM cells GROUP BY item),
    ranked AS (SELECT item, units, calls, errors, tokens, row_number() OVER (ORDER BY ${measure} DESC, calls DESC, item) AS place FROM items)
    SELECT place, CAST(item AS text) AS item, NULL AS bucket, units, calls, errors, tokens
    FROM ranked WHERE place <= ${sql.raw(String(MAX_RANKED))}
    UNION ALL
    SELECT place, '' AS item, bucket, ${SUMS}
    FROM (
      SELECT CASE WHEN ranked.place <= ${sql.raw(String(MAX_SERIES))} THEN ranked.place ELSE 0 END AS place, cells.bucket,
        cells.units, cells.calls, cells.errors, cells.tokens
      FROM cells JOIN ranked ON ranked.item = cells.item
    ) AS placed
    GROUP BY place, bucket`;
}

const sumsOf = ({ quota, count, error_count, tokens }: Sums): Sums => ({ quota, count, error_count, tokens });

/** One column for each bucket: `series` parts in the order of the ranking, and a last one for all others. */
function columnsOf(buckets: readonly Bucket[], rows: readonly Rolled[], series: number): DashboardView["buckets"] {
  const columns = new Map(
    buckets.map(({ number, start, end }) => [number, { start, end, parts: Array.from({ length: series + 1 }, () => sumsOf(NO_SUMS)) }]),
  );
  for (const row of rows) {
    if (row.bucket === null) continue;
    const column = columns.get(row.bucket);
    if (column) column.parts[row.place === 0 ? series : row.place - 1] = sumsOf(row);
  }
  return [...columns.values()];
}

/** Items with the names that users, channels and tokens have now. */
async function named(ctx: UserCtx, scope: DashboardScope, group_by: Dimension, items: readonly Ranked[]): Promise<DashboardItem[]> {
  const bare = (item: Ranked, label = item.item, owner = ""): DashboardItem => ({ key: item.item, label, owner, ...sumsOf(item) });
  if (group_by === "model" || group_by === "group") return items.map((item) => bare(item));
  const { users, tokens, channels } = ctx.db.t;
  const ids = items.map(({ item }) => Number(item));
  if (ids.length === 0) return [];
  const names: { id: number; name: string; owner?: string | null }[] =
    group_by === "user"
      ? await ctx.db.q.select({ id: users.id, name: users.username }).from(users).where(inArray(users.id, ids))
      : group_by === "channel"
        ? await ctx.db.q.select({ id: channels.id, name: channels.name }).from(channels).where(inArray(channels.id, ids))
        : await ctx.db.q
            .select({ id: tokens.id, name: tokens.name, owner: users.username })
            .from(tokens)
            .leftJoin(users, eq(users.id, tokens.user_id))
            .where(inArray(tokens.id, ids));
  const byId = new Map(names.map((row) => [row.id, row]));
  return items.map((item) => {
    const row = byId.get(Number(item.item));
    return { ...bare(item, row?.name ?? "", (scope === "all" && row?.owner) || ""), key: item.item === "0" ? "" : item.item };
  });
}

/** Sums of a range, for the comparison with the period before. Throws as `dashboard` does. */
export async function totals(ctx: UserCtx, scope: DashboardScope, query: TotalsQuery): Promise<Sums> {
  requireEnabled(ctx);
  const [row] = await ctx.db.read
    .select(sums(ctx))
    .from(ctx.db.t.usage_hourly)
    .where(within(ctx, wholeHours(query), await userOf(ctx, scope, query.username)));
  return row ?? NO_SUMS;
}

/** Who used most, largest first, at most MAX_RANKED. Throws as `dashboard` does. */
export async function ranking(ctx: UserCtx, query: RankingQuery): Promise<DashboardItem[]> {
  requireEnabled(ctx);
  const { usage_hourly: u } = ctx.db.t;
  const item = { model: u.model_name, user: u.user_id, channel: u.channel, token: u.token_id, group: u.group }[query.group_by];
  const summed = sums(ctx);
  const rows = await ctx.db.read
    .select({ item, ...summed })
    .from(u)
    .where(within(ctx, wholeHours(query), await userOf(ctx, "all", query.username)))
    .groupBy(item)
    .orderBy(desc(summed[query.measure]), desc(summed.error_count), item)
    .limit(MAX_RANKED);
  return named(ctx, "all", query.group_by, rows.map((row) => ({ ...row, item: String(row.item) })));
}

function within(ctx: UserCtx, { start, end }: { start: number; end: number }, user: { id: number } | undefined): SQL | undefined {
  const { usage_hourly: u } = ctx.db.t;
  return and(gte(u.hour, start), lt(u.hour, end), user ? eq(u.user_id, user.id) : undefined);
}

const sums = (ctx: UserCtx) => {
  const { usage_hourly: u } = ctx.db.t;
  return {
    quota: total(u.quota),
    count: total(u.count),
    error_count: total(u.error_count),
    tokens: total(sql`${u.prompt_tokens} + ${u.completion_tokens}`),
  };
};

/** More than this is no answer that a browser adds up. */
const MAX_DATA_ROWS = 100_000;

/** The range of `/api/data/*`: until now when no end is given, the 30 days before it when no start is. */
function dataRange(ctx: UserCtx, scope: DashboardScope, query: DataQuery): SQL | undefined {
  requireEnabled(ctx);
  const { hour } = ctx.db.t.usage_hourly;
  const end = query.end_timestamp || seconds(ctx);
  const start = query.start_timestamp || Math.max(0, end - MAX_OWN_DAYS * DAY);
  const days = scope === "own" ? MAX_OWN_DAYS : MAX_DAYS;
  if (end - start > days * DAY) fail("range_too_long", { days });
  return and(gte(hour, start), lte(hour, end));
}

/** As many days as fit, when the rows do not. */
function bounded<T extends { created_at: number }>(rows: T[]): T[] {
  const [first, last] = [rows[0], rows[MAX_DATA_ROWS]];
  if (first && last) fail("range_too_long", { days: Math.max(1, Math.floor((last.created_at - first.created_at) / DAY)) });
  return rows;
}

/**
 * Rows of `GET /api/data/` and `/api/data/self`: one for each model and hour that lies in [start, end], oldest first.
 * Throws dashboard_off and range_too_long.
 */
export async function dataByModel(ctx: UserCtx, scope: DashboardScope, query: DataQuery): Promise<DataRow[]> {
  const range = dataRange(ctx, scope, query);
  const { usage_hourly: u } = ctx.db.t;
  const { tokens: token_used, count, quota } = sums(ctx);
  const user = await userOf(ctx, scope, query.username);
  const rows = await ctx.db.read
    .select({ model_name: u.model_name, created_at: u.hour, token_used, count, quota })
    .from(u)
    .where(and(range, user ? eq(u.user_id, user.id) : undefined))
    .groupBy(u.hour, u.model_name)
    .orderBy(u.hour, u.model_name)
    .limit(MAX_DATA_ROWS + 1);
  const owner = { id: 0, user_id: user?.id ?? 0, username: user?.username ?? "" };
  return bounded(rows).map((row) => ({ ...owner, ...row }));
}

/** Rows of `GET /api/data/users`: one for each user and hour that lies in [start, end], oldest first. Throws as above. */
export async function dataByUser(ctx: UserCtx, query: DataQuery): Promise<DataRow[]> {
  const range = dataRange(ctx, "all", query);
  const { usage_hourly: u, users } = ctx.db.t;
  const { tokens: token_used, count, quota } = sums(ctx);
  const user = await userOf(ctx, "all", query.username);
  const rows = await ctx.db.read
    .select({ user_id: u.user_id, username: users.username, created_at: u.hour, token_used, count, quota })
    .from(u)
    .leftJoin(users, eq(users.id, u.user_id))
    .where(and(range, user ? eq(u.user_id, user.id) : undefined))
    .groupBy(u.hour, u.user_id, users.username)
    .orderBy(u.hour, u.user_id)
    .limit(MAX_DATA_ROWS + 1);
  return bounded(rows).map((row) => ({ ...row, id: 0, username: row.username ?? "", model_name: "" }));
}
