/**
 * The meaning of a filter of the log, once in SQL (lists, sums, files) and once for a row in hand (the live tail).
 * Which filters have an index: docs/log.md.
 */
import { type AnyColumn, and, desc, eq, gte, inArray, lte, or, type SQL, sql } from "drizzle-orm";
import { canonicalModel } from "../../../shared/channel-types";
import { LOG_TYPE } from "../../../shared/log";
import { type LogFilter, SEARCHED_ROWS } from "../../../shared/log-list";
import { codesContaining } from "../../../shared/log-text";
import type { VirtualModels } from "../../../shared/virtual-models";
import type { UserCtx } from "../../contracts/context";
import type { LogRow } from "../../db/schema";
import { withoutIndex, byIndex, contains, isLike, withoutNul } from "../../db/sql";
import { afterCursor } from "./cursor";
import { inPartitions } from "./partitions";

/** Whose rows: all users' for administrators, else the user's own. */
export type LogScope = "all" | "own";

/**
 * Filters that compare one column with one text, and the columns that a keyword is looked for in; more for
 * administrators.
 */
const EXACT = { own: ["request_id"], all: ["request_id", "upstream_request_id"] } as const;
const SEARCHED = {
  own: ["content", "params", "model_name", "token_name"],
  all: ["content", "params", "model_name", "token_name", "username", "channel_name"],
} as const;
/** Whose texts a keyword is looked for in. */
const READER = { own: "owner", all: "operator" } as const;
/** As EXACT, where the text stands in the row itself. */
const EXACT_IN_ROW = {
  own: ["token_name", "group", ...EXACT.own],
  all: ["token_name", "group", "username", ...EXACT.all],
} as const;

export const clean = (text: string | undefined): string => withoutNul(text?.trim() ?? "");

/**
 * Names of users and tokens, as ids: indexes are on ids, and rows under an earlier name are found too. Names of virtual
 * models, as the models that answer for them.
 */
export interface Named {
  /** Of `username`; undefined: no user has that name, or none is given. */
  user_id?: number;
  /** Of `token_name`. */
  token_ids?: readonly number[];
  /** Virtual models whose names fit the model that is asked for, and the models of their steps as they are now. */
  virtual?: { names: readonly string[]; models: readonly string[] };
}

/** With more names or tokens than this the rows are frequent: walking the list finds them. */
const MOST_NAMES = 500;

export async function namesOf({ db, actor, options }: UserCtx, scope: LogScope, filter: LogFilter): Promise<Named> {
  const { users, tokens } = db.t;
  const username = scope === "all" ? clean(filter.username) : "";
  const [user] = username ? await db.q.select({ id: users.id }).from(users).where(eq(users.username, username)) : [];
  const token = clean(filter.token_name);
  const found = token
    ? await db.read
        .select({ id: tokens.id })
        .from(tokens)
        .where(
          and(
            scope === "own" ? eq(tokens.user_id, actor.id) : user && eq(tokens.user_id, user.id),
            eq(tokens.name, token),
          ),
        )
        .limit(MOST_NAMES + 1)
    : [];
  return {
    ...(user && { user_id: user.id }),
    ...(found.length > 0 && found.length <= MOST_NAMES && { token_ids: found.map(({ id }) => id) }),
    ...virtualNamed(options.get("VirtualModels"), filter),
  };
}

/** What a filter asks of a model's name: a part of it, or a pattern; undefined = nothing. */
export function modelTest(filter: LogFilter): ((name: AnyColumn | SQL) => SQL) | undefined {
  const part = clean(filter.model_name);
  if (part) return (name) => contains(name, part);
  const pattern = clean(filter.model_like);
  if (pattern) return (name) => (pattern.includes("%") ? isLike(name, pattern) : sql`${name} = ${pattern}`);
  return undefined;
}

function virtualNamed(all: VirtualModels, filter: LogFilter): Pick<Named, "virtual"> {
  const fits = modelFits(filter);
  const found = fits ? Object.entries(all).filter(([name]) => fits(name)) : [];
  if (found.length === 0) return {};
  const models = found.flatMap(([, { steps }]) => steps.map(({ model }) => canonicalModel(model)));
  return { virtual: { names: found.map(([name]) => name), models: [...new Set(models)] } };
}

/** What `modelTest` says of a name in hand. */
function modelFits(filter: LogFilter): ((name: string) => boolean) | undefined {
  const part = clean(filter.model_name).toLowerCase();
  if (part) return (name) => name.toLowerCase().includes(part);
  const pattern = clean(filter.model_like);
  if (!pattern.includes("%")) return pattern ? (name) => name === pattern : undefined;
  const parts = pattern
    .toLowerCase()
    .split("%")
    .map((text) => RegExp.escape(text));
  const like = new RegExp(`^${parts.join("[^]*")}$`);
  return (name) => like.test(name.toLowerCase());
}

