/**
 * Refunds: the reversing entries of a charge, for its user, its token and (by the fold) channel totals and roll-ups.
 * The charge's own row stays as it was. Written once for both engines, and as steps, so that a verb which also closes a
 * task, or writes an audit row, does both in one transaction.
 *
 * A charge may have a refund of its job and any number by operators, never more than itself together: a refund holds
 * the user's row while the earlier ones are added up. The unique request id of a refund's row is the guard
 * against booking it twice. A refund is undone by an entry of the negative amount.
 */
import { and, eq, gt, sql } from "drizzle-orm";
import * as z from "zod";
import { LOG_TYPE } from "../../../shared/log";
import { type StoredText, textColumns } from "../../../shared/log-text";
import type { Db, Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import { forUpdate, total, withoutNul } from "../../db/sql";
import { checkUnits } from "./call-log";
import type { Refund, RefundedCharge, RefundResult, UndoResult } from "../../contracts/ledger";

const kept = z.object({ admin_info: z.object({ budgets: z.array(z.string()) }) });

/** The budgets on a charge's row (ConsumeOther). */
function budgetsIn(other: string): readonly string[] {
  if (!other.includes(`"budgets"`)) return [];
  const { data } = kept.safeParse(JSON.parse(other));
  return data?.admin_info.budgets ?? [];
}

/** Request id of the row that gives a charge back: its job's, or with a name an operator's. */
export const refundRequestId = (charge_id: string, name = ""): string =>
  `${charge_id}/refund${name === "" ? "" : `/${name}`}`;

/** Request id of the row that takes a refund back. */
export const undoRequestId = (refund_id: string): string => `${refund_id}/undo`;

/** Rows of budgets outlive their period by this, in seconds: calls that began in it may end later. */
export const BUDGET_KEPT_SECONDS = 7 * 86_400;

/**
 * `units` back to the budgets that counted a charge (negative: taken), in the common lock order; budgets of periods
 * that are long over have no row any more. `since` (epoch seconds): only to those whose period ends later.
 */
export function* toBudgets(db: Db, q: Q, names: readonly string[], units: number, since?: number): Steps<void> {
  const { budget_spend } = db.t;
  const running = since === undefined ? undefined : gt(budget_spend.expires_at, since + BUDGET_KEPT_SECONDS);
  for (const name of names.toSorted()) {
    yield* run(
      q
        .update(budget_spend)
        .set({ amount: sql`${budget_spend.amount} - ${units}` })
        .where(and(eq(budget_spend.name, name), running))
        .returning({ name: budget_spend.name }),
    );
  }
}

/** What a charge's refunds came to so far, those that were undone left out. The caller holds the user's row. */
export function* refundedSteps({ t: { logs } }: Pick<Db, "t">, q: Q, charge_id: string): Steps<number> {
  const [sum] = yield* run(
    q
      .select({ units: total(logs.quota) })
      .from(logs)
      // The second condition names the index.
      .where(and(eq(logs.refund_of, charge_id), sql`${logs.refund_of} <> ''`, eq(logs.type, LOG_TYPE.refund))),
  );
  return sum?.units ?? 0;
}

type Owner = Pick<RefundedCharge, "user_id" | "token_id">;

/** `units` to user and token (negative: from them). Only a limited token pays, so only a limited one gets it back. */
function* giveSteps(
  { t: { users, tokens } }: Pick<Db, "t">,
  q: Q,
  { user_id, token_id }: Owner,
  units: number,
): Steps<void> {
  yield* run(
    q
      .update(users)
      .set({ quota: sql`${users.quota} + ${units}`, used_quota: sql`${users.used_quota} - ${units}` })
      .where(eq(users.id, user_id)),
  );
  if (token_id === 0) return;
  yield* run(
    q
      .update(tokens)
      .set({
        remain_quota: sql`${tokens.remain_quota} + case when ${tokens.unlimited_quota} then 0 else ${units} end`,
        used_quota: sql`${tokens.used_quota} - ${units}`,
      })
      .where(eq(tokens.id, token_id)),
  );
}

/**
 * The change of the upstream's cost that a refund says: a job that failed costs nothing, in proportion; what an
 * operator gives away was paid all the same.
 */
const costBack = (cost: number, name: string | undefined, share: number): number =>
  name === undefined && Number.isFinite(share) ? -Math.round(cost * share) : 0;

/** Runs inside `db.tx(…, { durable: true })`: like credits, refunds wait for the disk. `now`: epoch seconds. */
export function* refundSteps(db: Db, q: Q, refund: Refund, now: number): Steps<RefundResult> {
  const { users, logs } = db.t;
  const { charge_id, name, quota, text, other = {}, cleaned, budgets } = refund;
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
        upstream_cost: logs.upstream_cost,
      })
      .from(logs)
      .where(and(eq(logs.request_id, charge_id), eq(logs.type, LOG_TYPE.consume))),
  );
  const { other: facts, upstream_cost: cost, ...kept } = found ?? { other: "", upstream_cost: null };
  const charge: RefundedCharge | undefined = "quota" in kept ? kept : cleaned;
  if (!charge) return { refunded: false, reason: "charge_missing" };
  // Lock order: user, then token.
  yield* run(forUpdate(db, q.select({ id: users.id }).from(users).where(eq(users.id, charge.user_id))));
  const left = charge.quota - (yield* refundedSteps(db, q, charge_id));
  const asked = quota ?? (name === undefined ? charge.quota : left);
  if (asked > charge.quota) return { refunded: false, reason: "exceeds_charge" };
  const request_id = refundRequestId(charge_id, name);
  const [earlier] = yield* run(q.select({ id: logs.id }).from(logs).where(eq(logs.request_id, request_id)));
  if (earlier) return { refunded: false, reason: "duplicate" };
  if (name !== undefined && (asked > left || left === 0)) return { refunded: false, reason: "exceeds_charge" };
  // A job gives back what an operator has not given back before.
  const units = Math.min(asked, left);
  const inserted = yield* run(
    q
      .insert(logs)
      .values({
        ...charge,
        request_id,
        type: LOG_TYPE.refund,
        created_at: now,
        quota: units,
        refund_of: charge_id,
        upstream_cost: cost === null ? null : costBack(cost, name, units / charge.quota),
        ...textColumns(text?.(units)),
        other: withoutNul(JSON.stringify({ ...other, refund_of: charge_id })),
      })
      .onConflictDoNothing({ target: logs.request_id })
      .returning({ id: logs.id }),
  );
  if (inserted.length === 0) return { refunded: false, reason: "duplicate" };
  yield* giveSteps(db, q, charge, units);
  yield* toBudgets(db, q, budgets ?? budgetsIn(facts), units, now);
  return { refunded: true, quota: units };
}

