/**
 * Reading jobs: all users' for administrators, a user's own for every user. Drawing jobs and the others are rows of one
 * table, separated by their platform. Every list walks an index by the time of the submit.
 */
import { and, desc, eq, gte, inArray, lte, ne, type SQL, sql } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { TASK_PLATFORMS, type TaskPlatform } from "../../../shared/task";
import { type JobFile, type JobPage, MAX_TASK_TOTAL, type Opened } from "../../../shared/task-list";
import type { UserCtx } from "../../contracts/context";
import type { TaskRow } from "../../db/schema";
import { count } from "../../db/sql";
import { recordAct } from "../audit/record";
import { clean, type LogScope } from "../log/filter";
import { nameOf } from "./row";

/** The platform of drawing jobs, and all the others. */
const DRAWING: TaskPlatform = "mj";
const OTHERS = Object.keys(TASK_PLATFORMS).filter((platform) => platform !== DRAWING);

export type JobKind = "drawing" | "task";

/** Texts are exact; '' and undefined filter nothing. Times in epoch milliseconds, both ends included. */
export interface JobFilter {
  task_id?: string | undefined;
  platform?: string | undefined;
  action?: string | undefined;
  status?: string | undefined;
  channel_id?: number | undefined;
  username?: string | undefined;
  start?: number | undefined;
  end?: number | undefined;
}

/** The range of the request, in units of the list. */
export interface TimedFilter {
  start_timestamp?: number | undefined;
  end_timestamp?: number | undefined;
}

/**
 * The platform as a condition that uses no index: without statistics SQLite would read every row of a platform and sort
 * them, rather than walk the newest ones.
 */
const anyPlatform = ({ db }: UserCtx): SQL<string> =>
  db.engine === "sqlite" ? sql<string>`${db.t.tasks.platform} || ''` : sql<string>`${db.t.tasks.platform}`;

/** The rows of the user of that name; an unknown name has none. */
async function ofUser({ db }: UserCtx, name: string): Promise<SQL> {
  const { tasks, users } = db.t;
  const found = await db.q.select({ id: users.id }).from(users).where(eq(users.username, name));
  return inArray(
    tasks.user_id,
    found.map((user) => user.id),
  );
}

async function conditions(ctx: UserCtx, scope: LogScope, kind: JobKind, filter: JobFilter): Promise<SQL | undefined> {
  const { tasks } = ctx.db.t;
  const { channel_id, start, end } = filter;
  const all = scope === "all";
  const [username, task_id, platform, action, status] = [
    all ? filter.username : "",
    filter.task_id,
    filter.platform,
    filter.action,
    filter.status,
  ].map(clean);
  const drawing = kind === "drawing";
  return and(
    all ? undefined : eq(tasks.user_id, ctx.actor.id),
    username ? await ofUser(ctx, username) : undefined,
    // An id is found by its unique index.
    task_id ? and(eq(tasks.task_id, task_id), inArray(tasks.platform, drawing ? [DRAWING] : OTHERS)) : undefined,
    drawing ? eq(anyPlatform(ctx), DRAWING) : ne(tasks.platform, DRAWING),
    platform ? eq(anyPlatform(ctx), platform) : undefined,
    action ? eq(tasks.action, action) : undefined,
    status ? eq(tasks.status, status) : undefined,
    all && channel_id ? eq(tasks.channel_id, channel_id) : undefined,
    start ? gte(tasks.submit_time_ms, Math.floor(start)) : undefined,
    end ? lte(tasks.submit_time_ms, Math.floor(end)) : undefined,
  );
}

/** Newest first. */
async function sliceJobs(
  ctx: UserCtx,
  scope: LogScope,
  kind: JobKind,
  filter: JobFilter,
  offset: number,
  limit: number,
): Promise<TaskRow[]> {
  const { tasks } = ctx.db.t;
  return ctx.db.read
    .select()
    .from(tasks)
    .where(await conditions(ctx, scope, kind, filter))
    .orderBy(desc(tasks.submit_time_ms), desc(tasks.id))
    .limit(limit)
    .offset(offset);
}

/** Newest first, in pages from 1 with a total. */
export async function pageJobs(
  ctx: UserCtx,
  scope: LogScope,
  kind: JobKind,
  { page, page_size, ...filter }: JobFilter & { page: number; page_size: number },
): Promise<JobPage<TaskRow>> {
  const { tasks } = ctx.db.t;
  const matching = ctx.db.read
    .select({ id: tasks.id })
    .from(tasks)
    .where(await conditions(ctx, scope, kind, filter));
  const [[all], items] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(matching.limit(MAX_TASK_TOTAL + 1).as("bounded")),
    sliceJobs(ctx, scope, kind, filter, (page - 1) * page_size, page_size),
  ]);
  const n = all?.n ?? 0;
  return { items, page, page_size, total: Math.min(n, MAX_TASK_TOTAL), total_exact: n <= MAX_TASK_TOTAL };
}

/** One job, of one kind or of any; another user's is not found, unless an administrator asks. */
export async function findJob(ctx: UserCtx, scope: LogScope, kind: JobKind | "any", id: number): Promise<TaskRow> {
  const { tasks } = ctx.db.t;
  const own = scope === "all" ? undefined : eq(tasks.user_id, ctx.actor.id);
  const [row] = await ctx.db.q
    .select()
    .from(tasks)
    .where(and(eq(tasks.id, id), own));
  return row && (kind === "any" || (row.platform === DRAWING) === (kind === "drawing")) ? row : fail("task_not_found");
}

/** The console's view of one job. */
export async function openJob<View extends object>(ctx: UserCtx, row: TaskRow, view: View): Promise<Opened<View>> {
  // Where the vendor cannot say where its files are now, the rest is shown all the same.
  const media = await ctx.taskService.files(nameOf(row)).catch((): JobFile["media"][] => []);
  const files = media.map((kind, n) => ({ media: kind, url: `/api/task/file?id=${row.id}&n=${n}` }));
  return { ...view, files, cancellable: ctx.taskService.canCancel(nameOf(row)) };
}

/** Stops a job where its vendor can. An administrator's stop of another user's job is recorded. */
export async function cancelJob(ctx: UserCtx, scope: LogScope, id: number): Promise<TaskRow> {
  const row = await findJob(ctx, scope, "any", id);
  await ctx.taskService.cancel(nameOf(row));
  if (row.user_id !== ctx.actor.id)
    await recordAct(ctx, {
      action: "task.cancel",
      target: row.task_id,
      before: { user_id: row.user_id, status: row.status },
    });
  return findJob(ctx, scope, "any", id);
}
