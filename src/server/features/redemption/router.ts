/** Routes of redemption codes. The console uses the same procedures as scripts. */
import {
  redeemInput,
  redemptionCreate,
  redemptionId,
  redemptionList,
  redemptionPage,
  redemptionPut,
  redemptionSearch,
  redemptionStatusUpdate,
  redemptionUpdate,
} from "../../../shared/redemption";
import { findInput } from "../../../shared/search";
import { adminProcedure, router, userProcedure } from "../../http/trpc";
import { presentRedemption } from "./present";
import {
  createRedemptions,
  deleteInvalidRedemptions,
  deleteRedemption,
  findRedemption,
  findRedemptions,
  pageRedemptions,
  redeem,
  setRedemptionStatus,
  updateRedemption,
} from "./service";

const presentedPage = async (...asked: Parameters<typeof pageRedemptions>) => {
  const page = await pageRedemptions(...asked);
  return { ...page, items: page.items.map((row) => presentRedemption(asked[0], row)) };
};

export const redemptionRouter = router({
  /** A mutation, so that it is never retried automatically. Returns the units that were added. */
  redeem: userProcedure
    .meta({ once: true, rest: "POST /api/user/topup", summary: "Redeem a code", critical: true })
    .input(redeemInput)
    .mutation(({ ctx, input }) => redeem(ctx, input.key)),

  list: adminProcedure
    .meta({ rest: "GET /api/redemption/", summary: "Redemption codes, newest first" })
    .input(redemptionList)
    .query(({ ctx, input }) => presentedPage(ctx, input)),

  search: adminProcedure
    .meta({ rest: "GET /api/redemption/search", summary: "Redemption codes by id, name and state" })
    .input(redemptionSearch)
    .query(({ ctx, input }) => presentedPage(ctx, input)),

  /** The same for the console, whose pages may be longer. */
  page: adminProcedure.input(redemptionPage).query(({ ctx, input }) => presentedPage(ctx, input)),

  find: adminProcedure.input(findInput).query(async ({ ctx, input }) => {
    const rows = await findRedemptions(ctx, input.words);
    return rows.map((row) => presentRedemption(ctx, row));
  }),

  get: adminProcedure
    .meta({ rest: "GET /api/redemption/{id}", summary: "One redemption code" })
    .input(redemptionId)
    .query(async ({ ctx, input }) => presentRedemption(ctx, await findRedemption(ctx, input.id))),

  /** All or nothing; returns the codes. */
  create: adminProcedure
    .meta({ once: true, rest: "POST /api/redemption/", summary: "Create redemption codes" })
    .input(redemptionCreate)
    .mutation(({ ctx, input }) => createRedemptions(ctx, input)),

  put: adminProcedure
    .meta({ rest: "PUT /api/redemption/", summary: "Change an unused code; with ?status_only only its status" })
    .input(redemptionPut)
    .mutation(async ({ ctx, input: { id, status_only, status, ...change } }) => {
      const row = status_only
        ? await setRedemptionStatus(ctx, id, status ?? 0)
        : await updateRedemption(ctx, id, change);
      return presentRedemption(ctx, row);
    }),

  update: adminProcedure
    .input(redemptionUpdate)
    .mutation(async ({ ctx, input: { id, ...change } }) =>
      presentRedemption(ctx, await updateRedemption(ctx, id, change)),
    ),

  setStatus: adminProcedure
    .input(redemptionStatusUpdate)
    .mutation(async ({ ctx, input }) => presentRedemption(ctx, await setRedemptionStatus(ctx, input.id, input.status))),

  delete: adminProcedure
    .meta({ rest: "DELETE /api/redemption/{id}", summary: "Delete a code; unused it stops working" })
    .input(redemptionId)
    .mutation(({ ctx, input }) => deleteRedemption(ctx, input.id)),

  deleteInvalid: adminProcedure
    .meta({
      rest: "DELETE /api/redemption/invalid",
      summary: "Delete used, disabled and expired codes; answers how many",
    })
    .mutation(({ ctx }) => deleteInvalidRedemptions(ctx)),
});
