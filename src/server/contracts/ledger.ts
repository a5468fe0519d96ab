/**
 * The interface of all changes of money: hold, extend, settle, release, refund, credit. Only its engines write
 * users.quota, users.used_quota, users.request_count, tokens.remain_quota, tokens.used_quota, holds and credits.
 *
 * Every hold ends exactly once. Deleting the hold row is the first guard, the unique request id on the log row the
 * second. For every user: quota + holds + used_quota = sum(credits), at every commit.
 *
 * Two engines with the same behaviour and one test suite: `ledger.sqlite.ts` (a queue: all verbs of one turn of the
 * event loop run in one BEGIN IMMEDIATE; a refused verb is undone alone) and `ledger.pg.ts` (what waits is one
 * statement and one commit, lock order users, tokens, holds).
 */
import type { JointStatement } from "../cluster/types";
import type { StoredText } from "../../shared/log-text";
import type { NewLogRow } from "../db/schema";

/** The log row of a call, without what the database and other rows fill in. */
export type CallLog = Omit<NewLogRow, "id" | "type" | "folded" | "refund_of" | "repeated" | "repeated_until">;

/**
 * Where the money of a call may come from. `wallet`: users.quota, within the token's remain_quota. A plan will be one
 * more member; an engine that does not know a member refuses it, so that nothing else is charged in its place.
 */
export type Source = { readonly kind: "wallet" };

/** The sources of a caller with no plan. */
export const WALLET: readonly Source[] = [{ kind: "wallet" }];

export interface HoldRequest {
  request_id: string;
  user_id: number;
  /** 0 for calls without a token (playground, tests). */
  token_id: number;
  /**
   * In order of use: the first that covers the hold pays for the whole call. The hold remembers which one that is, so
   * extend, settle and release name none, and a refund goes where its charge came from. With the wallet as the only
   * source there is nothing to store.
   */
  sources: readonly Source[];
  /** Units to take now, >= 0. */
  amount: number;
  /**
   * The smallest sufficient hold: with it, at most a quarter of the remaining units of user and limited token is taken,
   * but never less than this.
   */
  least?: number;
  /**
   * The row that a sweep writes when this process dies: JSON of the log row as known at the start. Members that the
   * hold itself stores (request id, user, token, time) may be left out. Beside them `budgets`: what each
   * counts for the call, kept up to date while it runs.
   */
  draft: string;
}

export type HoldRefusal = "user_quota" | "token_quota" | "token_unusable" | "user_unusable";

export type HoldResult =
  /** `held`: units taken, where that is less than `amount`. */
  | { ok: true; held?: number }
  /**
   * `balance` is the user's or the token's spendable units, for the message; `left` is the amount that both together
   * allow the call, where that is less.
   */
  | { ok: false; reason: HoldRefusal; balance: number; left?: number };

export interface Settlement {
  request_id: string;
  user_id: number;
  token_id: number;
  /** Final charge in units, >= 0, rounded once by shared/charge.ts. The part beyond UNITS_LIMIT is not charged. */
  quota: number;
  /** The visible record, `quota` included; its `visible` is false when LogConsumeEnabled is off. */
  log: CallLog;
  /** More than one attempt was made: the fold counts the row, and with it the attempts that failed. */
  retried?: boolean;
  /**
   * For the sweep: a hold that ended after the sweep saw it is neither charged a second time nor charged after its
   * release.
   */
  held_only?: boolean;
}

export type SettleResult =
  /**
   * `hold_missing`: the hold was gone (swept); the call was charged all the same and a metric is raised. `swept_quota`:
   * the sweep's charge that this one replaces.
   */
  | { settled: true; hold_missing: boolean; swept_quota?: number }
  /**
   * This call was settled before (its log row exists and was not written by a sweep, whose row would be corrected). Or
   * `held_only`, and the hold was gone. Nothing moved.
   */
  | { settled: false };

export interface Refund {
  /** Request id of the refunded charge. */
  charge_id: string;
  /**
   * Tells an operator's refund from others of the same charge: it is given exactly or not at all. Without a name it is
   * the job's own, of which there is one: at most what is left of the charge is given.
   */
  name?: string;
  /** Units, at most the charge; absent = all of it that is left. */
  quota?: number;
  /** The text of the log row for the units that are given: an event of shared/events.ts. */
  text?: (units: number) => StoredText;
  /** More members of the row's `other`, beside `refund_of`. */
  other?: Record<string, unknown>;
  /** The charge as its owner stores it, for when its log row has been cleaned up. */
  cleaned?: RefundedCharge;
  /** Names of the budgets that counted the charge; absent: those that its row names. */
  budgets?: readonly string[];
}

