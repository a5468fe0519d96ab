/**
 * The money of one call: one hold, extended while a stream runs, ended by exactly one settle or release. The ledger
 * moves the units; here is when and how much.
 */
import { AppError, type ErrorCode } from "../../../shared/errors";
import { chargeOf, estimateUpperBound, outputWithin, quotaOf } from "../../../shared/charge";
import { holdOf } from "./hold";
import type { HoldRefusal, HoldRequest, HoldResult, Settlement } from "../../contracts/ledger";
import type { Call } from "../call/call";
import { chargeAtEnd, type Ending } from "./final-charge";
import { askBudgets, releaseSlots } from "./budgets";
import { callRow, completionTokens, sweepRow, promptTokens } from "./log-row";

/** Content bytes per token, for the running estimate of what must be held: less than most texts have. */
export const BYTES_PER_TOKEN = 3;
/**
 * An answer waits no longer for its settle: by then the settlement is in the ledger's journal, and is tried until it is
 * taken.
 */
export const SETTLE_LIMIT_MS = 5_000;
/** Smallest step of a stream's hold, and least output of a call, in tokens, when PreConsumedQuota is set lower. */
const LEAST_STEP = 16;
/** More output tokens than any call is asked to name. */
const MOST_TOKENS = 1e9;
/** A settle without an answer for so long goes into the journal, which has the rest of SETTLE_LIMIT_MS to write it. */
const JOURNAL_AFTER_MS = 3_000;

const refusals: Readonly<Record<HoldRefusal, ErrorCode>> = {
  user_quota: "insufficient_user_quota",
  token_quota: "insufficient_token_quota",
  token_unusable: "token_disabled",
  user_unusable: "user_banned",
};

/**
 * Output tokens that are reckoned with where nothing is known of them: a stream's first hold, and the least of any
 * other call's.
 */
export const usualOutput = ({ preConsumedTokens }: { preConsumedTokens: number }): number =>
  Math.max(LEAST_STEP, preConsumedTokens);

/** Output tokens that the first hold covers. What is priced by the request itself (terms) has none to cover. */
function coveredAtFirst({ engine, request }: Call): number {
  if (request.terms) return request.max_output ?? 0;
  const { option } = engine.controlPlane;
  const usual = request.stream ? usualOutput(option) : option.maxHoldOutputTokens;
  return Math.min(request.max_output ?? Infinity, usual);
}

/**
 * Units that will do for a call that names no limit and is not streamed: it is then given one (output-limit.ts).
 * undefined: nothing less than the whole hold will do.
 */
function leastOf({ engine, request, price, input_bound }: Call, covered: number): number | undefined {
  if (request.stream || request.terms || request.max_output !== undefined || price.by === "call") return undefined;
  const least = Math.max(LEAST_STEP * (request.choices ?? 1), usualOutput(engine.controlPlane.option));
  return least < covered ? holdOf(price, input_bound, least, undefined) : undefined;
}

export class CallBilling {
  readonly #call: Call;
  #state: "none" | "held" | "ended" = "none";
  /** Output tokens the hold covers. */
  #covered = 0;
  #step = 0;
  /** An extend is on its way. */
  #asking = false;
  /** An extend was refused: what is covered is all there is. */
  #refused = false;
  /** The settlement is committed, or on its way into the journal. */
  #kept: Promise<void> | undefined;

  /** Units of the first hold. */
  readonly amount: number;
  readonly #least: number | undefined;

