/**
 * One attempt to submit a job to a channel. Never throws: an error becomes a failure, and every attempt leaves its
 * record.
 */
import type { Attempted, Engine } from "../call/call";
import { RequestFault } from "../../protocol/dialects/shared/fault";
import { UpstreamError } from "../../protocol/upstream-error";
import { type Failure, failureOf } from "../../protocol/upstream-failure";
import { timeoutsFor } from "../call/timeouts";
import { attemptFailed, attemptServed, beginAttempt } from "../upstream/attempt-record";
import type { Tried } from "../upstream/attempt";
import { redactError } from "../providers/redact";
import type { PoolChannel } from "../../contracts/channel";
import { SUBMIT_LIMIT_MS } from "./clock";
import type { Accepted, TaskOrder, TaskProvider } from "./provider";
import { withTaskContext, type RequestOutcome } from "./provider-context";

/** `provider` sends the request to the attempt's channel. */
export async function attemptJob<Input>(
  attempt: Attempted,
  provider: TaskProvider<Input>,
  order: TaskOrder<Input>,
): Promise<Tried<Accepted>> {
  const { call, channel, translation } = attempt;
  const { engine, request, task_id = "" } = call.asked;
  const record = beginAttempt(attempt);
  const model = channel.model_mapping.get(request.model) ?? request.model;
  translation.sent(model, []);
  const { firstByteMs, totalMs } = timeoutsFor(engine.controlPlane.option, channel);
  const heard: RequestOutcome = { status: 0 };
  const { action, input, parent } = order;
  let tried: Tried<Accepted>;
  try {
    const job = { channel, model, action, input, task_id, ...(parent && { parent }) };
    const limits = { ms: Math.min(firstByteMs, totalMs), total_ms: Math.min(totalMs, SUBMIT_LIMIT_MS / 2) };
    const accepted = await withTaskContext(engine, channel, limits, (context) => provider.submit(job, context), {
      submits: true,
      heard,
    });
    if (accepted.upstream_id === "") throw new UpstreamError(failureOf("malformed", heard.status));
    tried = { ok: true, answer: accepted };
  } catch (error) {
    tried = { ok: false, failure: failureFrom(error, channel, engine.log, heard.status) };
  }
  record.status = heard.status;
  if (tried.ok) attemptServed(attempt, record);
  else {
    const text = JSON.stringify({ ...order.kept, prompt: order.prompt }).toLowerCase();
    attemptFailed(attempt, record, tried.failure, (phrase) =>
      text.includes(JSON.stringify(phrase.toLowerCase()).slice(1, -1)),
    );
  }
  return tried;
}

/**
 * Classifies an error thrown by a provider. An internal error goes to the log, and counts as an unreadable response.
 */
export function failureFrom(error: unknown, channel: PoolChannel, log: Engine["log"], status = 0): Failure {
  if (error instanceof UpstreamError) return error.failure;
  if (error instanceof RequestFault) {
    const { message, param } = error;
    return {
      ...failureOf("caller_mistake"),
      status: 400,
      error: { message, type: "invalid_request_error", code: "invalid_request", param },
    };
  }
  log.error({ err: redactError(channel, error) }, "a provider of jobs failed");
  return failureOf("malformed", status);
}
