/** Reading the log. Lists use the read connections; rows of LogConsumeEnabled = false are counted but not shown. */
import { and, asc, desc, eq } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import {
  type LogFilter,
  type LogPage,
  logPlace,
  type LogSlice,
  type LogUser,
  type LogView,
  MAX_LOG_TOTAL,
} from "../../../shared/log-list";
import type { CallRefunds } from "../../../shared/refund";
import { mayActOn, ROLE } from "../../../shared/roles";
import type { UserCtx } from "../../contracts/context";
import type { LogRow } from "../../db/schema";
import { count, withoutNul } from "../../db/sql";
import { conditions, type LogScope, namesOf, rangeOf, subject } from "./filter";
import { afterCursor } from "./cursor";
import { quotaText } from "../wallet/quota-text";
import { refundsOf } from "../wallet/refund-call";
import { type LogReader, presentForAdmin, presentForOwner } from "./present";

/** The number that existing front-ends expect of a search. */
const SEARCH_ROWS = 100;

/** How a caller of the API sees texts and amounts. */
export const readerOf = (ctx: Pick<UserCtx, "lang" | "options">): LogReader => ({
  lang: ctx.lang,
  units: (amount) => quotaText(ctx, amount),
});

/** Rows as the viewer sees them. */
export function present(ctx: UserCtx, scope: LogScope): (row: LogRow) => LogView {
  const reader = readerOf(ctx);
  return scope === "all" ? (row) => presentForAdmin(row, reader) : (row) => presentForOwner(row, reader);
}

/** Whose rows a viewer may see. */
export const scopeOf = (ctx: UserCtx): LogScope => (ctx.actor.role >= ROLE.admin ? "all" : "own");

/**
 * Newest first, in pages with a total. `after` and `before` name the row that the page begins beside: such a page costs
 * the same however old it is.
 */
export async function pageLogs(
  ctx: UserCtx,
  scope: LogScope,
  {
    p,
    page_size,
    after,
    before,
    ...filter
  }: LogFilter & { p: number; page_size: number; after?: string | undefined; before?: string | undefined },
): Promise<LogPage> {
  const { logs } = ctx.db.t;
  const order = (direction: typeof asc | typeof desc) => [direction(logs.created_at), direction(logs.id)];
  const named = await namesOf(ctx, scope, filter);
  const range = await rangeOf(ctx, scope, filter, named);
  const matches = await conditions(ctx, scope, filter, range, { named });
  const [all] = await ctx.db.gather((q) =>
    q.select({ n: count() }).from(
      q
        .select({ id: logs.id })
        .from(logs)
        .where(matches)
        .limit(MAX_LOG_TOTAL + 1)
        .as("bounded"),
    ),
  );
  const n = all?.n ?? 0;
  const place = after ? afterCursor(ctx, after, "behind") : before ? afterCursor(ctx, before, "before") : undefined;
  const rows =
    n === 0
      ? []
      : await ctx.db.read
          .select()
          .from(logs)
          .where(
            and(
              n > MAX_LOG_TOTAL ? await conditions(ctx, scope, filter, range, { named, common: true }) : matches,
              place,
            ),
          )
          .orderBy(...order(before && !after ? asc : desc))
          .limit(page_size)
          .offset(place ? 0 : (p - 1) * page_size);
  if (before && !after) rows.reverse();
  const { searched_from } = range;
  return {
    items: rows.map(present(ctx, scope)),
    page: p,
    page_size,
    total: Math.min(n, MAX_LOG_TOTAL),
    total_exact: n <= MAX_LOG_TOTAL,
    ...(searched_from !== undefined && { searched_from }),
  };
}

/** Newest first, after `cursor`. A search that stopped early has a `next` although the page is not full. */
export async function sliceLogs(
  ctx: UserCtx,
  scope: LogScope,
  { limit, cursor, ...filter }: LogFilter & { limit: number; cursor?: string | null | undefined },
): Promise<LogSlice> {
  const { rows, next } = await readSlice(ctx, scope, filter, limit, cursor);
  return { items: rows.map(present(ctx, scope)), ...(next && { next }) };
}

/** Up to `limit` rows after `cursor`, and where to go on; undefined: there is nothing more. */
export async function readSlice(
  ctx: UserCtx,
  scope: LogScope,
  filter: LogFilter,
  limit: number,
  cursor?: string | null,
): Promise<{ rows: LogRow[]; next?: string }> {
  const { logs } = ctx.db.t;
  const named = await namesOf(ctx, scope, filter);
  const range = await rangeOf(ctx, scope, filter, named, cursor);
  const rows = await ctx.db.read
    .select()
    .from(logs)
    .where(
      and(
        await conditions(ctx, scope, filter, range, { named }),
        cursor ? afterCursor(ctx, cursor, "behind") : undefined,
      ),
    )
    .orderBy(desc(logs.created_at), desc(logs.id))
    .limit(limit + 1);
  const found = rows.slice(0, limit);
  const last = found.at(-1);
  if (rows.length > limit && last) return { rows: found, next: logPlace(last) };
  // Ids begin at 1: after this cursor come the rows of earlier seconds.
  return { rows: found, ...(range.searched_from !== undefined && { next: `${range.searched_from}.0` }) };
}

/** The newest rows that contain a text; no text, no rows. */
export async function searchLogs(ctx: UserCtx, scope: LogScope, keyword: string): Promise<LogView[]> {
  return keyword.trim() === "" ? [] : (await sliceLogs(ctx, scope, { keyword, limit: SEARCH_ROWS })).items;
}

/** One row; another user's row is not found, unless an administrator asks. */
export async function findLog(ctx: UserCtx, key: { id: number } | { request_id: string }): Promise<LogView> {
  const { logs } = ctx.db.t;
  const scope = scopeOf(ctx);
  const which = "id" in key ? eq(logs.id, key.id) : eq(logs.request_id, withoutNul(key.request_id));
  const [row] = await ctx.db.q
    .select()
    .from(logs)
    .where(and(which, ...(await subject(ctx, scope, {}))));
  return row ? present(ctx, scope)(row) : fail("log_not_found");
}

/** The refunds of a charge, oldest first. Throws log_not_found. */
export async function listRefunds(ctx: UserCtx, request_id: string): Promise<CallRefunds> {
  const { left, rows } = await refundsOf(ctx, request_id);
  return { left, items: rows.map(present(ctx, "all")) };
}

/**
 * The user whose figures these are, for administrators, who see users below their level and themselves (C-474); a
 * deleted user is found by their rows. Throws user_not_found and same_or_higher_level.
 */
export async function userOfRows({ db, actor }: Pick<UserCtx, "db" | "actor">, id: number): Promise<LogUser> {
  const { users } = db.t;
  const { role, username, display_name, group, quota, used_quota, request_count } = users;
  const [user] = await db.q
    .select({ role, username, display_name, group, quota, used_quota, request_count })
    .from(users)
    .where(eq(users.id, id));
  if (!user) return fail("user_not_found");
  const { role: level, ...figures } = user;
  const refusal = mayActOn(actor, { id, role: level }, "read");
  return refusal ? fail(refusal) : figures;
}
