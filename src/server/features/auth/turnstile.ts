/**
 * The bot check: Cloudflare Turnstile, asked server side (https://developers.cloudflare.com/turnstile/get-started/server-side-validation/).
 * A token works once, so passing is remembered (D-62): in the session's row, before there is one in a signed cookie.
 */
import { eq } from "drizzle-orm";
import * as z from "zod";
import { fail } from "../../../shared/errors";
import { type Ctx, seconds } from "../../contracts/context";
import { sameText } from "../../lib/secrets";

/** Where the widget's script and its frame come from. */
export const TURNSTILE_ORIGIN = "https://challenges.cloudflare.com";
const VERIFY_TIMEOUT_MS = 10_000;
/** How long a visitor's pass counts before sign-in. */
const PASS_SECONDS = 1800;
export const TURNSTILE_COOKIE = "turnstile";

const answerSchema = z.object({ success: z.boolean() });

/** Throws turnstile_missing, turnstile_failed. Nothing while TurnstileCheckEnabled is off. */
export async function requireHuman(ctx: Ctx, token: string | undefined): Promise<void> {
  if (!ctx.options.get("TurnstileCheckEnabled") || (await isRemembered(ctx))) return;
  if (!token) fail("turnstile_missing");
  if (!(await isHuman(ctx, token))) fail("turnstile_failed");
  await remember(ctx);
}

async function isHuman({ env, options, ip, log }: Ctx, token: string): Promise<boolean> {
  try {
    const answer = await fetch(env.WEIR_TURNSTILE_URL, {
      method: "POST",
      body: new URLSearchParams({ secret: options.get("TurnstileSecretKey"), response: token, remoteip: ip }),
      signal: AbortSignal.timeout(VERIFY_TIMEOUT_MS),
      redirect: "error",
    });
    return answerSchema.parse(await answer.json()).success;
  } catch (err) {
    log.warn({ err }, "Turnstile could not be asked");
    return false;
  }
}

async function isRemembered(ctx: Ctx): Promise<boolean> {
  if (ctx.actor.kind === "user") {
    const { sessions } = ctx.db.t;
    const [row] = await ctx.db.q
      .select({ at: sessions.turnstile_at })
      .from(sessions)
      .where(eq(sessions.id, ctx.actor.session_id));
    return row !== undefined && row.at > 0;
  }
  const [, expires = "", signature = ""] = /^(\d{1,12})\.([0-9a-f]{64})$/.exec(ctx.turnstile_cookie ?? "") ?? [];
  return Number(expires) > seconds(ctx) && sameText(signature, signed(ctx, expires));
}

/** Valid for one address, so that a pass cannot be shared. */
const signed = ({ secrets, ip }: Ctx, expires: string): string => secrets.hash("turnstile", `${expires}\n${ip}`);

async function remember(ctx: Ctx): Promise<void> {
  if (ctx.actor.kind === "user") {
    const { sessions } = ctx.db.t;
    await ctx.db.q
      .update(sessions)
      .set({ turnstile_at: seconds(ctx) })
      .where(eq(sessions.id, ctx.actor.session_id));
    return;
  }
  const expires = String(seconds(ctx) + PASS_SECONDS);
  ctx.setCookie(
    `${TURNSTILE_COOKIE}=${expires}.${signed(ctx, expires)}; Path=/; Max-Age=${PASS_SECONDS}; HttpOnly; SameSite=Lax${ctx.secure ? "; Secure" : ""}`,
  );
}
