/** Consumption from the hourly roll-ups, about a second behind the log. Everything uses the read connections. */
import { desc, eq, inArray, type SQL, sql } from "drizzle-orm";
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
import { seconds, type UserCtx } from "../../contracts/context";
import { total, withoutNul } from "../../db/sql";
import { DIMENSION_COLUMN, summedUntil, sumsBy } from "../log/sums";
import { type Bucket, bucketSql, bucketsOf, stretches } from "./time-buckets";

/** Whose consumption: all users' for administrators, else the user's own. */
export type DashboardScope = "all" | "own";

const HOUR = 3600;
const DAY = 86_400;

/** Columns of the statements below. */
const SUM: Record<Measure, string> = { quota: "quota", count: `"count"`, tokens: "tokens" };
const SUMS = sql.raw(
  `sum(quota) AS quota, sum("count") AS "count", sum(error_count) AS error_count, sum(tokens) AS tokens`,
);
const number = (column: string) => sql<number>`${sql.raw(column)}`.mapWith(Number);
const text = (column: string) => sql<string>`${sql.raw(column)}`;
const SUMMED = {
  quota: number("quota"),
  count: number(`"count"`),
  error_count: number("error_count"),
  tokens: number("tokens"),
};
const SUMMED_UP = {
  quota: total(sql`quota`),
  count: total(sql`"count"`),
  error_count: total(sql`error_count`),
  tokens: total(sql`tokens`),
};

/** Refuses while the operator has the dashboard switched off (DataExportEnabled). */
export const requireEnabled = (ctx: UserCtx): void => {
  if (!ctx.options.get("DataExportEnabled")) fail("dashboard_off");
};

/**
 * The user whose rows count; undefined: all users. An unknown name answers nothing rather than everything. `username`
 * counts for administrators only.
 */
async function userOf(
  ctx: UserCtx,
  scope: DashboardScope,
  username: string | undefined,
): Promise<{ id: number; username: string } | undefined> {
  if (scope === "own") return ctx.actor;
  const name = withoutNul(username?.trim() ?? "");
  if (!name) return undefined;
  const { users } = ctx.db.t;
  const [row] = await ctx.db.q
    .select({ id: users.id, username: users.username })
    .from(users)
    .where(eq(users.username, name));
  return row ?? { id: -1, username: name };
}

/** The range, widened to whole hours. Throws invalid_parameter (an empty one) and range_too_long. */
export function wholeHours({
  start_timestamp,
  end_timestamp,
}: Pick<TotalsQuery, "start_timestamp" | "end_timestamp">): { start: number; end: number } {
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
  if (granularity === "hour" && (end - start) / HOUR > MAX_BUCKETS)
    fail("range_too_long", { days: Math.floor((MAX_BUCKETS * HOUR) / DAY) });
  const parts = stretches(time_zone, start, end);
  const from = await source(ctx, group_by, { start, end }, await userOf(ctx, scope, query.username));
  const rows = await rolledUp(ctx, { from, measure, bucket: bucketSql(granularity, parts, `"hour"`) });
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
  /** Place in the ranking from 1; 0: all that have no own series. */
  place: number;
  /** Null: the row is an item of the ranking, else a part of this bucket. */
  bucket: number | null;
}

/**
 * Hour, item (text), quota, count, error_count and tokens of the range, as a FROM: of one user from their hourly sums,
 * of all users from the sums by one item.
 */
async function source(
  ctx: UserCtx,
  by: Dimension,
  range: { start: number; end: number },
  user: { id: number } | undefined,
): Promise<SQL> {
  if (!user) return sql`(${sumsBy(by, range, await summedUntil(ctx.db))}) AS sums`;
  return sql`(SELECT "hour", cast(${sql.raw(DIMENSION_COLUMN[by])} as text) AS item, quota, "count", error_count, prompt_tokens + completion_tokens AS tokens
    FROM usage_hourly WHERE "hour" >= ${sql.raw(String(range.start))} AND "hour" < ${sql.raw(String(range.end))} AND user_id = ${user.id}) AS sums`;
}

/**
 * Reads the range once: sums by bucket and item, from them the ranking, from both the parts of every bucket. The answer
 * is bounded by MAX_RANKED and buckets times series, however many users or tokens there are.
 */
