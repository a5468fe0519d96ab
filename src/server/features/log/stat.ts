/**
 * Consumption under the filters of the list, and the pace of the last minute.
 *
 * The sum of years comes from the roll-ups where they have the filters' columns: whole hours from them, the parts of
 * hours at both ends from the log. Roll-ups and list differ in a few rows, each kind with an index: refunds (taken off
 * in roll-ups, not part of this sum), rows that are not listed, channel tests (listed, in no roll-up), and rows not
 * folded yet. One statement, so one snapshot.
 */
import { type AnyColumn, and, eq, gte, inArray, lt, type SQL, sql } from "drizzle-orm";
import type { Dimension } from "../../../shared/dashboard";
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import type { LogFilter, LogStat } from "../../../shared/log-list";
import { seconds, type UserCtx } from "../../contracts/context";
import { withoutIndex, count, total } from "../../db/sql";
import { logCompleteSince } from "./clean";
import { clean, conditions, type LogScope, modelTest, type Named, namesOf, rangeOf, subject } from "./filter";
import { inPartitions } from "./partitions";
import { summedUntil, sumsBy } from "./sums";

const RATE_SECONDS = 60;
const HOUR = 3600;
/** After every existing hour. */
const FOREVER = 100_000_000_000 - (100_000_000_000 % HOUR);
const CONSUMED = sql.raw(String(LOG_TYPE.consume));

export async function logStat(ctx: UserCtx, scope: LogScope, asked: LogFilter): Promise<LogStat> {
  const { logs } = ctx.db.t;
  const filter = { ...asked, type: 0 };
  const named = await namesOf(ctx, scope, filter);
  const now = seconds(ctx);
  const lately = await inPartitions(ctx.db, now - RATE_SECONDS, 0);
  const [sum, [pace]] = await Promise.all([
    consumption(ctx, scope, filter, named),
    ctx.db.read
      .select({ rpm: count(), tpm: total(sql`${logs.prompt_tokens} + ${logs.completion_tokens}`) })
      .from(logs)
      .where(
        and(
          ...(await subject(ctx, scope, filter, false, named, lately)),
          eq(logs.type, LOG_TYPE.consume),
          gte(logs.created_at, now - RATE_SECONDS),
          lately,
        ),
      ),
  ]);
  return { ...sum, rpm: pace?.rpm ?? 0, tpm: pace?.tpm ?? 0 };
}

async function consumption(
  ctx: UserCtx,
  scope: LogScope,
  filter: LogFilter,
  named: Named,
): Promise<Pick<LogStat, "quota" | "searched_from">> {
  const { logs } = ctx.db.t;
  const { searched_from, ...range } = await rangeOf(ctx, scope, filter, named);
  const summed = async (start: number, end: number): Promise<SQL> =>
    sql`${ctx.db.read
      .select({ n: total(logs.quota) })
      .from(logs)
      .where(and(await conditions(ctx, scope, filter, { start, end }, { named }), eq(logs.type, LOG_TYPE.consume)))}`;
  const whole = searched_from === undefined && inRollUps(filter, named) ? await wholeHours(ctx, range) : undefined;
  const parts: SQL[] = [];
  if (!whole) parts.push(await summed(range.start, range.end));
  else {
    const filters = known(ctx, scope, filter, named);
    parts.push(await rolledUp(ctx, whole, filters), ...(await apart(ctx, whole, filters)));
    if (range.start < whole.start) parts.push(await summed(range.start, whole.start - 1));
    if (whole.end !== FOREVER && range.end >= whole.end) parts.push(await summed(whole.end, range.end));
  }
  const [row] = await ctx.db.read
    .select({ quota: sql<number>`${sql.join(parts, sql` + `)}`.mapWith(Number) })
    .from(sql`(SELECT 1) AS one`);
  return { quota: row?.quota ?? 0, ...(searched_from !== undefined && { searched_from }) };
}

/** Whether the roll-ups have the columns of these filters. */
export const inRollUps = (filter: LogFilter, { user_id, token_ids, virtual }: Named): boolean =>
  virtual === undefined &&
  ![filter.keyword, filter.request_id, filter.upstream_request_id].some(clean) &&
  (!clean(filter.token_name) || token_ids !== undefined) &&
  (!clean(filter.username) || user_id !== undefined);

/** The whole hours of the range for which the log is complete; undefined when there is none. */
async function wholeHours(
  ctx: UserCtx,
  { start, end }: { start: number; end: number },
): Promise<{ start: number; end: number } | undefined> {
  const [meta] = await ctx.db.q
    .select({ since: sql<number>`${logCompleteSince()}`.mapWith(Number) })
    .from(sql`(SELECT 1) AS one`);
  const first = Math.ceil(Math.max(start, meta?.since ?? 0) / HOUR) * HOUR;
  const behind = end ? Math.floor((end + 1) / HOUR) * HOUR : FOREVER;
  return first < behind ? { start: first, end: behind } : undefined;
}

