/** Doors of the price list: public, and better for the signed-in, who see the groups they may use. */
import { fail } from "../../../shared/errors";
import { remotePricesInput } from "../../../shared/price-import";
import { unpricedInput } from "../../../shared/price-list";
import { adminProcedure, publicProcedure, rootProcedure, router } from "../../http/trpc";
import { catalogue, groupOf, priceList, ratioTables, unpricedOf } from "./catalogue";
import { fetchPrices } from "./remote";
import { resetModelRatio } from "./reset";
import { recentUse } from "./use";

export const pricingRouter = router({
  list: publicProcedure
    .meta({ rest: "GET /api/pricing", answer: "top", summary: "Prices of the models that the caller may use" })
    .query(({ ctx }) => priceList(ctx, groupOf(ctx.actor))),

  catalogue: publicProcedure.query(({ ctx }) => catalogue(ctx, groupOf(ctx.actor))),

  /**
   * Those of the named models that cannot be called for want of a price. It only reads; a query's input has no room for
   * the names.
   */
  unpriced: adminProcedure.input(unpricedInput).mutation(({ ctx, input }) => unpricedOf(ctx, input.models)),

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

  /** What the price editor shows beside the prices: use of the last 7 days, and of the last 24 hours by group. */
  recentUse: rootProcedure.query(({ ctx }) => recentUse(ctx)),

  /** Another gateway's prices, to be compared with ours; nothing is stored. */
  remote: rootProcedure.input(remotePricesInput).mutation(({ ctx, input }) => fetchPrices(ctx, input.url)),
});
