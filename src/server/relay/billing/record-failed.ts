/** The end of a call that is not charged. */
import type { EndReason } from "../../../shared/log";
import type { Admitted } from "../call/call";
import { callRow } from "./log-row";

/** Writes the row of a call that failed; `content`: the response that its caller received. */
export async function recordFailed(call: Admitted, content: string, end_reason: EndReason): Promise<void> {
  const { engine } = call.asked;
  const { attempt } = call.progress;
  const end = { attempt, end_reason, quota: 0, usage: undefined };
  engine.observer.ended(call, end);
  await engine.controlPlane.recordFailure(callRow(call, { ...end, bill: [], estimated: false, content }));
}
