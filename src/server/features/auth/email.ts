/** E-mail addresses: uniqueness, the mails that carry codes, and binding one to an account. */
import { and, eq, isNull, ne } from "drizzle-orm";
import type * as z from "zod";
import { AppError, fail } from "../../../shared/errors";
import { USER_STATUS } from "../../../shared/roles";
import type { Text } from "../../../shared/text";
import { type bindEmailInput, MAIL_PAUSE_SECONDS, type mailCodeInput } from "../../../shared/user";
import type { Ctx, UserCtx } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { withoutNul } from "../../db/sql";
import { isUniqueViolation } from "../../db/errors";
import { randomText } from "../../lib/secrets";
import { isLinkGood, issueCode, issueLink, takeCode, takeLink, withdrawCode } from "./codes";
import { requirePerson } from "./step-up";
import { requireHuman } from "./turnstile";

/** Lifetimes of codes and reset links (D-80). */
const CODE_SECONDS = 180;
const RESET_SECONDS = 1800;
/** Six of these are 30 bits; none looks like another. */
const CODE_ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";
const CODE_LENGTH = 6;
const RESET_LENGTH = 40;

const VERIFY_SUBJECT: Text = { zh: "{name} 邮箱验证码", en: "{name} verification code" };
const VERIFY_TEXT: Text = {
  zh: "您好，\n\n您正在验证邮箱，验证码为：\n\n{code}\n\n验证码 3 分钟内有效，仅可使用一次。如果不是您本人操作，请忽略本邮件。",
  en: "Hello,\n\nthe code that verifies your e-mail address is:\n\n{code}\n\nIt is valid for 3 minutes and works once. If you did not ask for it, ignore this mail.",
};
const RESET_SUBJECT: Text = { zh: "{name} 密码重置", en: "{name} password reset" };
const RESET_TEXT: Text = {
  zh: "您好，\n\n您正在重置密码，请打开以下链接并确认：\n\n{link}\n\n链接 30 分钟内有效，仅可使用一次。如果不是您本人操作，请忽略本邮件。",
  en: "Hello,\n\nto reset your password, open this link and confirm:\n\n{link}\n\nIt is valid for 30 minutes and works once. If you did not ask for it, ignore this mail.",
};

