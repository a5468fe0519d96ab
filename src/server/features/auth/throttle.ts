/**
 * Guessing passwords is slow, and cannot lock out the account's owner: wrong tries are counted per account and address;
 * tries from all addresses together only stop addresses from which the account has no session.
 */
import { and, eq } from "drizzle-orm";
import { AppError } from "../../../shared/errors";
import type { Ctx } from "../../contracts/context";

const WINDOW_SECONDS = 15 * 60;
const TRIES_FROM_ADDRESS = 10;
const TRIES_FROM_EVERYWHERE = 100;

/**
 * Runs a check of a password; only a failure (undefined, or a throw) counts. `account`: the user's id, or the typed
 * name where there is no such user, so that both behave alike. Throws too_many_requests.
 */
export async function throttled<T>(
  ctx: Ctx,
  account: number | string,
  check: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const who = ctx.secrets.hash("session", `throttle\n${account}`);
  const demands = [
    { key: `login:${who}:${ctx.ip}`, amount: 1, limit: TRIES_FROM_ADDRESS, window_seconds: WINDOW_SECONDS },
  ];
  if (!(await isKnownAddress(ctx, account))) {
    demands.push({ key: `login:${who}`, amount: 1, limit: TRIES_FROM_EVERYWHERE, window_seconds: WINDOW_SECONDS });
  }
  const tries = await ctx.cluster.counter.reserve(demands);
  if (tries.refused >= 0)
    throw new AppError("too_many_requests", {
      retry_after: tries.states[tries.refused]?.reset_seconds ?? WINDOW_SECONDS,
    });
  const result = await check();
  // A refusal keeps what was counted.
  if (result !== undefined) tries.end(demands.map(() => 0));
  return result;
}

async function isKnownAddress(ctx: Ctx, account: number | string): Promise<boolean> {
  if (typeof account === "string") return false;
  const { sessions } = ctx.db.t;
  const [row] = await ctx.db.q
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.user_id, account), eq(sessions.ip, ctx.ip)))
    .limit(1);
  return row !== undefined;
}
