/**
 * Guessing passwords is slow, and cannot lock out the account's owner: wrong tries are counted per account and address
 * (a /64 of IPv6 is one address); tries from all addresses together only stop addresses from which the account has no
 * session. A browser that has signed in before has a counter of its own, which no stranger can fill.
 */
import { eq } from "drizzle-orm";
import { AppError } from "../../../shared/errors";
import type { Demand } from "../../cluster/types";
import type { Ctx } from "../../contracts/context";
import { countedAddress } from "../../http/address";
import { countCritical, signInCounts } from "../../http/trpc";
import { knownDevice } from "./device";

const WINDOW_SECONDS = 15 * 60;
const TRIES_FROM_DEVICE = 10;
const TRIES_FROM_ADDRESS = 10;
const TRIES_FROM_EVERYWHERE = 100;
/** What is guessed: a password, a second factor's code, or a code after a password that was not proved to be right. */
export type Guess = "login" | "code" | "blind-code";

/** Sessions whose addresses are compared. */
const MAX_SESSIONS = 1000;

/**
 * Runs a check of a password; only a failure (undefined, or a throw) counts. `account`: the user's id, or the typed
 * name where there is no such user, so that both behave alike. Throws too_many_requests.
 */
export async function throttled<T>(
  ctx: Ctx,
  account: number | string,
  check: () => Promise<T | undefined>,
  guess: Guess = "login",
): Promise<T | undefined> {
  const demands = await demandsOf(ctx, account, guess);
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

/** Whether a try was refused because too many were wrong. */
export const isThrottled = (error: unknown): boolean => error instanceof AppError && error.code === "too_many_requests";

/**
 * Counts a sign-in by password, right or wrong: by the account's known device, else by address. Throws
 * too_many_requests.
 */
export async function countSignIn(ctx: Ctx, account: number | undefined): Promise<void> {
  const device = account === undefined ? undefined : await knownDevice(ctx, account);
  if (device !== undefined) return countCritical(ctx, { key: `sign-in:device:${device}` });
  return countCritical(ctx, ...signInCounts(ctx));
}

async function demandsOf(ctx: Ctx, account: number | string, guess: Guess): Promise<Demand[]> {
  const name = `${guess}:${ctx.secrets.hash("session", `throttle\n${account}`)}`;
  const demand = (key: string, limit: number) => ({ key, amount: 1, limit, window_seconds: WINDOW_SECONDS });
  const device = typeof account === "number" ? await knownDevice(ctx, account) : undefined;
  if (device !== undefined) return [demand(`${name}:device:${device}`, TRIES_FROM_DEVICE)];
  const fromAddress = demand(`${name}:${countedAddress(ctx.ip)}`, TRIES_FROM_ADDRESS);
  return (await isKnownAddress(ctx, account)) ? [fromAddress] : [fromAddress, demand(name, TRIES_FROM_EVERYWHERE)];
}

async function isKnownAddress(ctx: Ctx, account: number | string): Promise<boolean> {
  if (typeof account === "string") return false;
  const { sessions } = ctx.db.t;
  const rows = await ctx.db.q
    .selectDistinct({ ip: sessions.ip })
    .from(sessions)
    .where(eq(sessions.user_id, account))
    .limit(MAX_SESSIONS);
  const address = countedAddress(ctx.ip);
  return rows.some(({ ip }) => countedAddress(ip) === address);
}
