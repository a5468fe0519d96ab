/**
 * How an order is paid: once, whichever report comes and however often. Crediting, marking the order, the log row and
 * the record of the callback are one transaction, so a process that dies leaves all of it or nothing.
 */
import { and, eq, inArray } from "drizzle-orm";
import { centsOf, ORDER_STATUSES, PAYABLE_STATUSES, type PaymentProvider, type Verdict } from "../../../shared/order";
import { type Services, seconds } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import type { OrderRow } from "../../db/schema";
import { payRebate } from "../invite/rebate";
import { creditSteps } from "../wallet/credit";

/** A payment as a provider reports it; its signature or answer was verified. */
export interface Payment {
  provider: PaymentProvider;
  trade_no: string;
  /** The provider's own id of it. */
  provider_ref: string;
  /** Decimal text of the currency's major unit. */
  money: string;
  currency: string;
  /** Absent where the provider does not say. */
  payment_method?: string;
}

export const isSettled = (verdict: Verdict): boolean =>
  verdict === "credited" || verdict === "repeated" || verdict === "noted";

/** The first difference between a payment and the order that it names. */
function difference(order: OrderRow, payment: Payment): Verdict | undefined {
  if (order.provider !== payment.provider) return "provider";
  const cents = centsOf(payment.money);
  if (cents === undefined || cents !== centsOf(order.money) || payment.currency.toLowerCase() !== order.currency)
    return "amount";
  if (payment.payment_method !== undefined && payment.payment_method !== order.payment_method) return "method";
  // Only Stripe's id is known before it is paid.
  if (order.status !== "success" && order.provider_ref !== "" && order.provider_ref !== payment.provider_ref)
    return "order";
  return undefined;
}

type NewCallback = Services["db"]["t"]["payment_callbacks"]["$inferInsert"];

/** Credits the order of a verified payment; `callback` is kept with the verdict in the same transaction. */
export function settlePayment(
  services: Services,
  payment: Payment,
  callback?: Omit<NewCallback, "verdict">,
): Promise<Verdict> {
  const { orders, payment_callbacks } = services.db.t;
  return services.db.tx(
    function* (q) {
      const [order] = yield* run(q.select().from(orders).where(eq(orders.trade_no, payment.trade_no)));
      const against = order ? difference(order, payment) : "order";
      const verdict =
        order && !against
          ? yield* completeSteps(services, q, order, { provider_ref: payment.provider_ref })
          : (against ?? "order");
      if (callback)
        yield* run(
          q
            .insert(payment_callbacks)
            .values({ ...callback, verdict })
            .returning({ id: payment_callbacks.id }),
        );
      return verdict;
    },
    { durable: true },
  );
}

/** The credit, the mark, the log row. `completed_by`: the administrator who confirms it. */
export function* completeSteps(
  services: Services,
  q: Q,
  order: OrderRow,
  { provider_ref = order.provider_ref, completed_by = 0 }: { provider_ref?: string; completed_by?: number },
): Steps<Verdict> {
  const { orders, users } = services.db.t;
  if (order.status === "refunded") return "state";
  const now = seconds(services);
  const note = `${order.trade_no} ${order.money} ${order.currency}`;
  // Locks the user; of any number of reports at the same moment one goes on from here.
  const credit = {
    user_id: order.user_id,
    amount: order.quota,
    kind: "order",
    idempotency_key: `order:${order.trade_no}`,
    note,
    actor_id: completed_by,
  } as const;
  const done = yield* creditSteps(services.db, q, credit, now);
  if (!done.applied) return done.reason === "duplicate" ? "repeated" : "user";
  const [paid] = yield* run(
    q
      .update(orders)
      .set({ status: "success", complete_time: now, provider_ref, completed_by, next_check_at: 0, note: "" })
      .where(and(eq(orders.id, order.id), inArray(orders.status, [...PAYABLE_STATUSES])))
      .returning(),
  );
  // Thrown, so that the credit is undone.
  if (!paid) throw new Error(`order ${order.trade_no} has no state in which it can be paid`);
  const [user] = yield* run(
    q.select({ id: users.id, username: users.username }).from(users).where(eq(users.id, order.user_id)),
  );
  yield* services.events.record(q, {
    type: "topup",
    user: user ?? { id: order.user_id, username: "" },
    quota: order.quota,
    event: completed_by ? "order_completed" : "order_paid",
    params: { money: order.money, currency: order.currency.toUpperCase(), trade_no: order.trade_no },
    other: { order_id: order.id, trade_no: order.trade_no, provider: order.provider, completed_by },
  });
  yield* payRebate(services, q, paid, now);
  return "credited";
}

/** Ends an unpaid order. Nothing happens to one that was paid meanwhile. */
export async function endOrder(
  { db, changes }: Pick<Services, "db" | "changes">,
  trade_no: string,
  status: "expired" | "failed",
  provider: PaymentProvider,
): Promise<void> {
  const { orders } = db.t;
  const [ended] = await db.q
    .update(orders)
    .set({ status, next_check_at: 0 })
    .where(and(eq(orders.trade_no, trade_no), eq(orders.provider, provider), eq(orders.status, "pending")))
    .returning({ owner: orders.user_id });
  if (ended) changes.tell("order", ended.owner);
}

/** The state's name in messages. */
export const statusText = (status: string, lang: "zh" | "en"): string =>
  Object.entries(ORDER_STATUSES).find(([name]) => name === status)?.[1][lang] ?? status;
