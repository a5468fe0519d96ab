import { loginInput } from "../../../shared/user";
import { publicProcedure, router } from "../../http/trpc";
import { login, logout } from "./service";

export const authRouter = router({
  login: publicProcedure
    .meta({ rest: "POST /api/user/login", summary: "Sign in by username or e-mail and password", critical: true })
    .input(loginInput)
    .mutation(({ ctx, input }) => login(ctx, input)),
  logout: publicProcedure
    .meta({ rest: "GET /api/user/logout", summary: "End the session" })
    .mutation(({ ctx }) => logout(ctx)),
});
