/** The end of the story: attempts, then the answer, whole or streamed, or the error that the caller gets. */
import type { EndReason } from "../../../shared/log";
import type { Call } from "../call/call";
import { ContentTap } from "../response/content-tap";
import type { Responder } from "../response/responder";
import { callError } from "../response/error-response";
import { type Failure, failureOf } from "../../protocol/upstream-failure";
import type { CallBilling } from "../billing/call-billing";
import { answerUntranslated } from "./untranslated";
import { callRow } from "../billing/log-row";
import type { Selection } from "../routing/channel-selector";
import { StreamBody } from "./stream-body";
import { withRetries, type RetryOutcome } from "../upstream/retry";

/** Tries the channels of `selection` and answers. The call has its hold; here it ends. */
export function deliver(
  call: Call,
  selection: Selection,
  billing: CallBilling,
  responder: Responder,
): Promise<Response> {
  responder.tap = ContentTap.of(call);
  if (call.operation.direct) return answerUntranslated(call, selection, billing, responder, refuse);
  return (call.request.stream ? answerStream : answerWhole)(call, selection, billing, responder);
}

/** A whole answer: read, charged, then sent. */
async function answerWhole(
  call: Call,
  selection: Selection,
  billing: CallBilling,
  responder: Responder,
): Promise<Response> {
  const outcome = await withRetries(call, selection);
  call.over = true;
  call.deadlines.clear();
  if (!outcome.ok || outcome.kind !== "whole") return refuse(call, billing, responder, outcome);
  const { body, result } = outcome;
  const end_reason = call.left ? "caller_left" : "complete";
  await billing.settle({ end_reason, usage: result.usage, content_bytes: result.content_bytes });
  await call.conversation?.keep(call, body);
  return responder.json(body);
}

/** A streamed answer: its head goes with the first content, or with a ping when that takes long. */
async function answerStream(
  call: Call,
  selection: Selection,
  billing: CallBilling,
  responder: Responder,
): Promise<Response> {
  const outcome = withRetries(call, selection);
  const first = await Promise.race([
    outcome,
    new Promise<"ping">((resolve) => (call.deadlines.onPing = () => resolve("ping"))),
  ]);
  if (first !== "ping" && (!first.ok || first.kind !== "stream")) return refuse(call, billing, responder, first);
  const fail = (failure: Failure, reason: EndReason): Promise<void> => failed(call, billing, failure, reason);
  const body = new StreamBody(call, billing, first === "ping" ? outcome : first, fail);
  const whole = first === "ping" ? undefined : await body.whole();
  return whole ? responder.events(whole) : responder.events(new ReadableStream(body, { highWaterMark: 0 }));
}

async function refuse(
  call: Call,
  billing: CallBilling,
  responder: Responder,
  outcome: RetryOutcome,
): Promise<Response> {
  const failure = outcome.ok ? failureOf("malformed") : outcome.failure;
  await failed(call, billing, failure, outcome.ok ? "upstream_error" : outcome.end_reason);
  return responder.error(call.dialect, callError(call, failure));
}

/** Ends a call that failed before its content: nothing is charged, the row keeps every attempt. */
export async function failed(call: Call, billing: CallBilling, failure: Failure, end_reason: EndReason): Promise<void> {
  call.over = true;
  call.deadlines.clear();
  await billing.release();
  const content = callError(call, failure).message;
  call.engine.observer.ended(call, { end_reason, quota: 0, usage: undefined });
  const row = callRow(call, { end_reason, quota: 0, bill: [], usage: undefined, estimated: false, content });
  await call.engine.controlPlane.recordFailure(row);
}