/** As details of a row have it. */
const askedModel = (name: string): string => `"asked_model":${JSON.stringify(name)}`;

/** Rows of calls to virtual models: they have the model that answered, and the name that was asked for in `other`. */
function ofVirtual({ db }: UserCtx, { names, models }: NonNullable<Named["virtual"]>): SQL | undefined {
  const { model_name, other } = db.t.logs;
  const asked = names.map((name) => contains(other, askedModel(name)));
  return and(inArray(withoutIndex(db, model_name), [...models]), or(...asked));
}

/**
 * A part of a model's name has no index, whole names have: the names that fit are read off the index, one step a name.
 * `common`: they have very many rows; then walking the list from its newer end finds them sooner than any index.
 * Postgres decides that by itself.
 */
async function ofModel(
  ctx: UserCtx,
  filter: LogFilter,
  { virtual }: Named,
  common: boolean,
  partitions: SQL | undefined,
): Promise<SQL | undefined> {
  const { db } = ctx;
  const { logs } = db.t;
  const test = modelTest(filter);
  if (!test) return undefined;
  const walked = or(test(withoutIndex(db, logs.model_name)), virtual && ofVirtual(ctx, virtual));
  if (common && db.engine === "sqlite") return walked;
  const here = partitions ?? sql`true`;
  const names = await db.read
    .select({ name: sql<string>`name` })
    .from(
      sql`(WITH RECURSIVE names(name) AS (
        SELECT min(model_name) FROM logs WHERE ${here}
        UNION ALL SELECT (SELECT min(model_name) FROM logs WHERE model_name > names.name AND ${here}) FROM names WHERE names.name IS NOT NULL
      ) SELECT name FROM names WHERE name IS NOT NULL) AS found`,
    )
    .where(test(sql`name`))
    .limit(MOST_NAMES + 1);
  if (names.length > MOST_NAMES) return walked;
  const some = inArray(logs.model_name, [...names.map(({ name }) => name), ...(virtual?.models ?? [])]);
  return virtual ? and(some, walked) : some;
}

/** As with models: rows of several tokens, collected by their index or found while walking the list. */
function ofTokens({ db }: UserCtx, ids: readonly number[], common: boolean): SQL {
  const { token_id } = db.t.logs;
  return common ? inArray(withoutIndex(db, token_id), [...ids]) : inArray(token_id, [...ids]);
}

/** Filters that compare one column with one number or text and have an index of their own: the narrowest first. */
function indexed(ctx: UserCtx, scope: LogScope, filter: LogFilter, named: Named): SQL[] {
  const { logs } = ctx.db.t;
  return [
    filter.token_id ? eq(logs.token_id, filter.token_id) : undefined,
    scope === "own" ? eq(logs.user_id, ctx.actor.id) : undefined,
    named.user_id ? eq(logs.user_id, named.user_id) : undefined,
    scope === "all" && filter.channel ? eq(logs.channel, filter.channel) : undefined,
  ].filter((condition) => condition !== undefined);
}

/** `narrowed`: a narrower index is used beside it. */
function ofGroup({ db }: UserCtx, group: string, narrowed: boolean): SQL | undefined {
  if (!group) return undefined;
  return narrowed ? eq(withoutIndex(db, db.t.logs.group), group) : byIndex(db, eq(db.t.logs.group, group));
}

/**
 * The filters that are neither times nor the type. `common`: more rows than MAX_LOG_TOTAL match; `partitions`: of the
 * range.
 */
export async function subject(
  ctx: UserCtx,
  scope: LogScope,
  filter: LogFilter,
  common = false,
  known?: Named,
  partitions?: SQL,
): Promise<(SQL | undefined)[]> {
  const { logs } = ctx.db.t;
  const named = known ?? (await namesOf(ctx, scope, filter));
  const keyword = clean(filter.keyword);
  const narrow = indexed(ctx, scope, filter, named);
  const equal = (column: AnyColumn, text: string | undefined) => (clean(text) ? eq(column, clean(text)) : undefined);
  return [
    eq(logs.visible, true),
    ...narrow,
    ...EXACT[scope].map((name) => equal(logs[name], filter[name])),
    ofGroup(ctx, clean(filter.group), narrow.length > 0),
    // A literal, so that the partial index is usable.
    scope === "all" && clean(filter.upstream_request_id) ? sql`${logs.upstream_request_id} <> ''` : undefined,
    await ofModel(ctx, filter, named, common, partitions),
    named.token_ids ? ofTokens(ctx, named.token_ids, common) : equal(logs.token_name, filter.token_name),
    scope === "all" && named.user_id === undefined ? equal(logs.username, filter.username) : undefined,
    keyword ? ofKeyword(ctx, scope, keyword) : undefined,
  ];
}

