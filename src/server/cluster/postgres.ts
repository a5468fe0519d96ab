/**
 * Several instances on one Postgres: the bus over LISTEN/NOTIFY, leases as rows.
 *
 * LISTEN loses messages while it reconnects, so each change also bumps its topic's row in `versions`, in the statement that
 * notifies. The rows are read after every (re)connect and every second besides: a gap means something was missed, and the
 * listeners hear "*". One five-row read a second is cheap enough not to ask first whether listening is up, and it is
 * what tells that the database is in reach.
 */
import type { SQL } from "bun";
import type { Bus, Lease, Topic } from "./types";

const CHANNEL = "weir_changes";
const COMPARE_MS = 1000;
/** A comparison that takes longer is given up, so that a dead connection cannot stop the next one. */
const COMPARE_TIMEOUT_MS = 2000;
const FRESH_MS = 5000;
const PUBLISH_TRIES = 4;

interface Change {
  from: string;
  topic: Topic;
  id: string;
  version: number;
}

/** The bump and the message are one commit: versions in messages rise by one, in the order of commits. */
const PUBLISH = `
WITH bumped AS (
  INSERT INTO versions (name, value) VALUES ($1::text, 1)
  ON CONFLICT (name) DO UPDATE SET value = versions.value + 1
  RETURNING value
)
SELECT pg_notify('${CHANNEL}',
  json_build_object('from', $2::text, 'topic', $1::text, 'id', $3::text, 'version', value)::text)
FROM bumped`;

export interface BusOptions {
  instanceId: string;
  /** Epoch milliseconds; tests give their own. */
  now(): number;
  /** Hear of every comparison that failed, and of every one that was answered. */
  failed?(error: unknown): void;
  answered?(): void;
}

/** Resolves when listening is up and the versions are known. */
export async function postgresBus(client: SQL, { instanceId, now, failed, answered }: BusOptions): Promise<Bus> {
  const listeners = new Map<Topic, Set<(id: string) => void>>();
  const seen = new Map<string, number>();
  let lastAnswer = now();
  let comparing = false;
  let closed = false;

  const tell = (topic: Topic, id: string) => {
    for (const listener of listeners.get(topic) ?? []) listener(id);
  };

  function hear(payload: string): void {
    const { from, topic, id, version } = JSON.parse(payload) as Change; // written by PUBLISH
    const known = seen.get(topic) ?? 0;
    if (version <= known) return; // a comparison was faster, and said "*"
    seen.set(topic, version);
    if (version > known + 1) tell(topic, "*");
    else if (from !== instanceId) tell(topic, id); // our own listeners heard it from publish()
  }

  /** Reads the versions; a topic that is ahead of what was heard is announced as "*". */
  async function compare(announce: boolean): Promise<void> {
    const asked = now();
    const query = client`select name, value from versions`;
    const rows = await within(query, COMPARE_TIMEOUT_MS);
    lastAnswer = Math.max(lastAnswer, asked);
    for (const { name, value } of rows as { name: string; value: string }[]) {
      const version = Number(value);
      if (version <= (seen.get(name) ?? 0)) continue;
      seen.set(name, version);
      if (announce) tell(name as Topic, "*"); // rows are written by publish() alone
    }
  }

  async function compareQuietly(): Promise<void> {
    if (comparing || closed) return;
    comparing = true;
    try {
      await compare(true);
      answered?.();
    } catch (error) {
      failed?.(error);
    } finally {
      comparing = false;
    }
  }

  await compare(false);
  const subscription = await client.listen(CHANNEL, hear, () => void compareQuietly());
  const timer = setInterval(() => void compareQuietly(), COMPARE_MS);
  timer.unref();

  return {
    publish: async (topic, id) => {
      tell(topic, id);
      // The change itself is committed: a lost connection must not keep it from the others. A second bump is harmless.
      for (let tries = 1; ; tries++) {
        try {
          await client.unsafe(PUBLISH, [topic, instanceId, id]);
          return;
        } catch (error) {
          if (tries >= PUBLISH_TRIES) throw error;
          await Bun.sleep(50 * tries);
        }
      }
    },
    subscribe: (topic, listener) => {
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set.add(listener));
      return () => set.delete(listener);
    },
    fresh: () => now() - lastAnswer < FRESH_MS,
    close: async () => {
      closed = true;
      clearInterval(timer);
      listeners.clear();
      await subscription.unlisten();
    },
  };
}

async function within<T>(query: SQL.Query<T>, ms: number): Promise<T> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    timeout.reject(new Error(`The database did not answer within ${ms} ms`));
    query.cancel();
  }, ms);
  try {
    return await Promise.race([query, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
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
 * A lease stays with its holder from run to run while it renews it; after 15 s of silence, or its close(), another takes
 * it. Work under a lease must bear a second runner all the same: a process that was suspended does not know it lost it.
 */
export function postgresLease(client: SQL, instanceId: string): Lease {
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
          if (options?.release) await client`delete from leases where name = ${name} and holder = ${instanceId}`;
        }
        return true;
      } finally {
        running.delete(name);
      }
    },
    close: async () => {
      await client`delete from leases where holder = ${instanceId}`;
    },
  };
}
