/** Sends a whole request until it is answered: to each channel of its model, and through the steps of a virtual one. */
import { stepReasonOf } from "../../../shared/virtual-models";
import { SPOOL_LIMIT } from "../../lib/request-body/spool-file";
import type { Failure } from "../../protocol/upstream-failure";
import type { Admitted, LadderStep } from "../call/call";
import { type Answer, runAttempt } from "./attempt";
import { spillToDisk } from "./body-release";
import { type RetryOutcome, tryChannels } from "./retry";
import { whyNotAgain } from "./retry-policy";

/** Sends a whole request to each channel. */
export const withRetries = (call: Admitted): Promise<RetryOutcome<Answer>> =>
  call.asked.content.bytes.length > SPOOL_LIMIT ? runLarge(call) : climb(call);

async function runLarge(call: Admitted): Promise<RetryOutcome<Answer>> {
  await spillToDisk(call);
  try {
    return await climb(call);
  } finally {
    call.asked.content.file?.close();
  }
}

const climb = (call: Admitted): Promise<RetryOutcome<Answer>> =>
  call.ladder ? climbLadder(call, call.ladder.current) : tryChannels(call, runAttempt);

/** The channels of one step after those of another; each step keeps to the rules of a call that names its model. */
async function climbLadder(call: Admitted, first: LadderStep): Promise<RetryOutcome<Answer>> {
  for (let step = first; ;) {
    const own = { ...call, ...step };
    const outcome = await tryChannels(own, runAttempt);
    if (outcome.ok) {
      call.ladder?.tell?.(step.asked.request.model);
      return outcome;
    }
    call.asked.engine.running.delete(own);
    const why = outcome.end_reason === "caller_left" ? undefined : reasonToMove(call, step, outcome.failure);
    const next = why && call.ladder?.pass(why);
    if (!next) return outcome;
    step = next;
  }
}

/**
 * The reason to go on to another step; undefined where none could do better, or where the call could be paid twice. The
 * budget of retries does not count here: it protects an upstream from being asked again, and this is another.
 */
function reasonToMove({ progress, attempts }: Admitted, { asked }: LadderStep, failure: Failure) {
  const why = stepReasonOf(failure);
  const { attempt } = progress;
  const not_retried = why && attempt?.call.asked === asked ? whyNotAgain(attempt, failure) : undefined;
  const last = attempts.at(-1);
  if (not_retried && last) last.not_retried = not_retried;
  return not_retried ? undefined : why;
}
