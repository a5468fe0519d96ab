/** Whoever watches calls from outside: metrics and traces. Asked on the hot path, so it counts and returns. */
import type { CallObserver } from "./call";

/** Two who watch. */
export const combineObservers = (one: CallObserver, other: CallObserver): CallObserver => ({
  traces: one.traces || other.traces,
  attempted(channel, outcome) {
    one.attempted(channel, outcome);
    other.attempted(channel, outcome);
  },
  ended(call, end) {
    one.ended(call, end);
    other.ended(call, end);
  },
  refused(code) {
    one.refused(code);
    other.refused(code);
  },
});

export const noopObserver: CallObserver = {
  traces: false,
  attempted: () => undefined,
  ended: () => undefined,
  refused: () => undefined,
};

/** The trace that a request belongs to, for whom it may concern. */
export function traceOf({ observer }: { observer: CallObserver }, { headers }: Request): { traceparent?: string } {
  const traceparent = observer.traces ? headers.get("traceparent") : null;
  return traceparent === null ? {} : { traceparent };
}
