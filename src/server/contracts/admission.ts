/**
 * Admission, the one contract of calls, jobs, batches and realtime sessions: limits and hold of a caller are decided
 * together, in one operation, and a refusal is a value.
 *
 * All or nothing: a call that its limits refuse holds nothing, and one whose hold is refused or fails ends its use of
 * the limits with NOTHING_USED (it stays counted as a request).
 */
import type { AppError } from "../../shared/errors";
import type { Caller } from "./caller";
import type { HoldRefusal, HoldRequest } from "./ledger";
import type { Admission, LimitRefusal, LimitRequest, LimitStates } from "./rate-limits";

export interface AdmissionRequest {
  readonly caller: Caller;
  /** The possible use of the caller's limits; undefined: the limits were entered before. */
  readonly limits: LimitRequest | undefined;
  /** undefined: it is free, or its hold is taken at another time. */
  readonly hold: HoldRequest | undefined;
}

export interface Granted {
  readonly granted: true;
  /** The use of the limits, to be ended by the call; undefined when the caller has none, or none were asked. */
  readonly limits: Admission | undefined;
  /** Units taken, where that is less than the hold's `amount`. */
  readonly held: number | undefined;
}

interface Refused {
  readonly granted: false;
  /** The state of the caller's limits, to be reported to them; undefined where there is none. */
  readonly limits: LimitStates | undefined;
}

/** A limit is used up. */
export interface RefusedByLimit extends Refused, LimitRefusal {
  readonly by: "limit";
}

/** The balance does not cover the hold, or user or token may not be used: the members of a refused HoldResult. */
export interface RefusedByLedger extends Refused {
  readonly by: "ledger";
  readonly reason: HoldRefusal;
  readonly balance: number;
  readonly left: number | undefined;
}

/** The hold could not be taken; a hold whose reply was lost is given back later. `error`: database_unavailable. */
export interface RefusedByOutage extends Refused {
  readonly by: "outage";
  readonly error: AppError;
}

export type Refusal = RefusedByLimit | RefusedByLedger | RefusedByOutage;

/**
 * Enters the limits and takes the hold. Rejects with the error of the limits' store when the limits cannot be asked;
 * then nothing is taken. May be repeated with the same hold after its reply was lost: the hold takes nothing more.
 */
export type Admit = (request: AdmissionRequest) => Promise<Granted | Refusal>;
