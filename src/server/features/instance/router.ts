/** Routes of instances. Administrators only. */
import { drainInstanceInput, instanceInput } from "../../../shared/drain";
import { adminProcedure, router } from "../../http/trpc";
import { drainInstance, listInstances, resumeInstance } from "./service";

export const instanceRouter = router({
  list: adminProcedure
    .meta({ rest: "GET /api/instance/", summary: "The processes that serve this database" })
    .query(({ ctx }) => listInstances(ctx)),

  drain: adminProcedure
    .meta({
      rest: "POST /api/instance/{instance}/drain",
      summary: "An instance takes no new calls; those that run may end, for `seconds` at most (0 = no limit)",
    })
    .input(drainInstanceInput)
    .mutation(({ ctx, input }) => drainInstance(ctx, input.instance, input.seconds)),

  resume: adminProcedure
    .meta({ rest: "POST /api/instance/{instance}/resume", summary: "A drained instance serves again" })
    .input(instanceInput)
    .mutation(({ ctx, input }) => resumeInstance(ctx, input.instance)),
});
