/** More quota for a token, by an administrator who may change its owner: what a failed call asks for. */
import { and, eq, isNull, lte, sql } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { TOKEN_LIMITS } from "../../../shared/token";
import type { UserCtx } from "../../contracts/context";
import { run } from "../../db/transaction";
import { auditRow } from "../audit/record";
import { lockedTarget } from "../user/manage";
import { storeSteps } from "./service";

/**
 * Adds `quota` units to what a token may spend, whatever it spends meanwhile; returns what it has then. Throws
 * token_not_found, token_quota_invalid (more than a token may have) and the refusals of `mayActOn` for its owner.
 */
export async function raiseTokenQuota(
  ctx: UserCtx,
  { id, quota }: { id: number; quota: number },
): Promise<{ id: number; name: string; remain_quota: number }> {
  const { tokens, audit_log } = ctx.db.t;
  return ctx.db.tx(
    function* (q) {
      const [found] = yield* run(
        q
          .select({ owner: tokens.user_id })
          .from(tokens)
          .where(and(eq(tokens.id, id), isNull(tokens.deleted_at))),
      );
      if (!found) return fail("token_not_found");
      yield* lockedTarget(ctx, q, found.owner, "update");
      const token = { id, owner: found.owner, where: lte(tokens.remain_quota, TOKEN_LIMITS.quota - quota) };
      const row = yield* storeSteps(ctx, q, token, { remain_quota: sql`${tokens.remain_quota} + ${quota}` });
      if (!row) return fail("token_quota_invalid");
      const { name, remain_quota, user_id } = row;
      const before = { remain_quota: remain_quota - quota };
      const after = { remain_quota, name, user_id };
      yield* run(q.insert(audit_log).values(auditRow(ctx, { action: "token.quota", target: id, before, after })));
      return { id, name, remain_quota };
    },
    { durable: true },
  );
}
