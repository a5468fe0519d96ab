/** Which failed calls may be tried at another channel: how much may be lost by it, and how many there may be. */
import { estimateUpperBound } from "../../../shared/charge";
import type { NotRetried } from "../../../shared/log";
import { bodyObject } from "../../lib/request-body/json-body";
import type { Call } from "../call/call";
import { type Failure, mayBeAccepted } from "../../protocol/upstream-failure";
import { isObject } from "../../lib/json-bytes";
import { BYTES_PER_TOKEN, usualOutput } from "../billing/call-billing";
import type { Operation } from "../operations/operation";

/**
 * Operations that may be repeated although the first channel may be at work on them. Sound, pictures and every kind of
 * job never are.
 */
const REPEATABLE: ReadonlySet<Operation["key"]> = new Set([
  "chat",
  "completions",
  "embeddings",
  "moderations",
  "rerank",
]);

/** A conversation whose answer may have pictures or sound: its model draws, or the call asks for it. */
export function answersInMore({ body, spooled, price }: Pick<Call, "body" | "spooled" | "price">): boolean {
  if (price.tokens.image_out.weight > price.tokens.output.weight) return true;
  const { modalities, generationConfig, generation_config, tools } = bodyObject(spooled?.readNow() ?? body) ?? {};
  const config = isObject(generationConfig) ? generationConfig : isObject(generation_config) ? generation_config : {};
  const wanted: unknown = modalities ?? config.responseModalities ?? config.response_modalities;
  const draws = Array.isArray(tools) && tools.some((tool) => isObject(tool) && tool.type === "image_generation");
  return draws || (Array.isArray(wanted) && wanted.some((one) => String(one).toLowerCase() !== "text"));
}

/**
 * What an attempt that failed before its first content has cost at most, about: the input by its size, and of the
 * output what an unstreamed call names, or as much as is held for a call that names nothing (PreConsumedQuota).
 */
function mayHaveCost({ engine, request, input_bound, price }: Call): number {
  const usual = usualOutput(engine.controlPlane.option);
  const output = request.stream ? Math.min(request.max_output ?? Infinity, usual) : (request.max_output ?? usual);
  return estimateUpperBound(price, Math.ceil(input_bound / BYTES_PER_TOKEN), output, request.terms?.kinds);
}

/** Why a failed call is not tried at another channel; undefined: it may be. */
export function whyNotAgain(call: Call, failure: Failure): NotRetried | undefined {
  const { engine, operation, price } = call;
  const { option, now } = engine.controlPlane;
  // A realtime session asks for nothing before it is open.
  if (operation.key !== "realtime" && mayBeAccepted(failure)) {
    const repeatable =
      REPEATABLE.has(operation.key) &&
      price.by !== "call" &&
      mayHaveCost(call) < option.repeatBelowUnits &&
      !answersInMore(call);
    if (!repeatable) return "may_be_accepted";
  }
  return now() - call.arrived >= option.attemptBudgetMs ? "time_budget" : undefined;
}
