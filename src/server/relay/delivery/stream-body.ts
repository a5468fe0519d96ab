/**
 * The body of a streamed response: upstream frames through the meter to the caller, with two points of commitment.
 *
 * Head: sent with the first content, or with a ping when nothing came for PingAfter; then attempts may still be running
 * and a failure becomes an error event. Response: the first content; after it no retry. The dialect's last event and
 * the end of the body wait until the charge is committed. Memory is constant: one region of whole frames at a time,
 * pulled.
 */
import type { EndReason } from "../../../shared/log";
import type { Phase } from "../call/deadlines";
import type { Admitted, Attempted, OpenSession } from "../call/call";
import { callError, ownError } from "../response/error-response";
import type { RelayError } from "../../protocol/relay-error";
import { asIs } from "../../protocol/clean-text";
import { classifyErrorIn200, type Failure, failureOf } from "../../protocol/upstream-failure";
import { answerReader } from "../upstream/read-answer";
import type { AnswerReader } from "../upstream/answer-reader";
import { failed } from "./failed";
import type { Opened } from "../billing/admit-and-hold";
import { BYTES_PER_TOKEN, type CallBilling } from "../billing/call-billing";
import { type Timeouts, timeoutsFor } from "../call/timeouts";
import { redactErrors, redactOf } from "../providers/redact";
import { asBuffer, FrameTooLarge, type Bytes } from "../../lib/sse";
import type { Answer } from "../upstream/attempt";
import type { RetryOutcome } from "../upstream/retry";
import { lastFrame, type UpstreamStream } from "../upstream/request";

/** The most tokens that an upstream is drained for after the caller has left. */
const DRAIN_TOKENS = 2_000;
/** How long the end of the upstream's body is awaited after its last event, so that the connection can be reused. */
const TRAILER_MS = 1_000;
const empty: Bytes = Buffer.alloc(0);

type Outcome = RetryOutcome<Answer>;

export class StreamBody implements UnderlyingDefaultSource<Uint8Array>, OpenSession {
  readonly #call: Admitted;
  readonly #billing: CallBilling;
  #meter: AnswerReader;
  /** Of the channel that serves, once it is known. */
  #timeouts: Timeouts;
  #outcome: Outcome | Promise<Outcome> | undefined;
  /** The attempt that serves, once it is known. */
  #attempt: Attempted | undefined;
  #upstream: UpstreamStream | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The caller is ready for bytes: pings may be sent, and silence is the upstream's. */
  #waiting = false;
  /** Metered bytes that wait for the first pull. */
  #ready: Bytes[] = [];
  #expired: Phase | undefined;
  #over = false;
  /** Content bytes when the caller left. */
  #leftAt = 0;
  /** Resolves when it has ended and is charged. */
  readonly #ended = Promise.withResolvers<void>();
  /** The end of the response; a translator writes it once. */
  #last: Uint8Array = empty;

