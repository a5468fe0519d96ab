/** Sign-in by password, sign-out. */
import { and, eq, isNull, or } from "drizzle-orm";
import type * as z from "zod";
import { fail } from "../../../shared/errors";
import type { SignInAnswer } from "../../../shared/sign-in-answer";
import type { loginInput } from "../../../shared/user";
import type { Ctx } from "../../contracts/context";
import type { UserRow } from "../../db/schema";
import { closeSession } from "../../http/session";
import { hasTotp } from "../factor/own";
import { hasPassword, renewHash, verifyDummy, verifyPassword } from "./password";
import { askSecondFactor, signIn } from "./sign-in";
import { countSignIn, isThrottled, throttled } from "./throttle";
import { requireHuman } from "./turnstile";

/**
 * One text for unknown user, wrong password and deleted user; a banned user is named only after a right password
 * (D-77). Never 401, so that no front-end runs in a redirect loop.
 */
export async function login(
  ctx: Ctx,
  { username, password, turnstile }: z.output<typeof loginInput>,
): Promise<SignInAnswer> {
  if (!ctx.options.get("PasswordLoginEnabled")) fail("password_login_disabled");
  const { q, t } = ctx.db;
  const [user] = await q
    .select()
    .from(t.users)
    .where(
      and(isNull(t.users.deleted_at), or(eq(t.users.username, username), eq(t.users.email, username.toLowerCase()))),
    )
    .limit(1);
  await countSignIn(ctx, user?.id);
  await requireHuman(ctx, turnstile);
  const human = ctx.options.get("TurnstileCheckEnabled");
  const check = async (): Promise<UserRow | undefined> =>
    (await (user && hasPassword(user) ? verifyPassword(password, user.password_hash) : verifyDummy(password)))
      ? user
      : undefined;
  let right: UserRow | undefined;
  try {
    right = await throttled(ctx, user?.id ?? username.toLowerCase(), check);
  } catch (error) {
    if (!user || !isThrottled(error) || !(await hasTotp(ctx, user.id))) throw error;
    // Others have used up the tries. Whether the password is right shows only together with the second factor.
    return askSecondFactor(ctx, user.id, { human, blind: (await check()) ? "right" : "wrong" });
  }
  if (!user || !right) fail("credentials_wrong");
  await renewHash(ctx, user, password);
  return signIn(ctx, user, { human });
}

/** Needs no login: the cookie is enough to end its session. */
export const logout = (ctx: Ctx): Promise<void> => closeSession(ctx, ctx.session_cookie);
