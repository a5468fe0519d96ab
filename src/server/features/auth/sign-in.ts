/**
 * The last steps of every way to sign in. A caller of `signIn` has proven the user's identity once; where the account
 * has one-time codes switched on, a second factor is asked for, whichever way it was.
 */
import { eq } from "drizzle-orm";
import * as z from "zod";
import { fail } from "../../../shared/errors";
import { SECOND_STEP_TRIES } from "../../../shared/factor";
import type { SecondFactorNeeded, SignInAnswer } from "../../../shared/sign-in-answer";
import { USER_STATUS } from "../../../shared/roles";
import type { SignedInUser } from "../../../shared/user";
import { type Ctx, seconds } from "../../contracts/context";
import type { UserRow } from "../../db/schema";
import { dropSession, openSession } from "../../http/session";
import { hasPasskey, hasTotp } from "../factor/own";
import { presentSignedIn } from "../user/present";
import { rememberDevice } from "./device";
import { browserOf, issueTicket, takeTicket, tryTicket } from "./tickets";

/** How long the second proof may take. */
const SECOND_STEP_SECONDS = 300;
/** `blind`: whether the password was right was not told, because too many wrong ones had come. */
const waiting = z.object({ user_id: z.number(), human: z.boolean(), blind: z.enum(["right", "wrong"]).optional() });
type Waiting = z.output<typeof waiting>;

/** Opens a session, or asks for the second factor. `human`: the bot check was passed. Throws user_banned. */
export async function signIn(
  ctx: Ctx,
  user: UserRow,
  { human = false }: { human?: boolean } = {},
): Promise<SignInAnswer> {
  mayEnter(user);
  return (await hasTotp(ctx, user.id)) ? askSecondFactor(ctx, user.id, { human }) : enter(ctx, user, human);
}

/** Lets the account wait for its second factor in this browser. */
export async function askSecondFactor(
  ctx: Ctx,
  user_id: number,
  known: Omit<Waiting, "user_id">,
): Promise<SecondFactorNeeded> {
  const browser = browserOf(ctx, SECOND_STEP_SECONDS);
  await issueTicket(ctx, "second-factor", browser, { user_id, ...known }, SECOND_STEP_SECONDS);
  return { require_2fa: true, passkey: await hasPasskey(ctx, user_id) };
}

/**
 * Which account waits for its second factor in this browser; uses up one of few attempts. Throws second_step_expired.
 */
export async function secondStepOf(ctx: Ctx): Promise<Waiting> {
  return (
    (await tryTicket(ctx, "second-factor", ctx.browser_cookie ?? "", waiting, SECOND_STEP_TRIES)) ??
    fail("second_step_expired")
  );
}

/** The second factor was right. Of two at once one is signed in. */
export async function finishSecondStep(ctx: Ctx, { user_id, human }: Waiting): Promise<SignedInUser> {
  const begun = await takeTicket(ctx, "second-factor", ctx.browser_cookie ?? "", waiting);
  if (begun?.user_id !== user_id) return fail("second_step_expired");
  return enterAs(ctx, user_id, human);
}

/** Signs in by a passkey: that is two factors at once. */
export async function enterAs(ctx: Ctx, user_id: number, human = false): Promise<SignedInUser> {
  const { users } = ctx.db.t;
  const [user] = await ctx.db.q.select().from(users).where(eq(users.id, user_id));
  if (!user || user.deleted_at !== null) return fail("credentials_wrong");
  mayEnter(user);
  return enter(ctx, user, human);
}

function mayEnter(user: UserRow): void {
  if (user.status !== USER_STATUS.active) fail("user_banned");
}

/** Replaces the session that the browser had. */
async function enter(ctx: Ctx, user: UserRow, human: boolean): Promise<SignedInUser> {
  const { users } = ctx.db.t;
  await dropSession(ctx, ctx.session_cookie);
  rememberDevice(ctx, user, await openSession(ctx, user.id, { human }));
  await ctx.db.q
    .update(users)
    .set({ last_login_at: seconds(ctx) })
    .where(eq(users.id, user.id))
    .returning({ id: users.id });
  return presentSignedIn(user);
}
