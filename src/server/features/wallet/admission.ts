/** Admission of calls, composed of the limits and the ledger. */
import { AppError } from "../../../shared/errors";
import type { Admit, Granted, Refusal } from "../../contracts/admission";
import type { AdmittingLedger } from "../../contracts/ledger";
import { type Admission, type Limits, NOTHING_USED } from "../../contracts/rate-limits";
import type { Logger } from "../../lib/log";
import { draftWith } from "./hold-draft";

/** What admission needs. */
interface Needs {
  limits: Pick<Limits, "admit">;
  ledger: Pick<AdmittingLedger, "hold" | "jointHold" | "later">;
  log: Logger;
}

/** Most calls: no limits, and the whole hold was taken. */
const WHOLLY_GRANTED: Granted = { granted: true, limits: undefined, held: undefined };

const granted = (limits: Admission | undefined, held?: number): Granted =>
  limits || held !== undefined ? { granted: true, limits, held } : WHOLLY_GRANTED;

/**
 * The limits first, then the hold, or both in one statement; what a call took of its limits is given back here when its
 * hold is not granted.
 */
export function createAdmit({ limits, ledger, log }: Needs): Admit {
  return async ({ caller, limits: limitRequest, hold }) => {
    const joint = hold && limitRequest && ledger.jointHold?.(hold);
    let entered: Admission | undefined;
    try {
      // A caller without limits has nothing to await.
      const entering = limitRequest && limits.admit(caller, limitRequest, hold !== undefined, joint?.statement);
      entered = entering && (await entering);
    } finally {
      // The call does not go on, and its hold may be there.
      if (hold && joint?.lost && (!entered || entered.refused)) void ledger.later({ undo: hold.request_id });
    }
    if (entered?.refused) return { granted: false, by: "limit", limits: entered, ...entered.refused };
    if (!hold) return granted(entered);
    let refusal: Refusal;
    try {
      const result =
        joint?.result ??
        (await ledger.hold(
          entered?.budgets && limitRequest
            ? { ...hold, draft: draftWith(hold.draft, entered.budgets, limitRequest.units) }
            : hold,
        ));
      if (result.ok) return granted(entered, result.held);
      const { reason, balance, left } = result;
      refusal = { granted: false, by: "ledger", limits: entered, reason, balance, left };
    } catch (error) {
      refusal = { granted: false, by: "outage", limits: entered, error: outage(error, hold.request_id) };
    }
    await entered?.end(NOTHING_USED);
    return refusal;
  };

  function outage(error: unknown, request_id: string): AppError {
    // Refused by the ledger's own checks: the database was not asked.
    if (error instanceof AppError && error.cause === undefined) return error;
    log.error({ err: error, request_id }, "hold failed");
    // Whether it was taken is unknown: if it was, it is given back later.
    void ledger.later({ undo: request_id });
    return new AppError("database_unavailable", {}, { cause: error });
  }
}
