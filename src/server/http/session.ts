/**
 * The actor of a request: a console session (cookie), a system access token (Authorization), or a guest. The user-id
 * header is the second guard of both (D-37): with a cookie it must be there and match; with an access token it may be
 * missing, but must match when sent. Role and status are read on each call.
 */
import { and, eq, isNull } from "drizzle-orm";
import { AppError } from "../../shared/errors";
import { USER_STATUS } from "../../shared/roles";
import { cut, TEXT_LIMITS } from "../../shared/text-limits";
import type { Actor } from "../contracts/actor";
import { type Services, seconds } from "../contracts/context";
import { CLOCKS_DIFFER } from "../db/sql";
import { run } from "../db/transaction";
import { logUnexpected, toAppError } from "./fail";
import { randomText } from "../lib/secrets";

const SESSION_COOKIE = "session";
const SESSION_SECONDS = 30 * 24 * 3600;
/** `last_seen_at` is written at most once a minute. */
const SEEN_EVERY = 60;

export interface Presented {
  cookie: string | undefined;
  browser_cookie: string | undefined;
  device_cookie: string | undefined;
  authorization: string | undefined;
  /** New-Api-User, any case. */
  user_header: string | undefined;
}

export function readCookie(header: string | null, name: string): string | undefined {
  for (const part of header?.split(";") ?? []) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

export const presentedBy = (headers: Headers): Presented => ({
  cookie: readCookie(headers.get("cookie"), SESSION_COOKIE),
  browser_cookie: readCookie(headers.get("cookie"), BROWSER_COOKIE),
  device_cookie: readCookie(headers.get("cookie"), DEVICE_COOKIE),
  authorization: headers.get("authorization") ?? undefined,
  user_header: headers.get("new-api-user") ?? undefined,
});

/** A random session token has 43 characters; anything else is not looked up. */
const SESSION_TOKEN = /^[A-Za-z0-9]{43}$/;
export const isSessionToken = (text: string): boolean => SESSION_TOKEN.test(text);

/**
 * The actor of a request. Never throws: where the database fails, the actor carries the problem, and the route reports
 * it in its own format (`unknownActor`). A user is then never taken for a guest.
 */
export async function actorOf(
  services: Services,
  presented: Presented,
  requestId: string,
  shown = false,
): Promise<Actor> {
  try {
    return await resolveActor(services, presented, shown);
  } catch (thrown) {
    const error = toAppError(thrown);
    logUnexpected({ log: services.log, request_id: requestId }, error);
    return { kind: "guest", problem: error.code, unknown: true };
  }
}

/** The error of every route while the database cannot identify the actor. */
export const unknownActor = (actor: Actor): AppError | undefined =>
  actor.kind === "guest" && actor.unknown ? new AppError(actor.problem ?? "internal") : undefined;

/**
 * `shown`: a cookie counts without the user-id header. For routes that only show something: other sites' pages do not
 * send the cookie.
 */
async function resolveActor(services: Services, presented: Presented, shown = false): Promise<Actor> {
  if (presented.cookie !== undefined && SESSION_TOKEN.test(presented.cookie)) {
    const actor = await bySession(services, presented.cookie);
    if (actor) {
      const unnamed = shown && presented.user_header === undefined;
      if (!unnamed && presented.user_header !== String(actor.id))
        return { kind: "guest", problem: "user_header_mismatch" };
      return actor;
    }
  }
  if (presented.authorization) {
    const token = presented.authorization.replace(/^Bearer\s+/i, "").trim();
    const actor = token.length >= 16 && token.length <= 64 ? await byAccessToken(services, token) : undefined;
    if (!actor) return { kind: "guest", problem: "access_token_invalid" };
    if (actor.kind === "user" && presented.user_header !== undefined && presented.user_header !== String(actor.id)) {
      return { kind: "guest", problem: "user_header_mismatch" };
    }
    return actor;
  }
  return { kind: "guest" };
}

async function bySession(services: Services, token: string): Promise<Extract<Actor, { kind: "user" }> | undefined> {
  const { q, t } = services.db;
  const [row] = await q
    .select({
      session_id: t.sessions.id,
      last_seen_at: t.sessions.last_seen_at,
      expires_at: t.sessions.expires_at,
      verified_at: t.sessions.verified_at,
      id: t.users.id,
      username: t.users.username,
      role: t.users.role,
      group: t.users.group,
      status: t.users.status,
    })
    .from(t.sessions)
    .innerJoin(t.users, eq(t.users.id, t.sessions.user_id))
    .where(and(eq(t.sessions.token_hash, services.secrets.hash("session", token)), isNull(t.users.deleted_at)));
  const time = seconds(services);
  if (!row || row.expires_at <= time || row.status !== USER_STATUS.active) return undefined;
  if (time - row.last_seen_at > SEEN_EVERY) {
    await q.update(t.sessions).set({ last_seen_at: time }).where(eq(t.sessions.id, row.session_id));
  }
  return {
    kind: "user",
    id: row.id,
    username: row.username,
    role: row.role,
    group: row.group,
    via: "session",
    session_id: row.session_id,
    // A proof in the future was given before the clock was set back: its age is not known.
    verified_at: row.verified_at > time + CLOCKS_DIFFER ? 0 : row.verified_at,
  };
}

async function byAccessToken(services: Services, token: string): Promise<Actor | undefined> {
  const { q, t } = services.db;
  const [row] = await q
    .select({
      id: t.users.id,
      username: t.users.username,
      role: t.users.role,
      group: t.users.group,
      status: t.users.status,
    })
    .from(t.users)
    .where(
      and(eq(t.users.access_token_hash, services.secrets.hash("access-token", token)), isNull(t.users.deleted_at)),
    );
  if (!row) return undefined;
  if (row.status !== USER_STATUS.active) return { kind: "guest", problem: "user_banned" };
  return {
    kind: "user",
    id: row.id,
    username: row.username,
    role: row.role,
    group: row.group,
    via: "access_token",
    session_id: 0,
    verified_at: 0,
  };
}

/**
 * SameSite=Lax because people come back from a provider's page by navigation; the user-id header guards the rest
 * (D-38).
 */
const line = (name: string, value: string, maxAge: number, secure: boolean): string =>
  `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
const cookieLine = (value: string, maxAge: number, secure: boolean): string =>
  line(SESSION_COOKIE, value, maxAge, secure);

/** Distinguishes browsers during a sign-in (features/auth/tickets.ts); it gives no access by itself. */
const BROWSER_COOKIE = "sign_in_browser";
export const browserCookieLine = (value: string, maxAge: number, secure: boolean): string =>
  line(BROWSER_COOKIE, value, maxAge, secure);

/** Tells the owner's browser from a stranger's (features/auth/device.ts); it gives no access by itself. */
const DEVICE_COOKIE = "device";
export const deviceCookieLine = (value: string, maxAge: number, secure: boolean): string =>
  line(DEVICE_COOKIE, value, maxAge, secure);

interface SessionCtx extends Services {
  ip: string;
  user_agent: string;
  secure: boolean;
  setCookie(line: string): void;
}

/**
 * Opens a session for a user whose identity was just proved, and sets the cookie, the first of the response: scripts
 * take that one. The row has only a hash of its token. `human`: the bot check was passed. Returns the row's id.
 */
export async function openSession(
  ctx: SessionCtx,
  userId: number,
  { human = false }: { human?: boolean } = {},
): Promise<number> {
  const token = randomText(43);
  const time = seconds(ctx);
  const { sessions } = ctx.db.t;
  const row = {
    token_hash: ctx.secrets.hash("session", token),
    user_id: userId,
    created_at: time,
    last_seen_at: time,
    expires_at: time + SESSION_SECONDS,
    verified_at: time,
    turnstile_at: human ? time : 0,
    ip: ctx.ip,
    user_agent: cut(ctx.user_agent, TEXT_LIMITS.user_agent),
  };
  const [made] = await ctx.db.q.insert(sessions).values(row).returning({ id: sessions.id });
  ctx.changes.tell("auth", userId);
  ctx.setCookie(cookieLine(token, SESSION_SECONDS, ctx.secure));
  return made?.id ?? 0;
}

/** Ends the session of a cookie, if any, and clears the cookie. */
export async function closeSession(ctx: SessionCtx, cookie: string | undefined): Promise<void> {
  await dropSession(ctx, cookie);
  ctx.setCookie(cookieLine("", 0, ctx.secure));
}

/** Ends the session of a cookie, if any; the cookie is about to be replaced. */
export async function dropSession(ctx: SessionCtx, cookie: string | undefined): Promise<void> {
  if (cookie && SESSION_TOKEN.test(cookie)) {
    const { sessions } = ctx.db.t;
    const which = eq(sessions.token_hash, ctx.secrets.hash("session", cookie));
    await ctx.db.tx(function* (q) {
      const [ended] = yield* run(q.delete(sessions).where(which).returning({ user_id: sessions.user_id }));
      // Its streams end, on every instance.
      if (ended) yield* ctx.cluster.bus.announce(q, "sessions", String(ended.user_id));
    });
  }
}
