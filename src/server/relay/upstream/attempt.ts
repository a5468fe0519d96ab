/** One attempt: build the request, send it, wait for the first content or the whole body, classify a failure. */
import type { AttemptRecord } from "../../../shared/log";
import { answerReader, contentFinder, readAnswer } from "./read-answer";
import { membersAt, serviceFacts } from "../../../shared/price-rules";
import { isObject, tryParse } from "../../lib/json-bytes";
import type { Asked, Attempted } from "../call/call";
import { RequestFault } from "../../protocol/dialects/shared/fault";
import { servedIn } from "../../protocol/dialects/shared/service-tier";
import { LostMedia } from "../../protocol/dialects/shared/lost-media";
import type { UpstreamDialectKey } from "../../protocol/dialects/vendor-dialects";
import type { ChatResult, Warn, WireError } from "../../protocol/chat-events";
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
import { sendFromFile } from "./body-release";
import { redactErrors, redactOf } from "../providers/redact";
import { exchange, readChannelError } from "../providers/dispatch";
import { providerContextFor } from "../providers/provider-context";
import { timeoutsFor } from "../call/timeouts";
import { attemptFailed, attemptServed, beginAttempt, startOf } from "./attempt-record";
import { AttemptTimer } from "./attempt-timer";
import { FRAME_LIMIT, FrameSplitter, FrameTooLarge, mayHoldEvent, type Bytes } from "../../lib/sse";
import { buildRequest, lastFrame, readErrorBody, type UpstreamStream, upstreamRequestId } from "./request";

/** Most bytes of frames kept before the first content. */
const PREAMBLE_LIMIT = 64 * 1024;
/** A channel's response, as far as it must be known before the caller gets any of it. */
export type Answer =
  | { kind: "whole"; body: Bytes; result: ChatResult }
  | { kind: "stream"; stream: UpstreamStream }
  | WholeAnswer
  | StreamedAnswer;

/** The result of an attempt. */
export type Tried<Answer> = { ok: true; answer: Answer } | { ok: false; failure: Failure };

/** Calls one channel. Never throws: an error becomes a failure, and every attempt leaves its record. */
export async function runAttempt(attempt: Attempted): Promise<Tried<Answer>> {
  const { asked, progress } = attempt.call;
  const record = beginAttempt(attempt);
  const timer = new AttemptTimer(attempt, record);
  let tried: Tried<Answer>;
  try {
    tried = { ok: true, answer: await ask(attempt, record, timer) };
    progress.first_content_at = asked.engine.controlPlane.now();
    record.first_content_ms = Math.max(0, progress.first_content_at - startOf(attempt, record));
  } catch (error) {
    timer.abort();
    tried = { ok: false, failure: explain(error, record.status, timer.failure) };
  }
  timer.end();
  if (tried.ok) attemptServed(attempt, record);
  else attemptFailed(attempt, record, tried.failure, (phrase) => quotes(asked, phrase));
  return tried;
}

/** Builds the request, sends it and waits for the first content or the whole body. */
async function ask(attempt: Attempted, record: AttemptRecord, timer: AttemptTimer): Promise<Answer> {
  const { call, channel, translation } = attempt;
  const { engine, operation, request, content } = call.asked;
  const { file } = content;
  if (file) await content.restore(file);
  const built = buildRequest(attempt);
  if (!built) throw new UpstreamError(failureOf("malformed"));
  const { outgoing, dialect, warnings, facts } = built;
  if (dialect !== channel.type.dialect) record.dialect = dialect;
  if (file) sendFromFile(content, file, outgoing);
  translation.sent(outgoing.model, warnings, built.cacheMarks, facts);
  if (facts && channel.override)
    outgoing.overridden = (body) => translation.overridden(serviceFacts((path) => membersAt(body, path)));
  timer.sent(outgoing.url);
  const warn: Warn = (code, detail) => translation.warn([{ code, detail }]);
  const now = (): number => engine.controlPlane.now();
  const response = await exchange(outgoing, providerContextFor(engine, channel, timer.signal, now, warn));
  timer.awaitFirstByte();
  record.status = response.status;
  record.upstream_request_id = upstreamRequestId(response.headers, channel);
  if (!response.ok) throw new UpstreamError(await judge(attempt, response));
  translation.answered(servedIn(response.headers));
  if (operation.direct) return await openUntranslated(attempt, response, timer.abort);
  return request.stream
    ? await openStream(attempt, dialect, response, timer.abort)
    : await readWhole(attempt, dialect, response);
}

