/** What is to be held before a call is made. */
import type { CompiledPrice } from "../../../shared/pricing";
import type { LimitRequest } from "../../contracts/rate-limits";
import type { Terms } from "../../protocol/call-terms";
import { chargeOf, estimateUpperBound } from "../../../shared/charge";
import type { Asked } from "../call/call";

/** Smallest step of a stream's hold, and least output of a call, in tokens, when PreConsumedQuota is set lower. */
const LEAST_STEP = 16;

/** Units to hold: the whole price of a call, or every token at the dearest rate that the request allows. */
function holdOf(price: CompiledPrice, inputTokens: number, outputTokens: number, terms: Terms | undefined): number {
  if (price.by === "call" && terms) return chargeOf(price, {}, terms.times).quota;
  return Math.max(terms?.least_hold ?? 0, estimateUpperBound(price, inputTokens, outputTokens, terms?.kinds));
}

/**
 * Output tokens that are reckoned with where nothing is known of them: a stream's first hold, and the least of any
 * other call's.
 */
export const usualOutput = ({ preConsumedTokens }: { preConsumedTokens: number }): number =>
  Math.max(LEAST_STEP, preConsumedTokens);

/** Output tokens that the first hold covers. What is priced by the request itself (terms) has none to cover. */
function coveredAtFirst({ engine, request }: Asked): number {
  if (request.terms) return request.max_output ?? 0;
  const { option } = engine.controlPlane;
  const usual = request.stream ? usualOutput(option) : option.maxHoldOutputTokens;
  return Math.min(request.max_output ?? Infinity, usual);
}

/**
 * Units that will do for a call that names no limit and is not streamed: it is then given one (output-limit.ts).
 * undefined: nothing less than the whole hold will do.
 */
function leastOf({ engine, request, input_bound }: Asked, price: CompiledPrice, covered: number): number | undefined {
  if (request.stream || request.terms || request.max_output !== undefined || price.by === "call") return undefined;
  const least = Math.max(LEAST_STEP * (request.choices ?? 1), usualOutput(engine.controlPlane.option));
  return least < covered ? holdOf(price, input_bound, least, undefined) : undefined;
}

/** A first hold. */
export interface HoldPlan {
  /** Units. */
  readonly amount: number;
  /** Units that will do, where that is less. */
  readonly least: number | undefined;
  /** Output tokens that `amount` covers. */
  readonly covered: number;
  /** What the call asks of the limits. */
  readonly limitRequest: LimitRequest;
}

/** `limitable`: every channel can be told a limit of output tokens, and they have one price. */
export function planHold(asked: Asked, price: CompiledPrice, limitable = (): boolean => false): HoldPlan {
  const { request, input_bound } = asked;
  const covered = coveredAtFirst(asked);
  const amount = holdOf(price, input_bound, covered, request.terms);
  const possible = leastOf(asked, price, covered);
  const least = possible !== undefined && possible < amount && limitable() ? possible : undefined;
  const limitRequest = { model: request.model, tokens: input_bound + covered, units: least ?? amount };
  return { amount, least, covered, limitRequest };
}