/**
 * Takes a refund back, once: the same units from user, token and the budgets whose period still runs. Refused where
 * the balance, or a limited token's quota, does not cover it. Runs inside `db.tx(…, { durable: true })`. `now`: epoch
 * seconds.
 */
export function* undoRefundSteps(
  db: Db,
  q: Q,
  refund_id: string,
  { text, other = {} }: { text?: StoredText; other?: Record<string, unknown> },
  now: number,
): Steps<UndoResult> {
  const { users, tokens, logs } = db.t;
  const [refund] = yield* run(
    q
      .select()
      .from(logs)
      .where(and(eq(logs.request_id, refund_id), eq(logs.type, LOG_TYPE.refund))),
  );
  if (!refund || refund.quota < 0) return { undone: false, reason: "refund_missing" };
  const { user_id, token_id, refund_of, quota: units } = refund;
  // Lock order: user, then token.
  const [user] = yield* run(forUpdate(db, q.select({ quota: users.quota }).from(users).where(eq(users.id, user_id))));
  const [token] = yield* run(
    forUpdate(
      db,
      q
        .select({ unlimited: tokens.unlimited_quota, remain_quota: tokens.remain_quota })
        .from(tokens)
        .where(eq(tokens.id, token_id)),
    ),
  );
  const request_id = undoRequestId(refund_id);
  const [earlier] = yield* run(q.select({ id: logs.id }).from(logs).where(eq(logs.request_id, request_id)));
  if (earlier) return { undone: false, reason: "duplicate" };
  const spendable = Math.min(
    user?.quota ?? 0,
    token && !token.unlimited ? token.remain_quota : Number.MAX_SAFE_INTEGER,
  );
  if (spendable < units) return { undone: false, reason: "insufficient" };
  const { username, token_name, channel, channel_name, group, model_name, visible } = refund;
  yield* run(
    q
      .insert(logs)
      .values({
        user_id,
        username,
        token_id,
        token_name,
        channel,
        channel_name,
        group,
        model_name,
        visible,
        request_id,
        type: LOG_TYPE.refund,
        created_at: now,
        quota: -units,
        refund_of,
        upstream_cost: refund.upstream_cost === null ? null : -refund.upstream_cost,
        ...textColumns(text),
        other: withoutNul(JSON.stringify({ ...other, refund_of })),
      })
      .returning({ id: logs.id }),
  );
  yield* giveSteps(db, q, refund, -units);
  const [charge] = yield* run(
    q
      .select({ other: logs.other })
      .from(logs)
      .where(and(eq(logs.request_id, refund_of), eq(logs.type, LOG_TYPE.consume))),
  );
  yield* toBudgets(db, q, budgetsIn(charge?.other ?? ""), -units, now);
  return { undone: true, quota: units };
}
