/** Whether a failed call may be retried at another channel: the cost that may be lost, and the retry budget. */
import { estimateUpperBound } from "../../../shared/charge";
import type { NotRetried } from "../../../shared/log";
import { bodyObject } from "../../lib/request-body/json-body";
import type { CompiledPrice } from "../../../shared/pricing";
import type { Asked, Attempted } from "../call/call";
import { type Failure, mayBeAccepted } from "../../protocol/upstream-failure";
import { isObject } from "../../lib/json-bytes";
import { BYTES_PER_TOKEN } from "../billing/call-billing";
import { usualOutput } from "../billing/hold";
import type { Operation } from "../operations/operation";

/**
 * Operations that may be retried although the first channel may be working on them. Sound, pictures and every kind of
 * job never are.
 */
const REPEATABLE: ReadonlySet<Operation["key"]> = new Set([
  "chat",
  "completions",
  "embeddings",
  "moderations",
  "rerank",
]);

/** A conversation whose response may have pictures or sound: its model draws, or the call requests it. */
export function answersInMore({ content }: Pick<Asked, "content">, price: CompiledPrice): boolean {
  if (price.tokens.image_out.weight > price.tokens.output.weight) return true;
  const { modalities, generationConfig, generation_config, tools } = bodyObject(content.readNow()) ?? {};
  const config = isObject(generationConfig) ? generationConfig : isObject(generation_config) ? generation_config : {};
  const wanted: unknown = modalities ?? config.responseModalities ?? config.response_modalities;
  const draws = Array.isArray(tools) && tools.some((tool) => isObject(tool) && tool.type === "image_generation");
  return draws || (Array.isArray(wanted) && wanted.some((one) => String(one).toLowerCase() !== "text"));
}

/**
 * The approximate highest cost of an attempt that failed before its first content: the input by its size; as output the
 * maximum of an unstreamed call, or the default hold where the call names none (PreConsumedQuota).
 */
function mayHaveCost({ call, price, terms }: Attempted): number {
  const { engine, request, input_bound } = call.asked;
  const usual = usualOutput(engine.controlPlane.option);
  const output = request.stream ? Math.min(request.max_output ?? Infinity, usual) : (request.max_output ?? usual);
  return estimateUpperBound(price, Math.ceil(input_bound / BYTES_PER_TOKEN), output, terms?.kinds);
}

/** Whether an attempt that its upstream may have accepted can be repeated elsewhere without paying much twice. */
function mayRepeat(attempt: Attempted): boolean {
  const { asked } = attempt.call;
  const { operation, engine } = asked;
  return (
    REPEATABLE.has(operation.key) &&
    attempt.price.by !== "call" &&
    mayHaveCost(attempt) < engine.controlPlane.option.repeatBelowUnits &&
    !answersInMore(asked, attempt.price)
  );
}

/** No stream is given up sooner than this because another channel could answer. */
const LEAST_SHARE_MS = 5_000;

/**
 * Milliseconds that a stream may be silent from its beginning at `began` (epoch milliseconds) while another channel
 * could answer: half of the time left for attempts, so that the next one still begins within it. Infinity where no
 * other could take over, or no useful time is left: the attempt then has its whole time.
 */
export function silenceShare(attempt: Attempted, began: number): number {
  const { asked, selection, attempts, ladder, progress } = attempt.call;
  const { option } = asked.engine.controlPlane;
  const another = attempts.length <= option.retryTimes && selection.left > 0 && !selection.closed;
  if (!another && !ladder?.mayPass("timeout")) return Infinity;
  const share = (progress.began + option.attemptBudgetMs - began) / 2;
  return share >= LEAST_SHARE_MS && mayRepeat(attempt) ? share : Infinity;
}

/** Why a failed call is not retried at another channel; undefined: it may be. */
export function whyNotAgain(attempt: Attempted, failure: Failure): NotRetried | undefined {
  const { asked, progress } = attempt.call;
  const { engine, operation } = asked;
  const { option, now } = engine.controlPlane;
  // A realtime session sends no request before it is open.
  if (operation.key !== "realtime" && mayBeAccepted(failure) && !mayRepeat(attempt)) return "may_be_accepted";
  return now() - progress.began >= option.attemptBudgetMs ? "time_budget" : undefined;
}
