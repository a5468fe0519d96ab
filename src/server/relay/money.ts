/**
 * The money of one call: one hold, extended while a stream runs, ended by exactly one settle or release. The ledger moves
 * the units; here is when and how much.
 */
import { AppError, type ErrorCode } from "../../shared/errors";
import { chargeOf, estimateUpperBound, quotaOf } from "../../shared/charge";
import { holdOf } from "./operations/direct";
import type { HoldRefusal, HoldResult } from "../features/wallet/ledger";
import type { Call } from "./call";
import { chargeAtEnd, type Ending } from "./charge";
import { askBudgets, leavePlaces } from "./limits";
import { callRow, completionTokens, draftOf, promptTokens } from "./row";

/** Content bytes per token, for the running estimate of what must be held: less than most texts have. */
export const BYTES_PER_TOKEN = 3;
/** An answer waits no longer for its settle; the hold then stays, with its final cost, for the sweep. */
export const SETTLE_LIMIT_MS = 5_000;
/** Smallest step of a stream's hold, in tokens, when PreConsumedQuota is set lower. */
const LEAST_STEP = 16;
/** Pauses before a settle that failed (not: that was refused) is tried again. It can only happen once in the ledger. */
const SETTLE_RETRIES_MS = [1_000, 5_000, 30_000];

const refusals: Readonly<Record<HoldRefusal, ErrorCode>> = {
  user_quota: "insufficient_user_quota",
  token_quota: "insufficient_token_quota",
  token_unusable: "token_disabled",
  user_unusable: "user_banned",
};

/** Output tokens that the first hold covers. What is priced by the request itself (terms) has none to cover. */
function coveredAtFirst({ engine, request }: Call): number {
  if (request.terms) return request.max_output ?? 0;
  const { option } = engine.seams;
  const usual = request.stream ? Math.max(LEAST_STEP, option.preConsumedTokens) : option.maxHoldOutputTokens;
  return Math.min(request.max_output ?? Infinity, usual);
}

export class CallMoney {
  readonly #call: Call;
  #state: "none" | "held" | "ended" = "none";
  /** Output tokens the hold covers. */
  #covered = 0;
  #step = 0;
  /** An extend is on its way. */
  #asking = false;
  /** An extend was refused: what is covered is all there is. */
  #refused = false;

  /** Units of the first hold. */
  readonly amount: number;

