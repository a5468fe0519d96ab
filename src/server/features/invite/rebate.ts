/** The inviter's share of what an invited user pays (C-014). */
import { eq, sql } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import type { Services } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import type { OrderRow } from "../../db/schema";

/**
 * Called inside the transaction that completes a paid order, after its credit. Gives the inviter of the payer
 * InviteRebatePercent of the order's units as invitation earnings, rounded down, once for each order. Returns the
 * units, 0 when there is nothing to give. `now`: epoch seconds.
 */
export function* payRebate(
  services: Pick<Services, "db" | "options" | "now" | "events">,
  q: Q,
  order: OrderRow,
  now: number,
): Steps<number> {
  const { users, dividends } = services.db.t;
  const amount = Math.floor((order.quota * services.options.get("InviteRebatePercent")) / 100);
  if (amount <= 0) return 0;
  const [payer] = yield* run(q.select({ inviter_id: users.inviter_id }).from(users).where(eq(users.id, order.user_id)));
  if (!payer || payer.inviter_id === 0) return 0;
  const [inviter] = yield* run(q.select().from(users).where(eq(users.id, payer.inviter_id)));
  if (!inviter || inviter.deleted_at !== null) return 0;
  const first = yield* run(
    q
      .insert(dividends)
      .values({ user_id: inviter.id, invitee_id: order.user_id, order_id: order.id, amount, created_at: now })
      .onConflictDoNothing({ target: dividends.order_id })
      .returning({ id: dividends.id }),
  );
  if (first.length === 0) return 0;
  yield* earn(services, q, inviter.id, amount);
  yield* services.events.record(q, {
    type: "system",
    user: inviter,
    quota: amount,
    event: "rebate",
    params: { invitee_id: order.user_id },
    other: { order_id: order.id, invitee_id: order.user_id },
  });
  return amount;
}

/** Adds invitation earnings; they become balance by a transfer only. */
export function* earn({ db }: Pick<Services, "db">, q: Q, user_id: number, amount: number): Steps<void> {
  const { users } = db.t;
  const changed = yield* run(
    q
      .update(users)
      .set({
        aff_quota: sql`${users.aff_quota} + ${amount}`,
        aff_history_quota: sql`${users.aff_history_quota} + ${amount}`,
      })
      .where(eq(users.id, user_id))
      .returning({ id: users.id }),
  );
  if (changed.length === 0) fail("user_not_found");
}
