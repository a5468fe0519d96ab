/** Timers that tests replace. */

export interface Timers {
  /** Runs once after `ms` milliseconds; the returned function cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const realTimers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};
