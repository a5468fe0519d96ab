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
export function answersInMore({ body, large, price }: Pick<Call, "body" | "large" | "price">): boolean {
  if (price.tokens.image_out.weight > price.tokens.output.weight) return true;
  const { modalities, generationConfig, generation_config, tools } = bodyObject(large?.readNow() ?? body) ?? {};
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
  const usual = usualOutput(engine.seams.option);
  const output = request.stream ? Math.min(request.max_output ?? Infinity, usual) : (request.max_output ?? usual);
  return estimateUpperBound(price, Math.ceil(input_bound / BYTES_PER_TOKEN), output, request.terms?.kinds);
}

/** Why a failed call is not tried at another channel; undefined: it may be. */
export function whyNotAgain(call: Call, failure: Failure): NotRetried | undefined {
  const { engine, operation, price } = call;
  const { option, now } = engine.seams;
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

const WINDOW_S = 10;
/** Retries in a window that need no calls beside them. */
const FREE = 10;
/** Calls that a retry beyond those needs beside it. */
const CALLS_EACH = 10;

interface Second {
  at: number;
  calls: number;
  retries: number;
}

/**
 * Retries of a model within 10 seconds: ten, or a tenth of its calls where that is more. An outage of all channels is
 * then not made worse by every call that comes several times. Counted in this process alone: n instances may retry n
 * times as much.
 */
export class RetryBudget {
  readonly #models = new Map<string, Second[]>();

  /** `now`: epoch milliseconds. */
  constructor(readonly now: () => number) {}

  /** A call of the model has come. */
  called(model: string): void {
    this.#second(model).calls++;
  }

  /** Takes one retry; false when there is none left. */
  take(model: string): boolean {
    const current = this.#second(model);
    let [calls, retries] = [0, 0];
    for (const second of this.#models.get(model) ?? []) {
      const age = current.at - second.at;
      // A second that lies in the window in part: its retries count, its calls do not.
      if (age < WINDOW_S) calls += second.calls;
      if (age <= WINDOW_S) retries += second.retries;
    }
    if (retries >= FREE && (retries + 1) * CALLS_EACH > calls) return false;
    current.retries++;
    return true;
  }

  /** The current second of a model, in a ring of as many as a window touches. */
  #second(model: string): Second {
    const at = Math.floor(this.now() / 1000);
    let ring = this.#models.get(model);
    if (!ring) {
      ring = Array.from({ length: WINDOW_S + 1 }, () => ({ at: -Infinity, calls: 0, retries: 0 }));
      this.#models.set(model, ring);
    }
    const place = ring[at % ring.length] ?? { at, calls: 0, retries: 0 };
    if (place.at !== at) Object.assign(place, { at, calls: 0, retries: 0 });
    return place;
  }
}
