import { router, userProcedure } from "../../http/trpc";
import { newAccessToken, self } from "./service";

export const userRouter = router({
  self: userProcedure
    .meta({ rest: "GET /api/user/self", summary: "The signed-in account" })
    .query(({ ctx }) => self(ctx)),
  newAccessToken: userProcedure
    .meta({ rest: "GET /api/user/token", summary: "Make a new system access token; the old one dies" })
    .mutation(({ ctx }) => newAccessToken(ctx)),
});
