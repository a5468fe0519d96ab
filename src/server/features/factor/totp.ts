/**
 * One-time codes (RFC 6238) and the recovery codes beside them. The secret is kept encrypted; a recovery code as a
 * salted hash: it has 80 random bits, so it needs no key and outlives a change of the master secret.
 */
import { and, eq, gt, lt, or } from "drizzle-orm";
import { Secret, TOTP } from "otpauth";
import { AppError, fail } from "../../../shared/errors";
import { RECOVERY_CODES, TOTP_DIGITS, TOTP_PERIOD } from "../../../shared/factor";
import { type Ctx, seconds, type UserCtx } from "../../contracts/context";
import { randomText, sha256 } from "../../lib/secrets";
import { recordAct } from "../audit/record";
import { requirePerson, requireStepUp } from "../auth/step-up";
import { type Guess, throttled } from "../auth/throttle";

/** Letters and digits that do not look alike. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";
const RECOVERY_LENGTH = 16;

/** Codes of the period before and after are taken too: clocks differ. */
const WINDOW = 1;
/**
 * A used code of so many steps ahead (5 minutes) was used before the clock was set back; else no code would be accepted
 * for the size of that step.
 */
const FAR_STEPS = 10;

const totpOf = (base32: string, label = "", issuer = ""): TOTP =>
  new TOTP({
    secret: Secret.fromBase32(base32),
    label,
    issuer,
    algorithm: "SHA1",
    digits: TOTP_DIGITS,
    period: TOTP_PERIOD,
  });

const hashOf = (user_id: number, code: string): string => sha256(`recovery\n${user_id}\n${code}`);

const grouped = (code: string): string => code.replace(/(.{4})(?=.)/g, "$1-");

function newRecoveryCodes(user_id: number): { codes: string[]; recovery_hashes: string } {
  const codes = Array.from({ length: RECOVERY_CODES }, () => randomText(RECOVERY_LENGTH, ALPHABET));
  return { codes: codes.map(grouped), recovery_hashes: JSON.stringify(codes.map((code) => hashOf(user_id, code))) };
}

const hashesOf = (text: string): string[] => {
  const hashes: unknown = JSON.parse(text);
  return Array.isArray(hashes) ? hashes.filter((hash) => typeof hash === "string") : [];
};

/**
 * Starts enrolment: a secret for the app, as text and as an address for a QR code. It takes effect when a code was
 * confirmed.
 */
export async function beginTotp(ctx: UserCtx): Promise<{ secret: string; uri: string }> {
  requireStepUp(ctx);
  const { totps } = ctx.db.t;
  const secret = new Secret({ size: 20 }).base32;
  const row = { secret_cipher: ctx.secrets.encrypt("totp", secret), last_step: 0 };
  const begun = await ctx.db.q
    .insert(totps)
    .values({ user_id: ctx.actor.id, ...row })
    .onConflictDoUpdate({ target: totps.user_id, set: row, setWhere: eq(totps.enabled_at, 0) })
    .returning({ user_id: totps.user_id });
  if (begun.length === 0) fail("totp_already_on");
  return { secret, uri: totpOf(secret, ctx.actor.username, ctx.options.get("SystemName")).toString() };
}

/** Enables it with a first code; returns the recovery codes, which cannot be shown again. */
export async function enableTotp(ctx: UserCtx, code: string): Promise<{ backup_codes: string[] }> {
  requireStepUp(ctx);
  const { totps } = ctx.db.t;
  const mine = and(eq(totps.user_id, ctx.actor.id), eq(totps.enabled_at, 0));
  const [row] = await ctx.db.q.select().from(totps).where(mine);
  if (!row) return fail("totp_not_begun");
  const step = await guarded(ctx, ctx.actor.id, async () => stepOf(ctx, row.secret_cipher, code));
  const { codes, recovery_hashes } = newRecoveryCodes(ctx.actor.id);
  const on = await ctx.db.q
    .update(totps)
    .set({ enabled_at: seconds(ctx), last_step: step, recovery_hashes })
    .where(and(mine, eq(totps.secret_cipher, row.secret_cipher)))
    .returning({ user_id: totps.user_id });
  if (on.length === 0) fail("totp_not_begun");
  await recordAct(ctx, { action: "user.factor", target: ctx.actor.id, after: { totp: "on" } });
  return { backup_codes: codes };
}

