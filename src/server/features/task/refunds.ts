/** Refunds of a job's charge in the job's own row: `quota` is what was charged less them, `refunded` their sum. */
import { and, between, eq, sql } from "drizzle-orm";
import type { Services } from "../../contracts/context";
import type { Task } from "../../contracts/task-store";
import { run, type Steps } from "../../db/transaction";
import { forUpdate } from "../../db/sql";
import type { Q } from "../../db/types";
import { refundedSteps } from "../wallet/refund";
import { isChargeRow } from "./row";

/** A job is charged within so many milliseconds of its submit, by the clocks of two instances at worst. */
const CHARGED_WITHIN_MS = 86_400_000;
const OVER: readonly string[] = ["SUCCESS", "FAILURE"];

/**
 * Locks the job that a charge belongs to, before the user's row as the end of a job does, and returns the step that
 * books `units` given back (negative: taken) in it. While the job runs its row stays: the end adds up all refunds.
 */
export function* lockJobOf(
  { db }: Pick<Services, "db">,
  q: Q,
  charge_id: string,
): Steps<(units: number) => Steps<void>> {
  const { tasks: t, logs } = db.t;
  const [charge] = yield* run(
    q.select({ user_id: logs.user_id, created_at: logs.created_at }).from(logs).where(isChargeRow(db.t, charge_id)),
  );
  const at = (charge?.created_at ?? 0) * 1000;
  // By its owner and time, which have an index.
  const [job] = yield* run(
    forUpdate(
      db,
      q
        .select({ id: t.id, status: t.status })
        .from(t)
        .where(
          and(
            eq(t.user_id, charge?.user_id ?? 0),
            between(t.submit_time_ms, at - CHARGED_WITHIN_MS, at + CHARGED_WITHIN_MS),
            eq(t.charge_id, charge_id),
          ),
        ),
    ),
  );
  return function* (units) {
    if (!job || !OVER.includes(job.status)) return;
    yield* run(
      q
        .update(t)
        .set({ quota: sql`${t.quota} - ${units}`, refunded: sql`${t.refunded} + ${units}` })
        .where(eq(t.id, job.id))
        .returning({ id: t.id }),
    );
  };
}

/** Writes what was given back of a job that ends now, by its end and by operators before. */
export function* noteRefunds({ db }: Pick<Services, "db">, q: Q, { id, charge_id, quota }: Task): Steps<void> {
  const t = db.t.tasks;
  const refunded = yield* refundedSteps(db, q, charge_id);
  if (refunded === 0) return;
  yield* run(
    q
      .update(t)
      // A sweep charges without a note in the job's row: its quota may be less than what is given back.
      .set({ quota: Math.max(0, quota - refunded), refunded })
      .where(eq(t.id, id))
      .returning({ id: t.id }),
  );
}
