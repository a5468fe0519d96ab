/** Invitation codes: made at the first request, found when a user registers with one. */
import { and, eq, isNull } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { INVITE_LIMITS } from "../../../shared/invite";
import type { UserCtx } from "../../contracts/context";
import type { Db, Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import type { UserRow } from "../../db/schema";
import { withoutNul } from "../../db/sql";
import { isUniqueViolation } from "../../db/errors";
import { randomText } from "../../lib/secrets";

/** Codes of one length that may be taken before a longer one is tried. */
const TRIES_PER_LENGTH = 4;

/** The caller's code, the same on each call. Letters and digits, 4 of them while there is room (D-64). */
export async function inviteCode(ctx: UserCtx, draw: (length: number) => string = randomText): Promise<string> {
  const { users } = ctx.db.t;
  const mine = eq(users.id, ctx.actor.id);
  for (let attempt = 0; ; attempt++) {
    const [row] = await ctx.db.q.select({ code: users.aff_code }).from(users).where(mine);
    if (!row) fail("user_not_found");
    if (row.code) return row.code;
    try {
      // Another call may have made it meanwhile: then nothing changes and the next round reads that one.
      const aff_code = draw(INVITE_LIMITS.code + Math.floor(attempt / TRIES_PER_LENGTH));
      await ctx.db.q
        .update(users)
        .set({ aff_code })
        .where(and(mine, isNull(users.aff_code)))
        .returning({ id: users.id });
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
    }
  }
}

/**
 * The inviter of this code; undefined for an unknown one, which a registration ignores (D-63), and for deleted users.
 */
export function* findInviter(db: Db, q: Q, code: string | undefined): Steps<UserRow | undefined> {
  const { users } = db.t;
  const text = withoutNul(code?.trim() ?? "");
  if (text === "") return undefined;
  const [row] = yield* run(
    q
      .select()
      .from(users)
      .where(and(eq(users.aff_code, text), isNull(users.deleted_at))),
  );
  return row;
}
