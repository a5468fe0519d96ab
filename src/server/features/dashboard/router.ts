/** Routes of the data dashboard: all users' consumption for administrators, a user's own for every user. */
import {
  dashboardInput,
  dashboardOwnInput,
  dataRest,
  dataSelfRest,
  marginInput,
  rankingInput,
  totalsInput,
  totalsOwnInput,
} from "../../../shared/dashboard";
import { adminProcedure, router, userProcedure } from "../../http/trpc";
import { attention } from "./attention";
import { margin } from "./margin";
import { dashboard, dataByModel, dataByUser, ranking, totals } from "./service";
import { ownWeek } from "./week";

export const dashboardRouter = router({
  attention: adminProcedure.query(({ ctx }) => attention(ctx)),

  view: adminProcedure.input(dashboardInput).query(({ ctx, input }) => dashboard(ctx, "all", input)),
  own: userProcedure.input(dashboardOwnInput).query(({ ctx, input }) => dashboard(ctx, "own", input)),

  totals: adminProcedure.input(totalsInput).query(({ ctx, input }) => totals(ctx, "all", input)),
  ownTotals: userProcedure.input(totalsOwnInput).query(({ ctx, input }) => totals(ctx, "own", input)),
  ranking: adminProcedure.input(rankingInput).query(({ ctx, input }) => ranking(ctx, input)),

  margin: adminProcedure
    .meta({ rest: "GET /api/data/margin", summary: "What calls brought and what they cost, by day or item" })
    .input(marginInput)
    .query(({ ctx, input }) => margin(ctx, input)),

  data: adminProcedure
    .meta({ rest: "GET /api/data/", summary: "Consumption by hour and model, of all users or of one" })
    .input(dataRest)
    .query(({ ctx, input }) => dataByModel(ctx, "all", input)),

  users: adminProcedure
    .meta({ rest: "GET /api/data/users", summary: "Consumption by hour and user" })
    .input(dataRest)
    .query(({ ctx, input }) => dataByUser(ctx, input)),

  ownData: userProcedure
    .meta({
      rest: "GET /api/data/self",
      summary: "Consumption of the signed-in user by hour and model, at most 30 days",
    })
    .input(dataSelfRest)
    .query(({ ctx, input }) => dataByModel(ctx, "own", input)),

  ownWeek: userProcedure
    .meta({ rest: "GET /api/user/dashboard", summary: "Own consumption of seven days by day and model, as in one-api" })
    .query(({ ctx }) => ownWeek(ctx)),
});
