/**
 * Removing old rows: by hand up to a time, and every hour by retention. On Postgres whole partitions go first; what is
 * left, in small batches with pauses, because on SQLite the streams of this process wait meanwhile. At most one
 * cleaning in the cluster (a lease); its progress is in `meta`.
 *
 * Roll-ups stay, so a row goes only once they have counted it. The time from which the log is complete is written
 * before the first row goes: the audit compares later hours alone.
 */
import { and, asc, inArray, lt, ne, type SQL, sql } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { FOLDED } from "../../../shared/log";
import type { LogCleaning } from "../../../shared/log-list";
import { type Services, seconds } from "../../contracts/context";
import { readRunState, saveRunState } from "../run/run-state";
import { dropPartitions, rowKey } from "./partitions";

const BATCH = 500;
/** A cleaning writes at least this often; silent for SILENT_SECONDS it is dead. */
const SAVE_EVERY_MS = 500;
const SILENT_SECONDS = 30;
const DAY = 86_400;

const STATE = "log-cleaning";
/** Millions of rows take hours; each step has a limit of its own. */
const LEASE = { release: true, mostMs: Infinity } as const;
/** Row of `meta`: epoch seconds; rows before this time may be missing. */
const LOG_COMPLETE_SINCE = "log_complete_since";

type Needs = Pick<Services, "db" | "cluster" | "options" | "background" | "now" | "changes">;
type Stored = Omit<LogCleaning, "running"> & { updated_at: number };

/**
 * Removes the rows before `until` (epoch seconds; a later time than now means now), of every type, and the contents
 * kept with them. Returns how many rows went. Fails with log_cleaning_running while another one is under way anywhere.
 */
export async function cleanLogs(services: Needs, until: number, started_by: string): Promise<number> {
  const cleaning = cleanOnce(services, until, started_by);
  // Goes on when the caller has left.
  services.background.track(
    "cleaning of the log",
    cleaning.then(
      () => undefined,
      () => undefined,
    ),
  );
  return (await cleaning) ?? fail("log_cleaning_running");
}

/** For the timer: removes what is older than the options LogRetentionDays (0 = forever) and LogContentDays. */
export async function removeExpired(services: Needs): Promise<void> {
  const { options } = services;
  const now = seconds(services);
  const days = options.get("LogRetentionDays");
  // Whole days (UTC) on Postgres, so that a partition goes at once and not row by row before.
  const until = now - days * DAY;
  if (days > 0) await cleanOnce(services, services.db.engine === "postgres" ? until - (until % DAY) : until, "");
  await services.cluster.lease.hold(
    "log-contents",
    async () => void (await removeBodies(services, now - options.get("LogContentDays") * DAY)),
    LEASE,
  );
}

/** undefined when another one is under way. */
async function cleanOnce(services: Needs, until: number, started_by: string): Promise<number | undefined> {
  let removed: number | undefined;
  await services.cluster.lease.hold(
    STATE,
    async () => {
      removed = await clean(services, Math.min(until, seconds(services)), started_by);
    },
    LEASE,
  );
  return removed;
}

async function clean(services: Needs, until: number, started_by: string): Promise<number> {
  const { db } = services;
  const { logs } = db.t;
  const old = and(lt(logs.created_at, until), ne(logs.folded, FOLDED.not_yet));
  const batch = db.bulk
    .select({ key: rowKey(db) })
    .from(logs)
    .where(old)
    .orderBy(asc(logs.created_at), asc(logs.id))
    .limit(BATCH);
  const [any] = await batch;
  // An hourly timer with nothing to do leaves no trace.
  if (!any && started_by === "") return 0;
  const now = seconds(services);
  const state: Stored = { until, started_by, started_at: now, updated_at: now, finished_at: 0, removed: 0 };
  await markLogComplete({ db }, until);
  await saveRunState(db, STATE, state);
  let saved = performance.now();
  try {
    state.removed = await dropPartitions(services, until);
    await inBatches(services, async () => {
      const rows = await db.bulk
        .delete(logs)
        .where(inArray(rowKey(db), batch))
        .returning({ id: logs.id });
      state.removed += rows.length;
      if (performance.now() - saved > SAVE_EVERY_MS) {
        saved = performance.now();
        state.updated_at = seconds(services);
        await saveRunState(db, STATE, state);
      }
      return rows.length;
    });
    await removeBodies(services, until);
  } finally {
    state.finished_at = state.updated_at = Math.max(1, seconds(services));
    await saveRunState(db, STATE, state);
    services.changes.tell("log");
  }
  return state.removed;
}

/** Only rows since `since` (epoch seconds) are compared with roll-ups from now on; a later mark stays. */
export async function markLogComplete({ db }: Pick<Services, "db">, since: number): Promise<void> {
  const { meta } = db.t;
  await db.q
    .insert(meta)
    .values({ name: LOG_COMPLETE_SINCE, value: String(since) })
    .onConflictDoUpdate({
      target: meta.name,
      set: { value: String(since) },
      setWhere: sql`cast(${meta.value} as bigint) < ${since}`,
    });
}

async function removeBodies(services: Needs, until: number): Promise<void> {
  const { db } = services;
  const { log_bodies } = db.t;
  const old = db.bulk
    .select({ id: log_bodies.request_id })
    .from(log_bodies)
    .where(lt(log_bodies.created_at, until))
    .limit(BATCH);
  await inBatches(services, async () => {
    return (
      await db.bulk
        .delete(log_bodies)
        .where(inArray(log_bodies.request_id, old))
        .returning({ id: log_bodies.request_id })
    ).length;
  });
}

/** Calls `step` until it has removed less than a whole batch; half of the time is left to others. */
async function inBatches({ background }: Needs, step: () => Promise<number>): Promise<void> {
  while (!background.signal.aborted) {
    const begun = performance.now();
    if ((await step()) < BATCH) return;
    await Bun.sleep(performance.now() - begun);
  }
}

/** The cleaning that is under way, else the last one; null before the first. */
export const readCleaning = async (services: Pick<Services, "db" | "now">): Promise<LogCleaning | null> =>
  (await readRunState<Stored>(services, STATE, SILENT_SECONDS)) ?? null;

/** Epoch seconds since when no row was removed, as part of a statement; 0 when none ever was. */
export const logCompleteSince = (): SQL =>
  sql`(SELECT coalesce(max(cast(value AS bigint)), 0) FROM meta WHERE name = ${LOG_COMPLETE_SINCE})`;
