/** Observers of calls: metrics and traces. They run on the hot path, so they count and return. */
import type { CallObserver } from "./call";

/** Two observers as one. */
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

/** The trace of a request, while tracing is on. */
export const traceOf = ({ observer }: { observer: CallObserver }, { headers }: Request): string | undefined =>
  observer.traces ? (headers.get("traceparent") ?? undefined) : undefined;
