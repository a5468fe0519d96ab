/**
 * Calls that are no model calls: counts, stored responses, files, batches, jobs. They are free and leave no log row,
 * except for a job's submit and for refusals (entry/beside.ts).
 */
import type { Admission, LimitRequest } from "../../contracts/rate-limits";
import type { Authenticated } from "../call/call";
import type { Responder } from "../response/responder";
import { failureError } from "../response/error-response";
import { UpstreamError } from "../../protocol/upstream-error";
import { reportLimits } from "./limit-headers";
import { refusalError } from "./refusal";

/** One such call. */
export interface SideRequest extends Authenticated {
  readonly request: Request;
  readonly responder: Responder;
}

/** Handles such a call. Throws an AppError for the caller's error, UpstreamError for an upstream's refusal. */
export type SideHandler = (sideRequest: SideRequest) => Promise<Response>;

/** The same within the caller's limits. `billed`: it submits a job, which is counted and limited like a model call. */
export async function answerSideCall(
  { answer, billed }: { answer: SideHandler; billed?: boolean },
  sideRequest: SideRequest,
): Promise<Response> {
  const admission = billed ? undefined : await enterLimits(sideRequest);
  try {
    return await answer(sideRequest);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return sideRequest.responder.error(
      sideRequest.dialect,
      failureError(error.failure, sideRequest.lang, sideRequest.request_id),
    );
  } finally {
    void admission?.end({ tokens: 0, success: true, units: 0 });
  }
}

/** Enters the caller's limits; undefined when they have none. Throws the caller's error when one refuses. */
async function enterLimits({ engine, caller, responder }: SideRequest): Promise<Admission | undefined> {
  const limits: LimitRequest = { model: "", tokens: 0, units: 0 };
  const outcome = await engine.controlPlane.admit({ caller, limits, hold: undefined });
  reportLimits(responder, outcome.limits);
  if (!outcome.granted) throw refusalError(outcome);
  return outcome.limits;
}
