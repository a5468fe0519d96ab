/** The size of the hold before a call is made. */
import type { CompiledPrice } from "../../../shared/pricing";
import type { LimitRequest } from "../../contracts/rate-limits";
import type { Terms } from "../../protocol/call-terms";
import { callUpperBound, estimateUpperBound, type InputKinds, outputWithin } from "../../../shared/charge";
import type { Asked } from "../call/call";

/** Smallest step of a stream's hold, and least output of a call, in tokens, when PreConsumedQuota is set lower. */
const LEAST_STEP = 16;

/** Units to hold: the whole price of a call, or every token at the highest rate that the request allows. */
function holdOf(
  price: CompiledPrice,
  inputTokens: number,
  outputTokens: number,
  terms: Terms | undefined,
  kinds: InputKinds | undefined,
): number {
  if (price.by === "call" && terms) return callUpperBound(price, inputTokens, terms.times);
  return Math.max(terms?.least_hold ?? 0, estimateUpperBound(price, inputTokens, outputTokens, kinds));
}

/** Output tokens assumed when nothing is known: a stream's first hold, and the least for any other call. */
export const usualOutput = ({ preConsumedTokens }: { preConsumedTokens: number }): number =>
  Math.max(LEAST_STEP, preConsumedTokens);

/** Output tokens that the first hold covers. A call priced by its request (terms) has none to cover. */
function coveredAtFirst({ engine, request }: Asked): number {
  if (request.terms) return request.max_output ?? 0;
  const { option } = engine.controlPlane;
  const usual = request.stream ? usualOutput(option) : option.maxHoldOutputTokens;
  return Math.min(request.max_output ?? Infinity, usual);
}

/**
 * The smallest sufficient hold, in units, for a call that names no limit and is not streamed: it is then given a limit
 * (output-limit.ts). undefined: only the whole hold will do.
 */
function leastOf(
  { engine, request, input_bound }: Asked,
  price: CompiledPrice,
  covered: number,
  kinds: InputKinds | undefined,
): number | undefined {
  if (request.stream || request.terms || request.max_output !== undefined || price.by === "call") return undefined;
  const least = Math.max(LEAST_STEP * (request.choices ?? 1), usualOutput(engine.controlPlane.option));
  return least < covered ? holdOf(price, input_bound, least, undefined, kinds) : undefined;
}

/** A first hold. */
export interface HoldPlan {
  /** Units. */
  readonly amount: number;
  /** The smallest amount that is sufficient, where that is less. */
  readonly least: number | undefined;
  /** Output tokens that `amount` covers. */
  readonly covered: number;
  /** The call's use, for limits. */
  readonly limitRequest: LimitRequest;
  /** The output tokens that so many units cover, at most `most`. */
  outputWithin(units: number, most: number): number;
}

/**
 * `limitable`: every channel accepts a limit of output tokens, and all have one price. `writes`: what the call may
 * write to a cache.
 */
export function planHold(
  asked: Asked,
  price: CompiledPrice,
  limitable = (): boolean => false,
  writes?: InputKinds,
): HoldPlan {
  const { request, request_id, input_bound } = asked;
  const covered = coveredAtFirst(asked);
  const kinds = request.terms?.kinds ?? writes;
  const amount = holdOf(price, input_bound, covered, request.terms, kinds);
  const possible = leastOf(asked, price, covered, kinds);
  const least = possible !== undefined && possible < amount && limitable() ? possible : undefined;
  const limitRequest: LimitRequest = {
    model: asked.virtual?.name ?? request.model,
    tokens: input_bound + covered,
    units: least ?? amount,
    hold: request_id,
  };
  return {
    amount,
    least,
    covered,
    limitRequest,
    outputWithin: (units, most) => outputWithin(price, input_bound, units, most, kinds),
  };
}

/** One hold for a call that any of these plans may end as: it covers the dearest of them. */
export function dearestHold(first: HoldPlan, others: readonly HoldPlan[]): HoldPlan {
  const plans = [first, ...others];
  const amount = Math.max(...plans.map((plan) => plan.amount));
  const enough = Math.max(...plans.map((plan) => plan.least ?? plan.amount));
  const least = enough < amount ? enough : undefined;
  return {
    amount,
    least,
    covered: first.covered,
    limitRequest: { ...first.limitRequest, units: least ?? amount },
    outputWithin: (units, most) => Math.min(...plans.map((plan) => plan.outputWithin(units, most))),
  };
}
