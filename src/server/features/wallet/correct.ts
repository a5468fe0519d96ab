/**
 * The true settle of a call that a sweep has charged meanwhile at its running cost: the charge becomes the call's, for
 * its user, its token, the roll-ups and its log row. Written once for both engines. It happens once: the corrected row
 * is not marked as a sweep's any more.
 */
import { and, eq, sql } from "drizzle-orm";
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import type { Db, Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import type { LogRow } from "../../db/schema";
import { forUpdate } from "../../db/sql";
import { figuresOf, firstTokenIn } from "../log/hour-sums";
import { reopenSteps } from "../log/sums";
import { chargeable, logRow } from "./call-log";
import type { Settlement, SettleResult } from "../../contracts/ledger";

/** In `other` of a charge that a sweep made, and of no other. */
export const SWEPT = { swept: true } as const;

function isSwept(other: string): boolean {
  if (!other.includes(`"swept"`)) return false;
  const facts: unknown = JSON.parse(other);
  return typeof facts === "object" && facts !== null && "swept" in facts && facts.swept === SWEPT.swept;
}

/**
 * Makes a sweep's charge the settlement's. Nothing else is touched, nor a charge that was given back: then
 * `settled: false`.
 */
export function* correctSteps(db: Db, q: Q, settlement: Settlement): Steps<SettleResult> {
  const { users, tokens, logs } = db.t;
  const { request_id, user_id, token_id } = settlement;
  // Lock order: user, token, log row, roll-ups. A refund of this charge waits at the user.
  const [user] = yield* run(
    forUpdate(
      db,
      q.select({ quota: users.quota, used_quota: users.used_quota }).from(users).where(eq(users.id, user_id)),
    ),
  );
  const [token] =
    token_id === 0
      ? []
      : yield* run(
          forUpdate(
            db,
            q
              .select({ unlimited: tokens.unlimited_quota, remain_quota: tokens.remain_quota })
              .from(tokens)
              .where(eq(tokens.id, token_id)),
          ),
        );
  const [row] = yield* run(
    forUpdate(
      db,
      q
        .select()
        .from(logs)
        .where(and(eq(logs.request_id, request_id), eq(logs.type, LOG_TYPE.consume))),
    ),
  );
  if (!user || !row || !isSwept(row.other)) return { settled: false };
  const refunds = yield* run(
    q
      .select({ id: logs.id })
      .from(logs)
      // The second condition names the index.
      .where(and(eq(logs.refund_of, request_id), sql`${logs.refund_of} <> ''`)),
  );
  if (refunds.length > 0) return { settled: false };
  if (row.folded === FOLDED.done) yield* unfold(db, q, row);
  // What the sweep took is given back first.
  const quota = chargeable(settlement.quota, {
    quota: user.quota + row.quota,
    used_quota: user.used_quota - row.quota,
    remain_quota: token && !token.unlimited ? token.remain_quota + row.quota : undefined,
  });
  yield* run(
    q
      .update(logs)
      .set({ ...logRow(settlement.log, { ...settlement, quota }), folded: FOLDED.not_yet })
      .where(eq(logs.id, row.id))
      .returning({ id: logs.id }),
  );
  const more = quota - row.quota;
  yield* run(
    q
      .update(users)
      .set({ quota: sql`${users.quota} - ${more}`, used_quota: sql`${users.used_quota} + ${more}` })
      .where(eq(users.id, user_id))
      .returning({ id: users.id }),
  );
  const corrected: SettleResult = { settled: true, hold_missing: true, swept_quota: row.quota };
  if (token_id === 0) return corrected;
  yield* run(
    q
      .update(tokens)
      .set({
        remain_quota: sql`${tokens.remain_quota} - case when ${tokens.unlimited_quota} then 0 else ${more} end`,
        used_quota: sql`${tokens.used_quota} + ${more}`,
      })
      .where(eq(tokens.id, token_id))
      .returning({ id: tokens.id }),
  );
  return corrected;
}

/** Removes a charge from its hour and its channel; the fold counts the corrected row. */
function* unfold(db: Db, q: Q, row: LogRow): Steps<void> {
  const { usage_hourly: t, channels } = db.t;
  const hour = row.created_at - (row.created_at % 3600);
  const figures = figuresOf(row.quota, row.upstream_cost, firstTokenIn(row.other));
  const its = and(
    eq(t.hour, hour),
    eq(t.user_id, row.user_id),
    eq(t.token_id, row.token_id),
    eq(t.channel, row.channel),
    eq(t.model_name, row.model_name),
    eq(t.group, row.group),
  );
  const [sums] = yield* run(
    q
      .update(t)
      .set({
        count: sql`${t.count} - 1`,
        quota: sql`${t.quota} - ${row.quota}`,
        prompt_tokens: sql`${t.prompt_tokens} - ${row.prompt_tokens}`,
        completion_tokens: sql`${t.completion_tokens} - ${row.completion_tokens}`,
        use_time: sql`${t.use_time} - ${row.use_time}`,
        upstream_cost: sql`${t.upstream_cost} - ${figures.upstream_cost}`,
        costed_quota: sql`${t.costed_quota} - ${figures.costed_quota}`,
        first_token_ms: sql`${t.first_token_ms} - ${figures.first_token_ms}`,
        first_tokens: sql`${t.first_tokens} - ${figures.first_tokens}`,
      })
      .where(its)
      .returning({ count: t.count, error_count: t.error_count, quota: t.quota }),
  );
  if (sums && sums.count === 0 && sums.error_count === 0 && sums.quota === 0) {
    yield* run(q.delete(t).where(its).returning({ hour: t.hour }));
  }
  yield* reopenSteps(db, q, hour);
  if (row.channel === 0 || row.quota === 0) return;
  yield* run(
    q
      .update(channels)
      .set({ used_quota: sql`${channels.used_quota} - ${row.quota}` })
      .where(eq(channels.id, row.channel))
      .returning({ id: channels.id }),
  );
}
