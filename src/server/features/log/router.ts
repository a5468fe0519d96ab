/** Routes of the log: all users' rows for administrators, a user's own for every user. */
import {
  logGetInput,
  logCleanRest,
  logContentInput,
  logListFamily,
  logListInput,
  logOwnPageInput,
  logPageInput,
  logSearchRest,
  logSelfFamily,
  logSelfInput,
  logUserInput,
  logStatFamily,
  logStatRest,
  logStatSelfFamily,
  logStatSelfRest,
} from "../../../shared/log-list";
import { refundInput, refundListInput, refundUndoInput } from "../../../shared/refund";
import { adminProcedure, rootProcedure, router, userProcedure } from "../../http/trpc";
import { refundCall, undoRefund } from "../wallet/refund-call";
import { logCauses } from "./causes";
import { cleanLogs, readCleaning } from "./clean";
import { readContent } from "./content";
import { logHistogram } from "./histogram";
import { findLog, listRefunds, pageLogs, searchLogs, sliceLogs, userOfRows } from "./service";
import { logStat } from "./stat";

/** REST: the model by its whole name or a pattern. */
const byPattern = <F extends { model_name?: string | undefined }>({ model_name, ...filter }: F) => ({
  ...filter,
  model_like: model_name,
});

/** REST lists rows of failed calls where they are requested: programs written before those existed misread them. */
const askedErrors = <F extends { type?: number | undefined; request_id?: string | undefined }>(filter: F) => ({
  ...filter,
  without_errors: !filter.type && !filter.request_id,
});

export const logRouter = router({
  /** By key: pass `next` as `cursor`. */
  list: adminProcedure.input(logListInput).query(({ ctx, input }) => sliceLogs(ctx, "all", input)),
  own: userProcedure.input(logSelfInput).query(({ ctx, input }) => sliceLogs(ctx, "own", input)),

  /** One row by id or request id; admin_info for administrators only. */
  get: userProcedure.input(logGetInput).query(({ ctx, input }) => findLog(ctx, input)),

  /** The console's pages and sums: the model by a part of its name, and all rows. */
  page: adminProcedure.input(logPageInput).query(({ ctx, input }) => pageLogs(ctx, "all", input)),
  ownPage: userProcedure.input(logOwnPageInput).query(({ ctx, input }) => pageLogs(ctx, "own", input)),
  stat: adminProcedure.input(logStatRest).query(({ ctx, input }) => logStat(ctx, "all", input)),
  ownStat: userProcedure.input(logStatSelfRest).query(({ ctx, input }) => logStat(ctx, "own", input)),

  /** The rows of a filter over time, for the chart above the list. */
  histogram: adminProcedure.input(logStatRest).query(({ ctx, input }) => logHistogram(ctx, "all", input)),
  ownHistogram: userProcedure.input(logStatSelfRest).query(({ ctx, input }) => logHistogram(ctx, "own", input)),

  /** Why the failed calls of a filter failed. */
  causes: adminProcedure.input(logStatRest).query(({ ctx, input }) => logCauses(ctx, "all", input)),
  ownCauses: userProcedure.input(logStatSelfRest).query(({ ctx, input }) => logCauses(ctx, "own", input)),

  // The same over REST.

  pageRest: adminProcedure
    .meta({ rest: "GET /api/log/", summary: "Usage log, all users; failed calls with type=5" })
    .input(logListFamily)
    .query(({ ctx, input }) => pageLogs(ctx, "all", askedErrors(byPattern(input)))),

  ownPageRest: userProcedure
    .meta({ rest: "GET /api/log/self", summary: "Usage log of the signed-in user; failed calls with type=5" })
    .input(logSelfFamily)
    .query(({ ctx, input }) => pageLogs(ctx, "own", askedErrors(byPattern(input)))),

  statRest: adminProcedure
    .meta({ rest: "GET /api/log/stat", summary: "Consumption and pace, all users" })
    .input(logStatFamily)
    .query(({ ctx, input }) => logStat(ctx, "all", byPattern(input))),

  ownStatRest: userProcedure
    .meta({ rest: "GET /api/log/self/stat", summary: "Consumption and pace of the signed-in user" })
    .input(logStatSelfFamily)
    .query(({ ctx, input }) => logStat(ctx, "own", byPattern(input))),

  search: adminProcedure
    .meta({ rest: "GET /api/log/search", summary: "The newest 100 rows that contain a text, all users" })
    .input(logSearchRest)
    .query(({ ctx, input }) => searchLogs(ctx, "all", input.keyword)),

  ownSearch: userProcedure
    .meta({ rest: "GET /api/log/self/search", summary: "The newest 100 own rows that contain a text" })
    .input(logSearchRest)
    .query(({ ctx, input }) => searchLogs(ctx, "own", input.keyword)),

  clean: rootProcedure
    .meta({ rest: "DELETE /api/log/", summary: "Remove rows older than a time; answers how many" })
    .input(logCleanRest)
    .mutation(({ ctx, input }) => cleanLogs(ctx, input.target_timestamp, ctx.actor.username)),

  refund: adminProcedure
    .meta({ once: true, rest: "POST /api/log/refund", summary: "Give back a call's charge, in whole or in part" })
    .input(refundInput)
    .mutation(({ ctx, input }) => refundCall(ctx, input)),

  undoRefund: adminProcedure
    .meta({ once: true, rest: "POST /api/log/refund/undo", summary: "Take back a refund of the last minute" })
    .input(refundUndoInput)
    .mutation(({ ctx, input }) => undoRefund(ctx, input.request_id)),

  refunds: adminProcedure
    .meta({ rest: "GET /api/log/refunds", summary: "The refunds of a charge, and what is left of it" })
    .input(refundListInput)
    .query(({ ctx, input }) => listRefunds(ctx, input.request_id)),

  user: adminProcedure.input(logUserInput).query(({ ctx, input }) => userOfRows(ctx, input.id)),

  /** What was kept of a call's request and answer; null when nothing was. */
  content: adminProcedure.input(logContentInput).query(({ ctx, input }) => readContent(ctx, input.request_id)),

  /** The progress of the cleaning, or the result of the last one; null before the first. */
  cleaning: rootProcedure.query(({ ctx }) => readCleaning(ctx)),
});
