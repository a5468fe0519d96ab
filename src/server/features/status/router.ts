import { publicProcedure, router } from "../../http/trpc";
import { status } from "./service";

export const statusRouter = router({
  get: publicProcedure
    .meta({ rest: "GET /api/status", summary: "Public facts: name, flags, limits, version" })
    .query(({ ctx }) => status(ctx)),
});
