/** Whoever watches calls from outside: metrics and traces. Asked on the hot path, so it counts and returns. */
import type { Watch } from "./call";

/** Two who watch. */
export const both = (one: Watch, other: Watch): Watch => ({
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

export const unwatched: Watch = {
  traces: false,
  attempted: () => undefined,
  ended: () => undefined,
  refused: () => undefined,
};

/** The trace that a request belongs to, for whom it may concern. */
export function traceOf({ watch }: { watch: Watch }, { headers }: Request): { traceparent?: string } {
  const traceparent = watch.traces ? headers.get("traceparent") : null;
  return traceparent === null ? {} : { traceparent };
}
