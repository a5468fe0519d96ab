/** The caller's own sessions: the list, and ending them. */
import { and, desc, eq, gt, ne, type SQL } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import type { SessionView } from "../../../shared/user";
import { seconds, type UserCtx } from "../../contracts/context";
import { run } from "../../db/transaction";
import { endDevices } from "./device";

/** Open sessions, the last used first. */
export async function ownSessions(ctx: UserCtx): Promise<SessionView[]> {
  const { sessions } = ctx.db.t;
  const rows = await ctx.db.q
    .select({
      id: sessions.id,
      created_at: sessions.created_at,
      last_seen_at: sessions.last_seen_at,
      ip: sessions.ip,
      user_agent: sessions.user_agent,
    })
    .from(sessions)
    .where(and(eq(sessions.user_id, ctx.actor.id), gt(sessions.expires_at, seconds(ctx))))
    .orderBy(desc(sessions.last_seen_at), desc(sessions.id))
    .limit(100);
  return rows.map((row) => ({ ...row, current: row.id === ctx.actor.session_id }));
}

/** Ends one of the caller's sessions. Throws session_not_found, also for another user's session. */
export async function endSession(ctx: UserCtx, id: number): Promise<void> {
  const { sessions } = ctx.db.t;
  if ((await end(ctx, eq(sessions.id, id))) === 0) fail("session_not_found");
}

/** Ends all of the caller's sessions but the current one; returns how many. */
export const endOtherSessions = (ctx: UserCtx): Promise<number> =>
  end(ctx, ne(ctx.db.t.sessions.id, ctx.actor.session_id));

/** Ends those of the caller's sessions, and their streams on every instance; returns how many. */
function end(ctx: UserCtx, which: SQL): Promise<number> {
  const { sessions } = ctx.db.t;
  return ctx.db.tx(function* (q) {
    const mine = and(eq(sessions.user_id, ctx.actor.id), which);
    const ended = yield* run(q.delete(sessions).where(mine).returning({ id: sessions.id }));
    const ids = ended.map(({ id }) => id);
    yield* endDevices(ctx, q, ids);
    if (ended.length > 0) yield* ctx.cluster.bus.announce(q, "sessions", String(ctx.actor.id));
    return ended.length;
  });
}
