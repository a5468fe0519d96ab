/** Routes of what the server says of itself. */
import { adminProcedure, publicProcedure, router } from "../../http/trpc";
import { modelStatus } from "./models";
import { status, testStatus } from "./service";

export const statusRouter = router({
  get: publicProcedure
    .meta({ rest: "GET /api/status", summary: "Public facts: name, flags, limits, version" })
    .query(({ ctx }) => status(ctx)),
  /** Open to guests while the option StatusPageEnabled is on. */
  models: publicProcedure
    .meta({ rest: "GET /api/status/models", summary: "Success and speed of each model in the last 24 hours" })
    .query(({ ctx }) => modelStatus(ctx)),
  test: adminProcedure
    .meta({ rest: "GET /api/status/test", summary: "Whether the server and its database answer", answer: "top" })
    .query(({ ctx }) => testStatus(ctx)),
});
