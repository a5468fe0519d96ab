/** Routes of the price list: public; signed-in users see the groups that they may use. */
import { fail } from "../../../shared/errors";
import { decideInput, feedNameInput } from "../../../shared/price-feeds";
import { remotePricesInput } from "../../../shared/price-import";
import { reconcileInput, reportInput } from "../../../shared/reconciliation";
import { unpricedInput } from "../../../shared/price-list";
import { adminProcedure, publicProcedure, rootProcedure, router } from "../../http/trpc";
import { catalogue, priceList, ratioTables, unpricedOf } from "./catalogue";
import { groupOf } from "../group/facts";
import { soldBelowCost } from "./below-cost";
import { decide, feedStates, readFeed, tablesNow } from "./feed";
import { proposals } from "./proposals";
import { reconcileBill, reconciliation, reconciliations } from "./reconcile";
import { fetchPrices } from "./remote";
import { resetModelRatio } from "./reset";
import { recentUse } from "./use";

export const pricingRouter = router({
  list: publicProcedure
    .meta({ rest: "GET /api/pricing", answer: "top", summary: "Prices of the models that the caller may use" })
    .query(({ ctx }) => priceList(ctx, groupOf(ctx.actor))),

  catalogue: publicProcedure.query(({ ctx }) => catalogue(ctx, groupOf(ctx.actor))),

  /**
   * The named models that cannot be called because they have no price. A mutation only because a query's input has no
   * room for the names.
   */
  unpriced: adminProcedure
    .meta({ silent: true })
    .input(unpricedInput)
    .mutation(({ ctx, input }) => unpricedOf(ctx, input.models)),

  ratios: publicProcedure
    .meta({ rest: "GET /api/ratio_config", summary: "The price tables, when the operator publishes them" })
    .query(({ ctx }) => ratioTables(ctx) ?? fail("ratios_not_published")),

  resetModelRatio: rootProcedure
    .meta({
      rest: "POST /api/option/rest_model_ratio",
      answer: "top",
      summary: "Reset the model ratios to the built-in ones",
    })
    .mutation(({ ctx }) => resetModelRatio(ctx)),

  /** The tables that decide prices, as the ledger reads them: checked, a bad stored one replaced by its default. */
  tables: rootProcedure.query(({ ctx }) => tablesNow(ctx)),

  /** Recent use for the price editor: of the last 7 days, and of the last 24 hours by group. */
  recentUse: rootProcedure.query(({ ctx }) => recentUse(ctx)),

  /** Models that are sold below their channels' cost, at some hour of the coming week. */
  belowCost: rootProcedure.query(({ ctx }) => soldBelowCost(ctx, ctx.now())),

  /** Another gateway's prices, for comparison; nothing is stored. */
  remote: rootProcedure
    .meta({ silent: true })
    .input(remotePricesInput)
    .mutation(({ ctx, input }) => fetchPrices(ctx, input.url)),

  feeds: rootProcedure
    .meta({ rest: "GET /api/price_feed/", summary: "Price feeds and how they stand" })
    .query(({ ctx }) => feedStates(ctx)),

  readFeed: rootProcedure
    .meta({ rest: "POST /api/price_feed/read", summary: "Read a price feed now" })
    .input(feedNameInput)
    .mutation(({ ctx, input }) => readFeed(ctx, input.name, ctx)),

  proposals: rootProcedure
    .meta({ rest: "GET /api/price_feed/proposals", summary: "What price feeds propose, and what became of it" })
    .query(({ ctx }) => proposals(ctx)),

  decide: rootProcedure
    .meta({
      rest: "POST /api/price_feed/decide",
      summary: "Take the named changes of a proposal over, refuse the others",
    })
    .input(decideInput)
    .mutation(({ ctx, input }) => decide(ctx, ctx, input)),

  /** A vendor's bill, added up by day and model, against what was counted; the report is kept. */
  reconcile: rootProcedure
    .meta({ once: true })
    .input(reconcileInput)
    .mutation(({ ctx, input }) => reconcileBill(ctx, input)),
  reconciliations: rootProcedure.query(({ ctx }) => reconciliations(ctx)),
  reconciliation: rootProcedure.input(reportInput).query(({ ctx, input }) => reconciliation(ctx, input.id)),
});
