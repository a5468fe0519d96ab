/** Sign-in by password, sign-out. */
import { and, eq, isNull, or } from "drizzle-orm";
import type * as z from "zod";
import { fail } from "../../../shared/errors";
import type { SignInAnswer } from "../../../shared/factor";
import type { loginInput } from "../../../shared/user";
import type { Ctx } from "../../contracts/context";
import { closeSession } from "../../http/session";
import { hasPassword, verifyDummy, verifyPassword } from "./password";
import { signIn } from "./sign-in";
import { throttled } from "./throttle";
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
  await requireHuman(ctx, turnstile);
  const { q, t } = ctx.db;
  const [user] = await q
    .select()
    .from(t.users)
    .where(
      and(isNull(t.users.deleted_at), or(eq(t.users.username, username), eq(t.users.email, username.toLowerCase()))),
    )
    .limit(1);
  const right = await throttled(ctx, user?.id ?? username.toLowerCase(), async () =>
    (await (user && hasPassword(user) ? verifyPassword(password, user.password_hash) : verifyDummy(password)))
      ? user
      : undefined,
  );
  if (!user || !right) fail("credentials_wrong");
  return signIn(ctx, user, { human: ctx.options.get("TurnstileCheckEnabled") });
}

/** Needs no login: the cookie is enough to end its session. */
export const logout = (ctx: Ctx): Promise<void> => closeSession(ctx, ctx.session_cookie);
