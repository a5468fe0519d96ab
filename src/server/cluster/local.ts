/** One process: everything in memory. */
import { AfterCommit } from "../db/transaction";
import { createListeners, type ListenersOptions } from "./listeners";
import { type Bus, type Counter, type Lease, LEASE_WORK_MS, type Take } from "./types";

export function localBus(options: ListenersOptions = { now: Date.now }): Bus {
  const listeners = createListeners(options);
  return {
    announce: function* (_, topic, id) {
      yield new AfterCommit(() => listeners.notify(topic, id, listeners.latest(topic) + 1, true));
    },
    subscribe: listeners.subscribe,
    age: listeners.age,
    fresh: () => true,
    close: async () => listeners.close(),
  };
}

export function localLease(): Lease {
  const running = new Set<string>();
  return {
    hold: async (name, work, { mostMs = LEASE_WORK_MS } = {}) => {
      if (running.has(name)) return false;
      running.add(name);
      const end = performance.now() + mostMs;
      try {
        await work({
          get lost() {
            return performance.now() > end;
          },
        });
      } finally {
        running.delete(name);
      }
      return true;
    },
    close: async () => {},
  };
}

interface Window {
  used: number;
  /** Epoch milliseconds. */
  ends: number;
}

/** Ended windows are replaced when their key is used again; of more than `maxKeys` the oldest go first. */
export function localCounter(now: () => number, maxKeys = 100_000): Counter {
  const windows = new Map<string, Window>();
  /** Gauges in use; a missing key is at 0. */
  const gauges = new Map<string, number>();

  /** The running window of a key. A new one is stored when something is added to it. */
  function windowOf(key: string, seconds: number): Window {
    const time = now();
    const window = windows.get(key);
    return window && window.ends > time ? window : { used: 0, ends: time + seconds * 1000 };
  }

  function add(key: string, window: Window, amount: number): void {
    window.used += amount;
    if (windows.get(key) === window) return;
    windows.delete(key); // the new one is the youngest
    windows.set(key, window);
    if (windows.size <= maxKeys) return;
    const oldest = windows.keys().next();
    if (!oldest.done) windows.delete(oldest.value);
  }

  const stateOf = (limit: number, { used, ends }: Window): Omit<Take, "allowed"> => ({
    remaining: Math.max(0, limit - used),
    reset_seconds: Math.ceil((ends - now()) / 1000),
  });

  return {
    take: async (key, amount, limit, windowSeconds) => {
      const window = windowOf(key, windowSeconds);
      const allowed = window.used + amount <= limit;
      if (allowed) add(key, window, amount);
      return { allowed, ...stateOf(limit, window) };
    },
    reserve: async (demands) => {
      const uses = demands.map(({ key, window_seconds }) =>
        window_seconds > 0 ? windowOf(key, window_seconds) : { used: gauges.get(key) ?? 0, ends: now() },
      );
      const refused = demands.findIndex(({ amount, limit }, i) => amount > 0 && (uses[i]?.used ?? 0) + amount > limit);
      if (refused < 0) {
        demands.forEach(({ key, amount, window_seconds }, i) => {
          const use = uses[i];
          if (!use || amount === 0) return;
          if (window_seconds > 0) return add(key, use, amount);
          use.used += amount;
          gauges.set(key, use.used);
        });
      }
      let ended = refused >= 0;
      return {
        refused,
        states: demands.map(({ limit }, i) => stateOf(limit, uses[i] ?? { used: 0, ends: now() })),
        end: (used) => {
          if (ended) return;
          ended = true;
          demands.forEach(({ key, amount, window_seconds }, i) => {
            const use = uses[i];
            if (window_seconds === 0) {
              const left = (gauges.get(key) ?? 0) - amount;
              if (left > 0) gauges.set(key, left);
              else gauges.delete(key);
            } else if (use && windows.get(key) === use && use.ends > now()) {
              use.used = Math.max(0, use.used + (used[i] ?? amount) - amount);
            }
          });
        },
      };
    },
    close: async () => {
      windows.clear();
      gauges.clear();
    },
  };
}
