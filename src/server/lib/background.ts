/** Work that outlives the call that started it: known, so that a process that stops can end it and wait for it. */
import type { Logger } from "./log";

export interface Background {
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
  /** Keeps hold of `work` until it settles; what it throws is logged under `name`. */
  track(name: string, work: Promise<unknown>): void;
  /** Aborts the signal and waits for what runs. */
  stop(): Promise<void>;
}

export function createBackground(log: Pick<Logger, "error">): Background {
  const controller = new AbortController();
  const running = new Set<Promise<unknown>>();
  return {
    signal: controller.signal,
    track: (name, work) => {
      const settled = work
        .catch((err: unknown) => log.error({ err, work: name }, "background work failed"))
        .finally(() => running.delete(settled));
      running.add(settled);
    },
    stop: async () => {
      controller.abort();
      await Promise.all(running);
    },
  };
}