  /** `outcome` is the first content, or its promise when the head is sent first. */
  constructor({ call, billing }: Opened, outcome: Outcome | Promise<Outcome>) {
    const { asked, deadlines, progress } = call;
    const { engine } = asked;
    const channel = progress.attempt?.channel;
    this.#call = call;
    this.#billing = billing;
    this.#outcome = outcome;
    this.#timeouts = timeoutsFor(engine.controlPlane.option, channel);
    // No response has come yet: only an error could be written.
    this.#meter = answerReader(asked, channel, "openai-chat");
    engine.stats.open_streams++;
    engine.sessions.add(this);
    progress.onLeave = () => this.#leave();
    deadlines.onPing = () => this.#ping();
    // The caller left before there was a body that could report it.
    if (progress.left) queueMicrotask(() => this.#leave());
  }

  /**
   * The whole response when it has arrived already: charged, with its last event. undefined when it has not; then the
   * stream has to be pulled.
   */
  async whole(): Promise<Bytes | undefined> {
    const upstream = await this.#open();
    if (!upstream) return undefined;
    const out: Bytes[] = [];
    while (!this.#meter.over && upstream.kept.length > 0)
      out.push(this.#passed(this.#meter.feed(upstream.kept.shift() ?? empty)));
    if (!this.#meter.done) {
      this.#ready = out;
      return undefined;
    }
    await this.#finish();
    return Buffer.concat([...out, this.#last]);
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    // The head was sent without content: it carries the first ping.
    if (!(this.#outcome instanceof Promise)) return;
    controller.enqueue(this.#call.asked.dialect.ping);
    // The outcome of the attempts does not wait for a caller who is not reading.
    const pull = (): void => this.pull();
    this.#outcome.then(pull, pull);
  }

  /** Returns before it has read: a reader waits for `enqueue`, and one more promise for each event is expensive. */
  pull(): void {
    if (this.#over || this.#waiting) return;
    this.#waiting = true;
    if (!this.#upstream || this.#ready.length > 0) return void this.#begin();
    try {
      this.#next(this.#upstream);
    } catch (error) {
      this.#broke(error);
    }
  }

  cancel(): void {
    this.#leave();
  }

  /** The process ends: the upstream's output so far is the response. */
  shutdown(now: boolean): Promise<void> {
    if (now && !this.#over) {
      if (this.#upstream) void this.#finish("gateway_restart");
      else void this.#giveUp();
    }
    return this.#ended.promise;
  }

  /** The process ends before any output: nothing is charged. */
  async #giveUp(): Promise<void> {
    this.#over = true;
    await this.#fail(failureOf("cut"), "gateway_restart");
    this.#close();
  }

  /** Nothing chargeable arrived. */
  async #fail(failure: Failure, reason: EndReason): Promise<void> {
    await failed({ call: this.#call, billing: this.#billing }, failure, reason);
    this.#last = this.#meter.fail(callError(this.#call, failure));
  }

  /** The first pull: waits for the first content and sends the frames read before it. Never rejects. */
  async #begin(): Promise<void> {
    try {
      const upstream = this.#upstream ?? (await this.#open());
      if (!upstream) return;
      const ready = Buffer.concat(this.#ready.splice(0));
      const sends = ready.length > 0 && !this.#call.progress.left;
      if (sends) this.#send(ready);
      if (this.#meter.over) await this.#finish();
      else if (sends) this.#waiting = false;
      else this.#next(upstream);
    } catch (error) {
      this.#broke(error);
    }
  }

  /** Reads until something was sent or the response is over; throws for unreadable data. */
  #next(upstream: UpstreamStream): void {
    const kept = upstream.kept.shift();
    if (kept) return this.#took(upstream, kept);
    if (upstream.ended) return this.#end();
    if (!this.#call.progress.left) this.#call.deadlines.limit("idle", this.#timeouts.idleMs);
    upstream.reader.read().then(this.#arrived, this.#broke);
  }

  readonly #arrived = ({ done, value }: { done: boolean; value?: Uint8Array | undefined }): void => {
    const upstream = this.#upstream;
    if (!upstream) return;
    try {
      if (done || !value) {
        upstream.ended = true;
        this.#took(upstream, lastFrame(upstream.splitter));
      } else this.#took(upstream, upstream.splitter.push(value));
    } catch (error) {
      this.#broke(error);
    }
  };

  readonly #broke = (error: unknown): void => void this.#finish(this.#reasonOf(error));

  /** Forwards whole frames; undefined or empty: no frame is complete yet. */
  #took(upstream: UpstreamStream, region: Bytes | undefined): void {
    const attempt = this.#attempt;
    if (this.#over || !attempt) return;
    if (!region || region.length === 0) return this.#next(upstream);
    const out = this.#passed(this.#meter.feed(region));
    if (this.#call.progress.left) {
      if (this.#meter.over || this.#drained()) void this.#finish();
      else this.#next(upstream);
      return;
    }
    if (out.length > 0) this.#send(out);
    if (this.#meter.over) void this.#finish();
    else if (!this.#billing.spend(attempt, this.#meter.tally.contentBytes)) void this.#finish("out_of_quota");
    else if (out.length === 0) this.#next(upstream);
    else this.#waiting = false;
  }

  /** The caller's version of the upstream's frames: errors inside a response do not reveal their channel's secrets. */
  #passed(bytes: Uint8Array): Bytes {
    const channel = this.#attempt?.channel;
    return channel ? redactErrors(channel, asBuffer(bytes)) : asBuffer(bytes);
  }

  /** The upstream's body has ended. */
  #end(): void {
    const rest = this.#passed(this.#meter.end());
    if (rest.length > 0 && !this.#call.progress.left) this.#send(rest);
    void this.#finish();
  }

  /** Waits for the first content; undefined when the call is over without one. */
  async #open(): Promise<UpstreamStream | undefined> {
    const outcome = await this.#outcome;
    this.#outcome = undefined;
    if (this.#over) {
      if (outcome?.ok && outcome.answer.kind === "stream") outcome.answer.stream.abort();
      return undefined;
    }
    if (outcome?.ok && outcome.answer.kind === "stream") {
      const { attempt } = outcome;
      const { stream } = outcome.answer;
      const { asked, deadlines } = this.#call;
      this.#attempt = attempt;
      this.#upstream = stream;
      this.#meter = stream.answer;
      this.#timeouts = timeoutsFor(asked.engine.controlPlane.option, attempt.channel);
      deadlines.onLimit = (phase) => this.#expire(phase);
      // The wait for the first byte is over; from now on the limit is silence.
      deadlines.limit("idle", this.#timeouts.idleMs);
      await this.#billing.commitPrice(attempt);
      return stream;
    }
    if (outcome?.ok === false) await this.#fail(outcome.failure, outcome.end_reason);
    else await this.#fail(failureOf("malformed"), "upstream_error");
    this.#close();
    return undefined;
  }

  #send(bytes: Uint8Array): void {
    this.#controller?.enqueue(bytes);
    this.#call.deadlines.sent();
  }

  #ping(): void {
    const { asked, progress } = this.#call;
    if (this.#waiting && !this.#over && !progress.left) this.#send(asked.dialect.ping);
  }

  #expire(phase: Phase): void {
    // While the caller takes no bytes the silence is theirs, not the upstream's.
    if (phase === "idle" && !this.#waiting) return;
    this.#expired = phase;
    this.#upstream?.abort();
    // Its end does not wait for a caller who is not reading.
    this.pull();
  }

  #leave(): void {
    if (this.#over || this.#leftAt !== 0) return;
    const { deadlines, progress } = this.#call;
    progress.left = true;
    progress.wake?.();
    this.#leftAt = Math.max(1, this.#meter.tally.contentBytes);
    deadlines.total(this.#timeouts.drainMs, true);
    const known = this.#meter.tally.usage !== undefined && this.#meter.finished;
    // The data read so far is enough.
    if (this.#upstream && (known || this.#timeouts.drainMs === 0)) this.#upstream.abort();
    if (!this.#waiting) this.pull();
  }

  #drained(): boolean {
    return this.#meter.tally.contentBytes - this.#leftAt > DRAIN_TOKENS * BYTES_PER_TOKEN;
  }

  #reasonOf(error: unknown): EndReason {
    if (this.#expired) return "idle_timeout";
    if (error instanceof FrameTooLarge) {
      this.#meter.malformed = true;
      return "upstream_error";
    }
    return "upstream_cut";
  }

  /** Ends the response: charge, then the last event, then the end of the body. Once; never rejects. */
  async #finish(reason?: EndReason): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    try {
      await this.#conclude(reason);
    } catch (error) {
      const { engine, request_id } = this.#call.asked;
      engine.log.error({ err: error, request_id }, "a stream could not be ended");
    }
    this.#close();
  }

  async #conclude(reason: EndReason | undefined): Promise<void> {
    const attempt = this.#attempt;
    // The attempts broke off without an outcome.
    if (!attempt) return this.#fail(failureOf("malformed"), "upstream_error");
    const end_reason = this.#endReason(reason);
    const { usage, contentBytes, countedBytes } = this.#meter.tally;
    this.#letGo();
    attempt.translation.warn(this.#meter.warnings);
    await this.#billing.settle(attempt, {
      end_reason,
      usage,
      content_bytes: contentBytes,
      counted_bytes: countedBytes,
    });
    const error = end_reason === "complete" || end_reason === "caller_left" ? undefined : this.#errorFor(end_reason);
    this.#last = error ? this.#meter.fail(error) : this.#passed(this.#meter.close());
    // The response is stored before the caller can refer to it in the next turn.
    if (end_reason === "complete") await this.#call.asked.conversation?.keep(attempt, this.#last);
  }

  #endReason(reason: EndReason | undefined): EndReason {
    const { finished, done, error, malformed } = this.#meter;
    const { left } = this.#call.progress;
    // An error reported by the upstream counts, even after a finish reason.
    if (error && !left) return "upstream_error";
    // A response is complete with its finish reason, whatever happens to the connection afterwards.
    if (finished || (done && !left)) return "complete";
    if (left) return "caller_left";
    if (malformed) return "upstream_error";
    return reason ?? "upstream_cut";
  }

  #errorFor(reason: EndReason): RelayError {
    const { asked } = this.#call;
    const channel = this.#attempt?.channel;
    if (reason === "gateway_restart") return ownError("draining", {}, asked);
    if (reason === "out_of_quota") return ownError("quota_exhausted_midstream", {}, asked);
    const { error } = this.#meter;
    if (error) return callError(this.#call, classifyErrorIn200(channel ? redactOf(channel) : asIs, error));
    if (reason === "idle_timeout") return callError(this.#call, failureOf("timeout", 0, this.#expired));
    return callError(this.#call, failureOf(this.#meter.malformed ? "malformed" : "cut"));
  }

  /** Lets the upstream's body end normally after its last event, so that the connection is kept; cuts it otherwise. */
  #letGo(): void {
    const { deadlines } = this.#call;
    deadlines.clear();
    const upstream = this.#upstream;
    if (!upstream || upstream.ended) return;
    if (!this.#meter.done) return upstream.abort();
    deadlines.onLimit = () => upstream.abort();
    deadlines.limit("idle", TRAILER_MS);
    upstream.reader.read().then(
      ({ done }) => {
        deadlines.clear();
        if (!done) upstream.abort();
      },
      () => deadlines.clear(),
    );
  }

  #close(): void {
    this.#over = true;
    const controller = this.#controller;
    const { asked, deadlines, progress } = this.#call;
    asked.engine.stats.open_streams--;
    asked.engine.sessions.delete(this);
    this.#upstream?.splitter.end();
    this.#ended.resolve();
    progress.over = true;
    progress.onLeave = undefined;
    deadlines.onPing = undefined;
    try {
      if (!progress.left && this.#last.length > 0) controller?.enqueue(this.#last);
      controller?.close();
    } catch {
      // The caller has left, and the stream is closed.
    }
  }
}
