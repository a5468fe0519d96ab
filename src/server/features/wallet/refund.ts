/**
 * Refunds: the reversing entry of a charge, for its user, its token and (by the fold) channel totals and roll-ups. The
 * charge's own row stays as it was. Written once for both engines, and as steps, so that a verb which also closes a
 * task does both in one transaction. A charge is refunded once, in whole or in part: the unique request id of the
 * refund's row, made from the charge's, is the guard. Budgets that counted the charge, and are named on its row, count
 * it no longer.
 */
import { and, eq, sql } from "drizzle-orm";
import * as z from "zod";
import { LOG_TYPE } from "../../../shared/log";
import { textColumns } from "../../../shared/log-text";
import type { Db, Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { forUpdate, withoutNul } from "../../db/sql";
import { checkUnits } from "./call-log";
import type { Refund, RefundedCharge, RefundResult } from "../../contracts/ledger";

const kept = z.object({ admin_info: z.object({ budgets: z.array(z.string()) }) });

/** The budgets on a charge's row (ConsumeOther). */
function budgetsIn(other: string): readonly string[] {
  if (!other.includes(`"budgets"`)) return [];
  const { data } = kept.safeParse(JSON.parse(other));
  return data?.admin_info.budgets ?? [];
}

/** Request id of the row that gives a charge back. */
export const refundRequestId = (charge_id: string): string => `${charge_id}/refund`;

/**
 * `units` back to the budgets that counted a charge (negative: taken), in the common lock order; budgets of periods
 * that are long over have no row any more.
 */
export function* toBudgets(db: Db, q: Q, names: readonly string[], units: number): Steps<void> {
  const { budget_spend } = db.t;
  for (const name of names.toSorted()) {
    yield* run(
      q
        .update(budget_spend)
        .set({ amount: sql`${budget_spend.amount} - ${units}` })
        .where(eq(budget_spend.name, name))
        .returning({ name: budget_spend.name }),
    );
  }
}

/** Runs inside `db.tx(…, { durable: true })`: like credits, refunds wait for the disk. `now`: epoch seconds. */
export function* refundSteps(db: Db, q: Q, refund: Refund, now: number): Steps<RefundResult> {
  const { users, tokens, logs } = db.t;
  const { charge_id, quota, text, other = {}, cleaned, budgets } = refund;
  if (quota !== undefined) checkUnits(quota);
  const [found] = yield* run(
    q
      .select({
        user_id: logs.user_id,
        username: logs.username,
        token_id: logs.token_id,
        token_name: logs.token_name,
        channel: logs.channel,
        channel_name: logs.channel_name,
        group: logs.group,
        model_name: logs.model_name,
        quota: logs.quota,
        visible: logs.visible,
        other: logs.other,
      })
      .from(logs)
      .where(and(eq(logs.request_id, charge_id), eq(logs.type, LOG_TYPE.consume))),
  );
  const { other: facts, ...kept } = found ?? { other: "" };
  const charge: RefundedCharge | undefined = "quota" in kept ? kept : cleaned;
  if (!charge) return { refunded: false, reason: "charge_missing" };
  const { user_id, token_id } = charge;
  const units = quota ?? charge.quota;
  if (units > charge.quota) return { refunded: false, reason: "exceeds_charge" };
  // Lock order: user, then token.
  yield* run(forUpdate(db, q.select({ id: users.id }).from(users).where(eq(users.id, user_id))));
  const inserted = yield* run(
    q
      .insert(logs)
      .values({
        ...charge,
        request_id: refundRequestId(charge_id),
        type: LOG_TYPE.refund,
        created_at: now,
        quota: units,
        refund_of: charge_id,
        ...textColumns(text),
        other: withoutNul(JSON.stringify({ ...other, refund_of: charge_id })),
      })
      .onConflictDoNothing({ target: logs.request_id })
      .returning({ id: logs.id }),
  );
  if (inserted.length === 0) return { refunded: false, reason: "duplicate" };
  yield* run(
    q
      .update(users)
      .set({ quota: sql`${users.quota} + ${units}`, used_quota: sql`${users.used_quota} - ${units}` })
      .where(eq(users.id, user_id)),
  );
  if (token_id !== 0) {
    yield* run(
      q
        .update(tokens)
        .set({
          // Like the charge: only a limited token pays, so only a limited one gets it back.
          remain_quota: sql`${tokens.remain_quota} + case when ${tokens.unlimited_quota} then 0 else ${units} end`,
          used_quota: sql`${tokens.used_quota} - ${units}`,
        })
        .where(eq(tokens.id, token_id)),
    );
  }
  yield* toBudgets(db, q, budgets ?? budgetsIn(facts), units);
  return { refunded: true, quota: units };
}
