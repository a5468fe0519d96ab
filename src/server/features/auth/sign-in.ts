/** The last step of every way to sign in: whoever comes here has proven who he is. */
import { eq } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { USER_STATUS } from "../../../shared/roles";
import type { SignedInUser } from "../../../shared/user";
import { type Ctx, seconds } from "../../context";
import type { UserRow } from "../../db/schema";
import { dropSession, openSession } from "../../http/session";
import { presentSignedIn } from "../user/present";

export type SignInAnswer = SignedInUser;

/** Opens a session in place of the one the browser had. `human`: the bot check was passed. Throws user_banned. */
export async function signIn(ctx: Ctx, user: UserRow, { human = false }: { human?: boolean } = {}): Promise<SignInAnswer> {
  if (user.status !== USER_STATUS.active) fail("user_banned");
  const { users } = ctx.db.t;
  await dropSession(ctx, ctx.session_cookie);
  await openSession(ctx, user.id, { human });
  await ctx.db.q.update(users).set({ last_login_at: seconds(ctx) }).where(eq(users.id, user.id)).returning({ id: users.id });
  return presentSignedIn(user);
}
