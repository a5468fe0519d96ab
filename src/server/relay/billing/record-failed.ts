/** The end of a call that is not charged. */
import type { EndReason } from "../../../shared/log";
import type { Failure } from "../../protocol/upstream-failure";
import type { Admitted } from "../call/call";
import { failureText } from "../response/error-response";
import { callRow } from "./log-row";

/** Writes the row of a call that failed with `failure` after all its attempts. */
export async function recordFailed(call: Admitted, failure: Failure, end_reason: EndReason): Promise<void> {
  const { engine } = call.asked;
  const { attempt } = call.progress;
  const end = { attempt, end_reason, quota: 0, usage: undefined };
  engine.observer.ended(call, end);
  const text = failureText(failure, call.attempts.length - 1);
  // The row of a virtual model tells the step that failed last.
  const last = call.ladder ? (attempt?.call ?? call) : call;
  await engine.controlPlane.recordFailure(callRow(last, { ...end, bill: [], estimated: false, text }));
}
