/** A token as the holder of its key sees it: what it has used and may still use, without a session. */
import { and, eq, isNull } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { USER_STATUS } from "../../../shared/roles";
import { TOKEN_STATUS } from "../../../shared/token";
import type { Ctx } from "../../contracts/context";
import type { TokenRow } from "../../db/schema";
import type { PlainRoute } from "../../http/plain";
import { compileNetworks, inNetworks } from "../../lib/addresses";
import { normalKey } from "./authenticate";
import { adoptKey } from "./imported-key";

/**
 * The token of a relay key in any spelling. A used-up or expired one is still shown; a disabled one, one of a banned
 * user and a forbidden address are not. Throws token_missing, token_invalid, token_disabled, user_banned,
 * token_ip_denied.
 */
export async function tokenOfKey({ db, secrets, ip }: Ctx, presented: string | undefined): Promise<TokenRow> {
  const { tokens, users } = db.t;
  const key = normalKey(presented);
  const hash = secrets.hash("relay-key", key);
  const find = () =>
    db.q
      .select({ token: tokens, status: users.status })
      .from(tokens)
      .innerJoin(users, eq(users.id, tokens.user_id))
      .where(and(eq(tokens.key_hash, hash), isNull(tokens.deleted_at), isNull(users.deleted_at)));
  let [found] = await find();
  if (!found && (await adoptKey({ db, secrets }, key))) [found] = await find();
  if (!found) fail("token_invalid");
  const { token, status } = found;
  if (token.status === TOKEN_STATUS.disabled) fail("token_disabled");
  if (status !== USER_STATUS.active) fail("user_banned");
  const { allow_ips, deny_ips } = token;
  if (inNetworks(compileNetworks(deny_ips), ip) || (allow_ips.trim() && !inNetworks(compileNetworks(allow_ips), ip)))
    fail("token_ip_denied");
  return token;
}

/** The key in Authorization, or in `?key=`. */
export function keyOf(request: Request): string | undefined {
  return request.headers.get("authorization") ?? new URL(request.url).searchParams.get("key") ?? undefined;
}

/** `expires_at` 0 = never. Of an unlimited token the remaining quota has no meaning. */
export const tokenUsage: PlainRoute = {
  line: "GET /api/usage/token",
  cors: true,
  answer: async (ctx, request) => {
    const token = await tokenOfKey(ctx, keyOf(request));
    const models = token.model_limits
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    const data = {
      object: "token_usage",
      name: token.name,
      total_granted: token.remain_quota + token.used_quota,
      total_used: token.used_quota,
      total_available: token.remain_quota,
      unlimited_quota: token.unlimited_quota,
      model_limits: Object.fromEntries(models.map((name) => [name, true])),
      model_limits_enabled: token.model_limits_enabled,
      expires_at: Math.max(0, token.expired_time),
    };
    return Response.json({ code: true, message: "ok", data }, { headers: { "cache-control": "no-store" } });
  },
};
