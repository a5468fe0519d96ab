/** Routes of what the server says of itself. */
import { adminProcedure, publicProcedure, router } from "../../http/trpc";
import { status, testStatus } from "./service";

export const statusRouter = router({
  get: publicProcedure
    .meta({ rest: "GET /api/status", summary: "Public facts: name, flags, limits, version" })
    .query(({ ctx }) => status(ctx)),
  test: adminProcedure
    .meta({ rest: "GET /api/status/test", summary: "Whether the server and its database answer", answer: "top" })
    .query(({ ctx }) => testStatus(ctx)),
});
