/** Routes of drawing jobs: all users' for administrators, a user's own for every user. Times are milliseconds. */
import type * as z from "zod";
import { drawingListInput, drawingListRest, drawingSelfRest, jobInput } from "../../../shared/task-list";
import type { UserCtx } from "../../contracts/context";
import { adminProcedure, router, userProcedure } from "../../http/trpc";
import type { LogScope } from "../log/filter";
import { scopeOf } from "../log/service";
import { findJob, openJob, pageJobs, type TimedFilter } from "../task/service";
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

/** A page for existing front-ends. */
async function restPage(ctx: UserCtx, scope: LogScope, { p, ...filter }: z.output<typeof drawingListRest>) {
  const page = await pageJobs(ctx, scope, "drawing", { ...filterOf(filter), page: p });
  return { ...page, items: page.items.map((row) => presentDrawing(ctx, scope, row)) };
}

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

  page: adminProcedure
    .meta({ rest: "GET /api/mj/", summary: "Drawing jobs of all users", answer: "list" })
    .input(drawingListRest)
    .query(({ ctx, input }) => restPage(ctx, "all", input)),

  ownPage: userProcedure
    .meta({ rest: "GET /api/mj/self", summary: "Own drawing jobs", answer: "list" })
    .input(drawingSelfRest)
    .query(({ ctx, input }) => restPage(ctx, "own", input)),
});
