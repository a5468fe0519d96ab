/** A person's data in invitations: for their export, and what an erasure removes of it. Amounts stay, for the audit. */
import { and, asc, eq, inArray } from "drizzle-orm";
import type { UserCtx } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { presentWithdrawal } from "./present";

/** Lines of an export: withdrawals and shares of orders. */
export async function earningLines(ctx: UserCtx, user_id: number): Promise<object[]> {
  const { withdrawals, dividends } = ctx.db.t;
  const [asked, shares] = await Promise.all([
    ctx.db.read.select().from(withdrawals).where(eq(withdrawals.user_id, user_id)).orderBy(asc(withdrawals.id)),
    ctx.db.read.select().from(dividends).where(eq(dividends.user_id, user_id)).orderBy(asc(dividends.id)),
  ]);
  return [
    ...asked.map((row) => ({ kind: "withdrawal", ...presentWithdrawal(row) })),
    ...shares.map(({ id, amount, created_at }) => ({ kind: "dividend", id, amount, created_at })),
  ];
}

/** Removes where the money went, and notes about it, here and in the audit log. */
export function* eraseEarningSteps({ db }: Pick<UserCtx, "db">, q: Q, user_id: number): Steps<void> {
  const { withdrawals, audit_log } = db.t;
  const rows = yield* run(
    q
      .update(withdrawals)
      .set({ account: "", note: "" })
      .where(eq(withdrawals.user_id, user_id))
      .returning({ id: withdrawals.id }),
  );
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => String(id));
  yield* run(
    q
      .update(audit_log)
      .set({ before: "", after: "" })
      .where(and(eq(audit_log.target_type, "withdrawal"), inArray(audit_log.target_id, ids)))
      .returning({ id: audit_log.id }),
  );
}
