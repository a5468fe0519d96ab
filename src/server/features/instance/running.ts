/** How many calls each instance serves: written by it while something drains, and summed over all. */
import { eq, sql } from "drizzle-orm";
import type { Services } from "../../contracts/context";
import type { Running } from "../../contracts/drain";
import { databaseNow, SILENT_SECONDS } from "../wallet/instances";

/** The relay, as far as drains concern it. */
export interface DrainingRelay {
  running(): Running;
  readonly draining: boolean;
  endDrained(): void;
}

/** One round, every second: ends what a drain ends now, and reports the calls that still run. */
export function createRunningReport(services: Pick<Services, "db" | "cluster" | "pool">, relay: DrainingRelay) {
  const { db, cluster, pool } = services;
  const { instances } = db.t;
  let written = "";
  return async (): Promise<void> => {
    const drains = relay.draining || pool.all().some(({ drain, draining_keys }) => drain ?? draining_keys);
    if (drains) relay.endDrained();
    const running = drains ? JSON.stringify(relay.running()) : "";
    if (running === written) return;
    await db.q.update(instances).set({ running }).where(eq(instances.id, cluster.instanceId));
    written = running;
  };
}

const NONE: Running = { running: 0, channels: {}, keys: {} };

/** What an instance has written. */
export const readRunning = (text: string): Running => (text === "" ? NONE : (JSON.parse(text) as Running));

/** The calls of all living instances. */
export async function runningCalls({ db }: Pick<Services, "db">): Promise<Running> {
  const { instances } = db.t;
  const rows = await db.q
    .select({ running: instances.running })
    .from(instances)
    .where(sql`${instances.heartbeat_at} >= ${databaseNow(db)} - ${SILENT_SECONDS}`);
  const sum: Running = { running: 0, channels: {}, keys: {} };
  for (const row of rows) {
    const { running, channels, keys } = readRunning(row.running);
    sum.running += running;
    for (const [id, n] of Object.entries(channels)) sum.channels[id] = (sum.channels[id] ?? 0) + n;
    for (const [id, n] of Object.entries(keys)) sum.keys[id] = (sum.keys[id] ?? 0) + n;
  }
  return sum;
}
