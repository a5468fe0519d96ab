/** A user's look at his own way of being told: try it now. */
import { eq } from "drizzle-orm";
import { AppError, fail } from "../../../shared/errors";
import type { UserCtx } from "../../context";
import { deliver, isReachable, recipientOf } from "./deliver";

/** Sends a test notice to the caller. Throws notice_unreachable, address_forbidden, mail_*, notice_failed. */
export async function testNotice(ctx: UserCtx): Promise<void> {
  const { users } = ctx.db.t;
  const [row] = await ctx.db.q
    .select({ id: users.id, email: users.email, setting: users.setting })
    .from(users)
    .where(eq(users.id, ctx.actor.id));
  if (!row) fail("user_not_found");
  const recipient = recipientOf(row);
  if (!isReachable(ctx, recipient)) fail("notice_unreachable");
  try {
    await deliver(ctx, recipient, { type: "test", values: { link: "" } });
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("notice_failed", { detail: error instanceof Error ? error.message : "" }, { cause: error });
  }
}
