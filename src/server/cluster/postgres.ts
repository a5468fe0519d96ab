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
import { type Bus, type Held, type Lease, LEASE_WORK_MS, type Topic } from "./types";

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
 * So long after a renewal was sent its lease is certainly not another's: the database counts whole seconds from a later
 * moment, and its clock may go a little faster.
 */
const SURE_MS = (LEASE_SECONDS - 2) * 1000;

/**
 * Takes; returns a row when this instance has the lease. The database's clock decides, not an instance's. One that ends
 * later than a lease lasts was taken before that clock was set back.
 */
const TAKE = `
INSERT INTO leases (name, holder, expires_at)
VALUES ($1::text, $2::text, extract(epoch from clock_timestamp())::bigint + ${LEASE_SECONDS})
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
WHERE leases.holder = excluded.holder OR leases.expires_at <= extract(epoch from clock_timestamp())::bigint
  OR leases.expires_at > excluded.expires_at + ${LEASE_SECONDS}
RETURNING 1 AS taken`;

/** Renews and never takes: what another instance had meanwhile is lost, also when that one has given it back. */
const RENEW = `
UPDATE leases SET expires_at = extract(epoch from clock_timestamp())::bigint + ${LEASE_SECONDS}
WHERE name = $1::text AND holder = $2::text
RETURNING 1 AS renewed`;

export interface LeaseParts {
  /** Work goes on whose lease another instance may have now. */
  lost?(name: string): void;
  /** Milliseconds; never set back. */
  now?(): number;
  /** A parameter for tests. */
  renewMs?: number;
}

/**
 * A lease stays with its holder from run to run while it is renewed; after 15 s of silence, or close(), another
 * instance takes it. A holder's id is new with every process, and a process runs a name once at a time, so the id in
 * the row fences each run: a renewal finds it or the run has lost its lease (`Held.lost`).
 */
export function postgresLease(client: Connections, instanceId: string, parts: LeaseParts = {}): Lease {
  const { now = () => performance.now(), renewMs = RENEW_MS } = parts;
  const running = new Set<string>();
  /** Until when leases are believed to be another's. */
  const others = new Map<string, number>();
  const ask = async (statement: string, name: string) =>
    (await client.unsafe(statement, [name, instanceId])).length > 0;

  /** Renews from now on, until it is lost or `end` is called. */
  function keep(name: string, takenAt: number, mostMs: number): Held & { end(): void } {
    let sure = takenAt + SURE_MS;
    let gone = false;
    const isLost = (): boolean => {
      if (!gone && now() <= Math.min(sure, takenAt + mostMs)) return false;
      if (!gone) parts.lost?.(name);
      gone = true;
      clearInterval(renewal);
      return true;
    };
    const renew = async (): Promise<void> => {
      if (isLost()) return;
      const asked = now();
      if (!(await ask(RENEW, name))) sure = -Infinity;
      else sure = Math.max(sure, asked + SURE_MS);
      isLost();
    };
    // The next renewal makes up for one that fails: three fit into the lease.
    const renewal = setInterval(() => void renew().catch(() => {}), renewMs);
    return {
      get lost() {
        return isLost();
      },
      end: () => clearInterval(renewal),
    };
  }

  return {
    hold: async (name, work, { release = false, mostMs = LEASE_WORK_MS, believedMs = 0 } = {}) => {
      if (running.has(name)) return false;
      const asked = now();
      if (believedMs > 0 && asked < (others.get(name) ?? 0)) return false;
      running.add(name);
      try {
        if (!(await ask(TAKE, name))) {
          others.set(name, asked + believedMs);
          return false;
        }
        const held = keep(name, asked, mostMs);
        try {
          await work(held);
        } finally {
          held.end();
          if (release) await client.unsafe("delete from leases where name = $1 and holder = $2", [name, instanceId]);
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