  /** `limitable`: every channel can be told a limit of output tokens, and they have one price. */
  constructor(call: Call, limitable: () => boolean = () => false) {
    this.#call = call;
    this.#covered = coveredAtFirst(call);
    this.amount = holdOf(call.price, call.input_bound, this.#covered, call.request.terms);
    const least = leastOf(call, this.#covered);
    this.#least = least !== undefined && least < this.amount && limitable() ? least : undefined;
    call.limitRequest = {
      model: call.request.model,
      tokens: call.input_bound + this.#covered,
      units: this.#least ?? this.amount,
    };
  }

  /** Takes the estimate. Throws the error that the caller gets when it is refused. */
  async hold(): Promise<void> {
    const { engine, caller, request_id } = this.#call;
    const { option, ledger } = engine.controlPlane;
    this.#step = usualOutput(option);
    const { amount } = this;
    const wanted: HoldRequest = {
      request_id,
      user_id: caller.user_id,
      token_id: caller.token_id,
      amount,
      draft: sweepRow(this.#call),
    };
    if (this.#least !== undefined) wanted.least = this.#least;
    let result: HoldResult;
    try {
      result = await ledger.hold(wanted);
    } catch (error) {
      // Refused by ourselves: the database was not asked.
      if (error instanceof AppError && error.cause === undefined) throw error;
      engine.log.error({ err: error, request_id }, "hold failed");
      // Whether it was taken is unknown: it is given back if it was.
      void ledger.later({ undo: request_id });
      throw new AppError("database_unavailable", {}, { cause: error });
    }
    if (!result.ok) {
      // A token that has nothing left is exhausted, whatever this call would cost (C-593: 401).
      const empty = result.reason === "token_quota" && result.balance <= 0;
      const { balance, left = balance } = result;
      throw new AppError(empty ? "token_exhausted" : refusals[result.reason], { balance, ...this.#tokensFor(left) });
    }
    this.#state = "held";
    if (this.#least !== undefined) await this.#limit(this.#least, result.held ?? amount);
  }

  /** The limit that so many units would cover, for the refusal of a call that could name one. */
  #tokensFor(units: number): { tokens?: number } {
    const { price, input_bound, request } = this.#call;
    if (request.terms || request.max_output === 0 || price.by === "call" || units <= 0) return {};
    return { tokens: Math.floor(outputWithin(price, input_bound, units, MOST_TOKENS) / (request.choices ?? 1)) };
  }

  /**
   * `held` units were taken, of which the budgets know `least`. Where that, or what the budgets allow, is less than
   * every answer may cost, the call may cost no more than that.
   */
  async #limit(least: number, held: number): Promise<void> {
    const call = this.#call;
    const { price, input_bound, request, admission } = call;
    const allowed = held <= least || !admission?.more || (await admission.more(held - least).catch(() => false));
    const units = allowed ? held : least;
    if (units < this.amount) {
      this.#covered = outputWithin(price, input_bound, units, this.#covered);
      call.output_limit = Math.floor(this.#covered / (request.choices ?? 1));
    }
    call.limitRequest = { model: request.model, tokens: input_bound + this.#covered, units };
  }

  /** What follows was made although nothing is held for it: it is charged all the same. */
  markUnheld(): void {
    if (this.#state === "none") this.#state = "held";
  }

  /** Before the head of an answer with a fixed price: from now on a sweep charges it. */
  async commitPrice(): Promise<void> {
    const { engine, price, request_id, request } = this.#call;
    const { terms } = request;
    if ((price.by === "call" || terms?.exact) && this.#state === "held") {
      const running = chargeOf(price, terms?.usage ?? {}, terms?.times).quota;
      await this.#bounded(engine.controlPlane.ledger.extend(request_id, 0, running));
    }
  }

  /**
   * Tells what a stream has generated so far. Asks for more when half of what is held is used up; false when the last
   * extend was refused and everything is used up.
   */
  spend(contentBytes: number): boolean {
    if (this.#state !== "held" || this.#call.price.by === "call") return true;
    const used = Math.ceil(contentBytes / BYTES_PER_TOKEN);
    if (this.#refused) return used < this.#covered;
    if (!this.#asking && used * 2 >= this.#covered) void this.#extend(used);
    return true;
  }

  async #extend(used: number): Promise<void> {
    const { engine, price, request, request_id, input_bound } = this.#call;
    const channelSlot = (request.max_output ?? Infinity) - this.#covered;
    // Everything the caller allowed is held; what a vendor generates beyond is corrected by settle.
    if (channelSlot <= 0) return;
    this.#asking = true;
    this.#step *= 2;
    const step = Math.min(channelSlot, this.#step);
    const running = quotaOf(price, { input: input_bound, output: used });
    try {
      const units = estimateUpperBound(price, 0, step, { context: input_bound });
      const allowed = await askBudgets(this.#call, units);
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
  async settle(ending: Ending): Promise<void> {
    if (this.#state !== "held") return;
    this.#state = "ended";
    const call = this.#call;
    const { charge, usage, estimated, waived, doubts } = chargeAtEnd(call, ending);
    if (doubts.length > 0 && call.channel) call.engine.controlPlane.usageDoubted(call.channel, doubts, call);
    call.engine.observer.ended(call, { end_reason: ending.end_reason, quota: charge.quota, usage });
    const left = releaseSlots(call, {
      tokens: promptTokens(usage) + completionTokens(usage),
      success: true,
      units: charge.quota,
    });
    const log = callRow(call, {
      end_reason: ending.end_reason,
      quota: charge.quota,
      bill: charge.lines,
      usage,
      estimated,
      waived,
      doubts,
    });
    const { caller, request_id } = call;
    const settlement = { request_id, user_id: caller.user_id, token_id: caller.token_id, quota: charge.quota, log };
    const committed = this.#commit(settlement);
    await this.#bounded(left ? Promise.all([committed, left]) : committed, settlement);
  }

  /** Resolves when the settlement is committed, or in the journal. */
  #commit(settlement: Settlement): Promise<void> {
    const { engine, request_id } = this.#call;
    return engine.controlPlane.ledger.settle(settlement).then(
      (result) => {
        this.#kept ??= Promise.resolve();
        if (result.settled && result.hold_missing) engine.stats.missing_holds++;
      },
      (error: unknown) => {
        engine.log.error({ err: error, request_id }, "settle failed");
        return this.#keep(settlement);
      },
    );
  }

  /** Hands the settlement to the journal, once, unless it is committed. */
  #keep(settlement: Settlement): Promise<void> {
    if (this.#kept) return this.#kept;
    const { stats, controlPlane } = this.#call.engine;
    stats.late_settles++;
    return (this.#kept = controlPlane.ledger.later({ settle: settlement }));
  }

  /** Waits for `work`, but no longer than SETTLE_LIMIT_MS; a settlement without an answer is in the journal by then. */
  #bounded(work: Promise<unknown>, settlement?: Settlement): Promise<void> {
    const { timers, controlPlane } = this.#call.engine;
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
        // For a sweep that finds the hold where the journal is lost.
        controlPlane.ledger.extend(settlement.request_id, 0, settlement.quota).catch(() => undefined);
      });
      work.then(done, done);
    });
  }

  /** Ends the hold without a charge. Only the first end counts. */
  async release(): Promise<void> {
    if (this.#state !== "held") return;
    this.#state = "ended";
    const { engine, request_id } = this.#call;
    await releaseSlots(this.#call, { tokens: 0, success: false, units: 0 });
    try {
      await engine.controlPlane.ledger.release(request_id);
    } catch (error) {
      engine.log.error({ err: error, request_id }, "release failed");
      await engine.controlPlane.ledger.later({ release: request_id });
    }
  }
}
