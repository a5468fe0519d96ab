/** Registration of new accounts, and password reset. */
import { and, eq, isNull } from "drizzle-orm";
import type * as z from "zod";
import { AppError, fail } from "../../../shared/errors";
import { DEFAULT_GROUP } from "../../../shared/group";
import { mailboxSchema } from "../../../shared/mailbox";
import { ROLE, USER_STATUS } from "../../../shared/roles";
import type { registerInput, resetInput } from "../../../shared/user";
import { type Ctx, seconds } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import type { UserRow } from "../../db/schema";
import { withoutNul } from "../../db/sql";
import { isUniqueViolation } from "../../db/errors";
import { randomText } from "../../lib/secrets";
import { findInviter } from "../invite/code";
import { rewardRegistration } from "../invite/reward";
import { claimName } from "../user/name";
import { checkEmail, emailTaken, isResetGood, takeReset, takeVerification } from "./email";
import { hashPassword } from "./password";
import { requireHuman } from "./turnstile";

/** Length of a password that a reset makes. */
const NEW_PASSWORD_LENGTH = 16;

export interface NewAccount {
  username: string;
  display_name: string;
  password_hash: string;
  /** Verified, or "". */
  email: string;
  aff_code?: string | undefined;
}

/**
 * Inserts an account of role 1 with the quota of new users and the inviter's reward. In a durable transaction. Throws
 * username_taken, email_taken; a unique violation when another registration took one of them at the same moment.
 */
export function* registerSteps(ctx: Ctx, q: Q, { aff_code, ...account }: NewAccount): Steps<UserRow> {
  const { users } = ctx.db.t;
  const time = seconds(ctx);
  yield* claimName(ctx, q, account.username);
  if (account.email !== "" && (yield* emailTaken(ctx, q, account.email))) fail("email_taken");
  const inviter = yield* findInviter(ctx.db, q, aff_code);
  const [row] = yield* run(
    q
      .insert(users)
      .values({ ...account, role: ROLE.user, group: DEFAULT_GROUP, created_at: time })
      .returning(),
  );
  if (!row) return fail("username_taken");
  yield* rewardRegistration(ctx, q, row, inviter, time);
  return row;
}

/** Registration by name and password. With verification on, an account gets only an address that was verified. */
export async function register(ctx: Ctx, input: z.output<typeof registerInput>): Promise<void> {
  if (!ctx.options.get("RegisterEnabled")) fail("registration_disabled");
  if (!ctx.options.get("PasswordRegisterEnabled")) fail("password_register_disabled");
  const verified = ctx.options.get("EmailVerificationEnabled");
  // An address that was not verified is not kept: its owner could not use it any more.
  const email = verified ? verifiedAddress(ctx, input) : "";
  await requireHuman(ctx, input.turnstile);
  const username = withoutNul(input.username);
  const password_hash = await hashPassword(input.password);
  try {
    const made = await ctx.db.tx(
      function* (q) {
        if (verified && !(yield* takeVerification(ctx, q, email, input.verification_code))) return undefined;
        return yield* registerSteps(ctx, q, {
          username,
          display_name: username,
          password_hash,
          email,
          aff_code: input.aff_code,
        });
      },
      { durable: true },
    );
    if (!made) fail("verification_code_wrong");
  } catch (error) {
    if (!(error instanceof AppError) && isUniqueViolation(error)) fail("username_taken");
    throw error;
  }
}

function verifiedAddress(ctx: Ctx, { email, verification_code }: z.output<typeof registerInput>): string {
  if (email === "" || verification_code === "") fail("verification_missing");
  const address = mailboxSchema.safeParse(email);
  if (!address.success) fail("mail_address_invalid");
  checkEmail(ctx, address.data);
  return withoutNul(address.data);
}

/** Returns the new password. All sessions end, and the system access token is dead (D-39). */
export async function resetPassword(ctx: Ctx, { email, token }: z.output<typeof resetInput>): Promise<string> {
  const { users, sessions } = ctx.db.t;
  // Before the hash, which costs a tenth of a second: guesses are cheap to refuse.
  if (!(await isResetGood(ctx, email, token))) fail("reset_link_invalid");
  const password = randomText(NEW_PASSWORD_LENGTH);
  const password_hash = await hashPassword(password);
  const id = await ctx.db.tx(function* (q) {
    if (!(yield* takeReset(ctx, q, email, token))) return undefined;
    const [user] = yield* run(
      q
        .update(users)
        .set({ password_hash, access_token_hash: null })
        .where(and(eq(users.email, email), eq(users.status, USER_STATUS.active), isNull(users.deleted_at)))
        .returning({ id: users.id }),
    );
    if (!user) return undefined;
    yield* run(q.delete(sessions).where(eq(sessions.user_id, user.id)).returning({ id: sessions.id }));
    yield* ctx.cluster.bus.announce(q, "users", String(user.id));
    return user.id;
  });
  if (id === undefined) fail("reset_link_invalid");
  return password;
}
