/**
 * Work that outlives the call that started it. It is registered, so that a stopping process can abort it and wait for
 * it.
 */
import type { Logger } from "./log";

export interface Background {
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
  /** Keeps `work` until it settles; its error is logged under `name`. */
  track(name: string, work: Promise<unknown>): void;
  /** Aborts the signal and waits for running work. */
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
