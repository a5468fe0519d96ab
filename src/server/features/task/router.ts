/** Routes of asynchronous tasks (music, video, …): all users' for administrators, a user's own for every user. */
import type * as z from "zod";
import { jobInput, taskListInput, taskListRest, taskSelfRest } from "../../../shared/task-list";
import type { UserCtx } from "../../contracts/context";
import { adminProcedure, router, userProcedure } from "../../http/trpc";
import type { LogScope } from "../log/filter";
import { scopeOf } from "../log/service";
import { presentTask, presentTaskDetail, presentTaskRest } from "./present";
import { cancelJob, findJob, openJob, pageJobs, type TimedFilter } from "./service";

/** The REST interface has seconds; a whole second belongs to the range that ends with it. */
const filterOf = <F extends TimedFilter>({ start_timestamp, end_timestamp, ...filter }: F) => ({
  ...filter,
  start: start_timestamp === undefined ? undefined : start_timestamp * 1000,
  end: end_timestamp === undefined ? undefined : end_timestamp * 1000 + 999,
});

/** A page for existing front-ends. */
async function restPage(ctx: UserCtx, scope: LogScope, { p, ...filter }: z.output<typeof taskListRest>) {
  const page = await pageJobs(ctx, scope, "task", { ...filterOf(filter), page: p });
  return { ...page, items: page.items.map((row) => presentTaskRest(scope, row)) };
}

export const taskRouter = router({
  /** The console's list: all users' rows for administrators. */
  list: userProcedure.input(taskListInput).query(async ({ ctx, input }) => {
    const scope = scopeOf(ctx);
    const page = await pageJobs(ctx, scope, "task", filterOf(input));
    return { ...page, items: page.items.map((row) => presentTask(scope, row)) };
  }),

  page: adminProcedure
    .meta({ rest: "GET /api/task/", summary: "Asynchronous tasks of all users", answer: "list" })
    .input(taskListRest)
    .query(({ ctx, input }) => restPage(ctx, "all", input)),

  ownPage: userProcedure
    .meta({ rest: "GET /api/task/self", summary: "Own asynchronous tasks", answer: "list" })
    .input(taskSelfRest)
    .query(({ ctx, input }) => restPage(ctx, "own", input)),

  get: userProcedure.input(jobInput).query(async ({ ctx, input }) => {
    const scope = scopeOf(ctx);
    const row = await findJob(ctx, scope, "task", input.id);
    return openJob(ctx, row, presentTaskDetail(scope, row));
  }),

  /** Stops a job of either list; its price is given back when the vendor has stopped. Returns its status then. */
  cancel: userProcedure.input(jobInput).mutation(async ({ ctx, input }) => {
    const { id, status } = await cancelJob(ctx, scopeOf(ctx), input.id);
    return { id, status };
  }),
});
