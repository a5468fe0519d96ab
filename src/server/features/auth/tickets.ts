/**
 * Tickets: random texts that a browser gets and must send back, once and in time: the state of a provider's sign-in,
 * the challenge of a passkey. A ticket is not accepted from another browser: it is tied to a cookie that is not a
 * session. Kept as hashes in `codes`, so that any instance may take a ticket that another has issued.
 */
import { and, eq, gt, lt, sql } from "drizzle-orm";
import type * as z from "zod";
import { type Ctx, seconds } from "../../contracts/context";
import { browserCookieLine, isSessionToken } from "../../http/session";
import { randomText } from "../../lib/secrets";

export type TicketPurpose = "oauth" | "passkey" | "second-factor" | "telegram";

/** This browser's random id; a new one is set as a cookie when it has none. */
export function browserOf(ctx: Ctx, lifetime: number): string {
  const known = ctx.browser_cookie;
  const browser = known !== undefined && isSessionToken(known) ? known : randomText(43);
  ctx.setCookie(browserCookieLine(browser, lifetime, ctx.secure));
  // The rest of this call belongs to the same browser.
  ctx.browser_cookie = browser;
  return browser;
}

/**
 * Remembers `data` under `ticket` for `lifetime` seconds, for this browser alone. A second issue replaces the first.
 */
export async function issueTicket(
  ctx: Ctx,
  purpose: TicketPurpose,
  ticket: string,
  data: object,
  lifetime: number,
): Promise<void> {
  const { codes } = ctx.db.t;
  const now = seconds(ctx);
  const row = {
    code_hash: ctx.secrets.hash("ticket", browserOf(ctx, lifetime)),
    data: JSON.stringify(data),
    attempts: 0,
    created_at: now,
    expires_at: now + lifetime,
  };
  await ctx.db.q
    .insert(codes)
    .values({ purpose, target: ctx.secrets.hash("ticket", ticket), ...row })
    .onConflictDoUpdate({ target: [codes.purpose, codes.target], set: row });
}

/** The row that this browser was issued, while it lives; undefined for anything else. */
function mine(ctx: Ctx, purpose: TicketPurpose, ticket: string) {
  const { codes } = ctx.db.t;
  if (ticket === "" || ctx.browser_cookie === undefined || !isSessionToken(ctx.browser_cookie)) return undefined;
  return and(
    eq(codes.purpose, purpose),
    eq(codes.target, ctx.secrets.hash("ticket", ticket)),
    eq(codes.code_hash, ctx.secrets.hash("ticket", ctx.browser_cookie)),
    gt(codes.expires_at, seconds(ctx)),
  );
}

const read = <S extends z.ZodType>(shape: S, text: string | undefined): z.output<S> | undefined =>
  text === undefined ? undefined : shape.parse(JSON.parse(text));

/** Takes the data, once: of two calls with the same ticket one gets it. */
export async function takeTicket<S extends z.ZodType>(
  ctx: Ctx,
  purpose: TicketPurpose,
  ticket: string,
  shape: S,
): Promise<z.output<S> | undefined> {
  const where = mine(ctx, purpose, ticket);
  if (!where) return undefined;
  const [row] = await ctx.db.q.delete(ctx.db.t.codes).where(where).returning({ data: ctx.db.t.codes.data });
  return read(shape, row?.data);
}

/** Reads the data, and one of `limit` attempts is used up; the ticket stays for the next attempt. */
export async function tryTicket<S extends z.ZodType>(
  ctx: Ctx,
  purpose: TicketPurpose,
  ticket: string,
  shape: S,
  limit: number,
): Promise<z.output<S> | undefined> {
  const { codes } = ctx.db.t;
  const where = mine(ctx, purpose, ticket);
  if (!where) return undefined;
  const [row] = await ctx.db.q
    .update(codes)
    .set({ attempts: sql`${codes.attempts} + 1` })
    .where(and(where, lt(codes.attempts, limit)))
    .returning({ data: codes.data });
  return read(shape, row?.data);
}