function rolledUp(
  ctx: UserCtx,
  { from, measure, bucket }: { from: SQL; measure: Measure; bucket: string },
): Promise<Rolled[]> {
  return ctx.db.read
    .select({
      place: number("place"),
      item: text("item"),
      bucket: sql<number | null>`bucket`.mapWith((value: unknown) => (value === null ? null : Number(value))),
      ...SUMMED,
    })
    .from(sql`(${rolledUpStatement(from, sql.raw(bucket), sql.raw(SUM[measure]))}) AS rolled`)
    .orderBy(sql`place`);
}

function rolledUpStatement(from: SQL, bucket: SQL, measure: SQL): SQL {
  return sql`
    WITH cells AS (SELECT ${bucket} AS bucket, item, ${SUMS} FROM ${from} GROUP BY 1, 2),
    items AS (SELECT item, ${SUMS} FROM cells GROUP BY item),
    ranked AS (SELECT item, quota, "count", error_count, tokens, row_number() OVER (ORDER BY ${measure} DESC, "count" DESC, item) AS place FROM items)
    SELECT place, item, NULL AS bucket, quota, "count", error_count, tokens
    FROM ranked WHERE place <= ${sql.raw(String(MAX_RANKED))}
    UNION ALL
    SELECT place, '' AS item, bucket, ${SUMS}
    FROM (
      SELECT CASE WHEN ranked.place <= ${sql.raw(String(MAX_SERIES))} THEN ranked.place ELSE 0 END AS place, cells.bucket,
        cells.quota, cells."count", cells.error_count, cells.tokens
      FROM cells JOIN ranked ON ranked.item = cells.item
    ) AS placed
    GROUP BY place, bucket`;
}

const sumsOf = ({ quota, count, error_count, tokens }: Sums): Sums => ({ quota, count, error_count, tokens });

/** One column for each bucket: `series` parts in the order of the ranking, and a last one for all others. */
function columnsOf(buckets: readonly Bucket[], rows: readonly Rolled[], series: number): DashboardView["buckets"] {
  const columns = new Map(
    buckets.map(({ number, start, end }) => [
      number,
      { start, end, parts: Array.from({ length: series + 1 }, () => sumsOf(NO_SUMS)) },
    ]),
  );
  for (const row of rows) {
    if (row.bucket === null) continue;
    const column = columns.get(row.bucket);
    if (column) column.parts[row.place === 0 ? series : row.place - 1] = sumsOf(row);
  }
  return [...columns.values()];
}

interface Names {
  readonly name: string;
  /** Of a token. */
  readonly owner?: string | null;
}

/** The current names of users, channels or tokens by their ids as text; models and groups are their own. */
export async function namesOf(
  ctx: UserCtx,
  group_by: Dimension,
  items: readonly string[],
): Promise<ReadonlyMap<string, Names>> {
  const { users, tokens, channels } = ctx.db.t;
  const ids = items.map(Number);
  if (group_by === "model" || group_by === "group" || ids.length === 0) return new Map();
  const names: ({ id: number } & Names)[] =
    group_by === "user"
      ? await ctx.db.q.select({ id: users.id, name: users.username }).from(users).where(inArray(users.id, ids))
      : group_by === "channel"
        ? await ctx.db.q
            .select({ id: channels.id, name: channels.name })
            .from(channels)
            .where(inArray(channels.id, ids))
        : await ctx.db.q
            .select({ id: tokens.id, name: tokens.name, owner: users.username })
            .from(tokens)
            .leftJoin(users, eq(users.id, tokens.user_id))
            .where(inArray(tokens.id, ids));
  return new Map(names.map(({ id, ...row }) => [String(id), row]));
}

/** How an item of a breakdown is called; the id "0" is none. */
export function labelled(group_by: Dimension, item: string, names: ReadonlyMap<string, Names>) {
  if (group_by === "model" || group_by === "group") return { key: item, label: item, owner: "" };
  const row = names.get(item);
  return { key: item === "0" ? "" : item, label: row?.name ?? "", owner: row?.owner ?? "" };
}

/** Items with the current names of users, channels and tokens. */
async function named(
  ctx: UserCtx,
  scope: DashboardScope,
  group_by: Dimension,
  items: readonly Ranked[],
): Promise<DashboardItem[]> {
  const names = await namesOf(
    ctx,
    group_by,
    items.map(({ item }) => item),
  );
  return items.map((row) => {
    const label = labelled(group_by, row.item, names);
    return { ...label, owner: scope === "all" ? label.owner : "", ...sumsOf(row) };
  });
}