/** Whether the call itself contains a phrase of an upstream's error. */
const quotes = ({ form, content }: Asked, phrase: string): boolean =>
  form?.quotes(phrase) ??
  JSON.stringify(tryParse(content.readNow()) ?? "")
    .toLowerCase()
    .includes(JSON.stringify(phrase.toLowerCase()).slice(1, -1));

/** The failure of an attempt: from the thrown error, unless the attempt was `cut`. */
function explain(error: unknown, status: number, cut: Failure | undefined): Failure {
  if (error instanceof UpstreamError) return error.failure;
  if (error instanceof RequestFault) {
    const { message, param } = error;
    return {
      ...failureOf("caller_mistake"),
      ...(error instanceof LostMedia && { retry: "other_channel" as const }),
      status: 400,
      error: { message, type: "invalid_request_error", code: "invalid_request", param },
    };
  }
  if (cut) return cut;
  if (error instanceof FrameTooLarge) return failureOf("malformed", status);
  if (status === 0) return failureOf(unanswered(error));
  const code = isObject(error) || error instanceof Error ? String(Reflect.get(error, "code") ?? "") : "";
  return /zlib|decompress|brotli|gzip/i.test(code) ? failureOf("malformed", status) : failureOf("cut", status);
}

async function judge(attempt: Attempted, response: Response): Promise<Failure> {
  const { call, channel } = attempt;
  const { status, headers } = response;
  const retryAfter = retryAfterSeconds(headers.get("retry-after"), call.asked.engine.controlPlane.now());
  const body = status >= 400 ? await readErrorBody(response).catch(() => undefined) : undefined;
  const error = body && errorIn(attempt, tryParse(body));
  return classifyStatus(redactOf(channel), status, error, channel.status_mapping, retryAfter);
}

/** The error in a body, in the channel's dialect. */
const errorIn = ({ call, channel, translation }: Attempted, body: unknown): WireError | undefined =>
  readChannelError(channel, call.asked.operation, translation.upstream_model, body);

/** The failure of a 200 whose body is not a valid response. */
function noAnswer(attempt: Attempted, status: number, body: unknown): UpstreamError {
  const error = errorIn(attempt, body);
  return new UpstreamError(
    error ? classifyErrorIn200(redactOf(attempt.channel), error) : failureOf("malformed", status),
  );
}

async function readWhole(attempt: Attempted, dialect: UpstreamDialectKey, response: Response): Promise<Answer> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const answer = readAnswer(attempt, dialect, bytes);
  if (!answer) throw noAnswer(attempt, response.status, tryParse(bytes));
  return { kind: "whole", result: answer.result, body: redactErrors(attempt.channel, answer.body) };
}

/**
 * Reads frames until the first content. Before it, errors and ends are failures that another channel may recover from.
 */
async function openStream(
  attempt: Attempted,
  dialect: UpstreamDialectKey,
  response: Response,
  abort: () => void,
): Promise<Answer> {
  const { call, channel } = attempt;
  const { engine } = call.asked;
  const type = response.headers.get("content-type") ?? "";
  if (!response.body || (type !== "" && !/event-stream|octet-stream|text\/plain/i.test(type)))
    throw noAnswer(attempt, response.status, response.body && tryParse(await readErrorBody(response)));
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const splitter = new FrameSplitter(FRAME_LIMIT);
  const find = contentFinder(call.asked, dialect, redactOf(channel));
  const { idleMs } = timeoutsFor(engine.controlPlane.option, channel);
  const kept: Bytes[] = [];
  let size = 0;
  let begun = false;
  const stream = (ended: boolean): Answer => ({
    kind: "stream",
    stream: {
      reader,
      splitter,
      kept,
      ended,
      answer: answerReader(call.asked, channel, dialect, attempt.translation.served),
      abort,
    },
  });
  try {
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
      // Once the response has begun only silence is a timeout: models think for minutes, and some send only pings
      // meanwhile.
      if (begun) call.deadlines.limit("idle", idleMs);
      if (done) throw new UpstreamError(failureOf(size === 0 ? "malformed" : "cut", response.status));
    }
  } catch (error) {
    splitter.end();
    throw error;
  }
}
