/**
 * Running processes: a row with a heartbeat in database time, so that a wrong local clock does not decide which process
 * is dead.
 */
import { and, eq, ne, notExists, type SQL, sql } from "drizzle-orm";
import type { Services } from "../../contracts/context";
import type { Db } from "../../db/types";
import { requestIdTime } from "../../http/request-id";

export const HEARTBEAT_MS = 5_000;
/** An instance whose heartbeat is older is silent: its holds are swept. */
export const SILENT_SECONDS = 30;
/** Rows of instances that ended without unregistering are kept this long, for display. */
const FORGET_SECONDS = 86_400;

/** Epoch seconds by the database's clock, the same for all instances. */
export const databaseNow = (db: Db): SQL<number> =>
  db.engine === "sqlite" ? sql<number>`unixepoch()` : sql<number>`extract(epoch from clock_timestamp())::bigint`;

/** So many heartbeats in a row are as long as the silence after which an instance counts as dead. */
const STEADY_BEATS = (SILENT_SECONDS * 1000) / HEARTBEAT_MS;
/** Heartbeats further apart are a gap. */
const MOST_PAUSE_MS = 3 * HEARTBEAT_MS;
/** Heartbeats without an answer: one on a silent connection must not keep the next from a new one. */
const MOST_WAITING = 3;

export interface Instance {
  /**
   * Whether the heartbeat has been unbroken for SILENT_SECONDS, so that every other living instance has had that long
   * to renew its own since the database was last away. Asked before a sweep.
   */
  steady(): boolean;
  /** Seconds by which this process's clock is ahead of the database's (negative: behind), at the last heartbeat. */
  clockAhead(): number;
  /** One heartbeat now. */
  beat(): Promise<void>;
  /** Unregisters: stops the heartbeat and removes the row. Call it after the ledger is flushed. */
  stop(): Promise<void>;
}

interface HeartbeatEvents {
  /** A heartbeat that the database did not take; the next one is tried all the same. */
  failed(error: unknown): void;
  /** The first heartbeat after a gap of so many seconds. */
  back?(seconds: number): void;
  /** The clock is now so many seconds ahead of the database's, more than MOST_AHEAD either way, or no longer is (0). */
  clock?(ahead: number): void;
}

/** Beyond so many seconds between its clock and the database's a process decides nothing by its clock for all. */
export const MOST_AHEAD = 60;

/** Seconds between this process's clock and one that was read between `before` and `after` (epoch milliseconds). */
function aheadOf(database: number, before: number, after: number): number {
  const [earliest, latest] = [Math.floor(before / 1000), Math.ceil(after / 1000)];
  return database < earliest ? earliest - database : database > latest ? latest - database : 0;
}

/** Registers this process, before it takes its first hold, and keeps its heartbeat. */
export async function startInstance(
  db: Db,
  id: string,
  version: string,
  { failed, back, clock }: HeartbeatEvents,
  wallClock: () => number = Date.now,
): Promise<Instance> {
  const { instances } = db.t;
  let ahead = 0;
  const measure = (database: number, before: number): void => {
    const was = Math.abs(ahead) > MOST_AHEAD;
    ahead = aheadOf(database, before, wallClock());
    const is = Math.abs(ahead) > MOST_AHEAD;
    if (is !== was) clock?.(is ? ahead : 0);
  };
  const beat = async () => {
    const now = databaseNow(db);
    const before = wallClock();
    // An upsert: the row may have been removed while this process was suspended.
    const [row] = await db.q
      .insert(instances)
      .values({ id, started_at: now, heartbeat_at: now, version })
      .onConflictDoUpdate({ target: instances.id, set: { heartbeat_at: now } })
      .returning({ at: instances.heartbeat_at });
    // SQLite's clock is this machine's.
    if (row && db.engine === "postgres") measure(row.at, before);
  };
  await beat();
  let unbroken = 0;
  let waiting = 0;
  let last = performance.now();
  let taken = last;
  const tick = async (): Promise<void> => {
    // The one before hangs, or this process was suspended.
    if (waiting > 0 || performance.now() - last > MOST_PAUSE_MS) unbroken = 0;
    last = performance.now();
    if (waiting >= MOST_WAITING) return;
    waiting++;
    try {
      await beat();
      unbroken++;
      const gap = performance.now() - taken;
      taken = performance.now();
      if (gap > MOST_PAUSE_MS) back?.(Math.round(gap / 1000));
    } catch (error) {
      unbroken = 0;
      failed(error);
    } finally {
      waiting--;
    }
  };
  const timer = setInterval(() => void tick(), HEARTBEAT_MS);
  timer.unref();
  return {
    clockAhead: () => ahead,
    steady: () => unbroken >= STEADY_BEATS && performance.now() - last <= MOST_PAUSE_MS,
    beat,
    stop: async () => {
      clearInterval(timer);
      await db.q.delete(instances).where(eq(instances.id, id));
    },
  };
}

