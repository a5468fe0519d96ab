/** A user's test of their own notifications. */
import { eq } from "drizzle-orm";
import { AppError, fail } from "../../../shared/errors";
import { ROLE } from "../../../shared/roles";
import type { UserCtx } from "../../contracts/context";
import { deliver, isReachable, recipientColumns, recipientOf } from "./deliver";

/** Sends a test notice to the caller. Throws notice_unreachable, address_forbidden, mail_*, notice_failed. */
export async function testNotice(ctx: UserCtx): Promise<void> {
  const { users } = ctx.db.t;
  const [row] = await ctx.db.q.select(recipientColumns(ctx.db.t)).from(users).where(eq(users.id, ctx.actor.id));
  if (!row) fail("user_not_found");
  const recipient = recipientOf(row);
  if (!isReachable(ctx, recipient)) fail("notice_unreachable");
  try {
    await deliver(ctx, recipient, { type: "test", values: { link: "" } });
  } catch (error) {
    // Root set up the mail server and needs its answer; any other receiver's answer is for its own user.
    const cause =
      error instanceof AppError && error.code === "mail_failed" && ctx.actor.role >= ROLE.root ? error.cause : error;
    if (cause instanceof AppError) throw cause;
    throw new AppError("notice_failed", { detail: cause instanceof Error ? cause.message : "" }, { cause });
  }
}
