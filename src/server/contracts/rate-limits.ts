/** Limits as the relay sees them: a call asks to enter, is told where it stands, and says what it used when it ends. */
import type { ErrorCode, ErrorValues } from "../../shared/errors";
import type { Caller } from "./caller";
import type { PoolChannel } from "./channel";
import type { DryRunLimit } from "../../shared/dry-run";

export interface LimitState {
  limit: number;
  remaining: number;
  /** Seconds until the window ends. */
  reset_seconds: number;
}

/** What a call may use. */
export interface LimitRequest {
  /** '' where it is not known. */
  model: string;
  /** An upper bound of its tokens. */
  tokens: number;
  /** Units that it holds. 0: it costs nothing, and no budget is asked. */
  units: number;
  /** A response inside a session, which has its place among the concurrent calls already. */
  inside?: true;
}

/** What a call came to. */
export interface Used {
  tokens: number;
  success: boolean;
  /** Units charged. */
  units: number;
}

/** The answer to a call that asked to enter. */
export interface Admission {
  /** The limit that keeps it out; then nothing was taken. */
  refused?: { code: ErrorCode; values: ErrorValues; retry_after_s: number };
  /** The tightest limit on requests, and the one on tokens; absent where there is none. */
  requests?: LimitState;
  tokens?: LimitState;
  /**
   * Names of the budgets that its units were taken from; absent without budgets. What is refunded later goes back to
   * them.
   */
  budgets?: readonly string[];
  /** The call will cost so many units more; false when a budget does not cover them. Absent without budgets. */
  more?(units: number): Promise<boolean>;
  /**
   * The call is over; only the first call counts. Resolves when a budget is corrected, undefined when there is none.
   * Never rejects.
   */
  end(used: Used): Promise<void> | undefined;
}

export interface Limits {
  /** undefined when nothing limits this caller: then there is nothing to wait for. */
  admit(caller: Caller, limitRequest: LimitRequest): Promise<Admission> | undefined;
  /** The channel's own limits, and with group auto those of the group that serves. undefined when there are none. */
  enterChannel(channel: PoolChannel, caller: Caller, limitRequest: LimitRequest): Promise<Admission> | undefined;
  /** Where a caller stands, and the channels; nothing is taken. */
  standing(caller: Caller, model: string, channels: readonly PoolChannel[]): Promise<DryRunLimit[]>;
}
