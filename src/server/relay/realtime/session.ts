/**
 * A realtime session: frames go both ways as they are, in order. Memory is bounded: whoever reads too slowly makes the
 * other side wait. A response's last event leaves when its charge is committed, and nothing after it overtakes it.
 */
import { AppError } from "../../../shared/errors";
import type { EndReason } from "../../../shared/log";
import type { Call, OpenSession } from "../call/call";
import { ownError, thrownError } from "../response/error-response";
import type { RelayError } from "../../protocol/relay-error";
import type { WireError } from "../../protocol/chat-events";
import { asIs, classifyErrorIn200, type Failure } from "../../protocol/upstream-failure";
import { recordRefusal } from "../billing/log-row";
import { screenedFrame } from "../admission/word-filter";
import { type Timeouts, timeoutsFor } from "../call/timeouts";
import type { Frame, Upstream, UpstreamSocket } from "./connect";
import { errorEvent, generatedBy, readEvent, type RealtimeEvent, saidBy } from "./events";
import { credentialId } from "../providers/credential-id";
import { redact, redactEvent, redactOf } from "../providers/redact";
import type { ResponseBilling } from "./response-billing";

/** The caller's half, as Bun's server gives it. */
export interface CallerSocket {
  /** Bytes sent; -1: kept, wait for drain; 0: dropped. */
  send(frame: Frame): number;
  close(code: number, reason: string): void;
  ping(): number;
  terminate(): void;
  pause(): void;
  resume(): void;
}

/** What happens on the caller's half. */
export interface CallerEvents {
  open(caller: CallerSocket): void;
  message?(caller: CallerSocket, frame: Frame): void;
  close?(caller: CallerSocket, code: number, reason: string): void;
  drain?(caller: CallerSocket): void;
}

/** Bounds of the caller's half. */
export const socketLimits = {
  // Sound does not shrink.
  perMessageDeflate: false,
  maxPayloadLength: 16 << 20,
  // A fast side is made to wait long before: this bound is for what went wrong.
  backpressureLimit: 16 << 20,
  // Seconds; the server pings before, so only a connection that is dead ends by it.
  idleTimeout: 120,
} as const;

/** Close codes (RFC 6455, 7.4.1). */
const CLOSE = { normal: 1000, going_away: 1001, policy: 1008, internal: 1011, try_again: 1013 } as const;

/** Bytes towards the upstream beyond which the caller has to wait. */
const UPSTREAM_BUFFER = 1 << 20;
/** How often a full buffer is looked at: the client socket tells nobody that it has drained. */
const DRAIN_POLL_MS = 10;

/** A code that may be sent on: some only say how a connection ended. */
const codeFor = (code: number): number => {
  if (code === 1005) return CLOSE.normal;
  const sendable = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
  return sendable ? code : CLOSE.internal;
};

export class RealtimeSession implements CallerEvents, OpenSession {
  readonly #call: Call;
  readonly #rounds: ResponseBilling;
  readonly #upstream: UpstreamSocket;
  /** What came from the upstream and was not looked at yet; the last may be its close. */
  readonly #queue: Upstream["queue"];
  readonly #patience: Timeouts;
  readonly #ended = Promise.withResolvers<void>();
  #caller: CallerSocket | undefined;
  #transcriptionModel: string | undefined;
  /** Somebody works at the queue, or nobody listens yet. */
  #busy = true;
  /** The caller's socket keeps what it cannot send. */
  #full = false;
  #refusals = 0;
  /** Over as soon as nothing runs. */
  #leaving = false;
  #over = false;

