/**
 * Step-up: before a secret is shown or a way to sign in is changed, a session must have proved recently that its user
 * is present. A call that needs it begins with `requireStepUp`; the console asks for the proof and repeats the call
 * (lib/step-up-link.ts). A system access token has no person to ask: it may not change a way to sign in, and may read
 * its owner's relay keys.
 */
import { eq } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { STEP_UP_SECONDS } from "../../../shared/user";
import { type Ctx, seconds, type UserCtx } from "../../contracts/context";
import type { UserRow } from "../../db/schema";
import { hasPasskey, hasTotp } from "../factor/own";
import { hasPassword, verifyPassword } from "./password";
import { throttled } from "./throttle";

/** Only a person changes an account's ways to sign in. Throws access_token_refused for a system access token. */
export function requirePerson(ctx: UserCtx): void {
  if (ctx.actor.via === "access_token") fail("access_token_refused");
}

/** The session has a recent proof. Throws step_up_required, access_token_refused. */
export function requireStepUp(ctx: UserCtx): void {
  requirePerson(ctx);
  requireProof(ctx);
}

/**
 * Before a key is shown: a session needs a recent proof, a system access token has none to give. Throws
 * step_up_required.
 */
export function requireProof(ctx: UserCtx): void {
  if (ctx.actor.via !== "access_token" && seconds(ctx) - ctx.actor.verified_at > STEP_UP_SECONDS)
    fail("step_up_required");
}

/** One way to prove it, and whether an account has it. A new way is a new entry. */
interface Method {
  id: string;
  offered(ctx: UserCtx, user: UserRow): boolean | Promise<boolean>;
}

const methods: readonly Method[] = [
  { id: "password", offered: (_, user) => hasPassword(user) },
  { id: "totp", offered: (ctx, user) => hasTotp(ctx, user.id) },
  { id: "passkey", offered: (ctx, user) => hasPasskey(ctx, user.id) },
];

/** The ways that the caller's account has, for the dialog. */
export async function stepUpMethods(ctx: UserCtx): Promise<string[]> {
  const user = await ownRow(ctx);
  const offered = await Promise.all(
    methods.map(async (method) => ((await method.offered(ctx, user)) ? [method.id] : [])),
  );
  return offered.flat();
}

/** Proof by password. Throws password_wrong, too_many_requests. */
export async function verifyByPassword(ctx: UserCtx, password: string): Promise<void> {
  const user = await ownRow(ctx);
  const right = await throttled(ctx, user.id, async () =>
    (await verifyPassword(password, user.password_hash)) ? true : undefined,
  );
  if (!right) fail("password_wrong");
  await markVerified(ctx);
}

/** Marks the session as proved now. */
export async function markVerified(ctx: UserCtx): Promise<void> {
  const { sessions } = ctx.db.t;
  await ctx.db.q
    .update(sessions)
    .set({ verified_at: seconds(ctx) })
    .where(eq(sessions.id, ctx.actor.session_id));
}

async function ownRow(ctx: Ctx & UserCtx): Promise<UserRow> {
  const { users } = ctx.db.t;
  const [row] = await ctx.db.q.select().from(users).where(eq(users.id, ctx.actor.id));
  return row ?? fail("user_not_found");
}
