/**
 * What a filter of the log means, once in SQL (lists, sums, files) and once for a row in hand (the live tail). Which
 * filters have an index: docs/log.md.
 */
import { type AnyColumn, and, eq, gte, inArray, lte, or, type SQL, sql } from "drizzle-orm";
import { KEYWORD_DAYS, type LogFilter } from "../../../shared/log-list";
import { seconds, type UserCtx } from "../../context";
import type { LogRow } from "../../db/schema";
import { contains, withoutNul } from "../../db/sql";

/** Whose rows: everybody's for administrators, else the user's own. */
export type LogScope = "all" | "own";

/** Filters that compare one column with one text, and where a keyword is looked for; more for who sees everybody's rows. */
const EXACT = { own: ["token_name", "group", "request_id"], all: ["token_name", "group", "request_id", "upstream_request_id"] } as const;
const SEARCHED = { own: ["content", "model_name", "token_name"], all: ["content", "model_name", "token_name", "username", "channel_name"] } as const;

const clean = (text: string | undefined): string => withoutNul(text?.trim() ?? "");

/** A keyword would read the whole table where the range has no beginning: it gets one. */
export function rangeOf(filter: LogFilter, now: number): { start: number; end: number } {
  const end = Math.floor(filter.end_timestamp || 0);
  const start = Math.floor(filter.start_timestamp || 0);
  return { end, start: start || (clean(filter.keyword) ? (end || now) - KEYWORD_DAYS * 86_400 : 0) };
}

/**
 * The user of that name has rows under an earlier name too, and an index; only a name that nobody bears any more is looked
 * for in the rows themselves.
 */
async function ofUser({ db }: UserCtx, name: string): Promise<SQL> {
  const { logs, users } = db.t;
  const found = await db.q.select({ id: users.id }).from(users).where(eq(users.username, name));
  return found.length > 0 ? inArray(logs.user_id, found.map((user) => user.id)) : eq(logs.username, name);
}

/** More names than this say little: their rows are found wherever one looks. */
const MOST_NAMES = 500;

/**
 * A part of a model's name has no index, whole names have: the names that contain it are read off the index, one step a name.
 * `common`: its rows are known to be many; then walking the list from its newer end meets them sooner than any index does.
 * Postgres sees that by itself.
 */
async function ofModel({ db }: UserCtx, part: string, common: boolean): Promise<SQL> {
  const { logs } = db.t;
  const containing = contains(logs.model_name, part);
  if (common && db.engine === "sqlite") return containing;
  const names = await db.read
    .select({ name: sql<string>`name` })
    .from(
      sql`(WITH RECURSIVE names(name) AS (
        SELECT min(model_name) FROM logs
        UNION ALL SELECT (SELECT min(model_name) FROM logs WHERE model_name > names.name) FROM names WHERE names.name IS NOT NULL
      ) SELECT name FROM names WHERE name IS NOT NULL) AS found`,
    )
    .where(contains(sql`name`, part))
    .limit(MOST_NAMES + 1);
  return names.length > MOST_NAMES ? containing : inArray(logs.model_name, names.map(({ name }) => name));
}

/** The filters that are not times. */
export async function subject(ctx: UserCtx, scope: LogScope, filter: LogFilter, common = false): Promise<(SQL | undefined)[]> {
  const { logs } = ctx.db.t;
  const keyword = clean(filter.keyword);
  const equal = (column: AnyColumn, text: string | undefined) => (clean(text) ? eq(column, clean(text)) : undefined);
  return [
    eq(logs.visible, true),
    scope === "own" ? eq(logs.user_id, ctx.actor.id) : undefined,
    ...EXACT[scope].map((name) => equal(logs[name], filter[name])),
    // Said as a literal, so that the partial index fits.
    scope === "all" && clean(filter.upstream_request_id) ? sql`${logs.upstream_request_id} <> ''` : undefined,
    clean(filter.model_name) ? await ofModel(ctx, clean(filter.model_name), common) : undefined,
    keyword ? or(...SEARCHED[scope].map((name) => contains(logs[name], keyword))) : undefined,
    filter.token_id ? eq(logs.token_id, filter.token_id) : undefined,
    scope === "all" && clean(filter.username) ? await ofUser(ctx, clean(filter.username)) : undefined,
    scope === "all" && filter.channel ? eq(logs.channel, filter.channel) : undefined,
  ];
}

/** All filters. `common`: more rows than MAX_LOG_TOTAL match. */
export async function conditions(ctx: UserCtx, scope: LogScope, filter: LogFilter, common = false): Promise<SQL | undefined> {
  const { logs } = ctx.db.t;
  const { start, end } = rangeOf(filter, seconds(ctx));
  return and(
    ...(await subject(ctx, scope, filter, common)),
    filter.type ? eq(logs.type, filter.type) : undefined,
    start ? gte(logs.created_at, start) : undefined,
    end ? lte(logs.created_at, end) : undefined,
  );
}

/** The same for a row in hand. `viewer` is the id of who asks. */
export function fits(viewer: number, scope: LogScope, filter: LogFilter): (row: LogRow) => boolean {
  const model = clean(filter.model_name).toLowerCase();
  const keyword = clean(filter.keyword).toLowerCase();
  const username = scope === "all" ? clean(filter.username) : "";
  return (row) =>
    row.visible &&
    (scope === "all" || row.user_id === viewer) &&
    EXACT[scope].every((name) => !clean(filter[name]) || row[name] === clean(filter[name])) &&
    row.model_name.toLowerCase().includes(model) &&
    (!keyword || SEARCHED[scope].some((name) => row[name].toLowerCase().includes(keyword))) &&
    (!filter.token_id || row.token_id === filter.token_id) &&
    (!username || row.username === username) &&
    (scope === "own" || !filter.channel || row.channel === filter.channel) &&
    (!filter.type || row.type === filter.type) &&
    row.created_at >= (filter.start_timestamp || 0) &&
    row.created_at <= (filter.end_timestamp || Infinity);
}
