/** A user's own account. Management of others: issue of the accounts specification, same folder. */
import { eq } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import type { UserCtx } from "../../context";
import { randomText } from "../../lib/secrets";
import { presentUser } from "./present";

export async function self(ctx: UserCtx) {
  const { q, t } = ctx.db;
  const [row] = await q.select().from(t.users).where(eq(t.users.id, ctx.actor.id));
  if (!row) fail("user_not_found");
  const identities = await q.select().from(t.identities).where(eq(t.identities.user_id, row.id));
  return presentUser(row, identities);
}

/** A new system access token; the old one dies. Kept as a hash only, so it is shown once. */
export async function newAccessToken(ctx: UserCtx): Promise<string> {
  const { q, t } = ctx.db;
  const token = randomText(32);
  await q.update(t.users).set({ access_token_hash: ctx.secrets.hash("access-token", token) }).where(eq(t.users.id, ctx.actor.id));
  await ctx.cluster.bus.publish("users", String(ctx.actor.id));
  return token;
}
