/**
 * The money of a realtime session: every response is a round with its own hold, charge and log row. A round is held
 * before its response begins, so a session never exceeds the balance by more than one response.
 */
import { AppError } from "../../../shared/errors";
import type { EndReason } from "../../../shared/log";
import { quotaOf } from "../../../shared/charge";
import { type CompiledPrice } from "../../../shared/pricing";
import { priceAt } from "../../../shared/ruled-price";
import type { Admitted, Attempted } from "../call/call";
import type { Usage } from "../../protocol/chat-events";
import { refusalError } from "../admission/refusal";
import { releaseSlots } from "../billing/budgets";
import type { Opened } from "../billing/admit-and-hold";
import type { Granted, Refusal } from "../../contracts/admission";
import { type Admission, type LimitRequest, NOTHING_USED } from "../../contracts/rate-limits";
import { CallBilling } from "../billing/call-billing";
import type { Terms } from "../../protocol/call-terms";

interface Round extends Opened {
  readonly terms: Terms;
  /** The response's use of the limits, once it has begun. */
  places: { admission?: Admission; slot?: Admission };
  /** Counted while the response runs: its charge when it never reports its usage. */
  readonly seen: { output: number; audio_out: number };
}

/** Makes the call of one round from the session's state; it holds one step of input and output tokens. */
export type RoundMaker = (requestId: string, model: string, price: CompiledPrice, terms: Terms) => Admitted;

export class ResponseBilling {
  readonly #make: RoundMaker;
  readonly #requestId: string;
  readonly #model: string;
  /** The highest price possible; once a channel serves, its price there. */
  #price: CompiledPrice;
  /** The attempt that opened the session. */
  #session: Attempted | undefined;
  #round: Round;
  #count = 1;
  /** Responses that have begun and are not done. */
  readonly #running = new Set<string>();
  /** The last hold, possibly still in progress. */
  #holding: Promise<unknown> = Promise.resolve();
  #over = false;
  /** The caller's input since the last charged response. */
  #heard = { input: 0, audio_in: 0 };
  /** The usage of the last response: the next one includes its context. */
  #last: Usage | undefined;

  constructor(make: RoundMaker, requestId: string, model: string, price: CompiledPrice) {
    this.#make = make;
    this.#requestId = requestId;
    this.#model = model;
    this.#price = price;
    this.#round = this.#newRound();
  }

  /** The call of the round that is held. */
  get call(): Admitted {
    return this.#round.call;
  }

  /** A channel serves the session: from now on its rounds cost that channel's price. */
  connected(session: Attempted): void {
    this.#session = session;
    this.#price = session.price;
  }

  /** A response has begun and is not done. */
  get running(): boolean {
    return this.#running.size > 0;
  }

  /** The price of a response that is held now. */
  #priceNow(): CompiledPrice {
    const { controlPlane } = this.#round.call.asked.engine;
    return priceAt(this.#price, { moment: controlPlane.now(), member: () => [] });
  }

  #newRound(): Round {
    const seen = { output: 0, audio_out: 0 };
    const heard = this.#heard;
    const terms: Terms = {
      kinds: { audio: true, audio_out: true },
      ...(this.#last && { least_hold: quotaOf(this.#priceNow(), this.#last) }),
      exact: false,
      get usage() {
        return { output: seen.output, audio_out: Math.ceil(seen.audio_out) };
      },
      // A response without usage is charged by its content; a reported count of zero is compared with the input and
      // output.
      get doubted() {
        return { ...terms.usage, input: Math.ceil(heard.input), audio_in: Math.ceil(heard.audio_in) };
      },
    };
    const call = this.#next(this.#model, this.#price, terms);
    return { call, billing: new CallBilling(call.asked, call.price), terms, places: {}, seen };
  }

