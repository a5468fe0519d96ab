/** What a registration gives to the new user and to the inviter. */
import { and, eq, sql } from "drizzle-orm";
import type { Services } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import type { UserRow } from "../../db/schema";
import type { EventName } from "../../../shared/events";
import { creditSteps } from "../wallet/credit";
import type { Credit } from "../../contracts/ledger";
import { earn } from "./rebate";

type Money = Pick<Services, "db" | "options" | "now" | "events">;
type Who = Pick<UserRow, "id" | "username">;

/**
 * Called inside the durable transaction that inserted `user` (whose inviter_id must still be 0: it is set here, so a
 * second call for the same user gives nothing). Credits QuotaForNewUser; with an inviter also QuotaForInvitee, and the
 * inviter gets a higher count and QuotaForInviter as invitation earnings. `now`: epoch seconds.
 */
export function* rewardRegistration(
  services: Money,
  q: Q,
  user: Who,
  inviter: Who | undefined,
  now: number,
): Steps<void> {
  const { db, options } = services;
  const { users } = db.t;
  yield* reward(
    services,
    q,
    user,
    { amount: options.get("QuotaForNewUser"), cause: "new", event: "registration_reward" },
    now,
  );
  if (!inviter || inviter.id === user.id) return;
  const bound = yield* run(
    q
      .update(users)
      .set({ inviter_id: inviter.id })
      .where(and(eq(users.id, user.id), eq(users.inviter_id, 0)))
      .returning({ id: users.id }),
  );
  if (bound.length === 0) return;
  yield* reward(
    services,
    q,
    user,
    { amount: options.get("QuotaForInvitee"), cause: "invitee", event: "invitee_reward" },
    now,
  );
  yield* run(
    q
      .update(users)
      .set({ aff_count: sql`${users.aff_count} + 1` })
      .where(eq(users.id, inviter.id))
      .returning({ id: users.id }),
  );
  const amount = options.get("QuotaForInviter");
  if (amount === 0) return;
  yield* earn(services, q, inviter.id, amount);
  const params = { invitee_id: user.id };
  yield* services.events.record(q, { type: "system", user: inviter, quota: amount, event: "inviter_reward", params });
}

/** A credit with its log row, once for each user and cause; nothing for 0. */
function* reward(
  services: Money,
  q: Q,
  user: Who,
  { amount, cause, event }: { amount: number; cause: string; event: EventName },
  now: number,
): Steps<void> {
  if (amount === 0) return;
  const credit: Credit = {
    user_id: user.id,
    amount,
    kind: "reward",
    idempotency_key: `reward:${cause}:${user.id}`,
    note: cause,
  };
  const { applied } = yield* creditSteps(services.db, q, credit, now);
  if (applied) yield* services.events.record(q, { type: "system", user, quota: amount, event });
}
