/**
 * The money of one call: one hold, extended while a stream runs, ended by exactly one settle or release. The ledger
 * moves the units; this module decides when and how many.
 */
import type { AppError } from "../../../shared/errors";
import { chargeOf, estimateUpperBound, quotaOf } from "../../../shared/charge";
import type { CompiledPrice } from "../../../shared/pricing";
import { type HoldPlan, planHold, usualOutput } from "./hold";
import { type Admission, type LimitRequest, NOTHING_USED } from "../../contracts/rate-limits";
import type { Granted, Refusal } from "../../contracts/admission";
import { type HoldRequest, type Settlement, WALLET } from "../../contracts/ledger";
import { refusalError } from "../admission/refusal";
import type { Admitted, Asked, Attempted } from "../call/call";
import { costOfCall } from "./call-cost";
import { chargeAtEnd, type Ending } from "./final-charge";
import { askBudgets, coverCharge, releaseSlots } from "./budgets";
import { callRow, completionTokens, sweepRow, promptTokens } from "./log-row";

/** Content bytes per token, for the running estimate of the hold: fewer than most texts have. */
export const BYTES_PER_TOKEN = 3;
/**
 * The longest that a response waits for its settle: by then the settlement is in the ledger's journal, which retries it
 * until the ledger has it.
 */
export const SETTLE_LIMIT_MS = 5_000;
/** The highest output limit that an error message suggests to a caller. */
const MOST_TOKENS = 1e9;
/** A settle without a reply for so long goes into the journal, which has the rest of SETTLE_LIMIT_MS to write it. */
const JOURNAL_AFTER_MS = 3_000;

/** The limits that a hold sets for its call. */
export interface Held {
  /** Its possible use, for limits. */
  readonly limitRequest: LimitRequest;
  /** Output limit of each of its choices, where the hold does not cover the longest possible response. */
  readonly output_limit: number | undefined;
}

export class CallBilling {
  readonly #asked: Asked;
  /** The highest price possible. */
  readonly #price: CompiledPrice;
  readonly #plan: HoldPlan;
  #state: "none" | "held" | "ended" = "none";
  /** Output tokens the hold covers. */
  #covered: number;
  #step: number;
  /** An extend is on its way. */
  #asking = false;
  /** An extend was refused: the hold does not grow any more. */
  #refused = false;
  /** The settlement is committed, or on its way into the journal. */
  #kept: Promise<void> | undefined;

  constructor(asked: Asked, price: CompiledPrice, plan: HoldPlan = planHold(asked, price)) {
    this.#asked = asked;
    this.#price = price;
    this.#plan = plan;
    this.#covered = plan.covered;
    this.#step = usualOutput(asked.engine.controlPlane.option);
  }

