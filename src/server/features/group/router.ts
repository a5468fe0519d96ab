/** Routes of groups: all names for administrators, and the groups that the signed-in user may choose. */
import { AUTO_GROUP, autoGroups, usableGroups, userModelsInput } from "../../../shared/group";
import type { UserCtx } from "../../contracts/context";
import { adminProcedure, publicProcedure, router, userProcedure } from "../../http/trpc";
import { groupFacts, groupOf } from "./facts";

/** Models of the groups that the user may use; of one of them when it is named. */
function userModels(ctx: UserCtx, group: string | undefined): string[] {
  const usable = Object.keys(usableGroups(groupFacts(ctx), ctx.actor.group));
  const wanted = group ? usable.filter((name) => name === group) : usable;
  const named = wanted.flatMap((name) => (name === AUTO_GROUP ? autoGroups(groupFacts(ctx), ctx.actor.group) : [name]));
  return [...new Set(named.flatMap((name) => ctx.pool.models(name)))].sort();
}

export const groupRouter = router({
  list: adminProcedure
    .meta({ rest: "GET /api/group/", summary: "Names of all groups" })
    .query(({ ctx }) => Object.keys(groupFacts(ctx).ratios)),

  own: userProcedure
    .meta({ rest: "GET /api/user/self/groups", summary: "Groups the user may choose, with description and ratio" })
    .query(({ ctx }) => usableGroups(groupFacts(ctx), ctx.actor.group)),

  /** Open to guests, who see what a new user may choose. */
  offered: publicProcedure
    .meta({ rest: "GET /api/user/groups", summary: "Groups a new user, or the signed-in one, may choose" })
    .query(({ ctx }) => usableGroups(groupFacts(ctx), groupOf(ctx.actor))),

  models: userProcedure
    .meta({ rest: ["GET /api/user/models", "GET /api/user/available_models"], summary: "Models the user may call" })
    .input(userModelsInput)
    .query(({ ctx, input }) => userModels(ctx, input.group)),
});
