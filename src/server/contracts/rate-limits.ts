/**
 * Limits as the relay sees them: a call requests admission, reads the limits' state, and reports its use when it ends.
 */
import type { ErrorCode, ErrorValues } from "../../shared/errors";
import type { Caller } from "./caller";
import type { JointStatement } from "../cluster/types";
import type { PoolChannel } from "./channel";
import type { DryRunLimit } from "../../shared/dry-run";

export interface LimitState {
  limit: number;
  remaining: number;
  /** Seconds until the window ends. */
  reset_seconds: number;
}

/** The possible use of a call. */
export interface LimitRequest {
  /** '' where the model is not known. */
  model: string;
  /** An upper bound of its tokens. */
  tokens: number;
  /** Units that it holds. 0: it is free, and no budget is checked. */
  units: number;
  /** A response inside a session, which already counts as a concurrent call. */
  inside?: true;
  /** Request id of its hold. Once that is there, it names the budgets that count the call, for a sweep. */
  hold?: string;
}

/** The actual use of a call. */
export interface Used {
  tokens: number;
  success: boolean;
  /** Units charged. */
  units: number;
}

/** The use of a call that did not succeed. */
export const NOTHING_USED: Used = { tokens: 0, success: false, units: 0 };

/** The limit that refuses a call. */
export interface LimitRefusal {
  code: ErrorCode;
  values: ErrorValues;
  retry_after_s: number;
}

/** The tightest limit on requests, and the one on tokens; absent where there is none. */
export interface LimitStates {
  requests?: LimitState;
  tokens?: LimitState;
}

/** The response to a request for admission. */
export interface Admission extends LimitStates {
  /** Then nothing was taken. */
  refused?: LimitRefusal;
  /** Names of the budgets that its units were taken from; absent without budgets. A later refund returns to them. */
  budgets?: readonly string[];
  /** Takes so many more units; false when a budget does not cover them. Absent without budgets. */
  more?(units: number): Promise<boolean>;
  /**
   * Before a charge of `units`, where that is more than was taken: the budgets count all of it, whatever their limits
   * are, so that no crash leaves them below what the log says. Resolves when they do; undefined when there is nothing
   * to do. Never rejects. Absent without budgets.
   */
  cover?(units: number): Promise<void> | undefined;
  /**
   * The call has ended; only the first end counts. Resolves when the budgets are corrected, undefined when there is
   * none. Never rejects. `hold`: the end of its hold, for which the budgets wait, because a sweep that finds the hold
   * corrects them; resolves with the units that a sweep has left in them, undefined when there was none. "stays": an
   * attempt has failed, and the hold is kept for the next; a sweep that took it has given back all of it.
   */
  end(used: Used, hold?: Promise<number | undefined> | "stays"): Promise<void> | undefined;
}

export interface Limits {
  /**
   * undefined when this caller has no limits: then there is nothing to await. `ahead`: the hold is taken after this,
   * and is told of the budgets then. `joint`: may count the limits beside its own work.
   */
  admit(
    caller: Caller,
    limitRequest: LimitRequest,
    ahead?: boolean,
    joint?: JointStatement,
  ): Promise<Admission> | undefined;
  /** The channel's own limits, and with group auto those of the group that serves. undefined when there are none. */
  enterChannel(channel: PoolChannel, caller: Caller, limitRequest: LimitRequest): Promise<Admission> | undefined;
  /** The state of a caller's limits, and of the channels'; nothing is taken. */
  standing(caller: Caller, model: string, channels: readonly PoolChannel[]): Promise<DryRunLimit[]>;
}
