/**
 * GET /api/oauth/telegram/bind (checklist D-65, D-66): the widget's facts, answered by 302 to the settings. Called by the console
 * with its headers; or reached by the widget's own navigation, which sends none: then a `state` that was given to the signed-in
 * page in this browser says whose binding it is.
 */
import { eq } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { telegramInput } from "../../../shared/identity";
import { ROLE, USER_STATUS } from "../../../shared/roles";
import type { Ctx, UserCtx } from "../../context";
import type { PlainDoor } from "../../http/plain";
import { signedIn } from "../../http/trpc";
import { beganBy, telegramBind } from "./service";

async function whose(ctx: Ctx, state: string | null): Promise<UserCtx> {
  if (ctx.actor.kind === "user" || state === null) return signedIn(ctx, ROLE.user);
  const id = await beganBy(ctx, state);
  if (id === undefined) return fail("identity_state_wrong");
  const { users } = ctx.db.t;
  const [user] = await ctx.db.q.select().from(users).where(eq(users.id, id));
  if (!user || user.deleted_at !== null || user.status !== USER_STATUS.active) return fail("not_signed_in");
  return { ...ctx, actor: { kind: "user", id, username: user.username, role: user.role, group: user.group, via: "session", session_id: 0 } };
}

export const telegramBindDoor: PlainDoor = {
  line: "GET /api/oauth/telegram/bind",
  answer: async (ctx, request) => {
    const query = Object.fromEntries(new URL(request.url).searchParams);
    const fields = telegramInput.parse(query);
    await telegramBind(await whose(ctx, query.state ?? null), fields);
    return new Response(null, { status: 302, headers: { location: "/setting?tab=personal", "cache-control": "no-store" } });
  },
};
