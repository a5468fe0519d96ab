/** One channel is asked to take a job. Never throws: what goes wrong is a failure, and every try leaves its record. */
import type { AttemptRecord } from "../../../shared/log";
import type { Call } from "../call/call";
import { RequestFault } from "../../protocol/dialects/shared/fault";
import { UpstreamError } from "../../protocol/upstream-error";
import { type Failure, failureOf } from "../../protocol/upstream-failure";
import { timeoutsFor } from "../call/timeouts";
import { credentialId } from "../providers/credential-id";
import { redactError } from "../providers/redact";
import type { PoolChannel } from "../../contracts/channel";
import { SUBMIT_LIMIT_MS } from "./clock";
import type { Accepted, TaskOrder, TaskProvider } from "./provider";
import { withTaskContext, type RequestOutcome } from "./provider-context";

export type Tried = { ok: true; accepted: Accepted } | { ok: false; failure: Failure };

export async function attempt<Input>(
  call: Call,
  channel: PoolChannel,
  provider: TaskProvider<Input>,
  order: TaskOrder<Input>,
): Promise<Tried> {
  const {
    engine,
    request: { model },
  } = call;
  const {
    controlPlane,
    routing: { cooldown },
  } = engine;
  const started = controlPlane.now();
  const record: AttemptRecord = {
    channel: channel.id,
    channel_name: channel.name,
    status: 0,
    failure: "",
    message: "",
    start_ms: started - call.arrived,
    duration_ms: 0,
    first_content_ms: -1,
    upstream_request_id: "",
    ...(channel.key_row && { key: channel.key_row }),
  };
  call.attempts.push(record);
  call.channel = channel;
  call.upstream_model = channel.model_mapping.get(model) ?? model;
  cooldown.begin(credentialId(channel), model, record);
  const { firstByteMs, totalMs } = timeoutsFor(controlPlane.option, channel);
  const heard: RequestOutcome = { status: 0 };
  const { action, input, parent } = order;
  let tried: Tried;
  try {
    const job = {
      channel,
      model: call.upstream_model,
      action,
      input,
      task_id: call.task_id ?? "",
      ...(parent && { parent }),
    };
    const limits = { ms: Math.min(firstByteMs, totalMs), total_ms: Math.min(totalMs, SUBMIT_LIMIT_MS / 2) };
    const accepted = await withTaskContext(engine, channel, limits, (context) => provider.submit(job, context), {
      submits: true,
      heard,
    });
    if (accepted.upstream_id === "") throw new UpstreamError(failureOf("malformed", heard.status));
    tried = { ok: true, accepted };
  } catch (error) {
    tried = { ok: false, failure: failureFrom(error, channel, engine.log, heard.status) };
  }
  record.status = heard.status;
  record.duration_ms = controlPlane.now() - started;
  engine.observer.attempted(channel, tried.ok ? "ok" : tried.failure.class);
  if (tried.ok) {
    cooldown.served(credentialId(channel), model, started);
    return tried;
  }
  const { failure } = tried;
  if (failure.upstream_status === 401 || failure.class === "bad_credentials") engine.accessTokens.drop(channel);
  record.failure = failure.class;
  record.message = failure.error?.message ?? failure.phase ?? "";
  cooldown.failed(credentialId(channel), model, record, started, failure);
  const said = JSON.stringify({ ...order.kept, prompt: order.prompt }).toLowerCase();
  controlPlane.channelFailed(channel, {
    status: failure.upstream_status,
    disable: failure.disable,
    message: failure.error?.message ?? "",
    request_id: call.request_id,
    model,
    quoted: (phrase) => said.includes(JSON.stringify(phrase.toLowerCase()).slice(1, -1)),
  });
  return tried;
}

/**
 * What was thrown by a provider, judged. A fault of our own is told to the log and answered as an unreadable answer.
 */
export function failureFrom(error: unknown, channel: PoolChannel, log: Call["engine"]["log"], status = 0): Failure {
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
