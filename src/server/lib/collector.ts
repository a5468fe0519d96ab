/** Collects requests for background work and does it for all of them together. */
import type { Background } from "./background";

export interface Collector<K, V> {
  /** Requests work for `key`; before it is done a newer value replaces the older one. Returns at once, never throws. */
  add(key: K, value: V): void;
}

export interface CollectorOptions<K, V> {
  /** For the log, when `work` throws. */
  name: string;
  /** From the first request to the work, and between two rounds. */
  pauseMs: number;
  /** Most keys that wait; requests beyond are dropped, and count when they are repeated later. */
  max: number;
  /** One round. Rounds never overlap. */
  work(items: ReadonlyMap<K, V>): Promise<void>;
}

/** Stops with `background`: requests that still wait are dropped. */
export function createCollector<K, V>(
  background: Background,
  { name, pauseMs, max, work }: CollectorOptions<K, V>,
): Collector<K, V> {
  let waiting = new Map<K, V>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let working = false;

  function schedule(): void {
    if (timer || working || waiting.size === 0 || background.signal.aborted) return;
    timer = setTimeout(round, pauseMs);
    timer.unref();
  }

  function round(): void {
    timer = undefined;
    if (background.signal.aborted) return;
    const items = waiting;
    waiting = new Map();
    working = true;
    const done = work(items).finally(() => {
      working = false;
      schedule();
    });
    background.track(name, done);
  }

  background.signal.addEventListener("abort", () => clearTimeout(timer));
  return {
    add(key, value) {
      if (waiting.size >= max && !waiting.has(key)) return;
      waiting.set(key, value);
      schedule();
    },
  };
}
