/** The caller's own sessions: the list, and ending them. */
import { and, desc, eq, gt, ne } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import type { SessionView } from "../../../shared/user";
import { seconds, type UserCtx } from "../../contracts/context";

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
  const ended = await ctx.db.q
    .delete(sessions)
    .where(and(eq(sessions.id, id), eq(sessions.user_id, ctx.actor.id)))
    .returning({ id: sessions.id });
  if (ended.length === 0) fail("session_not_found");
}

/** Ends all of the caller's sessions but the current one; returns how many. */
export async function endOtherSessions(ctx: UserCtx): Promise<number> {
  const { sessions } = ctx.db.t;
  const ended = await ctx.db.q
    .delete(sessions)
    .where(and(eq(sessions.user_id, ctx.actor.id), ne(sessions.id, ctx.actor.session_id)))
    .returning({ id: sessions.id });
  return ended.length;
}
