/** When jobs are polled. Milliseconds everywhere. */
import type { TaskWatcher } from "./provider";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Between two polls of a job, unless its provider says otherwise. */
const POLL_MS = 15 * SECOND;
/** The longest pause after failed polls. */
const MOST_POLL_MS = 5 * MINUTE;
/** A job that runs longer than this is polled less often: */
const SLOW_AFTER_MS = 10 * MINUTE;
/** at least a minute lies between two polls. */
const SLOW_POLL_MS = MINUTE;
/** A job that has not finished by then has failed (24 h). */
const LIFETIME_MS = 24 * HOUR;
/**
 * A submit without an answer by then has failed. Longer than any attempt may take, and than the 30 s after which a dead
 * process's holds are swept.
 */
export const SUBMIT_LIMIT_MS = 30 * MINUTE;
/** How often an unanswered submit is checked. */
export const SUBMIT_CHECK_MS = MINUTE;
/** Timeout of each request of a poll or a cancellation. */
export const REQUEST_TIMEOUT_MS = 30 * SECOND;
/** Timeout of all requests of one poll: large results are read in it. */
export const POLL_TIMEOUT_MS = 5 * MINUTE;

export function watcherTimes({
  poll_ms = POLL_MS,
  lifetime_ms = LIFETIME_MS,
}: Pick<TaskWatcher, "poll_ms" | "lifetime_ms">) {
  return { poll_ms, lifetime_ms };
}

/** The pause before the next poll of a job of age `age_ms` whose last `fails` polls failed. */
export function pauseOf(watcher: Pick<TaskWatcher, "poll_ms" | "lifetime_ms">, age_ms: number, fails: number): number {
  const { poll_ms } = watcherTimes(watcher);
  const usual = age_ms > SLOW_AFTER_MS ? Math.max(poll_ms, SLOW_POLL_MS) : poll_ms;
  return Math.min(Math.max(usual, MOST_POLL_MS), usual * 2 ** Math.min(fails, 16));
}