/** The members that a refund's row repeats from its charge. */
export type RefundedCharge = Required<
  Pick<
    CallLog,
    | "user_id"
    | "username"
    | "token_id"
    | "token_name"
    | "channel"
    | "channel_name"
    | "group"
    | "model_name"
    | "quota"
    | "visible"
  >
>;

export type RefundResult =
  /** `quota`: units returned to user and token. */
  | { refunded: true; quota: number }
  /**
   * Nothing moved: this refund was given before, there is no charge with this id, or what is left of it is smaller than
   * the refund.
   */
  | { refunded: false; reason: "duplicate" | "charge_missing" | "exceeds_charge" };

export type UndoResult =
  /** `quota`: units taken from user and token. */
  | { undone: true; quota: number }
  /** Nothing moved: it was undone before, there is no such refund, or the balance does not cover it any more. */
  | { undone: false; reason: "duplicate" | "refund_missing" | "insufficient" };

export interface Credit {
  user_id: number;
  /** Units; negative deducts. */
  amount: number;
  kind: "setup" | "adjust" | "redeem" | "order" | "reward" | "transfer";
  /** One credit per key, forever. */
  idempotency_key: string;
  note?: string;
  actor_id?: number;
}

export interface CreditResult {
  applied: boolean;
  /** The user's spendable units afterwards. */
  balance: number;
  /**
   * Why nothing moved: the key was used before, a deduction exceeds the balance, the balance would exceed UNITS_LIMIT,
   * or there is no such user.
   */
  reason?: "duplicate" | "insufficient" | "limit" | "user_missing";
}

/** A hold that may be decided by the statement that counts the limits of its call. */
export interface JointHold {
  readonly statement: JointStatement;
  /** Once the statement decided it; undefined where it was not used, failed, or a limit refused the call. */
  readonly result: HoldResult | undefined;
  /** The statement's answer was lost: the hold may be there. `hold` may be asked again, or the hold undone. */
  readonly lost: boolean;
}

/**
 * Every verb may be repeated with the same request id after its reply was lost: a second hold takes nothing more, a
 * second settle charges nothing more, a second refund returns nothing more, a second credit with the same key adds
 * nothing more.
 */
export interface Ledger {
  /**
   * Takes `amount` (or down to `least`) from user and limited token if both cover it; never below zero, under any
   * concurrency. Rejects with RangeError for an amount that is not one, for no source and for a source that is not
   * known; then the database is not asked.
   */
  hold(request: HoldRequest): Promise<HoldResult>;
  /**
   * Postgres: decides this hold and the limits of its call in one statement. Undefined while other verbs wait: then a
   * batch is cheaper. Nothing happens before the statement is used.
   */
  jointHold?(request: HoldRequest): JointHold | undefined;
  /**
   * Takes `amount` more for a running call, from the source of its hold, and records `running`, the estimated cost
   * so far (the charge of a sweep). False when the balance does not cover it or the hold is gone; `running` is
   * recorded all the same.
   */
  extend(request_id: string, amount: number, running: number): Promise<boolean>;
  /**
   * Ends a hold with a charge: corrects user and token by the difference, raises used_quota and request_count, logs.
   */
  settle(settlement: Settlement): Promise<SettleResult>;
  /** Ends a hold without a charge: returns everything. False when the hold was gone. */
  release(request_id: string): Promise<boolean>;
  /** Refunds a charge, in whole or in part, once a name: user, token, totals. Waits for the disk. */
  refund(refund: Refund): Promise<RefundResult>;
  /** Adds units once per idempotency key. Waits for the disk. */
  credit(credit: Credit): Promise<CreditResult>;
  /** Verbs that wait for their commit. */
  queued(): number;
  /** Waits until everything queued is committed. */
  flush(): Promise<void>;
}

/** The end of a call that the ledger could not record yet. */
export type LateEnd =
  | { settle: Settlement }
  | { release: string }
  /** Request id of a hold that may have been taken although its reply was lost, and that no call will end. */
  | { undo: string };

/**
 * The ledger verbs of an admitted call: the relay has no access to credits and refunds, and takes holds by admission
 * only (admission.ts).
 */
export interface CallLedger extends Pick<Ledger, "extend" | "settle" | "release"> {
  /**
   * Accepts an end that failed, or that had no reply for long: it is retried until the ledger has it, as long as the
   * process lives, and after a kill by the next process. Resolves when it is on disk; never rejects.
   */
  later(end: LateEnd): Promise<void>;
}

/** The same and the hold: what admission is made of. */
export interface AdmittingLedger extends CallLedger, Pick<Ledger, "hold" | "jointHold"> {}
