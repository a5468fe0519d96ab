/** The end of a call that failed before its content. */
import type { EndReason } from "../../../shared/log";
import { type Failure, failureOf } from "../../protocol/upstream-failure";
import type { Opened } from "../billing/admit-and-hold";
import { recordFailed } from "../billing/record-failed";
import { callError } from "../response/error-response";
import type { Responder } from "../response/responder";
import type { Answer } from "../upstream/attempt";
import type { RetryOutcome } from "../upstream/retry";

/** The error of a call without a usable response. */
export async function refuse(opened: Opened, responder: Responder, outcome: RetryOutcome<Answer>): Promise<Response> {
  const { call } = opened;
  const failure = outcome.ok ? failureOf("malformed") : outcome.failure;
  await failed(opened, failure, outcome.ok ? "upstream_error" : outcome.end_reason);
  return responder.error(call.asked.dialect, callError(call, failure));
}

/** Ends a call that failed before its content: nothing is charged, the row keeps every attempt. */
export async function failed({ call, billing }: Opened, failure: Failure, end_reason: EndReason): Promise<void> {
  const { deadlines, progress } = call;
  progress.over = true;
  deadlines.clear();
  await billing.release(call);
  await recordFailed(call, failure, end_reason);
}
