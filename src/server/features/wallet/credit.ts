/**
 * Credits: the steps that add units to a user once per idempotency key. Written once for both engines, and as steps, so
 * that a verb which also marks a code as used or an order as paid does both in one transaction.
 */
import { eq, sql } from "drizzle-orm";
import { UNITS_LIMIT } from "../../../shared/quota";
import type { Db, Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { forUpdate } from "../../db/sql";
import type { Credit, CreditResult } from "../../contracts/ledger";

/**
 * Runs inside `db.tx(…, { durable: true })`: credits wait for the disk. Units may be negative (a deduction), but never
 * take a balance below zero, and never lift it beyond UNITS_LIMIT. `now`: epoch seconds.
 */
export function* creditSteps(db: Db, q: Q, credit: Credit, now: number): Steps<CreditResult> {
  const { users, credits } = db.t;
  if (!Number.isSafeInteger(credit.amount)) throw new RangeError(`A credit is whole units, not ${credit.amount}`);
  // Lock order: user first. Fifty parallel credits with one key queue here.
  const [user] = yield* run(
    forUpdate(db, q.select({ quota: users.quota }).from(users).where(eq(users.id, credit.user_id))),
  );
  if (!user) return { applied: false, balance: 0, reason: "user_missing" };
  const [earlier] = yield* run(
    q.select({ id: credits.id }).from(credits).where(eq(credits.idempotency_key, credit.idempotency_key)),
  );
  if (earlier) return { applied: false, balance: user.quota, reason: "duplicate" };
  if (credit.amount < 0 && user.quota + credit.amount < 0) {
    return { applied: false, balance: user.quota, reason: "insufficient" };
  }
  if (credit.amount > 0 && user.quota + credit.amount > UNITS_LIMIT)
    return { applied: false, balance: user.quota, reason: "limit" };
  const inserted = yield* run(
    q
      .insert(credits)
      .values({
        user_id: credit.user_id,
        amount: credit.amount,
        kind: credit.kind,
        idempotency_key: credit.idempotency_key,
        note: credit.note ?? "",
        actor_id: credit.actor_id ?? 0,
        created_at: now,
      })
      // the same key for another user, at the same moment
      .onConflictDoNothing({ target: credits.idempotency_key })
      .returning({ id: credits.id }),
  );
  if (inserted.length === 0) return { applied: false, balance: user.quota, reason: "duplicate" };
  const [after] = yield* run(
    q
      .update(users)
      .set({ quota: sql`${users.quota} + ${credit.amount}` })
      .where(eq(users.id, credit.user_id))
      .returning({ quota: users.quota }),
  );
  return { applied: true, balance: after?.quota ?? user.quota + credit.amount };
}