/** A part of a stored text, or of the text that the row's code stands for. */
function ofKeyword({ db }: UserCtx, scope: LogScope, keyword: string): SQL | undefined {
  const { logs } = db.t;
  const codes = codesContaining(keyword, READER[scope]);
  return or(
    ...SEARCHED[scope].map((name) => contains(logs[name], keyword)),
    codes.length > 0 ? inArray(logs.code, codes) : undefined,
  );
}

/** Part of the log, epoch seconds, both ends included; 0 = open. */
export interface LogRange {
  start: number;
  end: number;
  /** Rows before this time were not read, although the filter includes them. */
  searched_from?: number;
}

/**
 * The range that is searched. What no index finds (a keyword, an unknown name) is searched among the newest
 * SEARCHED_ROWS of it, or of the rows after the cursor `place`: those that an indexed filter beside it leaves.
 */
export async function rangeOf(
  ctx: UserCtx,
  scope: LogScope,
  filter: LogFilter,
  named: Named,
  place?: string | null,
): Promise<LogRange> {
  const { logs } = ctx.db.t;
  const start = Math.floor(filter.start_timestamp || 0);
  const end = Math.floor(filter.end_timestamp || 0);
  const unindexed =
    clean(filter.keyword) ||
    (clean(filter.token_name) && !named.token_ids) ||
    (scope === "all" && clean(filter.username) && named.user_id === undefined);
  if (!unindexed || clean(filter.request_id)) return { start, end };
  const [border] = await ctx.db.read
    .select({ created_at: logs.created_at })
    .from(logs)
    .where(
      and(
        indexed(ctx, scope, filter, named)[0],
        start ? gte(logs.created_at, start) : undefined,
        end ? lte(logs.created_at, end) : undefined,
        await inPartitions(ctx.db, start, end),
        place ? afterCursor(ctx, place, "behind") : undefined,
      ),
    )
    .orderBy(desc(logs.created_at), desc(logs.id))
    .limit(1)
    .offset(SEARCHED_ROWS);
  return border && border.created_at > start
    ? { start: border.created_at, end, searched_from: border.created_at }
    : { start, end };
}

/** The type: nearly every row is consumption, so the others have a partial index; its condition is a literal. */
function ofType({ db }: UserCtx, scope: LogScope, type: number | undefined): SQL | undefined {
  const { logs } = db.t;
  if (!type) return undefined;
  const rare = type !== LOG_TYPE.consume && (scope === "all" || type !== LOG_TYPE.error);
  return rare
    ? and(byIndex(db, eq(logs.type, type)), sql`${logs.type} <> ${sql.raw(String(LOG_TYPE.consume))}`)
    : eq(logs.type, type);
}

/** All filters, within a range that `rangeOf` returned. */
export async function conditions(
  ctx: UserCtx,
  scope: LogScope,
  filter: LogFilter,
  { start, end }: LogRange,
  { common = false, named }: { common?: boolean; named?: Named } = {},
): Promise<SQL | undefined> {
  const { logs } = ctx.db.t;
  const partitions = await inPartitions(ctx.db, start, end);
  return and(
    ...(await subject(ctx, scope, filter, common, named, partitions)),
    ofType(ctx, scope, filter.type),
    filter.without_errors ? sql`${logs.type} <> ${sql.raw(String(LOG_TYPE.error))}` : undefined,
    start ? gte(logs.created_at, start) : undefined,
    end ? lte(logs.created_at, end) : undefined,
    partitions,
  );
}

/** Whether the row is of a virtual model whose name contains `part`, in lower case. */
const askedFor = ({ other }: LogRow, part: string): boolean =>
  (/"asked_model":"((?:[^"\\]|\\.)*)"/.exec(other)?.[1] ?? "").toLowerCase().includes(part);

/** The same for a row in hand. `viewer`: the id of the user who reads. */
export function fits(viewer: number, scope: LogScope, filter: LogFilter): (row: LogRow) => boolean {
  const model = clean(filter.model_name).toLowerCase();
  const keyword = clean(filter.keyword).toLowerCase();
  const codes = new Set(keyword ? codesContaining(keyword, READER[scope]) : []);
  return (row) =>
    row.visible &&
    (scope === "all" || row.user_id === viewer) &&
    EXACT_IN_ROW[scope].every((name) => !clean(filter[name]) || row[name] === clean(filter[name])) &&
    (row.model_name.toLowerCase().includes(model) || askedFor(row, model)) &&
    (!keyword || codes.has(row.code) || SEARCHED[scope].some((name) => row[name].toLowerCase().includes(keyword))) &&
    (!filter.token_id || row.token_id === filter.token_id) &&
    (scope === "own" || !filter.channel || row.channel === filter.channel) &&
    (!filter.type || row.type === filter.type) &&
    row.created_at >= (filter.start_timestamp || 0) &&
    row.created_at <= (filter.end_timestamp || Infinity);
}
