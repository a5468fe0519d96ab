/** One upstream try: build, fetch, wait for the first content or the whole body, classify. */
import type { AttemptRecord } from "../../../shared/log";
import type { Phase } from "../call/deadlines";
import { answerReader, contentFinder, longestFrame, readAnswer } from "./read-answer";
import { isObject, tryParse } from "../../lib/json-bytes";
import type { Call } from "../call/call";
import { RequestFault } from "../../protocol/dialects/shared/fault";
import type { UpstreamDialectKey } from "../../protocol/dialects/vendor-dialects";
import type { ChatResult, Warn } from "../../protocol/chat-events";
import { UpstreamError } from "../../protocol/upstream-error";
import {
  classifyErrorIn200,
  classifyStatus,
  type Failure,
  failureOf,
  retryAfterSeconds,
  unanswered,
} from "../../protocol/upstream-failure";
import { type StreamedAnswer, openUntranslated, type WholeAnswer } from "./untranslated-answer";
import { restoreBody, sendFromFile } from "./body-release";
import { credentialId } from "../providers/credential-id";
import { redactErrors, redactOf } from "../providers/redact";
import { exchange, readChannelError } from "../providers/dispatch";
import { providerContextFor } from "../providers/provider-context";
import { timeoutsFor, pingsOf } from "../call/timeouts";
import type { PoolChannel } from "../../contracts/channel";
import { FrameSplitter, FrameTooLarge, mayHoldEvent, type Bytes } from "../../lib/sse";
import { buildRequest, lastFrame, readErrorBody, type UpstreamStream, upstreamRequestId } from "./request";

/** Most bytes of frames kept before the first content. */
const PREAMBLE_LIMIT = 64 * 1024;
/** How long a connection may be probed when no answer came within the connect limit. */
const PROBE_MS = 3_000;

export type Attempt =
  | { ok: true; kind: "whole"; body: Bytes; result: ChatResult }
  | { ok: true; kind: "stream"; stream: UpstreamStream }
  | { ok: true; kind: "direct"; answer: WholeAnswer | StreamedAnswer }
  | { ok: false; failure: Failure };

/**
 * Tries one channel. Never throws: what goes wrong is a failure, and every try leaves its record in `call.attempts`.
 */
export async function attempt(call: Call, channel: PoolChannel): Promise<Attempt> {
  const { engine, deadlines } = call;
  const { controlPlane } = engine;
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
  engine.routing.cooldown.begin(credentialId(channel), call.request.model, record);

  const { connectMs, firstByteMs, totalMs } = timeoutsFor(controlPlane.option, channel);
  const pingMs = pingsOf(call, channel);
  if (pingMs !== undefined) deadlines.pings(pingMs);
  // A channel may be given less time than the call has left, never more.
  deadlines.total(Math.min(totalMs, call.arrived + controlPlane.option.totalTimeoutMs - started));

  const controller = new AbortController();
  let expired: Phase | undefined;
  let unreachable = false;
  const expire = (phase: Phase): void => {
    expired = phase;
    controller.abort();
  };
  let outcome: Attempt;
  try {
    if (call.spooled) await restoreBody(call, call.spooled);
    const request = buildRequest(call, channel);
    if (!request) throw new UpstreamError(failureOf("malformed"));
    const { outgoing, dialect } = request;
    if (call.spooled) sendFromFile(call, call.spooled, outgoing);
    call.upstream_model = outgoing.model;
    call.warnings = request.warnings;

    const firstByteLimit = (): void => {
      deadlines.onLimit = expire;
      deadlines.limit("first byte", Math.max(0, firstByteMs - (controlPlane.now() - started)));
    };
    if (connectMs < firstByteMs && !channel.setting.proxy) {
      // fetch does not tell when it is connected: when nothing came in time, another connection is tried beside it.
      deadlines.onLimit = (phase) => {
        if (phase !== "connect") return expire(phase);
        firstByteLimit();
        engine.reachable(outgoing.url, PROBE_MS).then(
          (reached) => {
            if (reached || record.status !== 0) return;
            unreachable = true;
            controller.abort();
          },
          () => undefined,
        );
      };
      deadlines.limit("connect", connectMs);
    } else {
      firstByteLimit();
    }

    const warn: Warn = (code, detail) => void (call.warnings = [...call.warnings, { code, detail }]);
    const response = await exchange(
      outgoing,
      providerContextFor(engine, channel, controller.signal, () => controlPlane.now(), warn),
    );
    firstByteLimit();
    record.status = response.status;
    record.upstream_request_id = call.upstream_request_id = upstreamRequestId(response.headers, channel);
    if (!response.ok) throw new UpstreamError(await judge(call, channel, response));
    if (call.operation.direct) {
      outcome = {
        ok: true,
        kind: "direct",
        answer: await openUntranslated(call, channel, response, () => controller.abort()),
      };
    } else {
      outcome = call.request.stream
        ? await openStream(call, channel, dialect, response, controller)
        : await readWhole(call, channel, dialect, response);
    }
    call.first_content_at = controlPlane.now();
    record.first_content_ms = call.first_content_at - started;
    engine.routing.cooldown.served(credentialId(channel), call.request.model, started);
  } catch (error) {
    controller.abort();
    outcome = { ok: false, failure: explain(error, record.status, expired, unreachable) };
  }
  deadlines.onLimit = undefined;
  record.duration_ms = controlPlane.now() - started;
  engine.observer.attempted(channel, outcome.ok ? "ok" : outcome.failure.class);
  if (!outcome.ok) {
    const { failure } = outcome;
    // A token that was good a moment ago may have been taken back.
    if (failure.upstream_status === 401 || failure.class === "bad_credentials") engine.accessTokens.drop(channel);
    record.failure = failure.class;
    record.message = failure.error ? failure.error.message : (failure.phase ?? "");
    engine.routing.cooldown.failed(credentialId(channel), call.request.model, record, started, failure);
    if (!call.left) reportFailure(call, channel, failure);
  }
  return outcome;
}

