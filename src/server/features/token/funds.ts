/** What a caller can spend: the token's quota, or the user's where the option says so. */
import { eq } from "drizzle-orm";
import type { Services } from "../../contracts/context";
import type { Caller, Funds } from "../../contracts/caller";

/** See `ControlPlane.funds` (contracts/control-plane.ts). */
export async function fundsOf({ db, options }: Pick<Services, "db" | "options">, caller: Caller): Promise<Funds> {
  const { tokens, users } = db.t;
  const [token] = await db.q
    .select({
      remain: tokens.remain_quota,
      used: tokens.used_quota,
      unlimited: tokens.unlimited_quota,
      expires: tokens.expired_time,
    })
    .from(tokens)
    .where(eq(tokens.id, caller.token_id));
  if (token && options.get("DisplayTokenStatEnabled")) return { ...token, expires: Math.max(0, token.expires) };
  const [user] = await db.q
    .select({ remain: users.quota, used: users.used_quota })
    .from(users)
    .where(eq(users.id, caller.user_id));
  return { remain: user?.remain ?? 0, used: user?.used ?? 0, unlimited: false, expires: 0 };
}
