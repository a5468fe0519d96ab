/**
 * Calls beside those of the models: counts, stored answers, files, batches, jobs. Free, and without a row in the log,
 * but for a job's submit.
 */
import type { Lang } from "../../../shared/text";
import type { Engine } from "../call/call";
import type { CallerDialect } from "../../protocol/dialects/dialect";
import type { Door } from "../response/responder";
import { failureError } from "../response/error-response";
import { Failed } from "../../protocol/upstream-error";
import { enter } from "./rate-limit";
import type { Caller } from "../../contracts/caller";

/** One such call. */
export interface Visit {
  engine: Engine;
  caller: Caller;
  request: Request;
  door: Door;
  dialect: CallerDialect;
  lang: Lang;
  ip: string;
  path: string;
  request_id: string;
}

/** Answers it. Throws an AppError for what the caller gets, Failed for what an upstream refused. */
export type Aside = (visit: Visit) => Promise<Response>;

/**
 * The same within the caller's limits. `billed`: it submits a job, which is counted and limited as the call that it is.
 */
export async function answerAside(
  { answer, billed }: { answer: Aside; billed?: boolean },
  visit: Visit,
): Promise<Response> {
  const admission = billed
    ? undefined
    : visit.engine.seams.limits.admit(visit.caller, { model: "", tokens: 0, units: 0 });
  const entered = admission && enter(await admission, visit.door);
  try {
    return await answer(visit);
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    return visit.door.error(visit.dialect, failureError(error.failure, visit.lang, visit.request_id));
  } finally {
    void entered?.end({ tokens: 0, success: true, units: 0 });
  }
}
