/**
 * A realtime session: frames go both ways unchanged, in order. Memory is bounded: a side that reads too slowly makes
 * the other one wait. A response's last event is sent when its charge is committed, and nothing after it overtakes it.
 */
import { AppError } from "../../../shared/errors";
import type { EndReason } from "../../../shared/log";
import type { Admitted, Attempted, OpenSession } from "../call/call";
import { ownError, thrownError } from "../response/error-response";
import type { RelayError } from "../../protocol/relay-error";
import type { WireError } from "../../protocol/chat-events";
import { classifyErrorIn200, type Failure } from "../../protocol/upstream-failure";
import { recordRefusal } from "../billing/log-row";
import { screenedFrame } from "../admission/word-filter";
import { type Timeouts, timeoutsFor } from "../call/timeouts";
import type { Frame, Upstream, UpstreamSocket } from "./connect";
import { errorEvent, generatedBy, readEvent, type RealtimeEvent, saidBy } from "./events";
import { credentialId } from "../providers/credential-id";
import { redact, redactEvent, redactOf } from "../providers/redact";
import type { PoolChannel } from "../../contracts/channel";
import type { ResponseBilling } from "./response-billing";

/** The caller's side, as Bun's server provides it. */
export interface CallerSocket {
  /** Bytes sent; -1: buffered, wait for drain; 0: dropped. */
  send(frame: Frame): number;
  close(code: number, reason: string): void;
  ping(): number;
  terminate(): void;
  pause(): void;
  resume(): void;
}

/** Events of the caller's side. */
export interface CallerEvents {
  open(caller: CallerSocket): void;
  message?(caller: CallerSocket, frame: Frame): void;
  close?(caller: CallerSocket, code: number, reason: string): void;
  drain?(caller: CallerSocket): void;
}

/** Limits of the caller's side. */
export const socketLimits = {
  // Audio does not compress.
  perMessageDeflate: false,
  maxPayloadLength: 16 << 20,
  // A fast side is made to wait long before: this limit is for errors.
  backpressureLimit: 16 << 20,
  // Seconds; the server pings before, so this closes only dead connections.
  idleTimeout: 120,
} as const;

/** Close codes (RFC 6455, 7.4.1). */
const CLOSE = { normal: 1000, going_away: 1001, policy: 1008, internal: 1011, try_again: 1013 } as const;

/** Buffered bytes to the upstream beyond which the caller has to wait. */
const UPSTREAM_BUFFER = 1 << 20;
/** How often a full buffer is checked: the client socket has no event for it. */
const DRAIN_POLL_MS = 10;

/** A close code that may be forwarded: some only describe how a connection ended. */
const codeFor = (code: number): number => {
  if (code === 1005) return CLOSE.normal;
  const sendable = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
  return sendable ? code : CLOSE.internal;
};

export class RealtimeSession implements CallerEvents, OpenSession {
  /** The attempt that opened it. */
  readonly #attempt: Attempted;
  readonly #call: Admitted;
  readonly #billing: ResponseBilling;
  readonly #upstream: UpstreamSocket;
  /** Received from the upstream and not processed yet; the last may be its close event. */
  readonly #queue: Upstream["queue"];
  readonly #timeouts: Timeouts;
  readonly #ended = Promise.withResolvers<void>();
  #caller: CallerSocket | undefined;
  #transcriptionModel: string | undefined;
  /** The queue is being processed, or the caller's side is not open yet. */
  #busy = true;
  /** The caller's socket buffers data that it cannot send. */
  #full = false;
  #refusals = 0;
  /** Ends as soon as nothing runs. */
  #leaving = false;
  #over = false;

