/** Binding phones: a code that is scanned once within three minutes subscribes the browser that opened it. */
import { and, desc, eq, inArray, isNull } from "drizzle-orm";
import type * as z from "zod";
import { fail } from "../../../shared/errors";
import { MAX_PHONES, type PhoneView, PUSH_CODE_SECONDS, type pushSubscribeInput } from "../../../shared/push";
import { USER_STATUS } from "../../../shared/roles";
import { cut, TEXT_LIMITS } from "../../../shared/text-limits";
import { type Ctx, seconds, type UserCtx } from "../../contracts/context";
import { run } from "../../db/transaction";
import { withoutNul } from "../../db/sql";
import { siteOf } from "../../http/site";
import { randomText } from "../../lib/secrets";
import { issueCode, takeCode } from "../auth/codes";

/**
 * A new code, as the address that its QR code leads to; the account's earlier one is dead. `expires_at`: epoch seconds.
 */
export async function beginPush(ctx: UserCtx): Promise<{ url: string; expires_at: number }> {
  const { id } = ctx.actor;
  const code = randomText(32);
  await issueCode(ctx, { purpose: "bind-push", target: String(id), code, lifetime: PUSH_CODE_SECONDS });
  const url = new URL("/push", siteOf(ctx));
  url.searchParams.set("code", `${id}.${code}`);
  return { url: url.href, expires_at: seconds(ctx) + PUSH_CODE_SECONDS };
}

/** Subscribes a phone by the code that it scanned. Throws push_code_invalid. */
export async function subscribePhone(
  ctx: Ctx,
  { code, endpoint, p256dh, auth }: z.output<typeof pushSubscribeInput>,
): Promise<void> {
  const { users, push_subscriptions } = ctx.db.t;
  const [owner = "", secret = ""] = code.split(".");
  const user_id = Number(owner);
  const row = {
    user_id,
    endpoint,
    p256dh: bare(p256dh),
    auth: bare(auth),
    user_agent: cut(withoutNul(ctx.user_agent), TEXT_LIMITS.user_agent),
    created_at: seconds(ctx),
  };
  const bound = await ctx.db.tx(function* (q) {
    if ((yield* takeCode(ctx, q, { purpose: "bind-push", target: owner, code: secret })) === undefined) return false;
    const active = and(eq(users.id, user_id), eq(users.status, USER_STATUS.active), isNull(users.deleted_at));
    if ((yield* run(q.select({ id: users.id }).from(users).where(active))).length === 0) return false;
    yield* run(
      q
        .insert(push_subscriptions)
        .values(row)
        .onConflictDoUpdate({ target: push_subscriptions.endpoint, set: row })
        .returning({ id: push_subscriptions.id }),
    );
    const phones = yield* run(
      q
        .select({ id: push_subscriptions.id })
        .from(push_subscriptions)
        .where(eq(push_subscriptions.user_id, user_id))
        .orderBy(desc(push_subscriptions.created_at), desc(push_subscriptions.id)),
    );
    const old = phones.slice(MAX_PHONES).map(({ id }) => id);
    if (old.length > 0)
      yield* run(
        q
          .delete(push_subscriptions)
          .where(inArray(push_subscriptions.id, old))
          .returning({ id: push_subscriptions.id }),
      );
    return true;
  });
  if (!bound) fail("push_code_invalid");
}

/** Base64url without its padding. */
const bare = (text: string): string => text.replace(/=+$/, "");

/** The caller's phones, the newest first. */
export function ownPhones(ctx: UserCtx): Promise<PhoneView[]> {
  const { push_subscriptions } = ctx.db.t;
  return ctx.db.q
    .select({
      id: push_subscriptions.id,
      user_agent: push_subscriptions.user_agent,
      created_at: push_subscriptions.created_at,
    })
    .from(push_subscriptions)
    .where(eq(push_subscriptions.user_id, ctx.actor.id))
    .orderBy(desc(push_subscriptions.created_at), desc(push_subscriptions.id))
    .limit(MAX_PHONES);
}

/** Unbinds one of the caller's phones. Throws phone_not_found, also for another user's. */
export async function removePhone(ctx: UserCtx, id: number): Promise<void> {
  const { push_subscriptions } = ctx.db.t;
  const which = and(eq(push_subscriptions.id, id), eq(push_subscriptions.user_id, ctx.actor.id));
  const removed = await ctx.db.q.delete(push_subscriptions).where(which).returning({ id: push_subscriptions.id });
  if (removed.length === 0) fail("phone_not_found");
}
