/** A verb of the ledger on Postgres as it is sent, and its answer. */
import type { CallLog, HoldRefusal } from "../../contracts/ledger";

/** Ends give back, so they come first in a batch. */
export const RANK = { s: 0, o: 0, x: 0, e: 1, h: 2 } as const;

export interface Verb {
  /** settle, settle of what is held alone, release, extend, hold */
  readonly kind: keyof typeof RANK;
  readonly rank: number;
  readonly request_id: string;
  /** 0 where only the hold knows it; so the token. */
  readonly user_id: number;
  readonly token_id: number;
  readonly amount: number;
  /** The least hold, or the running cost. */
  readonly other: number;
  readonly draft: string;
  /** The row of a settle. */
  readonly log: CallLog | undefined;
  /** A settle: the fold counts its row, because that tells more than the sums of its hour. */
  readonly folded_later: boolean;
}

/**
 * hold: units held; "again" where the hold is there; or a refusal with the user's balance, the token's, and what both
 * allow. extend and release: 1 or 0. settle: CHARGED and FOUND (its hold).
 */
export type Answer = number | "again" | readonly [HoldRefusal, number, number, number];

export const CHARGED = 1;
export const FOUND = 2;
