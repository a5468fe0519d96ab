/**
 * Several instances on one Postgres: the bus over LISTEN/NOTIFY, leases as rows.
 *
 * A change bumps its topic's row in `versions` and notifies in its own transaction: both happen with its commit or not
 * at all. LISTEN loses messages while it reconnects, so the rows are read after every (re)connect and every second
 * besides: a gap means something was missed, and the listeners hear "*". One five-row read a second is cheap enough not
 * to ask first whether listening is up, and it is what tells that the database is in reach.
 */
import { type SQL as DrizzleSQL, sql } from "drizzle-orm";
import type { SQL } from "bun";
import type { Db } from "../db/types";
import { AfterCommit, run } from "../db/transaction";
import type { Connections } from "../db/connection-types";
import type { Listeners } from "./listeners";
import type { Bus, Lease, Topic } from "./types";

const CHANNEL = "weir_changes";
const COMPARE_MS = 1000;
/** A comparison that takes longer does not keep the next one from beginning, on another connection. */
const COMPARE_TIMEOUT_MS = 2000;
const FRESH_MS = 5000;
/** An instance tells itself something so often, to know that it still hears. */
const ECHO_MS = 3000;
/** Without an echo for so long the listening connection is given up for another. */
const DEAF_MS = 9000;

interface Change {
  from: string;
  topic: Topic;
  id: string;
  version: number;
}

export interface BusOptions {
  client: Connections;
  versions: Db["t"]["versions"];
  listeners: Listeners;
  instanceId: string;
  /** Epoch milliseconds; tests give their own. */
  now(): number;
  /** Hear of every comparison that failed, and of every one that was answered. */
  failed?(error: unknown): void;
  answered?(): void;
}

/** Resolves when listening is up and the versions are known. */
export async function postgresBus({
  client,
  versions,
  listeners,
  instanceId,
  now,
  failed,
  answered,
}: BusOptions): Promise<Bus> {
  let lastAnswer = now();
  let comparing = -COMPARE_TIMEOUT_MS;
  let closed = false;

  function hear(payload: string): void {
    const { from, topic, id, version } = JSON.parse(payload) as Change; // written by announce()
    void listeners.hear(topic, id, version, from === instanceId);
  }

  /** Reads the versions; a topic that is ahead of what was heard is asked about as "*". */
  async function compare(told: (topic: Topic, version: number) => void): Promise<void> {
    const asked = now();
    const rows = await client.urgent.unsafe<{ name: string; value: string }>("select name, value from versions");
    lastAnswer = Math.max(lastAnswer, asked);
    for (const { name, value } of rows) told(name as Topic, Number(value)); // rows are written by announce() alone
  }

  async function compareQuietly(): Promise<void> {
    const begun = performance.now();
    if (closed || begun - comparing < COMPARE_TIMEOUT_MS) return;
    comparing = begun;
    const late = setTimeout(
      () => failed?.(new Error(`The database did not answer within ${COMPARE_TIMEOUT_MS} ms`)),
      COMPARE_TIMEOUT_MS,
    );
    try {
      await compare((topic, version) => {
        if (version > listeners.heard(topic)) void listeners.hear(topic, "*", version);
      });
      answered?.();
    } catch (error) {
      if (!closed) failed?.(error);
    } finally {
      clearTimeout(late);
      if (comparing === begun) comparing = -COMPARE_TIMEOUT_MS;
    }
  }

  // Its own channel: what is said there wakes nobody else.
  const ownChannel = `weir_${instanceId.replaceAll("-", "")}`;
  let ears: SQL | undefined;
  let echoed = performance.now();

  /** Listens on a connection of its own, in the place of the one before. */
  async function listen(): Promise<void> {
    const before = ears;
    const mine = client.listener();
    ears = mine;
    echoed = performance.now();
    await before?.close({ timeout: 0 });
    await mine.listen(ownChannel, () => void (echoed = performance.now()));
    await mine.listen(CHANNEL, hear, () => void compareQuietly());
  }

  async function echo(): Promise<void> {
    if (closed) return;
    if (performance.now() - echoed > DEAF_MS) await listen();
    await client.unsafe("select pg_notify($1, '')", [ownChannel]);
  }

  await compare(listeners.startAt);
  await listen();
  const timers = [
    setInterval(() => void compareQuietly(), COMPARE_MS),
    // What fails here shows in the next comparison, and in the next echo that is missing.
    setInterval(() => void echo().catch(() => {}), ECHO_MS),
  ];
  for (const timer of timers) timer.unref();

  const message = (topic: Topic, id: string): DrizzleSQL =>
    sql`pg_notify(${CHANNEL}, json_build_object('from', ${instanceId}::text, 'topic', ${topic}::text, 'id', ${id}::text, 'version', ${versions.value})::text)`;

  return {
    // The row stays locked until the commit, so versions in messages rise by one, in the order of commits.
    announce: function* (q, topic, id) {
      const bump = q
        .insert(versions)
        .values({ name: topic, value: 1 })
        .onConflictDoUpdate({ target: versions.name, set: { value: sql`${versions.value} + 1` } })
        .returning({ version: versions.value, sent: message(topic, id) });
      const [bumped] = yield* run(bump);
      if (bumped) yield new AfterCommit(() => listeners.hear(topic, id, bumped.version, true));
    },
    subscribe: listeners.subscribe,
    age: listeners.age,
    fresh: () => now() - lastAnswer < FRESH_MS,
    close: async () => {
      closed = true;
      for (const timer of timers) clearInterval(timer);
      listeners.close();
      await ears?.close({ timeout: 0 });
    },
  };
}

const LEASE_SECONDS = 15;
const RENEW_MS = 5000;

/** Takes or renews; answers a row when this instance has the lease. Database time decides, nobody's own clock. */
const TAKE = `
INSERT INTO leases (name, holder, expires_at)
VALUES ($1::text, $2::text, extract(epoch from clock_timestamp())::bigint + ${LEASE_SECONDS})
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
WHERE leases.holder = excluded.holder OR leases.expires_at <= extract(epoch from clock_timestamp())::bigint
RETURNING 1 AS taken`;

/**
 * A lease stays with its holder from run to run while it renews it; after 15 s of silence, or its close(), another
 * takes it. Work under a lease must bear a second runner all the same: a process that was suspended does not know it
 * lost it.
 */
export function postgresLease(client: Connections, instanceId: string): Lease {
  const running = new Set<string>();
  const take = async (name: string) => (await client.unsafe(TAKE, [name, instanceId])).length > 0;
  return {
    hold: async (name, work, options) => {
      if (running.has(name)) return false;
      running.add(name);
      try {
        if (!(await take(name))) return false;
        // A renewal that fails is tried again by the next one; three fit into the lease.
        const renewal = setInterval(() => void take(name).catch(() => {}), RENEW_MS);
        try {
          await work();
        } finally {
          clearInterval(renewal);
          if (options?.release)
            await client.unsafe("delete from leases where name = $1 and holder = $2", [name, instanceId]);
        }
        return true;
      } finally {
        running.delete(name);
      }
    },
    close: async () => {
      await client.unsafe("delete from leases where holder = $1", [instanceId]);
    },
  };
}
