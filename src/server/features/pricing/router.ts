/** Doors of the price list: public, and better for the signed-in, who see the groups they may use. */
import { fail } from "../../../shared/errors";
import { unpricedInput } from "../../../shared/price-list";
import { adminProcedure, publicProcedure, router } from "../../http/trpc";
import { catalogue, groupOf, priceList, ratioTables, unpricedOf } from "./catalogue";

export const pricingRouter = router({
  list: publicProcedure
    .meta({ rest: "GET /api/pricing", answer: "top", summary: "Prices of the models that the caller may use" })
    .query(({ ctx }) => priceList(ctx, groupOf(ctx.actor))),

  catalogue: publicProcedure.query(({ ctx }) => catalogue(ctx, groupOf(ctx.actor))),

  /** Those of the named models that cannot be called for want of a price. It only reads; a query's input has no room for the names. */
  unpriced: adminProcedure.input(unpricedInput).mutation(({ ctx, input }) => unpricedOf(ctx, input.models)),

  ratios: publicProcedure
    .meta({ rest: "GET /api/ratio_config", summary: "The price tables, when the operator publishes them" })
    .query(({ ctx }) => ratioTables(ctx) ?? fail("ratios_not_published")),
});
