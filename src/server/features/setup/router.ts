import { setupInput } from "../../../shared/user";
import { publicProcedure, router } from "../../http/trpc";
import { setUp, setupStatus } from "./service";

export const setupRouter = router({
  status: publicProcedure
    .meta({ rest: "GET /api/setup", summary: "Whether the first run is done", uncounted: true })
    .query(({ ctx }) => setupStatus(ctx)),
  run: publicProcedure
    .meta({
      rest: "POST /api/setup",
      summary: "Create the root account; works once",
      uncounted: true,
      ownPage: "by-secret",
    })
    .input(setupInput)
    .mutation(({ ctx, input }) => setUp(ctx, input)),
});