/** Sums of a range, for the comparison with the period before. Throws like `dashboard`. */
export async function totals(ctx: UserCtx, scope: DashboardScope, query: TotalsQuery): Promise<Sums> {
  requireEnabled(ctx);
  // By group: the fewest rows.
  const from = await source(ctx, "group", wholeHours(query), await userOf(ctx, scope, query.username));
  const [row] = await ctx.db.read.select(SUMMED_UP).from(from);
  return row ?? NO_SUMS;
}

/** Who used most, largest first, at most MAX_RANKED. Throws like `dashboard`. */
export async function ranking(ctx: UserCtx, query: RankingQuery): Promise<DashboardItem[]> {
  requireEnabled(ctx);
  const from = await source(ctx, query.group_by, wholeHours(query), await userOf(ctx, "all", query.username));
  const rows = await ctx.db.read
    .select({ item: text("item"), ...SUMMED_UP })
    .from(from)
    .groupBy(sql`item`)
    .orderBy(desc(SUMMED_UP[query.measure]), desc(SUMMED_UP.error_count), sql`item`)
    .limit(MAX_RANKED);
  return named(ctx, "all", query.group_by, rows);
}

/** More rows than a browser can add up. */
const MAX_DATA_ROWS = 100_000;
/** Parameters of one statement. */
const MAX_IDS = 5000;

/**
 * The range of `/api/data/*` in whole hours: until now when no end is given, the 30 days before it when no start is.
 */
function dataRange(ctx: UserCtx, scope: DashboardScope, query: DataQuery): { start: number; end: number } {
  requireEnabled(ctx);
  const last = query.end_timestamp || seconds(ctx);
  const first = query.start_timestamp || Math.max(0, last - MAX_OWN_DAYS * DAY);
  const days = scope === "own" ? MAX_OWN_DAYS : MAX_DAYS;
  if (last - first > days * DAY) fail("range_too_long", { days });
  // Hours that begin in [first, last].
  return { start: Math.ceil(first / HOUR) * HOUR, end: (Math.floor(last / HOUR) + 1) * HOUR };
}

/** Rows by hour and item; as many days as fit, when the rows do not. */
async function dataRows(
  ctx: UserCtx,
  by: Dimension,
  range: { start: number; end: number },
  user: { id: number } | undefined,
) {
  const rows = await ctx.db.read
    .select({
      item: text("item"),
      created_at: number(`"hour"`),
      token_used: SUMMED_UP.tokens,
      count: SUMMED_UP.count,
      quota: SUMMED_UP.quota,
    })
    .from(await source(ctx, by, range, user))
    .groupBy(sql`"hour"`, sql`item`)
    .orderBy(sql`"hour"`, sql`item`)
    .limit(MAX_DATA_ROWS + 1);
  const [first, last] = [rows[0], rows[MAX_DATA_ROWS]];
  if (first && last)
    fail("range_too_long", { days: Math.max(1, Math.floor((last.created_at - first.created_at) / DAY)) });
  return rows;
}

/**
 * Rows of `GET /api/data/` and `/api/data/self`: one for each model and hour that lies in [start, end], oldest first.
 * Throws dashboard_off and range_too_long.
 */
export async function dataByModel(ctx: UserCtx, scope: DashboardScope, query: DataQuery): Promise<DataRow[]> {
  const range = dataRange(ctx, scope, query);
  const user = await userOf(ctx, scope, query.username);
  const owner = { id: 0, user_id: user?.id ?? 0, username: user?.username ?? "" };
  return (await dataRows(ctx, "model", range, user)).map(({ item, ...row }) => ({
    ...owner,
    ...row,
    model_name: item,
  }));
}

/**
 * Rows of `GET /api/data/users`: one for each user and hour that lies in [start, end], oldest first. Throws as above.
 */
export async function dataByUser(ctx: UserCtx, query: DataQuery): Promise<DataRow[]> {
  const { users } = ctx.db.t;
  const rows = await dataRows(ctx, "user", dataRange(ctx, "all", query), await userOf(ctx, "all", query.username));
  const ids = [...new Set(rows.map(({ item }) => Number(item)))];
  const names = new Map<number, string>();
  for (let i = 0; i < ids.length; i += MAX_IDS) {
    const found = await ctx.db.q
      .select({ id: users.id, username: users.username })
      .from(users)
      .where(inArray(users.id, ids.slice(i, i + MAX_IDS)));
    for (const { id, username } of found) names.set(id, username);
  }
  return rows
    .map(({ item, ...row }) => ({
      id: 0,
      user_id: Number(item),
      username: names.get(Number(item)) ?? "",
      ...row,
      model_name: "",
    }))
    .sort((a, b) => a.created_at - b.created_at || a.user_id - b.user_id);
}
