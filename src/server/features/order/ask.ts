/**
 * Lost callbacks: pending orders are queried at their provider, each a minute after it was made and then after a fifth
 * of its age, half an hour at most, for a day; then they expire. One instance does it (a lease).
 */
import { and, asc, eq, gt, inArray, lt, lte, or, sql } from "drizzle-orm";
import { ORDER_LIFE, STRANGERS, type Verdict } from "../../../shared/order";
import { type Services, seconds } from "../../contracts/context";
import { run } from "../../db/transaction";
import type { OrderRow } from "../../db/schema";
import { askEpay, epayConfig } from "./epay";
import { FIRST_CHECK } from "./service";
import { endOrder, isSettled, settlePayment } from "./settle";
import { askStripe, stripeConfig, StripeRefusal, type StripeState } from "./stripe";

/** Orders of one round, and how many are queried at a time. */
const BATCH = 40;
const AT_ONCE = 4;
const LONGEST_WAIT = 1800;

/** Seconds until an order of this age is queried again: a minute for the first five, then growing. */
export const nextWait = (age: number): number => Math.min(Math.max(FIRST_CHECK, Math.floor(age / 5)), LONGEST_WAIT);

/**
 * One round: queries every order that is due. Returns how many it credited. A provider that cannot be reached is
 * skipped for the rest of the round, so that a round takes seconds however many orders wait.
 */
export async function askAboutOrders(services: Services): Promise<number> {
  const { orders } = services.db.t;
  // The literal condition makes the partial index usable.
  const now = seconds(services);
  // Later than any pause lasts: the clock was set back since.
  const isDue = or(lte(orders.next_check_at, now), gt(orders.next_check_at, now + 2 * LONGEST_WAIT));
  const due = and(sql`next_check_at <> 0`, isDue);
  const rows = await services.db.q.select().from(orders).where(due).orderBy(asc(orders.next_check_at)).limit(BATCH);
  let credited = 0;
  const queue = rows.values();
  const down = new Set<string>();
  const work = async () => {
    for (const order of queue) {
      if (!down.has(order.provider) && (await askAbout(services, order, down)) === "credited") credited++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return credited;
}

/** The provider's answer; undefined when it cannot be queried. */
async function stateOf({ options, env }: Services, order: OrderRow): Promise<StripeState | undefined> {
  if (order.provider === "stripe") {
    const config = stripeConfig(options, env);
    return config && order.provider_ref !== "" ? askStripe(config, order.provider_ref) : undefined;
  }
  const config = epayConfig(options);
  if (!config) return undefined;
  const payment = await askEpay(config, env, order.trade_no);
  return payment ? { kind: "paid", payment } : { kind: "open" };
}

/** Adds the provider to `down` when it gave no answer. */
async function askAbout(services: Services, order: OrderRow, down: Set<string>): Promise<Verdict | undefined> {
  const provider = order.provider === "stripe" ? "stripe" : "epay";
  let note = "";
  try {
    const state = await stateOf(services, order);
    if (state?.kind === "paid") {
      const verdict = await settlePayment(services, state.payment);
      if (isSettled(verdict)) return verdict;
      note = verdict;
      services.log.error(
        { trade_no: order.trade_no, verdict },
        "the payment provider reports a payment that does not fit its order",
      );
    }
    if (state?.kind === "ended") {
      await endOrder(services, order.trade_no, state.status, provider);
      return undefined;
    }
  } catch (err) {
    services.log.warn({ err, trade_no: order.trade_no }, "a payment provider could not be asked about an order");
    note = "unreachable";
    if (!(err instanceof StripeRefusal)) down.add(order.provider);
  }
  const now = seconds(services);
  const age = now - order.create_time;
  if (age >= ORDER_LIFE) {
    await endOrder(services, order.trade_no, "expired", provider);
    return undefined;
  }
  const { orders } = services.db.t;
  await services.db.q
    .update(orders)
    .set({ next_check_at: now + nextWait(age), checks: sql`${orders.checks} + 1`, note })
    .where(and(eq(orders.id, order.id), eq(orders.status, "pending")))
    .returning({ id: orders.id });
  return undefined;
}

const DAY = 24 * 3600;
/** Days that callbacks are kept: half a year, and a week for those that were not believed. */
const KEPT_DAYS = 180;
const STRANGERS_KEPT_DAYS = 7;
const ROWS_AT_ONCE = 500;

/** Deletes callbacks past their time, in small batches. */
export async function forgetCallbacks(services: Pick<Services, "db" | "now">): Promise<void> {
  const t = services.db.t.payment_callbacks;
  const now = seconds(services);
  const strangers = inArray(t.verdict, [...STRANGERS]);
  const old = [
    lt(t.received_at, now - KEPT_DAYS * DAY),
    and(lt(t.received_at, now - STRANGERS_KEPT_DAYS * DAY), strangers),
  ];
  for (const where of old) {
    for (let gone = ROWS_AT_ONCE; gone === ROWS_AT_ONCE;) {
      gone = await services.db.tx(function* (q) {
        const rows = yield* run(
          q.select({ id: t.id }).from(t).where(where).orderBy(asc(t.received_at)).limit(ROWS_AT_ONCE),
        );
        const ids = rows.map((row) => row.id);
        if (ids.length > 0) yield* run(q.delete(t).where(inArray(t.id, ids)).returning({ id: t.id }));
        return ids.length;
      });
    }
  }
}
