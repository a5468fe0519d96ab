/** Second factors in use: the second step of a sign-in, sign-in by passkey, step-up. */
import type * as z from "zod";
import { fail } from "../../../shared/errors";
import {
  factorCodeInput,
  type FactorStatus,
  type passkeyAnswerInput,
  type PasskeyUse,
  type verifyInput,
} from "../../../shared/factor";
import { ROLE } from "../../../shared/roles";
import { type SignedInUser, STEP_UP_SECONDS } from "../../../shared/user";
import { type Ctx, seconds, type UserCtx } from "../../contracts/context";
import { signedIn } from "../../http/trpc";
import { enterAs, finishSecondStep, secondStepOf } from "../auth/sign-in";
import { markVerified, requireStepUp } from "../auth/step-up";
import { isThrottled } from "../auth/throttle";
import { type AskedPasskey, askPasskey, ownPasskeys, passkeyOwner } from "./passkeys";
import { recoveryCodesLeft, verifyCode } from "./totp";

export async function factorStatus(ctx: UserCtx): Promise<FactorStatus> {
  const [left, passkeys] = await Promise.all([recoveryCodesLeft(ctx), ownPasskeys(ctx)]);
  return { enabled: left !== undefined, backup_codes_remaining: left ?? 0, passkeys };
}

/**
 * The second step by a one-time code or a recovery code. Wrong ones are counted apart from wrong passwords, which
 * strangers can send. After a blind first step every failure reads alike, so that none tells about the password.
 */
export async function codeSecondStep(ctx: Ctx, code: string): Promise<SignedInUser> {
  const begun = await secondStepOf(ctx);
  const { user_id, blind } = begun;
  try {
    await verifyCode(ctx, user_id, code, blind === "wrong" ? "blind-code" : "code");
  } catch (error) {
    if (blind && isThrottled(error)) fail("factor_code_wrong");
    throw error;
  }
  if (blind === "wrong") fail("factor_code_wrong");
  return finishSecondStep(ctx, begun);
}

/** Step-up by a one-time code or a recovery code. */
export async function codeStepUp(ctx: UserCtx, code: string): Promise<void> {
  await verifyCode(ctx, ctx.actor.id, code);
  await markVerified(ctx);
}

/**
 * Step-up in the family's words: by a code now, or by the passkey used in the call before. Throws factor_code_missing,
 * factor_code_wrong, step_up_required, access_token_refused.
 */
export async function verifyStepUp(
  ctx: UserCtx,
  { method, code }: z.output<typeof verifyInput>,
): Promise<{ verified: true; method: string; expires_at: number }> {
  if (method === "2fa") await codeStepUp(ctx, factorCodeInput.parse({ code }).code);
  else requireStepUp(ctx);
  const proved = method === "2fa" ? seconds(ctx) : ctx.actor.verified_at;
  return { verified: true, method, expires_at: proved + STEP_UP_SECONDS };
}

/** Whether the account has passkeys, and when one was last used (ISO 8601). */
export async function passkeyStatus(ctx: UserCtx): Promise<{ enabled: boolean; last_used_at?: string }> {
  const last = Math.max(-1, ...(await ownPasskeys(ctx)).map(({ last_used_at }) => last_used_at));
  return { enabled: last >= 0, ...(last > 0 && { last_used_at: new Date(last * 1000).toISOString() }) };
}

export async function beginPasskey(ctx: Ctx, use: PasskeyUse): Promise<AskedPasskey> {
  if (use === "sign-in") return askPasskey(ctx, use);
  return askPasskey(
    ctx,
    use,
    use === "step-up" ? signedIn(ctx, ROLE.user).actor.id : (await secondStepOf(ctx)).user_id,
  );
}

/** Who is signed in now; undefined after a step-up. */
export async function finishPasskey(
  ctx: Ctx,
  { use, response }: z.output<typeof passkeyAnswerInput>,
): Promise<SignedInUser | undefined> {
  if (use === "sign-in") return enterAs(ctx, await passkeyOwner(ctx, use, response));
  if (use === "second-step") {
    const begun = await secondStepOf(ctx);
    if ((await passkeyOwner(ctx, use, response)) !== begun.user_id) fail("passkey_refused");
    return finishSecondStep(ctx, begun);
  }
  const user = signedIn(ctx, ROLE.user);
  if ((await passkeyOwner(ctx, use, response)) !== user.actor.id) fail("passkey_refused");
  await markVerified(user);
  return undefined;
}