const filled = (text: string, values: Record<string, string>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");

/** The operator's rules for addresses (D-26), for registration, verification and binding. */
export function checkEmail({ options }: Pick<Ctx, "options">, email: string): void {
  const at = email.lastIndexOf("@");
  const domain = email.slice(at + 1).toLowerCase();
  if (options.get("EmailDomainRestrictionEnabled")) {
    const allowed = options.get("EmailDomainWhitelist").map((name) => name.trim().toLowerCase());
    if (!allowed.includes(domain)) fail("email_domain_denied");
  }
  if (options.get("EmailAliasRestrictionEnabled") && /[+.]/.test(email.slice(0, at))) fail("email_alias_denied");
}

/**
 * Whether another account (a deleted one, too: D-35) has this address. Reveal it only to a caller who has verified the
 * address.
 */
export function* emailTaken({ db }: Pick<Ctx, "db">, q: Q, email: string, except = 0): Steps<boolean> {
  const { users } = db.t;
  const [row] = yield* run(
    q
      .select({ id: users.id })
      .from(users)
      .where(and(eq(users.email, email), ne(users.id, except))),
  );
  return row !== undefined;
}

const tooSoon = () => new AppError("mail_too_soon", { retry_after: MAIL_PAUSE_SECONDS });

/** Mails a code to an address; the answer is the same for known and unknown ones (D-61). */
export async function sendVerification(ctx: Ctx, { email, turnstile }: z.output<typeof mailCodeInput>): Promise<void> {
  await requireHuman(ctx, turnstile);
  if (ctx.options.get("SMTPServer") === "") fail("mail_not_configured");
  checkEmail(ctx, email);
  const issued = {
    purpose: "verify-email",
    target: email,
    code: randomText(CODE_LENGTH, CODE_ALPHABET),
  } as const;
  const kept = await issueCode(ctx, { ...issued, lifetime: CODE_SECONDS, pause: MAIL_PAUSE_SECONDS });
  if (!kept) throw tooSoon();
  const name = ctx.options.get("SystemName");
  try {
    await ctx.sendMail({
      to: email,
      subject: filled(VERIFY_SUBJECT[ctx.lang], { name }),
      text: filled(VERIFY_TEXT[ctx.lang], { code: issued.code }),
    });
  } catch (error) {
    // No mail left: the next try need not wait (D-40).
    await withdrawCode(ctx, issued);
    throw error;
  }
}

/** Takes a verification code; false when it is wrong. Upper and lower case are the same. */
export function* takeVerification(ctx: Ctx, q: Q, email: string, code: string): Steps<boolean> {
  return (yield* takeCode(ctx, q, { purpose: "verify-email", target: email, code: code.toUpperCase() })) !== undefined;
}

/**
 * Mails a reset link to an account's address. An unknown address gets the same answer after the same work; the caller
 * does not wait for the mail.
 */
export async function sendReset(ctx: Ctx, { email, turnstile }: z.output<typeof mailCodeInput>): Promise<void> {
  await requireHuman(ctx, turnstile);
  if (ctx.options.get("SMTPServer") === "") fail("mail_not_configured");
  const address = ctx.options.get("ServerAddress").replace(/\/+$/, "");
  if (address === "") fail("server_address_missing");
  const token = randomText(RESET_LENGTH);
  const kept = await issueLink(ctx, {
    purpose: "reset-password",
    target: email,
    token,
    lifetime: RESET_SECONDS,
    pause: MAIL_PAUSE_SECONDS,
  });
  if (!kept) throw tooSoon();
  // The configured address, never the Host header: a mail must not lead where the sender of a request wants.
  const link = `${address}/user/reset?${new URLSearchParams({ email, token })}`;
  ctx.background.track("reset mail", mailReset(ctx, email, link));
}

async function mailReset(ctx: Ctx, email: string, link: string): Promise<void> {
  const { users } = ctx.db.t;
  const [user] = await ctx.db.q
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.email, email), eq(users.status, USER_STATUS.active), isNull(users.deleted_at)));
  if (!user) return;
  const name = ctx.options.get("SystemName");
  await ctx.sendMail({
    to: email,
    subject: filled(RESET_SUBJECT[ctx.lang], { name }),
    text: filled(RESET_TEXT[ctx.lang], { link }),
  });
}

const resetLink = (target: string, token: string) => ({ purpose: "reset-password", target, token }) as const;

/** Whether a reset token is good at this moment; `takeReset` decides. */
export const isResetGood = (ctx: Ctx, email: string, token: string): Promise<boolean> =>
  isLinkGood(ctx, resetLink(email, token));

/** Takes a reset token; the address's other links end with it. */
export const takeReset = (ctx: Ctx, q: Q, email: string, token: string): Steps<boolean> =>
  takeLink(ctx, q, resetLink(email, token));

/** Binds an address to the caller's account; the code proves that it is theirs. Throws access_token_refused. */
export async function bindEmail(ctx: UserCtx, { email, code }: z.output<typeof bindEmailInput>): Promise<void> {
  requirePerson(ctx);
  checkEmail(ctx, email);
  const { users } = ctx.db.t;
  const address = withoutNul(email);
  try {
    const bound = await ctx.db.tx(function* (q) {
      if (!(yield* takeVerification(ctx, q, address, code))) return false;
      if (yield* emailTaken(ctx, q, address, ctx.actor.id)) fail("email_taken");
      yield* run(q.update(users).set({ email: address }).where(eq(users.id, ctx.actor.id)).returning({ id: users.id }));
      yield* ctx.cluster.bus.announce(q, "users", String(ctx.actor.id));
      return true;
    });
    if (!bound) fail("verification_code_wrong");
  } catch (error) {
    if (!(error instanceof AppError) && isUniqueViolation(error)) fail("email_taken");
    throw error;
  }
}
