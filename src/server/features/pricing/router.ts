/** Doors of the price list: public, and better for the signed-in, who see the groups they may use. */
import { fail } from "../../../shared/errors";
import { publicProcedure, router } from "../../http/trpc";
import { catalogue, groupOf, priceList, ratioTables } from "./catalogue";

export const pricingRouter = router({
  list: publicProcedure
    .meta({ rest: "GET /api/pricing", answer: "top", summary: "Prices of the models that the caller may use" })
    .query(({ ctx }) => priceList(ctx, groupOf(ctx.actor))),

  catalogue: publicProcedure.query(({ ctx }) => catalogue(ctx, groupOf(ctx.actor))),

  ratios: publicProcedure
    .meta({ rest: "GET /api/ratio_config", summary: "The price tables, when the operator publishes them" })
    .query(({ ctx }) => ratioTables(ctx) ?? fail("ratios_not_published")),
});