  /** The estimate to hold, for admission. */
  holdRequest(): HoldRequest {
    const { caller, request_id } = this.#asked;
    const { user_id, token_id } = caller;
    const { amount, least } = this.#plan;
    const draft = sweepRow(this.#asked, this.#price);
    const request: HoldRequest = { request_id, user_id, token_id, sources: WALLET, amount, draft };
    if (least !== undefined) request.least = least;
    return request;
  }

  /** The hold is taken. A promise only where the call's output may have to be limited. */
  accept({ limits, held }: Granted): Held | Promise<Held> {
    this.#state = "held";
    const { amount, least, limitRequest } = this.#plan;
    if (least === undefined) return { limitRequest, output_limit: undefined };
    const taken = held ?? amount;
    // Wholly held and without budgets, as most calls are: nothing is asked and nothing is limited.
    return taken >= amount && !limits?.more
      ? { limitRequest: { ...limitRequest, units: amount }, output_limit: undefined }
      : this.#limit(least, taken, limits);
  }

  /** The error that the caller gets. */
  refused(refusal: Refusal): AppError {
    return refusalError(refusal, (units) => this.#tokensFor(units));
  }

  /** The output limit that so many units would cover, for the refusal of a call that could name one. */
  #tokensFor(units: number): { tokens?: number } {
    const { request } = this.#asked;
    const price = this.#price;
    if (request.terms || request.max_output === 0 || price.by === "call" || units <= 0) return {};
    return {
      tokens: Math.floor(this.#plan.outputWithin(units, MOST_TOKENS) / (request.choices ?? 1)),
    };
  }

  /**
   * `held` units were taken, of which the budgets know `least`. Where the hold or the budgets cover less than the
   * longest response may cost, the call's output is limited to what they cover.
   */
  async #limit(least: number, held: number, admission: Admission | undefined): Promise<Held> {
    const { input_bound, request } = this.#asked;
    const allowed = held <= least || !admission?.more || (await admission.more(held - least).catch(() => false));
    const units = allowed ? held : least;
    let output_limit: number | undefined;
    if (units < this.#plan.amount) {
      this.#covered = this.#plan.outputWithin(units, this.#covered);
      output_limit = Math.floor(this.#covered / (request.choices ?? 1));
    }
    const tokens = input_bound + this.#covered;
    return { limitRequest: { ...this.#plan.limitRequest, tokens, units }, output_limit };
  }

  /** From now on the call is charged although nothing is held for it. */
  markUnheld(): void {
    if (this.#state === "none") this.#state = "held";
  }

  /** Called before the head of a response with a fixed price: from now on a sweep charges it. */
  async commitPrice({ price, terms }: Pick<Attempted, "price" | "terms">): Promise<void> {
    const { engine, request_id } = this.#asked;
    if ((price.by === "call" || terms?.exact) && this.#state === "held") {
      const running = chargeOf(price, terms?.usage ?? {}, terms?.times).quota;
      await this.#bounded(engine.controlPlane.ledger.extend(request_id, 0, running));
    }
  }

  /**
   * A stream has generated so much content. Extends the hold when half of it is used; false when the last extend was
   * refused and everything is used.
   */
  spend(attempt: Attempted, contentBytes: number): boolean {
    if (this.#state !== "held" || attempt.price.by === "call") return true;
    const used = Math.ceil(contentBytes / BYTES_PER_TOKEN);
    if (this.#refused) return used < this.#covered;
    if (!this.#asking && used * 2 >= this.#covered) void this.#extend(attempt, used);
    return true;
  }

  async #extend({ call, price, slot }: Attempted, used: number): Promise<void> {
    const { engine, request, request_id, input_bound } = this.#asked;
    const room = (request.max_output ?? Infinity) - this.#covered;
    // The hold covers everything that the caller allowed; settle corrects for a vendor that generates more.
    if (room <= 0) return;
    this.#asking = true;
    this.#step *= 2;
    const step = Math.min(room, this.#step);
    const running = quotaOf(price, { input: input_bound, output: used });
    try {
      const units = estimateUpperBound(price, 0, step, { context: input_bound });
      const allowed = await askBudgets(call.admission, slot, units);
      const granted = await engine.controlPlane.ledger.extend(request_id, allowed ? units : 0, running);
      if (allowed && granted) this.#covered += step;
      else this.#refused = true;
    } catch (error) {
      engine.log.warn({ err: error, request_id }, "extend failed");
    }
    this.#asking = false;
  }

  /**
   * Ends the hold with a charge. Resolves when it is committed or in the journal, or after SETTLE_LIMIT_MS. Only the
   * first end counts.
   */
  async settle(attempt: Attempted, ending: Ending): Promise<void> {
    attempt.call.asked.engine.running.delete(attempt.call);
    if (this.#state !== "held") return;
    this.#state = "ended";
    const { call, channel, slot } = attempt;
    call.selection.ended();
    const { engine, caller, request_id } = this.#asked;
    const { end_reason } = ending;
    const { charge, price, usage, estimated, waived, doubts } = chargeAtEnd(attempt, ending);
    const { quota } = charge;
    if (doubts.length > 0) engine.controlPlane.usageDoubted(channel, doubts, this.#asked);
    engine.observer.ended(call, { attempt, end_reason, quota, usage });
    const { lines: bill, rule } = charge;
    const cost = costOfCall(attempt, usage);
    const served = price === attempt.price ? attempt : { ...attempt, price };
    const log = callRow(call, {
      attempt: served,
      end_reason,
      quota,
      bill,
      rule,
      usage,
      estimated,
      waived,
      doubts,
      cost,
    });
    const { user_id, token_id } = caller;
    const settlement = { request_id, user_id, token_id, quota, log, retried: call.attempts.length > 1 };
    const covered = coverCharge(call.admission, slot, quota);
    const committed = covered ? covered.then(() => this.#commit(settlement)) : this.#commit(settlement);
    const used = { tokens: promptTokens(usage) + completionTokens(usage), success: true, units: quota };
    const left = releaseSlots(call.admission, slot, used, committed);
    await this.#bounded(left ? Promise.all([committed, left]) : committed, settlement);
  }

  /**
   * Resolves when the settlement is committed, or in the journal: with the charge of a sweep that found the hold
   * before, undefined when none did.
   */
  #commit(settlement: Settlement): Promise<number | undefined> {
    const { engine, request_id } = this.#asked;
    return engine.controlPlane.ledger.settle(settlement).then(
      (result) => {
        this.#kept ??= Promise.resolve();
        if (!result.settled || !result.hold_missing) return undefined;
        engine.stats.missing_holds++;
        return result.swept_quota ?? 0;
      },
      async (error: unknown) => {
        engine.log.error({ err: error, request_id }, "settle failed");
        await this.#keep(settlement);
        return undefined;
      },
    );
  }

  /** Writes the settlement to the journal, once, unless it is committed. */
  #keep(settlement: Settlement): Promise<void> {
    if (this.#kept) return this.#kept;
    const { stats, controlPlane } = this.#asked.engine;
    stats.late_settles++;
    return (this.#kept = controlPlane.ledger.later({ settle: settlement }));
  }

  /** Waits for `work`, at most SETTLE_LIMIT_MS; a settlement without a reply is in the journal by then. */
  #bounded(work: Promise<unknown>, settlement?: Settlement): Promise<void> {
    const { timers, controlPlane } = this.#asked.engine;
    return new Promise<void>((resolve) => {
      const done = (): void => {
        cancel();
        resolve();
      };
      let cancel = timers.after(settlement ? JOURNAL_AFTER_MS : SETTLE_LIMIT_MS, () => {
        if (!settlement) return resolve();
        cancel = timers.after(SETTLE_LIMIT_MS - JOURNAL_AFTER_MS, resolve);
        if (this.#kept) return;
        void this.#keep(settlement);
        // For a sweep that finds the hold after the journal was lost.
        controlPlane.ledger.extend(settlement.request_id, 0, settlement.quota).catch(() => undefined);
      });
      work.then(done, done);
    });
  }

  /** Ends the hold of `call` without a charge. Only the first end counts. */
  async release(call: Pick<Admitted, "admission" | "progress" | "selection">): Promise<void> {
    const { admission, progress, selection } = call;
    this.#asked.engine.running.delete(call);
    if (this.#state !== "held") return;
    this.#state = "ended";
    (progress.attempt?.call.selection ?? selection).ended();
    const { engine, request_id } = this.#asked;
    const { ledger } = engine.controlPlane;
    const released = ledger.release(request_id).then(
      // A hold that is gone was swept, with all that is to be corrected.
      (found) => (found ? undefined : 0),
      async (error: unknown) => {
        engine.log.error({ err: error, request_id }, "release failed");
        await ledger.later({ release: request_id });
        return undefined;
      },
    );
    await Promise.all([released, releaseSlots(admission, progress.attempt?.slot, NOTHING_USED, released)]);
  }
}
