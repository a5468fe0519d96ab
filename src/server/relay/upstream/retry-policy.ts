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

/** Why a failed call is not retried at another channel; undefined: it may be. */
export function whyNotAgain(attempt: Attempted, failure: Failure): NotRetried | undefined {
  const { call, price } = attempt;
  const { asked, progress } = call;
  const { engine, operation } = asked;
  const { option, now } = engine.controlPlane;
  // A realtime session sends no request before it is open.
  if (operation.key !== "realtime" && mayBeAccepted(failure)) {
    const repeatable =
      REPEATABLE.has(operation.key) &&
      price.by !== "call" &&
      mayHaveCost(attempt) < option.repeatBelowUnits &&
      !answersInMore(asked, price);
    if (!repeatable) return "may_be_accepted";
  }
  return now() - progress.began >= option.attemptBudgetMs ? "time_budget" : undefined;
}
