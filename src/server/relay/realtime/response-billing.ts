/**
 * The money of a realtime session: every response is a round with a hold, a charge and a log row of its own. A round is
 * held before its response begins, so a session never runs beyond the balance by more than one response.
 */
import { AppError } from "../../../shared/errors";
import type { EndReason } from "../../../shared/log";
import { quotaOf } from "../../../shared/charge";
import { type CompiledPrice } from "../../../shared/pricing";
import type { Call } from "../call/call";
import { maxPrice } from "../billing/call-price";
import type { Usage } from "../../protocol/chat-events";
import { releaseSlots } from "../billing/budgets";
import type { Admission, LimitRequest } from "../../contracts/rate-limits";
import { CallBilling } from "../billing/call-billing";
import type { Terms } from "../../protocol/call-terms";

interface Round {
  call: Call;
  billing: CallBilling;
  /** Counted while the response runs: its bill when it never tells its usage. */
  seen: { output: number; audio_out: number };
}

/** A limit that is reached is thrown. */
async function enterInside(asked: Promise<Admission> | undefined): Promise<Admission | undefined> {
  const admission = await asked;
  if (admission?.refused) throw new AppError(admission.refused.code, admission.refused.values);
  return admission;
}

/** Makes the call of one round from the session's facts; it holds one step of tokens in and out. */
export type RoundMaker = (requestId: string, model: string, price: CompiledPrice, terms: Terms) => Call;

export class ResponseBilling {
  readonly #make: RoundMaker;
  readonly #requestId: string;
  readonly #model: string;
  #price: CompiledPrice;
  #round: Round;
  #count = 1;
  /** Responses that have begun and are not done. */
  readonly #running = new Set<string>();
  /** The last hold, perhaps on its way. */
  #holding: Promise<void> = Promise.resolve();
  #over = false;
  /** What the caller has said since the last response that was charged. */
  #heard = { input: 0, audio_in: 0 };
  /** What the last response used: the next one carries its context on. */
  #last: Usage | undefined;

  constructor(make: RoundMaker, requestId: string, model: string, price: CompiledPrice) {
    this.#make = make;
    this.#requestId = requestId;
    this.#model = model;
    this.#price = price;
    this.#round = this.#newRound();
  }

  /** The call of the round that is held. */
  get call(): Call {
    return this.#round.call;
  }

  /** A response has begun and is not done. */
  get running(): boolean {
    return this.#running.size > 0;
  }

  #newRound(before?: Call): Round {
    const seen = { output: 0, audio_out: 0 };
    const heard = this.#heard;
    const terms: Terms = {
      kinds: { audio: true, audio_out: true },
      ...(this.#last && { least_hold: quotaOf(this.#price, this.#last) }),
      exact: false,
      get usage() {
        return { output: seen.output, audio_out: Math.ceil(seen.audio_out) };
      },
      // The bill of a response that never tells its usage is what it made; a count of zero is set against what was
      // said.
      get doubted() {
        return { ...terms.usage, input: Math.ceil(heard.input), audio_in: Math.ceil(heard.audio_in) };
      },
    };
    const call = this.#next(this.#model, this.#price, terms, before);
    return { call, billing: new CallBilling(call), seen };
  }

  #next(model: string, price: CompiledPrice, terms: Terms, before: Call | undefined): Call {
    const call = this.#make(`${this.#requestId}-${this.#count++}`, model, price, terms);
    if (before) {
      const { caller, channel, upstream_model, upstream_request_id } = before;
      Object.assign(call, { caller, channel, upstream_model, upstream_request_id });
    }
    return call;
  }

  /** Takes the estimate of the next response. Throws the AppError of a refusal. */
  hold(): Promise<void> {
    return (this.#holding = this.#round.billing.hold());
  }

  /** A response begins. Throws the AppError of a limit that it is over. */
  async began(id: string): Promise<void> {
    this.#running.add(id);
    const { call, billing } = this.#round;
    const { caller, engine } = call;
    call.arrived = engine.controlPlane.now();
    await billing.commitPrice();
    const limitRequest: LimitRequest = { ...call.limitRequest, inside: true };
    const admission = await enterInside(engine.controlPlane.limits.admit(caller, limitRequest));
    if (admission) await this.#keep(call, { admission, channelSlot: undefined });
    const channelSlot =
      call.channel && (await enterInside(engine.controlPlane.limits.enterChannel(call.channel, caller, limitRequest)));
    if (channelSlot) await this.#keep(call, { channelSlot });
  }

  /** A place for the response that runs; the session may have ended while it was asked for. */
  async #keep(call: Call, place: { admission?: Admission; channelSlot?: Admission }): Promise<void> {
    if (this.#over) await releaseSlots({ channelSlot: undefined, ...place }, { tokens: 0, success: false, units: 0 });
    else Object.assign(call, place);
  }

  /** The caller has said something. */
  heard({ input, audio_in }: { input: number; audio_in: number }): void {
    this.#heard.input += input;
    this.#heard.audio_in += audio_in;
  }

  /** Content came. */
  saw({ output, audio_out }: { output: number; audio_out: number }): void {
    const { call, seen } = this.#round;
    if (call.first_content_at < 0) call.first_content_at = call.engine.controlPlane.now();
    seen.output += output;
    seen.audio_out += audio_out;
  }

  /** A response is done: charges it. Resolves when that is committed; the next round is not held yet. */
  async done(id: string, usage: Usage | undefined, end_reason: EndReason): Promise<void> {
    this.#running.delete(id);
    const { billing } = this.#round;
    // Nothing could be held for it, and yet it was made.
    billing.markUnheld();
    await billing.settle({ end_reason, usage, content_bytes: 0 });
    if (usage) this.#last = usage;
    this.#price = this.#round.call.price;
    this.#heard = { input: 0, audio_in: 0 };
    this.#round = this.#newRound(this.#round.call);
  }

  /** What the caller said was written down by a model of its own: a charge of its own. */
  async transcribed(model: string | undefined, usage: Usage): Promise<void> {
    const before = this.#round.call;
    const { caller, engine } = before;
    const own = model === undefined ? undefined : maxPrice(engine.controlPlane, caller, model, []);
    const terms: Terms = { usage: {}, exact: true, kinds: { audio: true } };
    const call =
      own && model ? this.#next(model, own, terms, before) : this.#next(this.#model, this.#price, terms, before);
    const billing = new CallBilling(call);
    billing.markUnheld();
    await billing.settle({ end_reason: "complete", usage, content_bytes: 0 });
  }

  /**
   * Holds the next response anew: what was charged beside it may have used up what it was held from. Throws the
   * AppError of a refusal.
   */
  async renew(): Promise<void> {
    if (this.running) return;
    await this.#round.billing.release();
    if (this.#over) return;
    this.#round = this.#newRound(this.#round.call);
    await this.hold();
  }

  /** The session is over: what runs is charged by what was seen of it, what does not is given back. */
  async end(end_reason: EndReason): Promise<void> {
    this.#over = true;
    // What is being taken can be given back when it is there.
    await this.#holding.catch(() => undefined);
    const { billing } = this.#round;
    if (this.running) await billing.settle({ end_reason, usage: undefined, content_bytes: 0 });
    else await billing.release();
    this.#running.clear();
  }
}
