/** A user's own account. manage.ts has the management of others. */
import { and, eq, ne } from "drizzle-orm";
import type * as z from "zod";
import { AppError, fail } from "../../../shared/errors";
import { ROLE } from "../../../shared/roles";
import type { selfUpdate } from "../../../shared/user";
import type { UserCtx } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { withoutNul } from "../../db/sql";
import { isUniqueViolation } from "../../db/errors";
import { closeSession } from "../../http/session";
import { randomText } from "../../lib/secrets";
import { auditRow } from "../audit/record";
import { hashPassword } from "../auth/password";
import { rememberDevice } from "../auth/device";
import { requireStepUp } from "../auth/step-up";
import { deleteSteps } from "./manage";
import { claimName } from "./name";
import { presentUser } from "./present";

const announce = (ctx: UserCtx, q: Q): Steps<void> => ctx.cluster.bus.announce(q, "users", String(ctx.actor.id));

export async function self(ctx: UserCtx) {
  const { q, t } = ctx.db;
  const [row] = await q.select().from(t.users).where(eq(t.users.id, ctx.actor.id));
  if (!row) fail("user_not_found");
  const identities = await q.select().from(t.identities).where(eq(t.identities.user_id, row.id));
  return presentUser(row, identities);
}

/**
 * A new system access token; the old one dies. Kept as a hash only, so it is shown once. Throws step_up_required,
 * access_token_refused.
 */
export async function newAccessToken(ctx: UserCtx): Promise<string> {
  requireStepUp(ctx);
  const { users } = ctx.db.t;
  const token = randomText(32);
  await ctx.db.tx(function* (q) {
    yield* run(
      q
        .update(users)
        .set({ access_token_hash: ctx.secrets.hash("access-token", token) })
        .where(eq(users.id, ctx.actor.id))
        .returning({ id: users.id }),
    );
    yield* announce(ctx, q);
  });
  return token;
}

/**
 * Changes the caller's own name or password. A new password needs a step-up, ends the other sessions and the system
 * access token (D-46). Throws username_taken, step_up_required, access_token_refused.
 */
export async function updateSelf(
  ctx: UserCtx,
  { username, display_name, password }: z.output<typeof selfUpdate>,
): Promise<void> {
  const { users, sessions } = ctx.db.t;
  if (password) requireStepUp(ctx);
  const mine = eq(users.id, ctx.actor.id);
  const set = {
    ...(username === undefined ? {} : { username: withoutNul(username) }),
    ...(display_name === undefined ? {} : { display_name: withoutNul(display_name) }),
    ...(password ? { password_hash: await hashPassword(password), access_token_hash: null } : {}),
  };
  if (Object.keys(set).length === 0) return;
  try {
    await ctx.db.tx(function* (q) {
      if (set.username !== undefined) yield* claimName(ctx, q, set.username, ctx.actor.id);
      yield* run(q.update(users).set(set).where(mine).returning({ id: users.id }));
      const others = and(eq(sessions.user_id, ctx.actor.id), ne(sessions.id, ctx.actor.session_id));
      if (set.password_hash) yield* run(q.delete(sessions).where(others).returning({ id: sessions.id }));
      yield* announce(ctx, q);
    });
    const { id, session_id } = ctx.actor;
    if (set.password_hash) rememberDevice(ctx, { id, password_hash: set.password_hash }, session_id);
  } catch (error) {
    if (!(error instanceof AppError) && isUniqueViolation(error)) fail("username_taken");
    throw error;
  }
}

/** Deletes the caller's own account, softly and forever, and signs them out. A super administrator cannot. */
export async function deleteSelf(ctx: UserCtx): Promise<void> {
  if (ctx.actor.role >= ROLE.root) fail("root_protected");
  requireStepUp(ctx);
  const { users } = ctx.db.t;
  await ctx.db.tx(function* (q) {
    const ended = yield* deleteSteps(ctx, q, ctx.actor.id);
    yield* run(q.update(users).set(ended).where(eq(users.id, ctx.actor.id)).returning({ id: users.id }));
    yield* run(q.insert(ctx.db.t.audit_log).values(auditRow(ctx, { action: "user.delete", target: ctx.actor.id })));
    yield* announce(ctx, q);
  });
  await closeSession(ctx, undefined);
}
