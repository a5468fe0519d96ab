/**
 * Known devices: a browser that has signed in keeps a signed cookie for 90 days, so that strangers' wrong passwords do
 * not keep its owner out (throttle.ts). It opens nothing, and outlives a sign-out. It is bound to the account, its
 * password and the session: a new password ends it, and so does ending that session from another one.
 */
import { and, eq } from "drizzle-orm";
import { type Ctx, seconds, type Services } from "../../contracts/context";
import { run, type Steps } from "../../db/transaction";
import type { Q } from "../../db/types";
import { deviceCookieLine } from "../../http/session";
import { sameText } from "../../lib/secrets";

const DEVICE_SECONDS = 90 * 24 * 3600;
/** Of the rows of ended devices in `codes`. */
const ENDED = "device-ended";

type Keeper = Pick<Services, "secrets">;
type Owner = { id: number; password_hash: string };

const signed = ({ secrets }: Keeper, facts: string, { password_hash }: Owner): string =>
  `${facts}.${secrets.hash("device", `cookie\n${facts}\n${password_hash}`)}`;

/** Sets the cookie of a browser whose session was just opened, or whose owner has a new password. */
export function rememberDevice(ctx: Ctx, owner: Owner, session_id: number): void {
  const facts = `${owner.id}.${session_id}.${seconds(ctx) + DEVICE_SECONDS}`;
  ctx.setCookie(deviceCookieLine(signed(ctx, facts, owner), DEVICE_SECONDS, ctx.secure));
}

/** What names the caller's browser in counters; undefined when it is no known device of the account. */
export async function knownDevice(ctx: Ctx, user_id: number): Promise<string | undefined> {
  const cookie = ctx.device_cookie ?? "";
  const [, facts = "", id, session = "", expires] =
    /^((\d{1,15})\.(\d{1,15})\.(\d{1,15}))\.[0-9a-f]{64}$/.exec(cookie) ?? [];
  if (Number(id) !== user_id || Number(expires) <= seconds(ctx)) return undefined;
  const { users, codes } = ctx.db.t;
  const [owner] = await ctx.db.q
    .select({ id: users.id, password_hash: users.password_hash })
    .from(users)
    .where(eq(users.id, user_id));
  if (!owner || !sameText(signed(ctx, facts, owner), cookie)) return undefined;
  const device = deviceOf(ctx, session);
  const [ended] = await ctx.db.q
    .select({ purpose: codes.purpose })
    .from(codes)
    .where(and(eq(codes.purpose, ENDED), eq(codes.target, device)));
  return ended ? undefined : device;
}

const deviceOf = ({ secrets }: Keeper, session: string | number): string =>
  secrets.hash("device", `session\n${session}`);

/** Ends the devices of sessions that are being ended. */
export function* endDevices(
  ctx: Pick<Services, "db" | "secrets" | "now">,
  q: Q,
  sessions: readonly number[],
): Steps<void> {
  const { codes } = ctx.db.t;
  const created_at = seconds(ctx);
  for (const session of sessions) {
    const row = { purpose: ENDED, target: deviceOf(ctx, session), code_hash: "", created_at };
    yield* run(
      q
        .insert(codes)
        .values({ ...row, expires_at: created_at + DEVICE_SECONDS })
        .onConflictDoNothing()
        .returning({ purpose: codes.purpose }),
    );
  }
}
