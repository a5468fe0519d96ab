/** Routes of drawing jobs: all users' for administrators, a user's own for every user. Times are milliseconds. */
import { drawingListInput, drawingListRest, drawingSelfRest, jobInput } from "../../../shared/task-list";
import { adminProcedure, router, userProcedure } from "../../http/trpc";
import { scopeOf } from "../log/service";
import { findJob, openJob, pageJobs, sliceJobs, type TimedFilter } from "../task/service";
import { presentDrawing } from "./present";

const filterOf = <F extends TimedFilter & { mj_id?: string | undefined }>({
  mj_id,
  start_timestamp,
  end_timestamp,
  ...filter
}: F) => ({
  ...filter,
  task_id: mj_id,
  start: start_timestamp,
  end: end_timestamp,
});

export const midjourneyRouter = router({
  /** The console's list: all users' rows for administrators. */
  list: userProcedure.input(drawingListInput).query(async ({ ctx, input }) => {
    const scope = scopeOf(ctx);
    const page = await pageJobs(ctx, scope, "drawing", filterOf(input));
    return { ...page, items: page.items.map((row) => presentDrawing(ctx, scope, row)) };
  }),

  get: userProcedure.input(jobInput).query(async ({ ctx, input }) => {
    const scope = scopeOf(ctx);
    const row = await findJob(ctx, scope, "drawing", input.id);
    return openJob(ctx, row, presentDrawing(ctx, scope, row));
  }),

  // Existing front-ends: bare arrays, p from 0.

  page: adminProcedure
    .meta({ rest: "GET /api/mj/", summary: "Drawing jobs of all users, a page as a bare array" })
    .input(drawingListRest)
    .query(async ({ ctx, input: { p, page_size, ...filter } }) =>
      (await sliceJobs(ctx, "all", "drawing", filterOf(filter), p * page_size, page_size)).map((row) =>
        presentDrawing(ctx, "all", row),
      ),
    ),

  ownPage: userProcedure
    .meta({ rest: "GET /api/mj/self", summary: "Own drawing jobs, a page as a bare array" })
    .input(drawingSelfRest)
    .query(async ({ ctx, input: { p, page_size, ...filter } }) =>
      (await sliceJobs(ctx, "own", "drawing", filterOf(filter), p * page_size, page_size)).map((row) =>
        presentDrawing(ctx, "own", row),
      ),
    ),
});