/**
 * The filters whose columns the roll-ups have, each as a condition on the text `item`, on the roll-up's own column and
 * on the log's.
 */
export interface Known {
  by: Dimension;
  item: SQL;
  hourly: SQL;
  log: SQL;
}

/** The filters in force as conditions on roll-ups; all of them only where `inRollUps` says so. */
export function known(
  { db, actor }: UserCtx,
  scope: LogScope,
  filter: LogFilter,
  { user_id, token_ids }: Named,
): Known[] {
  const { usage_hourly: u, logs } = db.t;
  const found: Known[] = [];
  const ids = (by: Dimension, hourly: AnyColumn, log: AnyColumn, wanted: readonly number[]) =>
    found.push({
      by,
      item: sql`item IN (${sql.raw(wanted.map((id) => `'${id}'`).join(", "))})`,
      hourly: inArray(hourly, [...wanted]),
      log: inArray(withoutIndex(db, log), [...wanted]),
    });
  const user = scope === "own" ? actor.id : user_id;
  if (user !== undefined) ids("user", u.user_id, logs.user_id, [user]);
  if (scope === "all" && filter.channel) ids("channel", u.channel, logs.channel, [filter.channel]);
  if (filter.token_id) ids("token", u.token_id, logs.token_id, [filter.token_id]);
  if (token_ids) ids("token", u.token_id, logs.token_id, token_ids);
  const group = clean(filter.group);
  if (group)
    found.push({
      by: "group",
      item: sql`item = ${group}`,
      hourly: eq(u.group, group),
      log: eq(withoutIndex(db, logs.group), group),
    });
  const model = modelTest(filter);
  if (model)
    found.push({
      by: "model",
      item: model(sql`item`),
      hourly: model(u.model_name),
      log: model(withoutIndex(db, logs.model_name)),
    });
  return found;
}

/** The roll-ups of [start, end), both whole hours, for a FROM: hour, quota, count and error_count. */
export async function hoursOf(
  { db }: UserCtx,
  { start, end }: { start: number; end: number },
  filters: readonly Known[],
): Promise<SQL> {
  const { usage_hourly: u } = db.t;
  const [first, ...more] = filters;
  // A user's hours have an index.
  if (more.length === 0 && first?.by !== "user")
    return sumsBy(first?.by ?? "group", { start, end }, await summedUntil(db), first?.item);
  const { hour, quota, count: calls, error_count } = u;
  return sql`${db.read
    .select({ hour, quota, count: calls, error_count })
    .from(u)
    .where(and(gte(hour, start), lt(hour, end), ...filters.map(({ hourly }) => hourly)))}`;
}

/** The roll-ups' sum of the same. */
async function rolledUp(ctx: UserCtx, range: { start: number; end: number }, filters: readonly Known[]): Promise<SQL> {
  return sql`${ctx.db.read.select({ n: total(sql`quota`) }).from(sql`(${await hoursOf(ctx, range, filters)}) AS sums`)}`;
}

/** The rows in which roll-ups and list differ, in [start, end). The literals make the partial indexes usable. */
async function apart(
  { db }: UserCtx,
  { start, end }: { start: number; end: number },
  filters: readonly Known[],
): Promise<SQL[]> {
  const { logs } = db.t;
  const { quota, folded, visible, type, created_at } = logs;
  const rows = (value: SQL, ...which: SQL[]): SQL =>
    sql`${db.read
      .select({ n: total(value) })
      .from(logs)
      .where(and(...which, ...filters.map(({ log }) => log), partitions))}`;
  const partitions = await inPartitions(db, start, end);
  const within = [gte(created_at, start), lt(created_at, end)];
  const later = [gte(withoutIndex(db, created_at), start), lt(withoutIndex(db, created_at), end)];
  const [not_yet, done, never] = [FOLDED.not_yet, FOLDED.done, FOLDED.never].map((state) => sql.raw(String(state)));
  const refunds = rows(
    sql`${quota}`,
    eq(type, LOG_TYPE.refund),
    sql`${type} <> ${CONSUMED}`,
    sql`${folded} = ${done}`,
    ...within,
  );
  const here = sql`case when ${visible} and ${folded} = ${never} then ${quota} when not ${visible} and ${folded} = ${done} then -${quota} else 0 end`;
  const onlyInOne = rows(here, sql`(${folded} = ${never} or not ${visible})`, sql`${type} = ${CONSUMED}`, ...within);
  const notYet = rows(
    sql`${quota}`,
    sql`${folded} = ${not_yet}`,
    sql`${withoutIndex(db, type)} = ${CONSUMED}`,
    eq(visible, true),
    ...later,
  );
  return [refunds, onlyInOne, notYet];
}
