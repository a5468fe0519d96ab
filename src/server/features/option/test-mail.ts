/** Tests the SMTP settings with a real mail. */
import { eq } from "drizzle-orm";
import { AppError, fail } from "../../../shared/errors";
import type { Text } from "../../../shared/text";
import type { UserCtx } from "../../contracts/context";

const SUBJECT: Text = { zh: "{name} 测试邮件", en: "{name} test mail" };
const TEXT: Text = {
  zh: "收到本邮件说明 SMTP 设置有效。",
  en: "This mail says that the SMTP settings work.",
};

/**
 * Sends a mail by the saved settings to `to`, "" = the caller's own address; returns its address. Root sees the mail
 * server's answer. Throws mail_not_configured, mail_address_invalid, mail_test_failed.
 */
export async function sendTestMail(ctx: UserCtx, to: string): Promise<string> {
  const address = to || (await ownAddress(ctx));
  const name = ctx.options.get("SystemName");
  try {
    await ctx.sendMail({ to: address, subject: SUBJECT[ctx.lang].replace("{name}", () => name), text: TEXT[ctx.lang] });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "mail_failed") throw error;
    const { cause } = error;
    throw new AppError(
      "mail_test_failed",
      { detail: cause instanceof Error ? cause.message : error.message },
      { cause },
    );
  }
  return address;
}

async function ownAddress(ctx: UserCtx): Promise<string> {
  const { users } = ctx.db.t;
  const [row] = await ctx.db.q.select({ email: users.email }).from(users).where(eq(users.id, ctx.actor.id));
  return row?.email || fail("mail_address_invalid");
}
