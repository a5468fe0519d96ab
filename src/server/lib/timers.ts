/** Timers that tests replace, and the clock for lengths of time. */

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

/** Read once, because every call asks for the time a dozen times. */
const ORIGIN = performance.timeOrigin;
const steadyNow = (): number => ORIGIN + performance.now();

/**
 * The clock by which lengths of time are measured, in milliseconds: in place of the wall clock, which may be set
 * forward or back while the process runs, one that only goes on. A test's own clock stays what it is.
 */
export const steadyOf = (now: () => number): (() => number) => (now === Date.now ? steadyNow : now);