/**
 * Tells the seam behind which a channel may be disabled. Quoting the caller's own words must not be a way to do that.
 */
function reportFailure(call: Call, channel: PoolChannel, failure: Failure): void {
  const message = failure.error?.message ?? "";
  const { controlPlane } = call.engine;
  controlPlane.channelFailed(channel, {
    status: failure.upstream_status,
    disable: failure.disable,
    message,
    request_id: call.request_id,
    model: call.request.model,
    quoted: (phrase) =>
      call.form?.quotes(phrase) ??
      JSON.stringify(tryParse(call.spooled?.readNow() ?? call.body) ?? "")
        .toLowerCase()
        .includes(JSON.stringify(phrase.toLowerCase()).slice(1, -1)),
  });
}

function explain(error: unknown, status: number, expired: Phase | undefined, unreachable: boolean): Failure {
  if (error instanceof UpstreamError) return error.failure;
  if (error instanceof RequestFault) {
    const { message, param } = error;
    return {
      ...failureOf("caller_mistake"),
      status: 400,
      error: { message, type: "invalid_request_error", code: "invalid_request", param },
    };
  }
  if (expired) return failureOf("timeout", status, expired);
  if (unreachable) return failureOf("unreachable", 0, "connect");
  if (error instanceof FrameTooLarge) return failureOf("malformed", status);
  if (status === 0) return failureOf(unanswered(error));
  const code = isObject(error) || error instanceof Error ? String(Reflect.get(error, "code") ?? "") : "";
  return /zlib|decompress|brotli|gzip/i.test(code) ? failureOf("malformed", status) : failureOf("cut", status);
}

async function judge(call: Call, channel: PoolChannel, response: Response): Promise<Failure> {
  const { status, headers } = response;
  const retryAfter = retryAfterSeconds(headers.get("retry-after"), call.engine.controlPlane.now());
  const body = status >= 400 ? await readErrorBody(response).catch(() => undefined) : undefined;
  const error = body && readChannelError(channel, call.operation, call.upstream_model, tryParse(body));
  return classifyStatus(redactOf(channel), status, error, channel.status_mapping, retryAfter);
}

async function readWhole(
  call: Call,
  channel: PoolChannel,
  dialect: UpstreamDialectKey,
  response: Response,
): Promise<Attempt> {
  const body = Buffer.from(await response.arrayBuffer());
  const answer = readAnswer(call, dialect, body);
  if (answer) return { ok: true, kind: "whole", ...answer, body: redactErrors(channel, answer.body) };
  const error = readChannelError(channel, call.operation, call.upstream_model, tryParse(body));
  throw new UpstreamError(
    error ? classifyErrorIn200(redactOf(channel), error) : failureOf("malformed", response.status),
  );
}

/** Reads frames until the first content. Before it, errors and ends are failures that another channel may make good. */
async function openStream(
  call: Call,
  channel: PoolChannel,
  dialect: UpstreamDialectKey,
  response: Response,
  controller: AbortController,
): Promise<Attempt> {
  const type = response.headers.get("content-type") ?? "";
  if (!response.body || (type !== "" && !/event-stream|octet-stream|text\/plain/i.test(type))) {
    const parsed = response.body && tryParse(await readErrorBody(response));
    const error = readChannelError(channel, call.operation, call.upstream_model, parsed);
    throw new UpstreamError(
      error ? classifyErrorIn200(redactOf(channel), error) : failureOf("malformed", response.status),
    );
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const splitter = new FrameSplitter(longestFrame(dialect));
  const find = contentFinder(dialect, call.request_id, redactOf(channel));
  const { idleMs } = timeoutsFor(call.engine.controlPlane.option, channel);
  const kept: Bytes[] = [];
  let size = 0;
  let begun = false;
  const stream = (ended: boolean): Attempt => ({
    ok: true,
    kind: "stream",
    stream: { reader, splitter, kept, ended, answer: answerReader(call, dialect), abort: () => controller.abort() },
  });
  for (;;) {
    const { done, value } = await reader.read();
    const region = done ? lastFrame(splitter) : splitter.push(value);
    if (region && region.length > 0) {
      kept.push(region);
      size += region.length;
      const found = find(region);
      if (found === "content" || size > PREAMBLE_LIMIT) return stream(done);
      if (found === "end") throw new UpstreamError(failureOf("malformed", response.status));
      begun ||= mayHoldEvent(region);
    }
    // Once the answer has begun only silence is too long: models think for minutes, and some tell nothing of it but
    // pings.
    if (begun) call.deadlines.limit("idle", idleMs);
    if (done) throw new UpstreamError(failureOf(size === 0 ? "malformed" : "cut", response.status));
  }
}
