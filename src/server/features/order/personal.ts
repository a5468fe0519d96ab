/** What an erasure removes from one person's orders. The orders stay, for the audit: they have an id and no name. */
import { eq, inArray } from "drizzle-orm";
import type { Services } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";

/** Removes the payment providers' data of the payer: Stripe's events contain name and address. */
export function* eraseOrderSteps({ db }: Pick<Services, "db">, q: Q, user_id: number): Steps<void> {
  const { orders, payment_callbacks } = db.t;
  const own = q.select({ trade_no: orders.trade_no }).from(orders).where(eq(orders.user_id, user_id));
  yield* run(
    q
      .update(payment_callbacks)
      .set({ body: "" })
      .where(inArray(payment_callbacks.trade_no, own))
      .returning({ id: payment_callbacks.id }),
  );
}
