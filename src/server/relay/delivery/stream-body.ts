/**
 * The body of a streamed answer: upstream frames through the meter to the caller, with both commitments.
 *
 * Head: sent with the first content, or with a ping when nothing came for PingAfter; then attempts may still be running
 * and a failure is an error event. Answer: the first content; after it no retry. The dialect's last word and the end of
 * the body wait until the charge is committed. Memory is constant: one region of whole frames at a time, pulled.
 */
import type { EndReason } from "../../../shared/log";
import type { Phase } from "../call/deadlines";
import type { Call, OpenSession } from "../call/call";
import { callError, ownError } from "../response/error-response";
import type { RelayError } from "../../protocol/relay-error";
import { asIs, classifyErrorIn200, type Failure, failureOf } from "../../protocol/upstream-failure";
import { answerReader } from "../upstream/read-answer";
import type { AnswerReader } from "../upstream/answer-reader";
import { BYTES_PER_TOKEN, type CallBilling } from "../billing/call-billing";
import { type Timeouts, timeoutsFor } from "../call/timeouts";
import { redactErrors, redactOf } from "../providers/redact";
import { asBuffer, FrameTooLarge, type Bytes } from "../../lib/sse";
import type { RetryOutcome } from "../upstream/retry";
import { lastFrame, type UpstreamStream } from "../upstream/request";

/** How many tokens an upstream is drained for at most after the caller has left. */
const DRAIN_TOKENS = 2_000;
/** How long the end of the upstream's body is awaited after its last word, so that the connection can be used again. */
const TRAILER_MS = 1_000;
const empty: Bytes = Buffer.alloc(0);

export class StreamBody implements UnderlyingDefaultSource<Uint8Array>, OpenSession {
  readonly #call: Call;
  readonly #money: CallBilling;
  readonly #failed: (failure: Failure, reason: EndReason) => Promise<void>;
  #meter: AnswerReader;
  /** Of the channel that serves, once it is known. */
  #patience: Timeouts;
  #outcome: RetryOutcome | Promise<RetryOutcome> | undefined;
  #upstream: UpstreamStream | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The caller waits for bytes: pings may go, and silence is the upstream's. */
  #waiting = false;
  /** Metered bytes that wait for the first pull. */
  #ready: Bytes[] = [];
  #expired: Phase | undefined;
  #over = false;
  /** Content bytes when the caller left. */
  #leftAt = 0;
  /** Told when it has ended and is charged. */
  readonly #ended = Promise.withResolvers<void>();
  /** The answer's last words; a translator says them once. */
  #last: Uint8Array = empty;

