/** Answers to a hold, the same on both engines. */
import type { HoldRequest, HoldResult } from "../../contracts/ledger";

/** The answer to a hold that took `held` units. */
export const granted = ({ amount }: Pick<HoldRequest, "amount">, held: number): HoldResult =>
  held < amount ? { ok: true, held } : { ok: true };

/** The answer to a hold that exists already: it took `least` or more. */
export const askedAgain = (request: HoldRequest): HoldResult => granted(request, request.least ?? request.amount);
