/**
 * The sweep: ends the holds of processes that died. Only holds of instances silent for 30 s are touched, so an old
 * process that drains beside a new one keeps its own; never the sweeper's own, whose calls live. It runs on an instance
 * whose own heartbeat has been unbroken for as long (instances.ts): after the database was away every instance looks
 * silent. A running stream is charged at the cost that `extend` last recorded; a call without cost yet is released.
 * Both leave a log row with the end reason "gateway_restart", and the caller's budgets keep only what the call cost.
 */
import { type AnyColumn, and, asc, eq, gt, isNull, ne, or, type SQL, sql } from "drizzle-orm";
import { LOG_TYPE } from "../../../shared/log";
import type { Services } from "../../contracts/context";
import type { Steps } from "../../db/transaction";
import type { Db, Q } from "../../db/types";
import type { HoldRow } from "../../db/schema";
import { isUnavailable } from "../../lib/unavailable";
import { SWEPT } from "./correct";
import { databaseNow, reportLost, SILENT_SECONDS } from "./instances";
import { parseObject, readDraft, type Budgeted } from "./hold-draft";
import { toBudgets } from "./refund";
import type { CallLog, Ledger } from "../../contracts/ledger";

const BATCH = 200;

export interface Swept {
  settled: number;
  released: number;
}

/** One round, if this instance has the lease; undefined if another one has it. */
export async function sweep(
  services: Pick<Services, "db" | "ledger" | "cluster" | "events">,
): Promise<Swept | undefined> {
  let swept: Swept | undefined;
  await services.cluster.lease.hold("sweep", async () => {
    await reportLost(services);
    await endCallsOfSilent(services);
    swept = await sweepSilent(services.db, services.ledger, services.cluster.instanceId);
  });
  return swept;
}

/** Calls at once that silent instances counted under limits end (Postgres; Redis lets them end by time). */
async function endCallsOfSilent({ db, cluster }: Pick<Services, "db" | "cluster">): Promise<void> {
  await db.driver.postgres?.unsafe(
    `DELETE FROM limit_leases WHERE instance_id <> $1 AND instance_id NOT IN (
       SELECT id FROM instances WHERE heartbeat_at >= extract(epoch from clock_timestamp())::bigint - ${SILENT_SECONDS}
     )`,
    [cluster.instanceId],
  );
}

/**
 * The round itself, as instance `self`. Safe beside another one and beside the dead instance's return: the ledger's
 * guards decide. Each hold is tried once: one that cannot be ended keeps no other from it, and its error is thrown when
 * the round is over. Without its database the round ends at once.
 */
export async function sweepSilent(db: Db, ledger: Ledger, self: string): Promise<Swept> {
  const swept: Swept = { settled: 0, released: 0 };
  const failed: unknown[] = [];
  await endFuture(db);
  for (let after = ""; ;) {
    const orphans = await silentHolds(db, self, after);
    for (const hold of orphans) {
      try {
        const how = await end(db, ledger, hold);
        if (how) swept[how]++;
      } catch (error) {
        if (isUnavailable(error)) throw error;
        failed.push(error);
      }
    }
    after = orphans.at(-1)?.request_id ?? "";
    if (orphans.length < BATCH) break;
  }
  if (failed.length > 0) throw failed[0];
  return swept;
}

/** Ends a hold and leaves its row; undefined where it has ended meanwhile, or cannot be. */
async function end(db: Db, ledger: Ledger, hold: HoldRow): Promise<keyof Swept | undefined> {
  const { budgets, log } = restartLog(hold);
  const { request_id, user_id, token_id, running } = hold;
  let ended: boolean;
  if (running > 0) {
    const { settled } = await ledger.settle({ request_id, user_id, token_id, quota: running, log, held_only: true });
    ended = settled;
  } else {
    // The row first: a crash in between only repeats this. A separate id leaves the call's free for a late settle.
    await db.q
      .insert(db.t.logs)
      .values({ ...log, request_id: sweptRequestId(request_id), type: LOG_TYPE.error })
      .onConflictDoNothing({ target: db.t.logs.request_id });
    ended = await ledger.release(request_id);
  }
  // A crash in between leaves too much in them, never too little.
  if (ended && Object.keys(budgets).length > 0) await db.tx((q) => leaveInBudgets(db, q, budgets, running));
  if (!ended) return undefined;
  return running > 0 ? "settled" : "released";
}

/**
 * Heartbeats and holds of a time that has not come are of a clock that was set back since, or that runs ahead: their
 * silence begins now, else money would stay held for the size of the step.
 */
async function endFuture(db: Db): Promise<void> {
  const { holds, instances } = db.t;
  const now = databaseNow(db);
  const future = (column: AnyColumn): SQL => sql`${column} > ${now} + ${SILENT_SECONDS}`;
  await db.q.update(instances).set({ heartbeat_at: now }).where(future(instances.heartbeat_at));
  await db.q.update(holds).set({ created_at: now }).where(future(holds.created_at));
}

/** Of what budgets count for a hold, `units` stay in each; in the common lock order. */
function* leaveInBudgets(db: Db, q: Q, budgets: Budgeted, units: number): Steps<void> {
  for (const [name, counted] of Object.entries(budgets).sort(([a], [b]) => (a < b ? -1 : 1)))
    yield* toBudgets(db, q, [name], counted - units);
}

/** Request id of the log row of a call that a sweep released. */
export const sweptRequestId = (request_id: string): string => `${request_id}/swept`;

/**
 * The next ones after a request id. A hold younger than the silence is left for the next round: a process that was
 * suspended may just have woken up and taken it before its heartbeat.
 */
function silentHolds(db: Db, self: string, after: string): Promise<HoldRow[]> {
  const { holds, instances } = db.t;
  const limit = sql`${databaseNow(db)} - ${SILENT_SECONDS}`;
  return db.q
    .select({
      request_id: holds.request_id,
      user_id: holds.user_id,
      token_id: holds.token_id,
      amount: holds.amount,
      token_amount: holds.token_amount,
      running: holds.running,
      created_at: holds.created_at,
      instance_id: holds.instance_id,
      draft: holds.draft,
    })
    .from(holds)
    .leftJoin(instances, eq(instances.id, holds.instance_id))
    .where(
      and(
        ne(holds.instance_id, self),
        gt(holds.request_id, after),
        sql`${holds.created_at} <= ${limit}`,
        or(isNull(instances.id), sql`${instances.heartbeat_at} < ${limit}`),
      ),
    )
    .orderBy(asc(holds.request_id))
    .limit(BATCH)
    .then((rows) => rows);
}

/** The draft as the row of a call that ended with its gateway process, and what budgets count for it. */
function restartLog(hold: HoldRow): { log: CallLog; budgets: Budgeted } {
  const { running: quota } = hold;
  const bare: CallLog = {
    request_id: hold.request_id,
    user_id: hold.user_id,
    token_id: hold.token_id,
    created_at: hold.created_at,
  };
  const { row: draft, budgets } = readDraft(hold);
  const names = Object.keys(budgets);
  const other = {
    ...parseObject(draft.other ?? ""),
    end_reason: "gateway_restart",
    ...(quota > 0 && { estimated: true, ...SWEPT }),
    ...(names.length > 0 && { admin_info: { use_channel: [], attempts: [], budgets: names } }),
  };
  return { budgets, log: { ...draft, ...bare, quota, end_reason: "gateway_restart", other: JSON.stringify(other) } };
}
