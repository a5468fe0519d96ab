/** Routes of asynchronous tasks (music, video, …): all users' for administrators, a user's own for every user. */
import { jobInput, taskListInput, taskListRest, taskSelfRest } from "../../../shared/task-list";
import { adminProcedure, router, userProcedure } from "../../http/trpc";
import { scopeOf } from "../log/service";
import { presentTask, presentTaskDetail } from "./present";
import { cancelJob, findJob, openJob, pageJobs, sliceJobs, type TimedFilter } from "./service";

/** The REST interface has seconds; a whole second belongs to the range that ends with it. */
const filterOf = <F extends TimedFilter>({ start_timestamp, end_timestamp, ...filter }: F) => ({
  ...filter,
  start: start_timestamp === undefined ? undefined : start_timestamp * 1000,
  end: end_timestamp === undefined ? undefined : end_timestamp * 1000 + 999,
});

export const taskRouter = router({
  /** The console's list: all users' rows for administrators. */
  list: userProcedure.input(taskListInput).query(async ({ ctx, input }) => {
    const scope = scopeOf(ctx);
    const page = await pageJobs(ctx, scope, "task", filterOf(input));
    return { ...page, items: page.items.map((row) => presentTask(scope, row)) };
  }),

  // Existing front-ends: bare arrays, p from 0, times in seconds.

  page: adminProcedure
    .meta({ rest: "GET /api/task/", summary: "Asynchronous tasks of all users, a page as a bare array" })
    .input(taskListRest)
    .query(async ({ ctx, input: { p, page_size, ...filter } }) =>
      (await sliceJobs(ctx, "all", "task", filterOf(filter), p * page_size, page_size)).map((row) =>
        presentTaskDetail("all", row),
      ),
    ),

  ownPage: userProcedure
    .meta({ rest: "GET /api/task/self", summary: "Own asynchronous tasks, a page as a bare array" })
    .input(taskSelfRest)
    .query(async ({ ctx, input: { p, page_size, ...filter } }) =>
      (await sliceJobs(ctx, "own", "task", filterOf(filter), p * page_size, page_size)).map((row) =>
        presentTaskDetail("own", row),
      ),
    ),

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
