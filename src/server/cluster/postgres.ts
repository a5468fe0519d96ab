/**
 * Several instances on one Postgres: the bus over LISTEN/NOTIFY, leases as rows.
 *
 * A change bumps its topic's row in `versions` and notifies in its own transaction: both happen with its commit or not
 * at all. LISTEN loses messages while it reconnects, so the rows are also read after every (re)connect and every
 * second: a gap means that a message was missed, and the listeners are called with "*". A read of five rows a second is
 * cheap enough to do it always, and it also shows whether the database is in reach.
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
/** After this the next comparison starts all the same, on another connection. */
const COMPARE_TIMEOUT_MS = 2000;
const FRESH_MS = 5000;
/** An instance notifies itself this often, to know that it still hears. */
const ECHO_MS = 3000;
/** Without an echo for so long the listening connection is replaced. */
const ECHO_TIMEOUT_MS = 9000;

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
  /** Epoch milliseconds; a parameter for tests. */
  now(): number;
  /** Called for every comparison that failed, and for every one that succeeded. */
  failed?(error: unknown): void;
  answered?(): void;
}

/** Resolves when listening is up and the versions are known. */
export async function postgresBus(options: BusOptions): Promise<Bus> {
  const { client, versions, listeners, instanceId, now } = options;
  const comparison = new VersionComparison(options);
  const subscription = new Subscription(client, instanceId, {
    connected: () => void comparison.compare(),
    received: (payload) => {
      const { from, topic, id, version } = JSON.parse(payload) as Change; // written by announce()
      void listeners.notify(topic, id, version, from === instanceId);
    },
  });
  await comparison.start();
  await subscription.listen();
  const timers = [
    setInterval(() => void comparison.compare(), COMPARE_MS),
    // A failure shows in the next comparison, and in the next echo that does not come.
    setInterval(() => void subscription.echo().catch(() => {}), ECHO_MS),
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
      if (bumped) yield new AfterCommit(() => listeners.notify(topic, id, bumped.version, true));
    },
    subscribe: listeners.subscribe,
    age: listeners.age,
    fresh: () => now() - comparison.lastAnswer < FRESH_MS,
    close: async () => {
      for (const timer of timers) clearInterval(timer);
      comparison.close();
      listeners.close();
      await subscription.close();
    },
  };
}

/** Reads the rows of `versions`; listeners of a topic that is ahead of its messages get "*". */
class VersionComparison {
  readonly #options: BusOptions;
  /** When the running one began; long ago while none runs. */
  #startedAt = -COMPARE_TIMEOUT_MS;
  #closed = false;
  /** Epoch milliseconds at which the latest comparison that succeeded was sent. */
  lastAnswer: number;

  constructor(options: BusOptions) {
    this.#options = options;
    this.lastAnswer = options.now();
  }

  /** Takes the versions as applied: this process has cached nothing yet. */
  start(): Promise<void> {
    return this.#read(this.#options.listeners.startAt);
  }

  /** Never rejects. Does nothing while another one runs within its timeout. */
  async compare(): Promise<void> {
    const { listeners, failed, answered } = this.#options;
    const begun = performance.now();
    if (this.#closed || begun - this.#startedAt < COMPARE_TIMEOUT_MS) return;
    this.#startedAt = begun;
    const late = setTimeout(
      () => failed?.(new Error(`The database did not answer within ${COMPARE_TIMEOUT_MS} ms`)),
      COMPARE_TIMEOUT_MS,
    );
    try {
      await this.#read((topic, version) => {
        if (version > listeners.latest(topic)) void listeners.notify(topic, "*", version);
      });
      answered?.();
    } catch (error) {
      if (!this.#closed) failed?.(error);
    } finally {
      clearTimeout(late);
      if (this.#startedAt === begun) this.#startedAt = -COMPARE_TIMEOUT_MS;
    }
  }

  close(): void {
    this.#closed = true;
  }

  async #read(found: (topic: Topic, version: number) => void): Promise<void> {
    const { client, now } = this.#options;
    const asked = now();
    const rows = await client.urgent.unsafe<{ name: string; value: string }>("select name, value from versions");
    this.lastAnswer = Math.max(this.lastAnswer, asked);
    for (const { name, value } of rows) found(name as Topic, Number(value)); // only announce() writes rows
  }
}

interface SubscriptionEvents {
  received(payload: string): void;
  /** After every (re)connect: messages before it may be lost. */
  connected(): void;
}

/** The connection that listens, and its echo on a channel that no other instance listens to. */
class Subscription {
  readonly #client: Connections;
  readonly #echoChannel: string;
  readonly #events: SubscriptionEvents;
  #sql: SQL | undefined;
  #echoedAt = performance.now();
  #closed = false;

  constructor(client: Connections, instanceId: string, events: SubscriptionEvents) {
    this.#client = client;
    this.#echoChannel = `weir_${instanceId.replaceAll("-", "")}`;
    this.#events = events;
  }

  /** Listens on a new connection, in place of the one before. */
  async listen(): Promise<void> {
    const before = this.#sql;
    const sql = this.#client.listener();
    this.#sql = sql;
    this.#echoedAt = performance.now();
    await before?.close({ timeout: 0 });
    await sql.listen(this.#echoChannel, () => void (this.#echoedAt = performance.now()));
    await sql.listen(CHANNEL, this.#events.received, this.#events.connected);
  }

  async echo(): Promise<void> {
    if (this.#closed) return;
    if (performance.now() - this.#echoedAt > ECHO_TIMEOUT_MS) await this.listen();
    await this.#client.unsafe("select pg_notify($1, '')", [this.#echoChannel]);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#sql?.close({ timeout: 0 });
  }
}

const LEASE_SECONDS = 15;
const RENEW_MS = 5000;

/**
 * Takes or renews; returns a row when this instance has the lease. The database's clock decides, not an instance's. One
 * that ends later than a lease lasts was taken before that clock was set back.
 */
const TAKE = `
INSERT INTO leases (name, holder, expires_at)
VALUES ($1::text, $2::text, extract(epoch from clock_timestamp())::bigint + ${LEASE_SECONDS})
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
WHERE leases.holder = excluded.holder OR leases.expires_at <= extract(epoch from clock_timestamp())::bigint
  OR leases.expires_at > excluded.expires_at + ${LEASE_SECONDS}
RETURNING 1 AS taken`;

/**
 * A lease stays with its holder from run to run while it is renewed; after 15 s of silence, or close(), another
 * instance takes it. Work under a lease must still be safe with a second runner: a process that was suspended does not
 * know that it lost the lease.
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
        // The next renewal makes up for one that fails: three fit into the lease.
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
