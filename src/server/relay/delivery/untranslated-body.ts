/**
 * The body of an answer that flows through untouched: sound, or events that are not chat's. Its last piece, and the end
 * of the body, wait until the charge is committed. Memory is constant: one piece is held back, the next one is pulled.
 */
import type { EndReason } from "../../../shared/log";
import type { Phase } from "../call/deadlines";
import type { Call } from "../call/call";
import { openaiChat } from "../../protocol/dialects/openai-chat/dialect";
import { callError } from "../response/error-response";
import { failureOf } from "../../protocol/upstream-failure";
import type { CallBilling } from "../billing/call-billing";
import { type Timeouts, timeoutsFor } from "../call/timeouts";
import type { StreamedAnswer } from "../upstream/untranslated-answer";

export class UntranslatedBody implements UnderlyingDefaultSource<Uint8Array> {
  readonly #call: Call;
  readonly #money: CallBilling;
  readonly #answer: StreamedAnswer;
  readonly #patience: Timeouts;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The piece that waits until the next one, or the end, has come. */
  #held: Uint8Array | undefined;
  #waiting = false;
  #over = false;
  #expired: Phase | undefined;

  constructor(call: Call, billing: CallBilling, answer: StreamedAnswer) {
    this.#call = call;
    this.#money = billing;
    this.#answer = answer;
    this.#held = answer.events ? answer.events.push(answer.first) : answer.first;
    this.#patience = timeoutsFor(call.engine.controlPlane.option, call.channel);
    call.engine.stats.open_streams++;
    call.onLeave = () => this.#leave();
    call.deadlines.onLimit = (phase) => this.#expire(phase);
    if (call.left) queueMicrotask(() => this.#leave());
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
  }

  async pull(): Promise<void> {
    if (this.#over || this.#waiting) return;
    this.#waiting = true;
    await this.#advance();
    this.#waiting = false;
  }

  cancel(): void {
    this.#leave();
  }

  /** Reads until a piece was sent or the answer is over; to the end when nobody listens any more. Never throws. */
  async #advance(): Promise<void> {
    const { reader, scan, events } = this.#answer;
    const { deadlines } = this.#call;
    try {
      while (!this.#over) {
        if (!this.#call.left) deadlines.limit("idle", this.#patience.idleMs);
        const { done, value } = await reader.read();
        if (done) return await this.#finish(scan.error === undefined ? "complete" : "upstream_error");
        if (value.length === 0) continue;
        if (events) scan.push(value);
        if (this.#call.left) continue;
        const said = events ? events.push(value) : value;
        if (said.length === 0) continue;
        const ready = this.#held;
        this.#held = said;
        if (!ready || ready.length === 0) continue;
        this.#controller?.enqueue(ready);
        return;
      }
    } catch {
      await this.#finish(this.#expired ? "idle_timeout" : "upstream_cut");
    }
  }

  #expire(phase: Phase): void {
    // While nobody waits for bytes the silence is the caller's, not the upstream's.
    if (phase === "idle" && !this.#waiting) return;
    this.#expired = phase;
    this.#answer.abort();
    void this.pull();
  }

  /** The caller has gone: what only its end tells is awaited a little, everything else is over. */
  #leave(): void {
    const call = this.#call;
    if (this.#over) return;
    call.left = true;
    call.deadlines.total(this.#patience.drainMs, true);
    if (!this.#answer.events || this.#patience.drainMs === 0) this.#answer.abort();
    if (!this.#waiting) void this.pull();
  }

  /** Ends the answer: charge, then the last piece, then the end. Once. */
  async #finish(reason: EndReason): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    const call = this.#call;
    const { scan, events, abort } = this.#answer;
    call.deadlines.clear();
    const end_reason = reason !== "complete" && call.left ? "caller_left" : reason;
    if (end_reason !== "complete" && end_reason !== "upstream_error") abort();
    const reported = scan.usage === undefined ? undefined : call.operation.direct?.usageOf({ usage: scan.usage });
    // Nobody pays an estimate for what the upstream itself calls a failure.
    const usage = reported ?? (reason === "upstream_error" && !call.request.terms?.exact ? {} : undefined);
    await this.#money.settle({ end_reason, usage, content_bytes: 0 });
    call.engine.stats.open_streams--;
    call.over = true;
    call.onLeave = undefined;
    call.form?.close();
    this.#close(end_reason, events);
  }

  #close(end_reason: EndReason, events: StreamedAnswer["events"]): void {
    const call = this.#call;
    const controller = this.#controller;
    try {
      const last = Buffer.concat([this.#held ?? Buffer.alloc(0), events?.end() ?? Buffer.alloc(0)]);
      if (last.length > 0 && !call.left) controller?.enqueue(last);
      const whole = end_reason === "complete" || end_reason === "upstream_error" || call.left;
      if (whole) return controller?.close();
      const failure = end_reason === "idle_timeout" ? failureOf("timeout", 0, this.#expired) : failureOf("cut");
      // Sound has no words for an error: a connection that breaks is the only honest end.
      if (!events) return controller?.error(new Error(failure.class));
      controller?.enqueue(openaiChat.errorFrame(callError(call, failure)));
      controller?.close();
    } catch {
      // The caller has gone, and the stream with him.
    }
  }
}
