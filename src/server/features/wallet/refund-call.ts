/**
 * Refunds by operators: a call's charge is given back from its bill, in whole or in part, and a refund that was a
 * mistake is undone while it is young and the balance covers it. One's own calls are not refunded.
 */
import { and, asc, eq, sql } from "drizzle-orm";
import type * as z from "zod";
import { fail } from "../../../shared/errors";
import { LOG_TYPE } from "../../../shared/log";
import { REFUND_UNDO_SECONDS, type CallRefund, type refundInput } from "../../../shared/refund";
import { mayActOn } from "../../../shared/roles";
import { seconds, type UserCtx } from "../../contracts/context";
import { run, type Steps } from "../../db/transaction";
import type { LogRow } from "../../db/schema";
import { withoutNul } from "../../db/sql";
import type { Q } from "../../db/types";
import { randomText } from "../../lib/secrets";
import { auditRow } from "../audit/record";
import { lockJobOf } from "../task/refunds";
import { refundedSteps, refundRequestId, refundSteps, undoRefundSteps, undoRequestId } from "./refund";

/** A row of a type, whose user the caller may refund. Throws log_not_found, refund_own and same_or_higher_level. */
function* rowToRefund(ctx: UserCtx, q: Q, request_id: string, type: number): Steps<LogRow> {
  const { logs, users } = ctx.db.t;
  const [row] = yield* run(
    q
      .select()
      .from(logs)
      .where(and(eq(logs.request_id, withoutNul(request_id)), eq(logs.type, type))),
  );
  if (!row) return fail("log_not_found");
  if (row.user_id === ctx.actor.id) fail("refund_own");
  const [owner] = yield* run(q.select({ role: users.role }).from(users).where(eq(users.id, row.user_id)));
  const refusal = mayActOn(ctx.actor, { id: row.user_id, role: owner?.role ?? 0 }, "read");
  if (refusal) fail(refusal);
  return row;
}

/** Who did it, for administrators. */
const doneBy = ({ actor }: UserCtx) => ({ admin_info: { actor_id: actor.id, actor_name: actor.username } });

/**
 * Gives back `quota` units of a charge, or what is left of it. Throws log_not_found, refund_own, same_or_higher_level
 * and refund_exceeds.
 */
export async function refundCall(
  ctx: UserCtx,
  { request_id, quota, reason }: z.output<typeof refundInput>,
): Promise<CallRefund> {
  const note = withoutNul(reason);
  const name = randomText(12);
  return ctx.db.tx(
    function* (q) {
      const charge = yield* rowToRefund(ctx, q, request_id, LOG_TYPE.consume);
      const charge_id = charge.request_id;
      const noteInJob = yield* lockJobOf(ctx, q, charge_id);
      const leftOf = function* (): Steps<number> {
        return charge.quota - (yield* refundedSteps(ctx.db, q, charge_id));
      };
      const done = yield* refundSteps(
        ctx.db,
        q,
        {
          charge_id,
          name,
          ...(quota !== undefined && { quota }),
          text: (units) => ({ code: "call_refunded", params: { quota: units, charge_id, ...(note && { note }) } }),
          other: doneBy(ctx),
        },
        seconds(ctx),
      );
      if (!done.refunded) return fail("refund_exceeds", { left: yield* leftOf() });
      yield* noteInJob(done.quota);
      const refund_id = refundRequestId(charge_id, name);
      const left = yield* leftOf();
      const facts = { refund_id, quota: done.quota, left, ...(note && { reason: note }) };
      yield* recordSteps(ctx, q, charge, { action: "call.refund", event: "call_refunded", refund_id, facts });
      return { refund_id, quota: done.quota, left };
    },
    { durable: true },
  );
}

/**
 * Takes a refund back: `quota` are the units. Throws log_not_found, refund_own, same_or_higher_level, refund_undo_late,
 * refund_undone and refund_undo_insufficient.
 */
export async function undoRefund(ctx: UserCtx, refund_id: string): Promise<{ quota: number }> {
  return ctx.db.tx(
    function* (q) {
      const refund = yield* rowToRefund(ctx, q, refund_id, LOG_TYPE.refund);
      // A job's own refund follows its status and stays.
      if (refund.code !== "call_refunded") fail("log_not_found");
      if (seconds(ctx) - refund.created_at > REFUND_UNDO_SECONDS)
        fail("refund_undo_late", { seconds: REFUND_UNDO_SECONDS });
      const { refund_of: charge_id, quota } = refund;
      const noteInJob = yield* lockJobOf(ctx, q, charge_id);
      const text = { code: "call_refund_undone", params: { quota, charge_id } };
      const done = yield* undoRefundSteps(ctx.db, q, refund.request_id, { text, other: doneBy(ctx) }, seconds(ctx));
      if (!done.undone) return fail(done.reason === "insufficient" ? "refund_undo_insufficient" : "refund_undone");
      yield* noteInJob(-quota);
      yield* recordSteps(ctx, q, refund, {
        action: "call.refund_undo",
        event: "call_refund_undone",
        refund_id: undoRequestId(refund.request_id),
        facts: { refund_id: refund.request_id, quota },
      });
      return { quota };
    },
    { durable: true },
  );
}

/** The audit row and the event of what was booked. */
function* recordSteps(
  ctx: UserCtx,
  q: Q,
  row: LogRow,
  {
    action,
    event,
    refund_id,
    facts,
  }: {
    action: "call.refund" | "call.refund_undo";
    event: "call_refunded" | "call_refund_undone";
    /** Request id of the row that was booked. */
    refund_id: string;
    facts: { quota: number; [fact: string]: unknown };
  },
): Steps<void> {
  const target = row.refund_of || row.request_id;
  yield* run(
    q
      .insert(ctx.db.t.audit_log)
      .values(auditRow(ctx, { action, target, after: { user_id: row.user_id, ...facts } }))
      .returning({ id: ctx.db.t.audit_log.id }),
  );
  yield* ctx.events.announce({
    name: event,
    params: { quota: facts.quota, charge_id: target },
    request_id: refund_id,
    at: seconds(ctx),
    channel: row.channel,
    user_id: row.user_id,
  });
}

/** The charge of a request id with its refunds, oldest first. Throws log_not_found. */
export async function refundsOf(ctx: UserCtx, request_id: string): Promise<{ left: number; rows: LogRow[] }> {
  const { logs } = ctx.db.t;
  const charge_id = withoutNul(request_id);
  const [charge] = await ctx.db.q
    .select({ quota: logs.quota })
    .from(logs)
    .where(and(eq(logs.request_id, charge_id), eq(logs.type, LOG_TYPE.consume)));
  if (!charge) fail("log_not_found");
  const rows = await ctx.db.q
    .select()
    .from(logs)
    .where(and(eq(logs.refund_of, charge_id), sql`${logs.refund_of} <> ''`, eq(logs.type, LOG_TYPE.refund)))
    .orderBy(asc(logs.id));
  return { left: charge.quota - rows.reduce((sum, { quota }) => sum + quota, 0), rows };
}