  constructor(call: Call) {
    this.#call = call;
    this.#covered = coveredAtFirst(call);
    this.amount = holdOf(call.price, call.input_bound, this.#covered, call.request.terms);
    call.need = { model: call.request.model, tokens: call.input_bound + this.#covered, units: this.amount };
  }

  /** Takes the estimate. Throws the error that the caller gets when it is refused. */
  async hold(): Promise<void> {
    const { engine, caller, request_id } = this.#call;
    const { option, ledger } = engine.seams;
    this.#step = Math.max(LEAST_STEP, option.preConsumedTokens);
    const { amount } = this;
    const draft = draftOf(this.#call);
    let result: HoldResult;
    try {
      result = await ledger.hold({ request_id, user_id: caller.user_id, token_id: caller.token_id, amount, draft });
    } catch (error) {
      engine.log.error({ err: error, request_id }, "hold failed");
      // Whether it was taken is unknown: give it back if it was.
      ledger.release(request_id).catch(() => undefined);
      throw error instanceof AppError ? error : new AppError("database_unavailable", {}, { cause: error });
    }
    if (!result.ok) {
      // A token that has nothing left is exhausted, whatever this call would cost (C-593: 401).
      const empty = result.reason === "token_quota" && result.balance <= 0;
      throw new AppError(empty ? "token_exhausted" : refusals[result.reason], { balance: result.balance });
    }
    this.#state = "held";
  }

  /** What follows was made although nothing is held for it: it is charged all the same. */
  owe(): void {
    if (this.#state === "none") this.#state = "held";
  }

  /** Before the head of an answer with a fixed price: from now on a sweep charges it. */
  async commitPrice(): Promise<void> {
    const { engine, price, request_id, request } = this.#call;
    const { terms } = request;
    if ((price.by === "call" || terms?.exact) && this.#state === "held") {
      const running = chargeOf(price, terms?.usage ?? {}, terms?.times).quota;
      await this.#bounded(engine.seams.ledger.extend(request_id, 0, running));
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
    const room = (request.max_output ?? Infinity) - this.#covered;
    // Everything the caller allowed is held; what a vendor generates beyond is corrected by settle.
    if (room <= 0) return;
    this.#asking = true;
    this.#step *= 2;
    const step = Math.min(room, this.#step);
    const running = quotaOf(price, { input: input_bound, output: used });
    try {
      const units = estimateUpperBound(price, 0, step, { context: input_bound });
      const allowed = await askBudgets(this.#call, units);
      const granted = await engine.seams.ledger.extend(request_id, allowed ? units : 0, running);
      if (allowed && granted) this.#covered += step;
      else this.#refused = true;
    } catch (error) {
      engine.log.warn({ err: error, request_id }, "extend failed");
    }
    this.#asking = false;
  }

  /** Ends the hold with a charge. Resolves when it is committed, or after SETTLE_LIMIT_MS. Only the first end counts. */
  async settle(ending: Ending): Promise<void> {
    if (this.#state !== "held") return;
    this.#state = "ended";
    const call = this.#call;
    const { charge, usage, estimated, waived, doubts } = chargeAtEnd(call, ending);
    if (doubts.length > 0 && call.channel) call.engine.seams.usageDoubted(call.channel, doubts, call);
    call.engine.watch.ended(call, { end_reason: ending.end_reason, quota: charge.quota, usage });
    const left = leavePlaces(call, { tokens: promptTokens(usage) + completionTokens(usage), success: true, units: charge.quota });
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
    const committed = this.#commit(settlement, 0);
    await this.#bounded(left ? Promise.all([committed, left]) : committed, charge.quota);
  }

  #commit(settlement: Parameters<Call["engine"]["seams"]["ledger"]["settle"]>[0], tries: number): Promise<void> {
    const { engine, request_id } = this.#call;
    return engine.seams.ledger.settle(settlement).then(
      (result) => {
        if (result.settled && result.hold_missing) engine.stats.missing_holds++;
      },
      async (error: unknown) => {
        engine.log.error({ err: error, request_id }, "settle failed");
        const pause = SETTLE_RETRIES_MS[tries];
        if (pause === undefined) return;
        await new Promise<void>((resolve) => void engine.timers.after(pause, resolve));
        await this.#commit(settlement, tries + 1);
      },
    );
  }

  /** Waits for `work`, but no longer than SETTLE_LIMIT_MS; then `running` is recorded for the sweep. */
  #bounded(work: Promise<unknown>, running?: number): Promise<void> {
    const { engine, request_id } = this.#call;
    return new Promise<void>((resolve) => {
      const late = (): void => {
        resolve();
        if (running === undefined) return;
        engine.stats.late_settles++;
        engine.seams.ledger.extend(request_id, 0, running).catch(() => undefined);
      };
      const cancel = engine.timers.after(SETTLE_LIMIT_MS, late);
      work.then(
        () => {
          cancel();
          resolve();
        },
        () => {
          cancel();
          late();
        },
      );
    });
  }

  /** Ends the hold without a charge. Only the first end counts. */
  async release(): Promise<void> {
    if (this.#state !== "held") return;
    this.#state = "ended";
    const { engine, request_id } = this.#call;
    await leavePlaces(this.#call, { tokens: 0, success: false, units: 0 });
    try {
      await engine.seams.ledger.release(request_id);
    } catch (error) {
      engine.log.error({ err: error, request_id }, "release failed");
      // Nothing is lost: the sweep releases it when this process is gone, this only makes it sooner.
      engine.timers.after(5_000, () => void engine.seams.ledger.release(request_id).catch(() => undefined));
    }
  }
}
