/** How late the event loop is: prom-client's own gauge stays at 0 on Bun (measured), so a timer compares the clock. */

const EVERY_MS = 500;
/** Samples kept: 15 seconds, the usual interval of scrapes. */
const SAMPLES = 30;

export interface LoopLag {
  /** The longest delay of the last 15 seconds, in seconds. */
  read(): number;
  stop(): void;
}

export function watchLoop(): LoopLag {
  const samples = new Array<number>(SAMPLES).fill(0);
  let at = 0;
  let due = performance.now() + EVERY_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    samples[at++ % SAMPLES] = Math.max(0, now - due);
    due = now + EVERY_MS;
  }, EVERY_MS);
  timer.unref();
  return { read: () => Math.max(...samples) / 1000, stop: () => clearInterval(timer) };
}
