/** The end of a call that failed before its content. */
import type { EndReason } from "../../../shared/log";
import { OVERFLOW_CODE, type RelayError } from "../../protocol/relay-error";
import { type Failure, failureOf } from "../../protocol/upstream-failure";
import type { Opened } from "../billing/admit-and-hold";
import { recordFailed } from "../billing/record-failed";
import type { Asked } from "../call/call";
import { callError } from "../response/error-response";
import type { Responder } from "../response/responder";
import type { Answer } from "../upstream/attempt";
import { answerReader } from "../upstream/read-answer";
import type { RetryOutcome } from "../upstream/retry";

/** The error of a call without a usable response. */
export async function refuse(opened: Opened, responder: Responder, outcome: RetryOutcome<Answer>): Promise<Response> {
  const { call } = opened;
  const failure = outcome.ok ? failureOf("malformed") : outcome.failure;
  await failed(opened, failure, outcome.ok ? "upstream_error" : outcome.end_reason);
  return errorResponse(call.asked, callError(call, failure), responder);
}

/**
 * The error of a call that nothing was sent of yet. A streamed Responses call that is longer than its model's context
 * gets it as events, as OpenAI answers: Codex knows an overflow only by the code in response.failed (openai/codex,
 * codex-api/src/api_bridge.rs and sse/responses.rs, read November 2026).
 */
export function errorResponse(asked: Asked, error: RelayError, responder: Responder): Response {
  const { dialect, request } = asked;
  const inEvents = request.stream && dialect.key === "openai-responses" && error.code === OVERFLOW_CODE;
  return inEvents
    ? responder.events(Buffer.from(answerReader(asked, undefined, dialect.key).fail(error)))
    : responder.error(dialect, error);
}

/** Ends a call that failed before its content: nothing is charged, the row keeps every attempt. */
export async function failed({ call, billing }: Opened, failure: Failure, end_reason: EndReason): Promise<void> {
  const { deadlines, progress } = call;
  progress.over = true;
  deadlines.clear();
  await billing.release(call);
  await recordFailed(call, failure, end_reason);
}
