/** What several instances must agree on. In-process by default; Postgres and Redis stand behind the same interfaces. */

import type { Q } from "../db/types";
import type { Steps } from "../db/transaction";

/** Names of what is cached in memory and must be dropped everywhere when it changes. */
export type Topic = "options" | "channels" | "tokens" | "users" | "sessions";

/**
 * Hears that `id` ("*" = anything) of a topic changed; `own`: in this process. What it answers is waited for, and where
 * it fails it is asked again every second until it succeeds.
 */
export type Listener = (id: string, own: boolean) => void | Promise<void>;

export interface SubscribeOptions {
  /** It reads everything again, whatever the id. It is asked every minute besides, and its age is told by /readyz. */
  whole?: boolean;
}

export interface Bus {
  /**
   * The last steps of the transaction that changes `id` ("*" = several) of a topic: the change and its announcement are
   * one commit, so every instance hears of it or it was not made. This one's listeners have been asked when `db.tx`
   * answers.
   */
  announce(q: Q, topic: Topic, id: string): Steps<void>;
  /** The listener also hears "*" after a lost connection, because messages may have been missed. */
  subscribe(topic: Topic, listener: Listener, options?: SubscribeOptions): () => void;
  /** Milliseconds since the oldest of what is read as a whole was read. */
  age(): number;
  /** False when the database has been out of reach for 5 s: caches may no longer be trusted. */
  fresh(): boolean;
  close(): Promise<void>;
}

export interface Lease {
  /**
   * Runs `work` if this instance holds (or can take) the lease; otherwise does nothing. `release` gives the lease back
   * when the work ends, for what is started on any instance; without it the holder keeps it from run to run.
   */
  hold(name: string, work: () => Promise<void>, options?: { release?: boolean }): Promise<boolean>;
  close(): Promise<void>;
}

export interface Take {
  allowed: boolean;
  /** What is left in the window. */
  remaining: number;
  /** Seconds until the window ends. */
  reset_seconds: number;
}

/** One limit that a piece of work needs room in. */
export interface Demand {
  key: string;
  /**
   * What it will use; a gauge counts pieces of work and takes 1. 0 only asks: it is never refused and takes nothing.
   */
  amount: number;
  limit: number;
  /** Length of the fixed window, which begins with its first use; 0 = a gauge: taken until the work ends. */
  window_seconds: number;
}

/** The answer to several demands at once. */
export interface Reservation {
  /** Index of the first demand that was refused, -1 when all were granted. Nothing is taken when one is refused. */
  refused: number;
  /** State of each demand's limit, in the order of the demands. */
  states: readonly Omit<Take, "allowed">[];
  /**
   * Ends the work; only the first call counts, and it never throws. `used` says, in the order of the demands, what was
   * really used: the difference to what was taken corrects the window, if that window still runs. Gauges are freed.
   */
  end(used: readonly number[]): void;
}

export interface Counter {
  /** Adds `amount` under `key` in a fixed window; refused when the sum would pass `limit` (nothing is added then). */
  take(key: string, amount: number, limit: number, windowSeconds: number): Promise<Take>;
  /** Takes from several windows and gauges in one step, all or nothing. */
  reserve(demands: readonly Demand[]): Promise<Reservation>;
  close(): Promise<void>;
}

export interface Cluster {
  /** Random id of this process; key of its row in `instances`. */
  instanceId: string;
  bus: Bus;
  lease: Lease;
  counter: Counter;
}