/**
 * Runs `work` while no instance lives and none can register (it waits, and then reads the secret again). Throws
 * InstancesLive when one does. For Postgres; a SQLite database is opened by one process.
 */
export async function whileNoneLives<T>(db: Db, work: () => Promise<T>): Promise<T> {
  const { postgres } = db.driver;
  if (!postgres) return work();
  return postgres.begin(async (tx) => {
    await tx`LOCK TABLE instances IN SHARE ROW EXCLUSIVE MODE`;
    const rows: { n: string }[] =
      await tx`SELECT count(*) AS n FROM instances WHERE heartbeat_at >= extract(epoch from clock_timestamp())::bigint - ${SILENT_SECONDS}`;
    const live = Number(rows[0]?.n ?? 0);
    if (live > 0) throw new InstancesLive(live);
    return work();
  });
}

/** How many instances have a heartbeat: servers that serve, or that ended without a word less than 30 s ago. */
export async function livingInstances(db: Db): Promise<number> {
  const { instances } = db.t;
  return db.q.$count(instances, sql`${instances.heartbeat_at} >= ${databaseNow(db)} - ${SILENT_SECONDS}`);
}

/** Of a pool's client, beside its connections: the one that listens for changes. */
export const LISTENERS = 1;

/** One row {usable}: max_connections without those that are kept for others. */
export const USABLE_CONNECTIONS = `
SELECT sum(CASE name WHEN 'max_connections' THEN setting::int ELSE -setting::int END)::int AS usable
FROM pg_settings WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')`;

/** What all living instances may open, each as many as this one, and what the server has for them. */
export interface ConnectionCount {
  instances: number;
  /** Of each, the listening one included. */
  each: number;
  /** max_connections without those that are kept for others. */
  usable: number;
}

/** Counts the connections of all living instances, of which this one is one; undefined on SQLite. */
export async function countConnections(db: Db, pool: number): Promise<ConnectionCount | undefined> {
  const { postgres } = db.driver;
  if (!postgres) return undefined;
  const [row] = await postgres.unsafe<{ usable: number }>(USABLE_CONNECTIONS);
  return { instances: await livingInstances(db), each: pool + LISTENERS, usable: row?.usable ?? 0 };
}

/** Whether an instance of another release lives on this database. */
export async function isOtherReleaseLive(db: Db, version: string): Promise<boolean> {
  const { instances } = db.t;
  const isLive = sql`${instances.heartbeat_at} >= ${databaseNow(db)} - ${SILENT_SECONDS}`;
  const found = await db.q
    .select({ id: instances.id })
    .from(instances)
    .where(and(ne(instances.version, version), isLive))
    .limit(1);
  return found.length > 0;
}

export class InstancesLive extends Error {
  constructor(readonly count: number) {
    super(`${count} instances live`);
  }
}

/** Ids of events that this process need not try to record again. */
const reported = new Set<string>();

/** Records the event of each instance that fell silent without unregistering: once, whichever instance sees it. */
export async function reportLost({ db, cluster, events }: Pick<Services, "db" | "cluster" | "events">): Promise<void> {
  const { instances } = db.t;
  const silence = sql<number>`${databaseNow(db)} - ${instances.heartbeat_at}`.mapWith(Number);
  const lost = await db.q
    .select({ id: instances.id, version: instances.version, heartbeat_at: instances.heartbeat_at, silence })
    .from(instances)
    .where(and(ne(instances.id, cluster.instanceId), sql`${silence} > ${SILENT_SECONDS}`));
  for (const { id, version, heartbeat_at, silence: seconds } of lost) {
    const request_id = `${requestIdTime(heartbeat_at)}/lost/${id}`;
    if (reported.has(request_id)) continue;
    const params = { instance: id, version, seconds };
    await db.tx((q) => events.record(q, { type: "system", event: "node_lost", params, request_id }));
    reported.add(request_id);
  }
}

/** Removes rows of instances silent for a day that hold nothing. */
export async function forgetInstances(db: Db): Promise<void> {
  const { instances, holds } = db.t;
  await db.q
    .delete(instances)
    .where(
      and(
        sql`${instances.heartbeat_at} < ${databaseNow(db)} - ${FORGET_SECONDS}`,
        notExists(db.q.select({ id: holds.request_id }).from(holds).where(eq(holds.instance_id, instances.id))),
      ),
    );
}