  constructor(call: Call, responseBilling: ResponseBilling, { socket, queue }: Upstream) {
    this.#call = call;
    this.#rounds = responseBilling;
    this.#upstream = socket;
    this.#queue = queue;
    socket.onmessage = ({ data }) => this.#take(data);
    socket.onclose = ({ code, reason }) => this.#take({ code, reason });
    const { engine, deadlines } = call;
    this.#patience = timeoutsFor(engine.controlPlane.option, call.channel);
    deadlines.onLimit = (phase) => this.#expire(phase);
    deadlines.onPing = () => this.#ping();
    deadlines.pings(this.#patience.pingMs);
    engine.sessions.add(this);
    engine.stats.open_streams++;
    engine.stats.open_sessions++;
  }

  open(caller: CallerSocket): void {
    this.#caller = caller;
    this.#stir();
    this.#busy = false;
    this.#upstream.resume();
    void this.#work();
  }

  message(caller: CallerSocket, frame: Frame): void {
    if (this.#over || this.#call.left || this.#upstream.readyState !== WebSocket.OPEN) return;
    this.#stir();
    const allowed = typeof frame === "string" ? this.#screened(frame) : frame;
    if (allowed === undefined) return;
    this.#rounds.heard(saidBy(allowed));
    this.#upstream.send(allowed);
    if (this.#upstream.bufferedAmount <= UPSTREAM_BUFFER) return;
    caller.pause();
    this.#waitForUpstream(caller);
  }

  drain(): void {
    this.#full = false;
    if (!this.#busy) this.#upstream.resume();
  }

  /** The caller has gone. What runs is cancelled, and has a little time to say what it used. */
  close(_caller: CallerSocket, code: number): void {
    if (this.#over) return;
    this.#call.left = true;
    this.#full = false;
    if (!this.#rounds.running && !this.#busy) return void this.#end("caller_left", code);
    this.#leaving = true;
    this.#call.deadlines.total(this.#patience.drainMs, true);
    if (this.#upstream.readyState === WebSocket.OPEN) this.#upstream.send('{"type":"response.cancel"}');
    if (!this.#busy) this.#upstream.resume();
  }

  shutdown(now: boolean): Promise<void> {
    this.#leaving = true;
    if (now || (!this.#rounds.running && !this.#busy)) void this.#end("gateway_restart", CLOSE.going_away, "restart");
    return this.#ended.promise;
  }

  /** Resolves when both halves are closed and everything is charged. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Never opened: the caller's half could not be upgraded. */
  abandon(): Promise<void> {
    return this.#end("caller_left", CLOSE.normal);
  }

  /**
   * An event with a sensitive word goes no further, or without it: undefined where its caller is told, and the session
   * goes on.
   */
  #screened(frame: string): string | undefined {
    const { engine, lang, caller, ip, path, request, request_id } = this.#rounds.call;
    try {
      return screenedFrame(engine.controlPlane, frame);
    } catch (thrown) {
      const error = thrownError(thrown, lang, this.#call.request_id);
      this.#caller?.send(errorEvent(error, request_id));
      if (thrown instanceof AppError) engine.observer.refused(thrown.code);
      const arrived = engine.controlPlane.now();
      void recordRefusal(
        engine.controlPlane,
        caller,
        { request_id: `${request_id}/${++this.#refusals}`, ip, arrived, path, lang, model: request.model },
        thrown,
        this.#call.request_id,
      );
      return undefined;
    }
  }

  #waitForUpstream(caller: CallerSocket): void {
    this.#call.engine.timers.after(DRAIN_POLL_MS, () => {
      if (this.#over || this.#upstream.bufferedAmount <= UPSTREAM_BUFFER / 2) caller.resume();
      else this.#waitForUpstream(caller);
    });
  }

  /** A frame moved: the silence begins anew. */
  #stir(): void {
    const { deadlines, left } = this.#call;
    if (!left) deadlines.limit("idle", this.#patience.idleMs);
  }

  /** Nothing was said to the caller for the ping interval: proxies between are told that the connection lives. */
  #ping(): void {
    if (!this.#over && !this.#call.left && !this.#full) this.#caller?.ping();
  }

  #take(item: Upstream["queue"][number]): void {
    this.#queue.push(item);
    if (!this.#busy) void this.#work();
  }

  /** Works the queue off, one at a time. While an event is accounted for nothing more is read from the upstream. */
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
            const content = this.#rounds.running ? generatedBy(item) : undefined;
            if (content) this.#rounds.saw(content);
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
    if (this.#leaving && !this.#rounds.running)
      await this.#end(this.#call.left ? "caller_left" : "gateway_restart", CLOSE.going_away, "restart");
    if (!this.#over && !this.#full) this.#upstream.resume();
  }

  async #account(event: RealtimeEvent, frame: string): Promise<void> {
    const responseBilling = this.#rounds;
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
        // A session may do nothing else, so nothing else would look at the balance.
        if (event.usage && !this.#leaving && !this.#over) await responseBilling.renew();
        return;
      case "response_done": {
        if (event.error) this.#report(this.#judge(event.error));
        const end_reason: EndReason = this.#call.left ? "caller_left" : event.failed ? "upstream_error" : "complete";
        // Nobody pays an estimate for what the upstream itself calls a failure.
        await responseBilling.done(event.id, event.usage ?? (event.failed ? {} : undefined), end_reason);
        this.#send(frame);
        if (!this.#leaving && !this.#over) await responseBilling.hold();
      }
    }
  }

  /** An event as the caller gets it: one that tells of an error keeps the channel's secrets to itself. */
  #passed(event: string): string {
    const { channel } = this.#call;
    return channel ? redactEvent(channel, event) : event;
  }

  #judge(error: WireError): Failure {
    const { channel } = this.#call;
    return classifyErrorIn200(channel ? redactOf(channel) : asIs, error);
  }

  /** An account that is used up or closed is told inside the session alone. */
  #report(failure: Failure): void {
    const { channel, engine, request, request_id } = this.#call;
    if (!channel || !failure.disable) return;
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
    if (this.#over || this.#call.left) return;
    this.#stir();
    this.#call.deadlines.sent();
    const sent = this.#caller?.send(frame);
    if (sent === -1) {
      this.#full = true;
      this.#upstream.pause();
    } else if (sent === 0 && frame.length > 0) {
      // More than the socket may keep: what is lost is lost, so the session cannot go on.
      void this.#end("caller_left", CLOSE.try_again, "reading too slowly");
      this.#caller?.terminate();
    }
  }

  async #upstreamClosed(code: number, reason: string): Promise<void> {
    const { channel } = this.#call;
    await this.#end(
      this.#call.left ? "caller_left" : "upstream_cut",
      codeFor(code),
      channel ? redact(channel, reason) : reason,
    );
  }

  #expire(phase: string): void {
    if (this.#call.left) return void this.#end("caller_left", CLOSE.normal);
    const { lang, request_id } = this.#call;
    const error = ownError("realtime_expired", { phase }, lang, request_id);
    void this.#end("idle_timeout", CLOSE.going_away, `${phase} limit`, error);
  }

  /** The next response may not be made: no balance, or a limit; or accounting itself failed. */
  async #break(thrown: unknown): Promise<void> {
    const call = this.#rounds.call;
    const { engine, lang, caller, ip, path, arrived, request } = call;
    const request_id = this.#call.request_id;
    const refused = thrown instanceof AppError;
    if (!refused) engine.log.error({ err: thrown, request_id }, "realtime session failed");
    const error = thrownError(thrown, lang, request_id);
    const { running } = this.#rounds;
    if (running && this.#upstream.readyState === WebSocket.OPEN) this.#upstream.send('{"type":"response.cancel"}');
    await this.#end("out_of_quota", refused ? CLOSE.policy : CLOSE.internal, error.code, error);
    // What ran has the row of its charge.
    if (!running)
      await recordRefusal(
        engine.controlPlane,
        caller,
        { request_id: call.request_id, ip, arrived, path, lang, model: request.model },
        thrown,
        request_id,
      );
  }

  /** Ends both halves, then the money. Once. */
  async #end(end_reason: EndReason, code: number, reason = "", error?: RelayError): Promise<void> {
    if (this.#over) return this.#ended.promise;
    this.#over = true;
    const call = this.#call;
    const { engine, deadlines } = call;
    call.over = true;
    deadlines.clear();
    if (!call.left) {
      if (error) this.#caller?.send(errorEvent(error, call.request_id));
      this.#caller?.close(code, reason);
    }
    // A client may say 1000 or a code of its own.
    this.#upstream.close(code >= 3000 ? code : CLOSE.normal);
    this.#upstream.resume();
    await this.#rounds.end(end_reason);
    engine.sessions.delete(this);
    engine.stats.open_streams--;
    engine.stats.open_sessions--;
    this.#ended.resolve();
  }
}
