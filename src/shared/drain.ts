/** Drains: a channel, a key or an instance gets no new calls, and those that run may end. Inputs and views. */
import * as z from "zod";

/** Longest time that the running calls may be given, in seconds. */
const MAX_DRAIN_SECONDS = 86_400;

/** `seconds`: the running calls are ended after so long; absent or 0 = they take as long as they take. */
const seconds = z.int().min(0).max(MAX_DRAIN_SECONDS).default(0);
const id = z.int().positive();
const key_id = z.int().positive();

export const drainChannelInput = z.object({ id, seconds });
export const drainKeyInput = z.object({ id, key_id, seconds });
export const keyInput = z.object({ id, key_id });
export const drainInstanceInput = z.object({ instance: z.string().min(1).max(100), seconds });
export const instanceInput = z.object({ instance: z.string().min(1).max(100) });

export interface Drain {
  /** No new calls since then, epoch seconds. */
  since: number;
  /** Running calls are ended then, epoch seconds; 0 = they take as long as they take. */
  deadline: number;
}

/** The drain of a row; undefined: it does not drain. */
export const drainOf = (row: { draining_since: number; drain_deadline: number }): Drain | undefined =>
  row.draining_since > 0 ? { since: row.draining_since, deadline: row.drain_deadline } : undefined;

/** The columns of a drain that begins at `now`, epoch seconds; `seconds`: its deadline after that, 0 = none. */
export const drainFor = (now: number, seconds: number) => ({
  draining_since: now,
  drain_deadline: seconds > 0 ? now + seconds : 0,
});

/** What is left to wait for. */
export interface DrainView {
  /** Epoch seconds, 0 = it does not drain. */
  draining_since: number;
  /** Epoch seconds, 0 = without a deadline. */
  drain_deadline: number;
  /** Calls that run, over all instances; reported every second while something drains. */
  running: number;
  /** Unfinished jobs: they go on being asked about. */
  jobs: number;
}

/** A process that serves this database. */
export interface InstanceView {
  id: string;
  version: string;
  started_at: number;
  heartbeat_at: number;
  /** The one that answers. */
  self: boolean;
  draining_since: number;
  drain_deadline: number;
  /** Calls that it serves; known while something drains. */
  running: number;
}