  #next(model: string, price: CompiledPrice, terms: Terms): Admitted {
    return this.#make(`${this.#requestId}-${this.#count++}`, model, price, terms);
  }

  /** A call of the session at the channel that serves it. */
  #attemptOf(call: Admitted, price: CompiledPrice, terms: Terms, { admission, slot }: Round["places"] = {}): Attempted {
    const session = this.#session;
    if (!session) throw new Error("a response before its session is open");
    return { ...session, call: admission ? { ...call, admission } : call, price, terms, slot };
  }

  #attemptOfRound({ call, terms, places }: Round): Attempted {
    const price = priceAt(this.#price, { moment: call.held_at, member: () => [] });
    return this.#attemptOf(call, price, terms, places);
  }

  /** Holds the estimate of the next response; for the first one under `limits`, those of the session. */
  admit(limits?: LimitRequest): Promise<Granted | Refusal> {
    return (this.#holding = this.#admit(this.#round, limits));
  }

  async #admit({ call, billing }: Round, limits: LimitRequest | undefined): Promise<Granted | Refusal> {
    const { engine, caller } = call.asked;
    const outcome = await engine.controlPlane.admit({ caller, limits, hold: billing.holdRequest() });
    if (outcome.granted) await billing.accept(outcome);
    return outcome;
  }

  /** Holds the estimate of the next response. Throws the AppError of a refusal. */
  async hold(): Promise<void> {
    const outcome = await this.admit();
    if (!outcome.granted) throw refusalError(outcome);
  }

  /** A response begins. Throws the AppError of an exceeded limit. */
  async began(id: string): Promise<void> {
    this.#running.add(id);
    const round = this.#round;
    const { call, billing } = round;
    const { caller, channel, price, terms } = this.#attemptOfRound(round);
    const { admit, limits, now } = call.asked.engine.controlPlane;
    call.progress.began = now();
    await billing.commitPrice({ price, terms });
    const limitRequest: LimitRequest = { ...call.limitRequest, inside: true };
    const outcome = await admit({ caller, limits: limitRequest, hold: undefined });
    if (!outcome.granted) throw refusalError(outcome);
    if (outcome.limits) await this.#keep(round, { admission: outcome.limits });
    const slot = await limits.enterChannel(channel, caller, limitRequest);
    if (slot?.refused) throw new AppError(slot.refused.code, slot.refused.values);
    if (slot) await this.#keep(round, { slot });
  }

  /** Admission of the running response; the session may have ended while it was requested. */
  async #keep(round: Round, { admission, slot }: Round["places"]): Promise<void> {
    if (this.#over) await releaseSlots(admission, slot, NOTHING_USED);
    else Object.assign(round.places, { ...(admission && { admission }), ...(slot && { slot }) });
  }

  /** The caller has sent input. */
  heard({ input, audio_in }: { input: number; audio_in: number }): void {
    this.#heard.input += input;
    this.#heard.audio_in += audio_in;
  }

  /** Content arrived. */
  saw({ output, audio_out }: { output: number; audio_out: number }): void {
    const { call, seen } = this.#round;
    const { asked, progress } = call;
    if (progress.first_content_at < 0) progress.first_content_at = asked.engine.controlPlane.now();
    seen.output += output;
    seen.audio_out += audio_out;
  }

  /** A response is done: charges it. Resolves when that is committed; the next round is not held yet. */
  async done(id: string, usage: Usage | undefined, end_reason: EndReason): Promise<void> {
    this.#running.delete(id);
    const round = this.#round;
    // Nothing could be held for it, but the vendor produced it.
    round.billing.markUnheld();
    await round.billing.settle(this.#attemptOfRound(round), { end_reason, usage, content_bytes: 0 });
    if (usage) this.#last = usage;
    this.#heard = { input: 0, audio_in: 0 };
    this.#round = this.#newRound();
  }

  /** The caller's speech was transcribed by a separate model: a separate charge. */
  async transcribed(model: string | undefined, usage: Usage): Promise<void> {
    const { asked } = this.#round.call;
    const { group, user_group } = this.#session?.caller ?? asked.caller;
    const own = model === undefined ? undefined : asked.engine.controlPlane.price(model, group, user_group);
    const terms: Terms = { usage: {}, exact: true, kinds: { audio: true } };
    const price = own ?? this.#price;
    const call = this.#next(own && model ? model : this.#model, price, terms);
    const billing = new CallBilling(call.asked, call.price);
    billing.markUnheld();
    await billing.settle(this.#attemptOf(call, call.price, terms), { end_reason: "complete", usage, content_bytes: 0 });
  }

  /**
   * Holds the next response again: a charge in between may have used up the balance that it was held from. Throws the
   * AppError of a refusal.
   */
  async renew(): Promise<void> {
    if (this.running) return;
    await this.#round.billing.release(this.#round.call);
    if (this.#over) return;
    this.#round = this.#newRound();
    await this.hold();
  }

  /** The session is over: a running response is charged by its content so far, an unused hold is released. */
  async end(end_reason: EndReason): Promise<void> {
    this.#over = true;
    // A hold in progress can be released once it exists.
    await this.#holding.catch(() => undefined);
    const round = this.#round;
    const ending = { end_reason, usage: undefined, content_bytes: 0 };
    if (this.running) await round.billing.settle(this.#attemptOfRound(round), ending);
    else await round.billing.release(round.call);
    this.#running.clear();
  }
}