/** Disables it; the code proves that the caller still has the device. */
export async function disableTotp(ctx: UserCtx, code: string): Promise<void> {
  requirePerson(ctx);
  await verifyCode(ctx, ctx.actor.id, code);
  await ctx.db.q.delete(ctx.db.t.totps).where(eq(ctx.db.t.totps.user_id, ctx.actor.id));
  await recordAct(ctx, { action: "user.factor", target: ctx.actor.id, after: { totp: "off" } });
}

/** New recovery codes; the old ones are dead. */
export async function renewRecoveryCodes(ctx: UserCtx, code: string): Promise<{ backup_codes: string[] }> {
  requirePerson(ctx);
  await verifyCode(ctx, ctx.actor.id, code);
  const { codes, recovery_hashes } = newRecoveryCodes(ctx.actor.id);
  await ctx.db.q.update(ctx.db.t.totps).set({ recovery_hashes }).where(eq(ctx.db.t.totps.user_id, ctx.actor.id));
  return { backup_codes: codes };
}

/** How many recovery codes are left; undefined while one-time codes are off. */
export async function recoveryCodesLeft(ctx: UserCtx): Promise<number | undefined> {
  const { totps } = ctx.db.t;
  const [row] = await ctx.db.q
    .select()
    .from(totps)
    .where(and(eq(totps.user_id, ctx.actor.id), gt(totps.enabled_at, 0)));
  return row && hashesOf(row.recovery_hashes).length;
}

/**
 * Accepts a one-time code that has not been used, or a recovery code, which is then used up. Throws factor_code_wrong,
 * too_many_requests.
 */
export async function verifyCode(ctx: Ctx, user_id: number, code: string, guess?: Guess): Promise<void> {
  await guarded(ctx, user_id, async () => ((await spendCode(ctx, user_id, code)) ? true : undefined), guess);
}

/** Wrong codes are throttled like wrong passwords; those of a signed-in user are counted with them. */
async function guarded<T>(ctx: Ctx, user_id: number, check: () => Promise<T | undefined>, guess?: Guess): Promise<T> {
  const result = await throttled(ctx, user_id, check, guess);
  if (result === undefined) throw new AppError("factor_code_wrong");
  return result;
}

async function spendCode(ctx: Ctx, user_id: number, code: string): Promise<boolean> {
  const { totps } = ctx.db.t;
  const mine = and(eq(totps.user_id, user_id), gt(totps.enabled_at, 0));
  const [row] = await ctx.db.q.select().from(totps).where(mine);
  if (!row) return false;
  if (code.length === TOTP_DIGITS) {
    const step = stepOf(ctx, row.secret_cipher, code);
    if (step === undefined) return false;
    const used = await ctx.db.q
      .update(totps)
      .set({ last_step: step })
      .where(and(mine, or(lt(totps.last_step, step), gt(totps.last_step, step + FAR_STEPS))))
      .returning({ id: totps.user_id });
    return used.length > 0;
  }
  const hashes = hashesOf(row.recovery_hashes);
  const hash = hashOf(user_id, code);
  if (!hashes.includes(hash)) return false;
  const left = JSON.stringify(hashes.filter((other) => other !== hash));
  // Of two calls at once one must read again what is left.
  const used = await ctx.db.q
    .update(totps)
    .set({ recovery_hashes: left })
    .where(and(mine, eq(totps.recovery_hashes, row.recovery_hashes)))
    .returning({ id: totps.user_id });
  return used.length > 0 || spendCode(ctx, user_id, code);
}

/** The time step that a code belongs to; undefined for a wrong one. */
function stepOf(ctx: Ctx, cipher: string, code: string): number | undefined {
  const totp = totpOf(ctx.secrets.decrypt("totp", cipher));
  const delta = totp.validate({ token: code, timestamp: ctx.now(), window: WINDOW });
  return delta === null ? undefined : totp.counter({ timestamp: ctx.now() }) + delta;
}
