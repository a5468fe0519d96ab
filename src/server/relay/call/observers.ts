/** Whoever watches calls from outside: metrics and traces. Asked on the hot path, so it counts and returns. */
import type { EndReason } from "../../../shared/log";
import type { Usage } from "../../../shared/pricing";
import type { ErrorCode } from "../../../shared/errors";
import type { Call } from "./call";
import type { FailureClass } from "../../protocol/upstream-failure";
import type { PoolChannel } from "../../contracts/control-plane";

/** What a call came to. */
export interface CallEnd {
  end_reason: EndReason;
  /** Units charged. */
  quota: number;
  usage: Usage | undefined;
}

export interface Watch {
  /** It wants to know which trace a call belongs to. */
  readonly traces: boolean;
  /** A channel was tried. `outcome`: "ok", or the class of the failure. */
  attempted(channel: PoolChannel, outcome: FailureClass | "ok"): void;
  /**
   * A call has left its log row: charged, or failed for nothing. Once for every call; in a realtime session once a
   * response.
   */
  ended(call: Call, end: CallEnd): void;
  /** A call was refused before a channel was asked. `code`: of shared/errors.ts. */
  refused(code: ErrorCode): void;
}

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
