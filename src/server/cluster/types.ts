/** What several instances must agree on. In-process by default; Postgres and Redis implement the same interfaces. */

import type { Q } from "../db/types";
import type { Steps } from "../db/transaction";

/**
 * What is cached in memory, and must be dropped on every instance when it changes. The ids of `sessions` are their
 * users', those of `events` the request ids of log rows, those of `pauses` the channels or keys whose pauses
 * end, those of `changes` what open pages read again.
 */
export type Topic =
  | "options"
  | "channels"
  | "pauses"
  | "instances"
  | "tokens"
  | "users"
  | "sessions"
  | "events"
  | "changes";

/**
 * Called when `id` ("*" = any) of a topic changed; `own`: by this process. Its promise is awaited; after a failure it
 * is called again every second until it succeeds.
 */
export type Listener = (id: string, own: boolean) => void | Promise<void>;

export interface SubscribeOptions {
  /** It reads everything, whatever the id. It is also called every minute, and /readyz reports its age. */
  whole?: boolean;
}

export interface Bus {
  /**
   * The last steps of the transaction that changes `id` ("*" = several) of a topic. Change and announcement are one
   * commit, so every instance hears of a change that was made. This instance's listeners have been called when `db.tx`
   * resolves.
   */
  announce(q: Q, topic: Topic, id: string): Steps<void>;
  /** The listener is also called with "*" after a lost connection, because messages may have been missed. */
  subscribe(topic: Topic, listener: Listener, options?: SubscribeOptions): () => void;
  /** Milliseconds since the oldest reading of a listener with `whole`. */
  age(): number;
  /** False when the database has been out of reach for 5 s: caches must not be trusted any more. */
  fresh(): boolean;
  close(): Promise<void>;
}

/** What work under a lease knows of it. */
export interface Held {
  /**
   * From some moment on true: another instance may have the lease, or the work took longer than it may. Asked before
   * each step that must not be done twice. It looks at the clock, so a process that was suspended knows it at once.
   */
  readonly lost: boolean;
}

/** Of work that runs without a lease. */
export const NEVER_LOST: Held = { lost: false };

export interface LeaseOptions {
  /** Frees the lease when the work ends, for work that any instance may start; else its holder keeps it. */
  release?: boolean;
  /** Milliseconds after which the work loses its lease, so that work that hangs stops no timer of the cluster. */
  mostMs?: number;
  /** Another instance that was found to hold it is believed to do so for so many milliseconds: nothing is asked. */
  believedMs?: number;
}

/** `mostMs` of a lease that names none: no round of a timer comes near it. */
export const LEASE_WORK_MS = 900_000;

export interface Lease {
  /** Runs `work` if this instance holds or can take the lease; else does nothing. Resolves with whether it ran. */
  hold(name: string, work: (held: Held) => Promise<void>, options?: LeaseOptions): Promise<boolean>;
  close(): Promise<void>;
}

export interface Take {
  allowed: boolean;
  /** What is left in the window. */
  remaining: number;
  /** Seconds until the window ends. */
  reset_seconds: number;
}

/** One limit that a piece of work has to fit into. */
export interface Demand {
  key: string;
  /**
   * What it will use; a gauge counts pieces of work and takes 1. 0 only reads the state: never refused, takes nothing.
   */
  amount: number;
  limit: number;
  /** Length of the fixed window, which begins with its first use; 0 = a gauge, taken until the work ends. */
  window_seconds: number;
}

/** The answer to several demands at once. */
export interface Reservation {
  /** Index of the first demand that was refused, -1 when all were granted. Nothing is taken when one is refused. */
  refused: number;
  /** State of each demand's limit, in the order of the demands. */
  states: readonly Omit<Take, "allowed">[];
  /**
   * Ends the work; only the first call counts, and it never throws. `used`, in the order of the demands: the real use,
   * whose difference to the taken amount corrects the window if that still runs. Gauges are freed.
   */
  end(used: readonly number[]): void;
}

/**
 * A statement of another room that counts a request for limits beside its own work, where both are on one Postgres. It
 * is given the parameters of `limits_batch_1` but for p_requests and p_key_of, and answers as that does.
 */
export type JointStatement = (limits: readonly unknown[]) => Promise<LimitsAnswer>;

/** Now, the demand that refuses each request (from 1; 0: none), use and end of each demand; epoch milliseconds. */
export type LimitsAnswer = readonly [number, readonly number[], readonly number[], readonly number[]];

export interface Counter {
  /** Adds `amount` under `key` in a fixed window; refused when the sum would exceed `limit` (nothing is added then). */
  take(key: string, amount: number, limit: number, windowSeconds: number): Promise<Take>;
  /**
   * Takes from several windows and gauges in one step, all or nothing. Where no other request waits to be counted,
   * `joint` may do it.
   */
  reserve(demands: readonly Demand[], joint?: JointStatement): Promise<Reservation>;
  close(): Promise<void>;
}

export interface Cluster {
  /** Random id of this process; key of its row in `instances`. */
  instanceId: string;
  bus: Bus;
  lease: Lease;
  counter: Counter;
}