  /**
   * `outcome` is the first content, or the promise of it when the head goes first. `failed` ends a call that failed
   * before its content: gives the hold back and writes the row.
   */
  constructor(
    call: Call,
    billing: CallBilling,
    outcome: RetryOutcome | Promise<RetryOutcome>,
    failed: (failure: Failure, reason: EndReason) => Promise<void>,
  ) {
    this.#call = call;
    this.#money = billing;
    this.#outcome = outcome;
    this.#failed = failed;
    this.#patience = timeoutsFor(call.engine.controlPlane.option, call.channel);
    // Nobody has answered yet: only an error could be said.
    this.#meter = answerReader(call, "openai-chat");
    call.engine.stats.open_streams++;
    call.engine.sessions.add(this);
    call.onLeave = () => this.#leave();
    call.deadlines.onPing = () => this.#ping();
    // He went before there was a body that could tell.
    if (call.left) queueMicrotask(() => this.#leave());
  }

  /**
   * The whole answer when it has arrived already: charged, with its last word. undefined when it has not; then the
   * stream is to be pulled.
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
    // The head went without content: it carries the first ping.
    if (!(this.#outcome instanceof Promise)) return;
    controller.enqueue(this.#call.dialect.ping);
    // What becomes of the attempts does not wait for a caller who reads nothing.
    void this.#outcome.then(() => this.pull());
  }

  /** Ends before it has read: who waits for bytes is told by `enqueue`, and a promise more for each event is dear. */
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

  /** The process ends: what the upstream has said so far is the answer. */
  shutdown(now: boolean): Promise<void> {
    if (now && !this.#over) {
      if (this.#upstream) void this.#finish("gateway_restart");
      else void this.#giveUp();
    }
    return this.#ended.promise;
  }

  /** The process ends before anything was said: nothing is charged. */
  async #giveUp(): Promise<void> {
    this.#over = true;
    const failure = failureOf("cut");
    await this.#failed(failure, "gateway_restart");
    this.#last = this.#meter.fail(callError(this.#call, failure));
    this.#close();
  }

  /** The first pull: waits for the first content and sends what was read before it. Never rejects. */
  async #begin(): Promise<void> {
    try {
      const upstream = this.#upstream ?? (await this.#open());
      if (!upstream) return;
      const ready = Buffer.concat(this.#ready.splice(0));
      const sends = ready.length > 0 && !this.#call.left;
      if (sends) this.#send(ready);
      if (this.#meter.over) await this.#finish();
      else if (sends) this.#waiting = false;
      else this.#next(upstream);
    } catch (error) {
      this.#broke(error);
    }
  }

  /** Reads until something was sent or the answer is over; throws for what cannot be read. */
  #next(upstream: UpstreamStream): void {
    const kept = upstream.kept.shift();
    if (kept) return this.#took(upstream, kept);
    if (upstream.ended) return this.#end();
    if (!this.#call.left) this.#call.deadlines.limit("idle", this.#patience.idleMs);
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

  /** Passes whole frames on; undefined or none: no frame is complete yet. */
  #took(upstream: UpstreamStream, region: Bytes | undefined): void {
    if (this.#over) return;
    if (!region || region.length === 0) return this.#next(upstream);
    const out = this.#passed(this.#meter.feed(region));
    if (this.#call.left) {
      if (this.#meter.over || this.#drained()) void this.#finish();
      else this.#next(upstream);
      return;
    }
    if (out.length > 0) this.#send(out);
    if (this.#meter.over) void this.#finish();
    else if (!this.#money.spend(this.#meter.tally.contentBytes)) void this.#finish("out_of_quota");
    else if (out.length === 0) this.#next(upstream);
    else this.#waiting = false;
  }

  /** What the caller gets of the upstream: errors inside an answer keep their channel's secrets to themselves. */
  #passed(bytes: Uint8Array): Bytes {
    const { channel } = this.#call;
    return channel ? redactErrors(channel, asBuffer(bytes)) : asBuffer(bytes);
  }

  /** The upstream's body has ended. */
  #end(): void {
    const rest = this.#passed(this.#meter.end());
    if (rest.length > 0 && !this.#call.left) this.#send(rest);
    void this.#finish();
  }

  /** Waits for the first content; undefined when the call is over without one. */
  async #open(): Promise<UpstreamStream | undefined> {
    const outcome = await this.#outcome;
    this.#outcome = undefined;
    if (this.#over) {
      if (outcome?.ok && outcome.kind === "stream") outcome.stream.abort();
      return undefined;
    }
    if (outcome?.ok && outcome.kind === "stream") {
      this.#upstream = outcome.stream;
      this.#meter = outcome.stream.answer;
      const { deadlines, channel, engine } = this.#call;
      this.#patience = timeoutsFor(engine.controlPlane.option, channel);
      deadlines.onLimit = (phase) => this.#expire(phase);
      // The wait for the first byte is over; from now on silence counts.
      deadlines.limit("idle", this.#patience.idleMs);
      await this.#money.commitPrice();
      return outcome.stream;
    }
    const failure = outcome?.ok === false ? outcome.failure : failureOf("malformed");
    await this.#failed(failure, outcome?.ok === false ? outcome.end_reason : "upstream_error");
    this.#last = this.#meter.fail(callError(this.#call, failure));
    this.#close();
    return undefined;
  }

  #send(bytes: Uint8Array): void {
    this.#controller?.enqueue(bytes);
    this.#call.deadlines.sent();
  }

  #ping(): void {
    if (this.#waiting && !this.#over && !this.#call.left) this.#send(this.#call.dialect.ping);
  }

  #expire(phase: Phase): void {
    // While nobody waits for bytes the silence is the caller's, not the upstream's.
    if (phase === "idle" && !this.#waiting) return;
    this.#expired = phase;
    this.#upstream?.abort();
    // Its end does not wait for a caller who reads nothing.
    this.pull();
  }

  #leave(): void {
    if (this.#over || this.#leftAt !== 0) return;
    this.#call.left = true;
    this.#leftAt = Math.max(1, this.#meter.tally.contentBytes);
    this.#call.deadlines.total(this.#patience.drainMs, true);
    const known = this.#meter.tally.usage !== undefined && this.#meter.finished;
    // What was read already is enough.
    if (this.#upstream && (known || this.#patience.drainMs === 0)) this.#upstream.abort();
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

  /** Ends the answer: charge, then the last word, then the end of the body. Once; never rejects. */
  async #finish(reason?: EndReason): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    try {
      await this.#conclude(reason);
    } catch (error) {
      const { engine, request_id } = this.#call;
      engine.log.error({ err: error, request_id }, "a stream could not be ended");
    }
    this.#close();
  }

  async #conclude(reason: EndReason | undefined): Promise<void> {
    const end_reason = this.#endReason(reason);
    const { usage, contentBytes, countedBytes } = this.#meter.tally;
    this.#letGo();
    this.#call.warnings = [...this.#call.warnings, ...this.#meter.warnings];
    await this.#money.settle({ end_reason, usage, content_bytes: contentBytes, counted_bytes: countedBytes });
    const error = end_reason === "complete" || end_reason === "caller_left" ? undefined : this.#errorFor(end_reason);
    this.#last = error ? this.#meter.fail(error) : this.#passed(this.#meter.close());
    // What the next turn refers to is there before the caller can refer to it.
    if (end_reason === "complete") await this.#call.conversation?.keep(this.#call, this.#last);
  }

  #endReason(reason: EndReason | undefined): EndReason {
    const { finished, done, error, malformed } = this.#meter;
    // What the upstream calls a failure is one, even after a finish reason.
    if (error && !this.#call.left) return "upstream_error";
    // An answer is complete with its finish reason, whatever becomes of the connection afterwards.
    if (finished || (done && !this.#call.left)) return "complete";
    if (this.#call.left) return "caller_left";
    if (malformed) return "upstream_error";
    return reason ?? "upstream_cut";
  }

  #errorFor(reason: EndReason): RelayError {
    const { lang, request_id, channel } = this.#call;
    if (reason === "gateway_restart") return ownError("draining", {}, lang, request_id);
    if (reason === "out_of_quota") return ownError("quota_exhausted_midstream", {}, lang, request_id);
    const { error } = this.#meter;
    if (error) return callError(this.#call, classifyErrorIn200(channel ? redactOf(channel) : asIs, error));
    if (reason === "idle_timeout") return callError(this.#call, failureOf("timeout", 0, this.#expired));
    return callError(this.#call, failureOf(this.#meter.malformed ? "malformed" : "cut"));
  }

  /** Lets the upstream's body end by itself after its last word, so that the connection is kept; cuts it otherwise. */
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
    const call = this.#call;
    const controller = this.#controller;
    call.engine.stats.open_streams--;
    call.engine.sessions.delete(this);
    this.#ended.resolve();
    call.over = true;
    call.onLeave = undefined;
    call.deadlines.onPing = undefined;
    try {
      if (!call.left && this.#last.length > 0) controller?.enqueue(this.#last);
      controller?.close();
    } catch {
      // The caller has gone, and the stream with him.
    }
  }
}
