/** Reading the log. Lists go through the reading door; rows of LogConsumeEnabled = false are counted but not shown. */
import { type AnyColumn, and, desc, eq, gte, lt, lte, or, type SQL, sql } from "drizzle-orm";
import type { Page } from "../../../shared/envelope";
import { fail } from "../../../shared/errors";
import { LOG_TYPE } from "../../../shared/log";
import type { LogFilter, LogSlice, LogStat, LogView } from "../../../shared/log-list";
import { ROLE } from "../../../shared/roles";
import { seconds, type UserCtx } from "../../context";
import type { LogRow } from "../../db/schema";
import { contains, count, total, withoutNul } from "../../db/sql";
import { presentForAdmin, presentForOwner } from "./present";

/** Whose rows: everybody's for administrators, else the user's own. */
export type LogScope = "all" | "own";

/** A total beyond this is reported as this: counting further would cost more than it says. */
const MAX_TOTAL = 100_000;
const RATE_SECONDS = 60;

const present = (scope: LogScope) => (scope === "all" ? presentForAdmin : presentForOwner);

const clean = (text: string | undefined): string => withoutNul(text?.trim() ?? "");

/** The filters that are not times. */
function subject(ctx: UserCtx, scope: LogScope, filter: LogFilter): (SQL | undefined)[] {
  const { logs } = ctx.db.t;
  const equal = (column: AnyColumn, text: string | undefined) => (clean(text) ? eq(column, clean(text)) : undefined);
  return [
    eq(logs.visible, true),
    scope === "own" ? eq(logs.user_id, ctx.actor.id) : undefined,
    equal(logs.token_name, filter.token_name),
    equal(logs.group, filter.group),
    equal(logs.request_id, filter.request_id),
    clean(filter.model_name) ? contains(logs.model_name, clean(filter.model_name)) : undefined,
    filter.token_id ? eq(logs.token_id, filter.token_id) : undefined,
    ...(scope === "own"
      ? []
      : [
          equal(logs.username, filter.username),
          equal(logs.upstream_request_id, filter.upstream_request_id),
          filter.channel ? eq(logs.channel, filter.channel) : undefined,
        ]),
  ];
}

function conditions(ctx: UserCtx, scope: LogScope, filter: LogFilter): (SQL | undefined)[] {
  const { logs } = ctx.db.t;
  const { start_timestamp: start, end_timestamp: end, type } = filter;
  return [
    ...subject(ctx, scope, filter),
    type ? eq(logs.type, type) : undefined,
    start ? gte(logs.created_at, Math.floor(start)) : undefined,
    end ? lte(logs.created_at, Math.floor(end)) : undefined,
  ];
}

/** Newest first, in pages with a total (at most 100,000). */
export async function pageLogs(
  ctx: UserCtx,
  scope: LogScope,
  { p, page_size, ...filter }: LogFilter & { p: number; page_size: number },
): Promise<Page<LogView>> {
  const { logs } = ctx.db.t;
  const where = and(...conditions(ctx, scope, filter));
  const bounded = ctx.db.read.select({ id: logs.id }).from(logs).where(where).limit(MAX_TOTAL).as("bounded");
  const [[all], rows] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(bounded),
    ctx.db.read
      .select()
      .from(logs)
      .where(where)
      .orderBy(desc(logs.created_at), desc(logs.id))
      .limit(page_size)
      .offset((p - 1) * page_size),
  ]);
  return { items: rows.map(present(scope)), page: p, page_size, total: all?.n ?? 0 };
}

const cursorOf = (row: LogRow): string => `${row.created_at}.${row.id}`;

/** Newest first, from behind `cursor`. */
export async function sliceLogs(
  ctx: UserCtx,
  scope: LogScope,
  { limit, cursor, ...filter }: LogFilter & { limit: number; cursor?: string | null },
): Promise<LogSlice> {
  const { logs } = ctx.db.t;
  const [time = 0, id = 0] = cursor?.split(".").map(Number) ?? [];
  // The first half lets the index start at the right place; the second decides among rows of the same second.
  const behind = cursor ? and(lte(logs.created_at, time), or(lt(logs.created_at, time), lt(logs.id, id))) : undefined;
  const rows = await ctx.db.read
    .select()
    .from(logs)
    .where(and(...conditions(ctx, scope, filter), behind))
    .orderBy(desc(logs.created_at), desc(logs.id))
    .limit(limit + 1);
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items: items.map(present(scope)), ...(rows.length > limit && last ? { next: cursorOf(last) } : {}) };
}

/** One row; somebody else's is not found, unless an administrator asks. */
export async function findLog(ctx: UserCtx, key: { id: number } | { request_id: string }): Promise<LogView> {
  const { logs } = ctx.db.t;
  const scope: LogScope = ctx.actor.role >= ROLE.admin ? "all" : "own";
  const which = "id" in key ? eq(logs.id, key.id) : eq(logs.request_id, withoutNul(key.request_id));
  const [row] = await ctx.db.q
    .select()
    .from(logs)
    .where(and(which, ...subject(ctx, scope, {})));
  return row ? present(scope)(row) : fail("log_not_found");
}

/** Consumption under the filters, and the pace of the last minute (compatibility.md 4.10). */
export async function logStat(ctx: UserCtx, scope: LogScope, filter: LogFilter): Promise<LogStat> {
  const { logs } = ctx.db.t;
  const consumed = eq(logs.type, LOG_TYPE.consume);
  const [[sum], [pace]] = await Promise.all([
    ctx.db.read
      .select({ quota: total(logs.quota) })
      .from(logs)
      .where(and(...conditions(ctx, scope, { ...filter, type: 0 }), consumed)),
    ctx.db.read
      .select({ rpm: count(), tpm: total(sql`${logs.prompt_tokens} + ${logs.completion_tokens}`) })
      .from(logs)
      .where(and(...subject(ctx, scope, filter), consumed, gte(logs.created_at, seconds(ctx) - RATE_SECONDS))),
  ]);
  return { quota: sum?.quota ?? 0, rpm: pace?.rpm ?? 0, tpm: pace?.tpm ?? 0 };
}
