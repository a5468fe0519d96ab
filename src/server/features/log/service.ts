/** Reading the log. Lists go through the reading door; rows of LogConsumeEnabled = false are counted but not shown. */
import { and, asc, desc, eq, gt, gte, lt, lte, or, type SQL, sql } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { LOG_TYPE } from "../../../shared/log";
import { type LogFilter, type LogPage, logPlace, type LogSlice, type LogStat, type LogUser, type LogView, MAX_LOG_TOTAL } from "../../../shared/log-list";
import { ROLE } from "../../../shared/roles";
import { seconds, type UserCtx } from "../../context";
import { count, total, withoutNul } from "../../db/sql";
import { conditions, type LogScope, subject } from "./filter";
import { presentForAdmin, presentForOwner } from "./present";

const RATE_SECONDS = 60;
/** As many as existing front-ends expect of a search. */
const SEARCH_ROWS = 100;

export const present = (scope: LogScope) => (scope === "all" ? presentForAdmin : presentForOwner);

/** Whose rows somebody may see. */
export const scopeOf = (ctx: UserCtx): LogScope => (ctx.actor.role >= ROLE.admin ? "all" : "own");

/** Rows on the older (`behind`) or the newer side of a place in the list. */
export function beyond(ctx: Pick<UserCtx, "db">, place: string, side: "behind" | "before"): SQL | undefined {
  const { logs } = ctx.db.t;
  const [time = 0, id = 0] = place.split(".").map(Number);
  // The first half lets the index start at the right place; the second decides among rows of the same second.
  return side === "behind"
    ? and(lte(logs.created_at, time), or(lt(logs.created_at, time), lt(logs.id, id)))
    : and(gte(logs.created_at, time), or(gt(logs.created_at, time), gt(logs.id, id)));
}

/**
 * Newest first, in pages with a total. `after` and `before` name the row that the page stands beside: such a page costs the
 * same however far back it lies.
 */
export async function pageLogs(
  ctx: UserCtx,
  scope: LogScope,
  { p, page_size, after, before, ...filter }: LogFilter & { p: number; page_size: number; after?: string | undefined; before?: string | undefined },
): Promise<LogPage> {
  const { logs } = ctx.db.t;
  const order = (direction: typeof asc | typeof desc) => [direction(logs.created_at), direction(logs.id)];
  const matching = ctx.db.read.select({ id: logs.id }).from(logs).where(await conditions(ctx, scope, filter));
  const [all] = await ctx.db.read.select({ n: count() }).from(matching.limit(MAX_LOG_TOTAL + 1).as("bounded"));
  const n = all?.n ?? 0;
  const place = after ? beyond(ctx, after, "behind") : before ? beyond(ctx, before, "before") : undefined;
  const rows = await ctx.db.read
    .select()
    .from(logs)
    .where(and(await conditions(ctx, scope, filter, n > MAX_LOG_TOTAL), place))
    .orderBy(...order(before && !after ? asc : desc))
    .limit(page_size)
    .offset(place ? 0 : (p - 1) * page_size);
  if (before && !after) rows.reverse();
  return { items: rows.map(present(scope)), page: p, page_size, total: Math.min(n, MAX_LOG_TOTAL), total_exact: n <= MAX_LOG_TOTAL };
}

/** Newest first, from behind `cursor`. */
export async function sliceLogs(
  ctx: UserCtx,
  scope: LogScope,
  { limit, cursor, ...filter }: LogFilter & { limit: number; cursor?: string | null | undefined },
): Promise<LogSlice> {
  const { logs } = ctx.db.t;
  const rows = await ctx.db.read
    .select()
    .from(logs)
    .where(and(await conditions(ctx, scope, filter), cursor ? beyond(ctx, cursor, "behind") : undefined))
    .orderBy(desc(logs.created_at), desc(logs.id))
    .limit(limit + 1);
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items: items.map(present(scope)), ...(rows.length > limit && last ? { next: logPlace(last) } : {}) };
}

/** The newest rows that contain a text; no text, no rows. */
export async function searchLogs(ctx: UserCtx, scope: LogScope, keyword: string): Promise<LogView[]> {
  if (keyword.trim() === "") return [];
  return (await sliceLogs(ctx, scope, { keyword, limit: SEARCH_ROWS })).items;
}

/** One row; somebody else's is not found, unless an administrator asks. */
export async function findLog(ctx: UserCtx, key: { id: number } | { request_id: string }): Promise<LogView> {
  const { logs } = ctx.db.t;
  const scope = scopeOf(ctx);
  const which = "id" in key ? eq(logs.id, key.id) : eq(logs.request_id, withoutNul(key.request_id));
  const [row] = await ctx.db.q
    .select()
    .from(logs)
    .where(and(which, ...(await subject(ctx, scope, {}))));
  return row ? present(scope)(row) : fail("log_not_found");
}

/** Whose rows these are, for administrators; a deleted user is still known by his rows. */
export async function userOfRows({ db }: Pick<UserCtx, "db">, id: number): Promise<LogUser> {
  const { users } = db.t;
  const { username, display_name, group, quota, used_quota, request_count } = users;
  const [user] = await db.q.select({ username, display_name, group, quota, used_quota, request_count }).from(users).where(eq(users.id, id));
  return user ?? fail("user_not_found");
}

/** Consumption under the filters, and the pace of the last minute (compatibility.md 4.10). */
export async function logStat(ctx: UserCtx, scope: LogScope, filter: LogFilter): Promise<LogStat> {
  const { logs } = ctx.db.t;
  const consumed = eq(logs.type, LOG_TYPE.consume);
  const [all, lately] = await Promise.all([conditions(ctx, scope, { ...filter, type: 0 }), subject(ctx, scope, filter)]);
  const [[sum], [pace]] = await Promise.all([
    ctx.db.read.select({ quota: total(logs.quota) }).from(logs).where(and(all, consumed)),
    ctx.db.read
      .select({ rpm: count(), tpm: total(sql`${logs.prompt_tokens} + ${logs.completion_tokens}`) })
      .from(logs)
      .where(and(...lately, consumed, gte(logs.created_at, seconds(ctx) - RATE_SECONDS))),
  ]);
  return { quota: sum?.quota ?? 0, rpm: pace?.rpm ?? 0, tpm: pace?.tpm ?? 0 };
}