  constructor(attempt: Attempted, responseBilling: ResponseBilling, { socket, queue }: Upstream) {
    const { call, channel } = attempt;
    this.#attempt = attempt;
    this.#call = call;
    this.#billing = responseBilling;
    this.#upstream = socket;
    this.#queue = queue;
    socket.onmessage = ({ data }) => this.#take(data);
    socket.onclose = ({ code, reason }) => this.#take({ code, reason });
    const { asked, deadlines } = call;
    const { engine } = asked;
    this.#timeouts = timeoutsFor(engine.controlPlane.option, channel);
    deadlines.onLimit = (phase) => this.#expire(phase);
    deadlines.onPing = () => this.#ping();
    deadlines.pings(this.#timeouts.pingMs);
    engine.sessions.add(this);
    engine.stats.open_streams++;
    engine.stats.open_sessions++;
  }

  get channel(): PoolChannel {
    return this.#attempt.channel;
  }

  open(caller: CallerSocket): void {
    this.#caller = caller;
    this.#stir();
    this.#busy = false;
    this.#upstream.resume();
    void this.#work();
  }

  message(caller: CallerSocket, frame: Frame): void {
    if (this.#over || this.#call.progress.left || this.#upstream.readyState !== WebSocket.OPEN) return;
    this.#stir();
    const allowed = typeof frame === "string" ? this.#screened(frame) : frame;
    if (allowed === undefined) return;
    this.#billing.heard(saidBy(allowed));
    this.#upstream.send(allowed);
    if (this.#upstream.bufferedAmount <= UPSTREAM_BUFFER) return;
    caller.pause();
    this.#waitForUpstream(caller);
  }

  drain(): void {
    this.#full = false;
    if (!this.#busy) this.#upstream.resume();
  }

  /** The caller has left. Running responses are cancelled, with a short time to report their usage. */
  close(_caller: CallerSocket, code: number): void {
    if (this.#over) return;
    this.#call.progress.left = true;
    this.#full = false;
    if (!this.#billing.running && !this.#busy) return void this.#end("caller_left", code);
    this.#leaving = true;
    this.#call.deadlines.total(this.#timeouts.drainMs, true);
    if (this.#upstream.readyState === WebSocket.OPEN) this.#upstream.send('{"type":"response.cancel"}');
    if (!this.#busy) this.#upstream.resume();
  }

  shutdown(now: boolean): Promise<void> {
    this.#leaving = true;
    if (now || (!this.#billing.running && !this.#busy)) void this.#end("gateway_restart", CLOSE.going_away, "restart");
    return this.#ended.promise;
  }

  /** Resolves when both sides are closed and everything is charged. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** The caller's key has ended, or its account: a running response is cut. */
  revoke(reason: AppError): void {
    const error = thrownError(reason, this.#call.asked);
    void this.#end("refused", CLOSE.policy, error.code, error);
  }

  /** Never opened: the caller's side could not be upgraded. */
  abandon(): Promise<void> {
    return this.#end("caller_left", CLOSE.normal);
  }

  /**
   * An event with a sensitive word is dropped, or forwarded without it: undefined where the caller gets an error, and
   * the session goes on.
   */
  #screened(frame: string): string | undefined {
    const { engine, ip, path, request, request_id } = this.#billing.call.asked;
    const { caller } = this.#attempt;
    try {
      return screenedFrame(engine.controlPlane, frame);
    } catch (thrown) {
      const error = thrownError(thrown, this.#call.asked);
      this.#caller?.send(errorEvent(error, request_id));
      if (thrown instanceof AppError) engine.observer.refused(thrown.code);
      const arrived = engine.controlPlane.now();
      void recordRefusal(
        engine.controlPlane,
        caller,
        { request_id: `${request_id}/${++this.#refusals}`, ip, arrived, path, model: request.model },
        thrown,
      );
      return undefined;
    }
  }

  #waitForUpstream(caller: CallerSocket): void {
    this.#call.asked.engine.timers.after(DRAIN_POLL_MS, () => {
      if (this.#over || this.#upstream.bufferedAmount <= UPSTREAM_BUFFER / 2) caller.resume();
      else this.#waitForUpstream(caller);
    });
  }

  /** A frame was transferred: the silence starts over. */
  #stir(): void {
    const { deadlines, progress } = this.#call;
    if (!progress.left) deadlines.limit("idle", this.#timeouts.idleMs);
  }

  /** Nothing was sent to the caller for the ping interval: proxies in between must see that the connection is alive. */
  #ping(): void {
    if (!this.#over && !this.#call.progress.left && !this.#full) this.#caller?.ping();
  }

  #take(item: Upstream["queue"][number]): void {
    this.#queue.push(item);
    if (!this.#busy) void this.#work();
  }

  /** Processes the queue, one event at a time. While an event is billed nothing more is read from the upstream. */
  async #work(): Promise<void> {
    this.#busy = true;
    try {
      for (let item = this.#queue.shift(); item !== undefined && !this.#over; item = this.#queue.shift()) {
        if (typeof item === "string") {
          const event = readEvent(item);
          if (event) {
            this.#upstream.pause();
            await this.#account(event, this.#passed(item));
          } else {
            const content = this.#billing.running ? generatedBy(item) : undefined;
            if (content) this.#billing.saw(content);
            this.#send(this.#passed(item));
          }
        } else if (Buffer.isBuffer(item)) {
          this.#send(item);
        } else {
          await this.#upstreamClosed(item.code, item.reason);
        }
      }
    } catch (error) {
      await this.#break(error);
    }
    this.#busy = false;
    if (this.#leaving && !this.#billing.running)
      await this.#end(this.#call.progress.left ? "caller_left" : "gateway_restart", CLOSE.going_away, "restart");
    if (!this.#over && !this.#full) this.#upstream.resume();
  }

  async #account(event: RealtimeEvent, frame: string): Promise<void> {
    const responseBilling = this.#billing;
    switch (event.type) {
      case "session":
        this.#transcriptionModel = event.transcription_model;
        return this.#send(frame);
      case "error":
        this.#report(this.#judge(event.error));
        return this.#send(frame);
      case "response_created":
        this.#send(frame);
        return responseBilling.began(event.id);
      case "transcribed":
        if (event.usage) await responseBilling.transcribed(this.#transcriptionModel, event.usage);
        this.#send(frame);
        // A session may do nothing but transcribe, so no other step would check the balance.
        if (event.usage && !this.#leaving && !this.#over) await responseBilling.renew();
        return;
      case "response_done": {
        if (event.error) this.#report(this.#judge(event.error));
        const end_reason: EndReason = this.#call.progress.left
          ? "caller_left"
          : event.failed
            ? "upstream_error"
            : "complete";
        // No estimate is charged for a failure that the upstream itself reports.
        await responseBilling.done(event.id, event.usage ?? (event.failed ? {} : undefined), end_reason);
        this.#send(frame);
        if (!this.#leaving && !this.#over) await responseBilling.hold();
      }
    }
  }

  /** The caller's version of an event: an error does not reveal the channel's secrets. */
  #passed(event: string): string {
    return redactEvent(this.#attempt.channel, event);
  }

  #judge(error: WireError): Failure {
    return classifyErrorIn200(redactOf(this.#attempt.channel), error);
  }

  /** Errors about a used up or closed account are reported only inside the session. */
  #report(failure: Failure): void {
    const { channel } = this.#attempt;
    const { engine, request, request_id } = this.#call.asked;
    if (!failure.disable) return;
    const { upstream_status: status, disable } = failure;
    engine.routing.cooldown.add(credentialId(channel), request.model, failure.cool_ms);
    const message = failure.error?.message ?? "";
    engine.controlPlane.channelFailed(channel, {
      status,
      disable,
      message,
      request_id,
      model: request.model,
      quoted: () => false,
    });
  }

  #send(frame: Frame): void {
    if (this.#over || this.#call.progress.left) return;
    this.#stir();
    this.#call.deadlines.sent();
    const sent = this.#caller?.send(frame);
    if (sent === -1) {
      this.#full = true;
      this.#upstream.pause();
    } else if (sent === 0 && frame.length > 0) {
      // More than the socket may buffer: the data is lost, so the session cannot go on.
      void this.#end("caller_left", CLOSE.try_again, "reading too slowly");
      this.#caller?.terminate();
    }
  }

  async #upstreamClosed(code: number, reason: string): Promise<void> {
    const end_reason = this.#call.progress.left ? "caller_left" : "upstream_cut";
    await this.#end(end_reason, codeFor(code), redact(this.#attempt.channel, reason));
  }

  #expire(phase: string): void {
    if (this.#call.progress.left) return void this.#end("caller_left", CLOSE.normal);
    const error = ownError("realtime_expired", { phase }, this.#call.asked);
    void this.#end("idle_timeout", CLOSE.going_away, `${phase} limit`, error);
  }

  /** The next response is refused: no balance, or a limit; or accounting itself failed. */
  async #break(thrown: unknown): Promise<void> {
    const round = this.#billing.call;
    const { engine, ip, path, request } = round.asked;
    const { caller } = this.#attempt;
    const { request_id } = this.#call.asked;
    const refused = thrown instanceof AppError;
    if (!refused) engine.log.error({ err: thrown, request_id }, "realtime session failed");
    const error = thrownError(thrown, this.#call.asked);
    const { running } = this.#billing;
    if (running && this.#upstream.readyState === WebSocket.OPEN) this.#upstream.send('{"type":"response.cancel"}');
    await this.#end("out_of_quota", refused ? CLOSE.policy : CLOSE.internal, error.code, error);
    // The running response has the row of its charge.
    if (!running)
      await recordRefusal(
        engine.controlPlane,
        caller,
        { request_id: round.asked.request_id, ip, arrived: round.progress.began, path, model: request.model },
        thrown,
      );
  }

  /** Closes both sides, then ends the billing. Once. */
  async #end(end_reason: EndReason, code: number, reason = "", error?: RelayError): Promise<void> {
    if (this.#over) return this.#ended.promise;
    this.#over = true;
    const { asked, deadlines, progress } = this.#call;
    const { engine, request_id } = asked;
    progress.over = true;
    deadlines.clear();
    if (!progress.left) {
      if (error) this.#caller?.send(errorEvent(error, request_id));
      this.#caller?.close(code, reason);
    }
    // A client may send 1000 or a code from the private range.
    this.#upstream.close(code >= 3000 ? code : CLOSE.normal);
    this.#upstream.resume();
    await this.#billing.end(end_reason);
    engine.sessions.delete(this);
    engine.running.delete(this.#call);
    engine.stats.open_streams--;
    engine.stats.open_sessions--;
    this.#ended.resolve();
  }
}
