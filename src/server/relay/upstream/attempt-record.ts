/** The traces of every attempt: its record in the log row, and its reports to cooldown, metrics and the channel. */
import { isCallers } from "../../../shared/failures";
import type { AttemptRecord } from "../../../shared/log";
import type { Attempted } from "../call/call";
import { type Failure, isAccountDead } from "../../protocol/upstream-failure";
import { credentialId } from "../providers/credential-id";

/** The attempt begins. */
export function beginAttempt({ call, channel }: Attempted): AttemptRecord {
  const { asked, attempts, progress } = call;
  const { controlPlane, routing } = asked.engine;
  const record: AttemptRecord = {
    channel: channel.id,
    channel_name: channel.name,
    status: 0,
    failure: "",
    message: "",
    start_ms: Math.max(0, controlPlane.now() - progress.began),
    duration_ms: 0,
    first_content_ms: -1,
    upstream_request_id: "",
    ...(channel.key_row && { key: channel.key_row }),
  };
  attempts.push(record);
  call.selection.began(channel);
  routing.cooldown.begin(credentialId(channel), asked.request.model, record);
  return record;
}

/** When it began, epoch milliseconds. */
export const startOf = ({ call }: Attempted, { start_ms }: AttemptRecord): number => call.progress.began + start_ms;

/**
 * Ends the record's time and returns when the attempt began by the clock of cooldowns, which is never set back as that
 * of the row may be.
 */
function endAttempt(attempt: Attempted, record: AttemptRecord): number {
  const { controlPlane, routing } = attempt.call.asked.engine;
  record.duration_ms = Math.max(0, controlPlane.now() - startOf(attempt, record));
  return routing.cooldown.now() - record.duration_ms;
}

/** The channel has responded. */
export function attemptServed(attempt: Attempted, record: AttemptRecord): void {
  const { channel, call } = attempt;
  const { engine, request } = call.asked;
  const started = endAttempt(attempt, record);
  engine.routing.cooldown.served(credentialId(channel), request.model, started);
  call.selection.measured(channel, record.first_content_ms);
  engine.observer.attempted(channel, "ok");
}

/** The attempt has failed. `quoted`: whether the call itself contains a phrase. */
export function attemptFailed(
  attempt: Attempted,
  record: AttemptRecord,
  failure: Failure,
  quoted: (phrase: string) => boolean,
): void {
  const { channel, call } = attempt;
  const { engine, request, request_id } = call.asked;
  const started = endAttempt(attempt, record);
  call.selection.ended();
  record.failure = failure.kind;
  record.message = failure.error ? failure.error.message : (failure.phase ?? "");
  // A caller who has left ended the attempt: that says nothing about the channel.
  if (call.progress.left) return engine.routing.cooldown.left(credentialId(channel), request.model, record);
  if (!isCallers(failure.kind)) call.selection.measured(channel, undefined);
  engine.observer.attempted(channel, failure.kind);
  // A token that was valid a moment ago may have been revoked.
  if (failure.upstream_status === 401 || failure.kind === "bad_credentials") engine.accessTokens.drop(channel);
  const account = isAccountDead(failure) ? channel : undefined;
  engine.routing.cooldown.failed(credentialId(channel), request.model, record, started, failure, account);
  // A request that is too long, too large or filtered says nothing about the channel, whatever words it brings back.
  if (isCallers(failure.kind) && failure.kind !== "caller_mistake") return;
  // The report may disable a channel: quoting the caller's own text must not be a way to do that.
  engine.controlPlane.channelFailed(channel, {
    status: failure.upstream_status,
    disable: failure.disable,
    message: failure.error?.message ?? "",
    request_id,
    model: request.model,
    quoted,
  });
}
