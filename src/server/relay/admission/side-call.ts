/**
 * Calls beside those of the models: counts, stored answers, files, batches, jobs. Free, and without a row in the log,
 * but for a job's submit.
 */
import type { Lang } from "../../../shared/text";
import type { Engine } from "../call/call";
import type { CallerDialect } from "../../protocol/dialects/dialect";
import type { Responder } from "../response/responder";
import { failureError } from "../response/error-response";
import { UpstreamError } from "../../protocol/upstream-error";
import { enter } from "./rate-limit";
import type { Caller } from "../../contracts/caller";

/** One such call. */
export interface SideRequest {
  engine: Engine;
  caller: Caller;
  request: Request;
  responder: Responder;
  dialect: CallerDialect;
  lang: Lang;
  ip: string;
  path: string;
  request_id: string;
}

/** Answers it. Throws an AppError for what the caller gets, Failed for what an upstream refused. */
export type SideHandler = (sideRequest: SideRequest) => Promise<Response>;

/**
 * The same within the caller's limits. `billed`: it submits a job, which is counted and limited as the call that it is.
 */
export async function answerSideCall(
  { answer, billed }: { answer: SideHandler; billed?: boolean },
  sideRequest: SideRequest,
): Promise<Response> {
  const admission = billed
    ? undefined
    : sideRequest.engine.controlPlane.limits.admit(sideRequest.caller, { model: "", tokens: 0, units: 0 });
  const entered = admission && enter(await admission, sideRequest.responder);
  try {
    return await answer(sideRequest);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return sideRequest.responder.error(
      sideRequest.dialect,
      failureError(error.failure, sideRequest.lang, sideRequest.request_id),
    );
  } finally {
    void entered?.end({ tokens: 0, success: true, units: 0 });
  }
}
