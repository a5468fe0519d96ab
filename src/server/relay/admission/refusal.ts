/** The caller's error for a refused admission. */
import { AppError, type ErrorCode } from "../../../shared/errors";
import type { Refusal } from "../../contracts/admission";
import type { HoldRefusal } from "../../contracts/ledger";

const codes: Readonly<Record<HoldRefusal, ErrorCode>> = {
  user_quota: "insufficient_user_quota",
  token_quota: "insufficient_token_quota",
  token_unusable: "token_disabled",
  user_unusable: "user_banned",
};

/**
 * The error that the caller gets. `tokensFor`: the output limit that so many units would cover, where the call could
 * name one.
 */
export function refusalError(
  refusal: Refusal,
  tokensFor: (units: number) => { tokens?: number } = () => ({}),
): AppError {
  if (refusal.by === "limit") return new AppError(refusal.code, refusal.values);
  if (refusal.by === "outage") return refusal.error;
  const { reason, balance, left = balance } = refusal;
  // A token with nothing left is exhausted, whatever this call would cost (C-593: 401).
  const empty = reason === "token_quota" && balance <= 0;
  return new AppError(empty ? "token_exhausted" : codes[reason], { balance, ...tokensFor(left) });
}
