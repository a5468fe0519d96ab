import * as z from "zod";
import { bindEmailInput, loginInput, mailCodeInput, registerInput, resetInput } from "../../../shared/user";
import { publicProcedure, router, userProcedure } from "../../http/trpc";
import { bindEmail, sendReset, sendVerification } from "./email";
import { register, resetPassword } from "./register";
import { login, logout } from "./service";
import { endOtherSessions, endSession, ownSessions } from "./sessions";
import { stepUpMethods, verifyByPassword } from "./step-up";

export const authRouter = router({
  login: publicProcedure
    // It counts itself: by device, where the account knows that (throttle.ts).
    .meta({ rest: "POST /api/user/login", summary: "Sign in by username or e-mail and password" })
    .input(loginInput)
    .mutation(({ ctx, input }) => login(ctx, input)),
  logout: publicProcedure
    .meta({ rest: "GET /api/user/logout", summary: "End the session", ownPage: "named" })
    .mutation(({ ctx }) => logout(ctx)),
  register: publicProcedure
    .meta({ rest: "POST /api/user/register", summary: "Make an account by name and password", critical: true })
    .input(registerInput)
    .mutation(({ ctx, input }) => register(ctx, input)),
  sendVerification: publicProcedure
    .meta({ silent: true, rest: "GET /api/verification", summary: "Mail a verification code", critical: true })
    .input(mailCodeInput)
    .mutation(({ ctx, input }) => sendVerification(ctx, input)),
  sendReset: publicProcedure
    .meta({
      silent: true,
      rest: "GET /api/reset_password",
      summary: "Mail a link that resets the password",
      critical: true,
    })
    .input(mailCodeInput)
    .mutation(({ ctx, input }) => sendReset(ctx, input)),
  resetPassword: publicProcedure
    .meta({
      rest: "POST /api/user/reset",
      summary: "Take the token of a reset mail; answers the new password",
      critical: true,
    })
    .input(resetInput)
    .mutation(({ ctx, input }) => resetPassword(ctx, input)),
  bindEmail: userProcedure
    .meta({
      rest: ["GET /api/oauth/email/bind", "POST /api/oauth/email/bind"],
      summary: "Bind an address by the code that was mailed to it",
      critical: true,
    })
    .input(bindEmailInput)
    .mutation(({ ctx, input }) => bindEmail(ctx, input)),

  sessions: userProcedure.query(({ ctx }) => ownSessions(ctx)),
  endSession: userProcedure
    .input(z.object({ id: z.int().positive() }))
    .mutation(({ ctx, input }) => endSession(ctx, input.id)),
  endOtherSessions: userProcedure.mutation(({ ctx }) => endOtherSessions(ctx)),

  /** Step-up: the ways in which the caller can prove who they are, and the proof by password. */
  stepUpMethods: userProcedure.query(({ ctx }) => stepUpMethods(ctx)),
  verifyPassword: userProcedure
    .meta({ silent: true, critical: true })
    .input(z.object({ password: z.string().min(1, "password_wrong").max(200) }))
    .mutation(({ ctx, input }) => verifyByPassword(ctx, input.password)),
});
