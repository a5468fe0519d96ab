/**
 * The body of a response that is forwarded unchanged: sound, or events that are not chat's. Its last piece, and the end
 * of the body, wait until the charge is committed. Memory is constant: one piece is held back, the next one is pulled.
 */
import type { EndReason } from "../../../shared/log";
import type { Phase } from "../call/deadlines";
import type { Attempted } from "../call/call";
import { openaiChat } from "../../protocol/dialects/openai-chat/dialect";
import { callError } from "../response/error-response";
import { failureOf } from "../../protocol/upstream-failure";
import type { CallBilling } from "../billing/call-billing";
import { type Timeouts, timeoutsFor } from "../call/timeouts";
import type { StreamedAnswer } from "../upstream/untranslated-answer";

export class UntranslatedBody implements UnderlyingDefaultSource<Uint8Array> {
  readonly #attempt: Attempted;
  readonly #billing: CallBilling;
  readonly #answer: StreamedAnswer;
  readonly #timeouts: Timeouts;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The piece that is held back until the next one, or the end, arrives. */
  #held: Uint8Array | undefined;
  #waiting = false;
  #over = false;
  #expired: Phase | undefined;

  constructor(attempt: Attempted, billing: CallBilling, answer: StreamedAnswer) {
    const { call, channel } = attempt;
    const { engine } = call.asked;
    this.#attempt = attempt;
    this.#billing = billing;
    this.#answer = answer;
    this.#held = answer.events ? answer.events.push(answer.first) : answer.first;
    this.#timeouts = timeoutsFor(engine.controlPlane.option, channel);
    engine.stats.open_streams++;
    call.progress.onLeave = () => this.#leave();
    call.deadlines.onLimit = (phase) => this.#expire(phase);
    if (call.progress.left) queueMicrotask(() => this.#leave());
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

  /** Reads until a piece was sent or the response is over; to the end when the caller has left. Never throws. */
  async #advance(): Promise<void> {
    const { reader, scan, events } = this.#answer;
    const { deadlines, progress } = this.#attempt.call;
    try {
      while (!this.#over) {
        if (!progress.left) deadlines.limit("idle", this.#timeouts.idleMs);
        const { done, value } = await reader.read();
        if (done) return await this.#finish(scan.error === undefined ? "complete" : "upstream_error");
        if (value.length === 0) continue;
        if (events) scan.push(value);
        if (progress.left) continue;
        const piece = events ? events.push(value) : value;
        if (piece.length === 0) continue;
        const ready = this.#held;
        this.#held = piece;
        if (!ready || ready.length === 0) continue;
        this.#controller?.enqueue(ready);
        return;
      }
    } catch {
      await this.#finish(this.#expired ? "idle_timeout" : "upstream_cut");
    }
  }

  #expire(phase: Phase): void {
    // While the caller takes no bytes the silence is theirs, not the upstream's.
    if (phase === "idle" && !this.#waiting) return;
    this.#expired = phase;
    this.#answer.abort();
    void this.pull();
  }

  /** The caller has left: events are awaited for a short time, since usage comes at their end; anything else ends. */
  #leave(): void {
    if (this.#over) return;
    const { deadlines, progress } = this.#attempt.call;
    progress.left = true;
    progress.wake?.();
    deadlines.total(this.#timeouts.drainMs, true);
    if (!this.#answer.events || this.#timeouts.drainMs === 0) this.#answer.abort();
    if (!this.#waiting) void this.pull();
  }

  /** Ends the response: charge, then the last piece, then the end. Once. */
  async #finish(reason: EndReason): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    const { call, terms } = this.#attempt;
    const { asked, deadlines, progress } = call;
    const { scan, events, abort } = this.#answer;
    deadlines.clear();
    const end_reason = reason !== "complete" && progress.left ? "caller_left" : reason;
    if (end_reason !== "complete" && end_reason !== "upstream_error") abort();
    const reported = scan.usage === undefined ? undefined : asked.operation.direct?.usageOf({ usage: scan.usage });
    // No estimate is charged for a failure that the upstream itself reports.
    const usage = reported ?? (reason === "upstream_error" && !terms?.exact ? {} : undefined);
    await this.#billing.settle(this.#attempt, { end_reason, usage, content_bytes: 0 });
    asked.engine.stats.open_streams--;
    progress.over = true;
    progress.onLeave = undefined;
    asked.form?.close();
    this.#close(end_reason, events);
  }

  #close(end_reason: EndReason, events: StreamedAnswer["events"]): void {
    const { call } = this.#attempt;
    const { left } = call.progress;
    const controller = this.#controller;
    try {
      const last = Buffer.concat([this.#held ?? Buffer.alloc(0), events?.end() ?? Buffer.alloc(0)]);
      if (last.length > 0 && !left) controller?.enqueue(last);
      const whole = end_reason === "complete" || end_reason === "upstream_error" || left;
      if (whole) return controller?.close();
      const failure = end_reason === "idle_timeout" ? failureOf("timeout", 0, this.#expired) : failureOf("cut");
      // Sound has no error event: breaking the connection is the only way to report the failure.
      if (!events) return controller?.error(new Error(failure.kind));
      controller?.enqueue(openaiChat.errorFrame(callError(call, failure)));
      controller?.close();
    } catch {
      // The caller has left, and the stream is closed.
    }
  }
}
