/** The ladder of a virtual model: which of its steps may serve a call, which comes first, and which after a failure. */
import { contextLength } from "../../../shared/context-lengths";
import { AppError, type ErrorCode, fail } from "../../../shared/errors";
import { orderedSteps, type PassedReason, type PassedStep, takesOver } from "../../../shared/virtual-models";
import type { LadderPlanStep, VirtualCall } from "../../contracts/virtual-models";
import type { JsonObject } from "../../lib/json-bytes";
import { BYTES_PER_TOKEN } from "../billing/call-billing";
import { CONTENT_BYTES_PER_TOKEN } from "../billing/token-estimate";
import { highestPrice } from "../billing/call-price";
import type { Asked, Ladder, LadderStep } from "../call/call";
import type { Operation } from "../operations/operation";
import { routeCall } from "./route-call";

/**
 * Operations that virtual models serve: their calls are priced by tokens and may be repeated. Pictures, sound, jobs and
 * realtime sessions are priced by what their request says to one vendor.
 */
const LADDERED: ReadonlySet<Operation["key"]> = new Set(["chat", "completions", "embeddings", "moderations", "rerank"]);

/** Why a step cannot serve, by the error that a call of its model would get; any other: no channel serves it. */
const UNUSABLE: Readonly<Partial<Record<ErrorCode, PassedReason>>> = {
  input_too_long: "context_too_long",
  model_price_missing: "unpriced",
};

/** A step as this call finds it; `failed`: it cannot serve, and why. */
type Rung = { readonly plan: LadderPlanStep } & (
  | { readonly failed?: undefined; readonly step: LadderStep }
  | { readonly failed: PassedReason; readonly error: AppError }
);

/** The call as one of its steps. */
function askedAt(asked: Asked, { name, fixed_price }: VirtualCall, { model, group }: LadderPlanStep): Asked {
  const { groups: _, ...caller } = asked.caller;
  return {
    ...asked,
    caller: group === undefined ? asked.caller : { ...caller, group },
    request: { ...asked.request, model, model_added: true },
    virtual: { name, fixed_price },
  };
}

/**
 * Whether the input is too long for a step: by the step's own limit, else by what is known of its model. That is about
 * right, so it only moves a call on to one of the `later` steps that takes longer inputs, and refuses none.
 */
function isTooLong(
  { input_bound }: Asked,
  { model, max_input_tokens }: LadderPlanStep,
  later: readonly LadderPlanStep[],
): boolean {
  if (max_input_tokens !== undefined) return Math.ceil(input_bound / BYTES_PER_TOKEN) > max_input_tokens;
  const known = contextLength(model);
  return (
    known !== undefined &&
    input_bound / CONTENT_BYTES_PER_TOKEN > known &&
    later.some((one) => takesOver(one, "context_too_long"))
  );
}

function rungOf(
  asked: Asked,
  json: JsonObject | undefined,
  plan: LadderPlanStep,
  later: readonly LadderPlanStep[],
  virtual: VirtualCall,
  moment: number,
): Rung {
  const { model, group = asked.caller.group } = plan;
  if (plan.denied) return { plan, failed: "group_denied", error: new AppError("group_denied", { group }) };
  if (isTooLong(asked, plan, later))
    return { plan, failed: "context_too_long", error: new AppError("input_too_long", { model, group }) };
  try {
    const own = askedAt(asked, virtual, plan);
    const { selection, affinity_key } = routeCall(own, json);
    return {
      plan,
      step: { asked: own, selection, affinity_key, price: highestPrice(own, selection.candidates, moment) },
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { plan, failed: UNUSABLE[error.code] ?? "unavailable", error };
  }
}

/** The ladder of one call. A step that was left is not taken again. */
export class ModelLadder implements Ladder {
  readonly passed: PassedStep[] = [];
  readonly #met = new Set<PassedReason>();
  #left: Rung[];
  #current: LadderStep | undefined;
  /** The first step's error, where none can serve. */
  #error: AppError | undefined;
  readonly tell?: (model: string) => void;

  constructor(
    readonly name: string,
    rungs: readonly Rung[],
    tell?: (model: string) => void,
  ) {
    this.#left = [...rungs];
    if (tell) this.tell = tell;
    this.#climb(true);
  }

  /** Throws the first step's error, of the name that the caller knows, when none can serve the call. */
  get current(): LadderStep {
    if (this.#current) return this.#current;
    const { code, values } = this.#error ?? new AppError("model_not_found");
    return fail(code, { ...values, model: this.name });
  }

  /** The current step, and those that may follow it: the hold covers the dearest. */
  get possible(): readonly LadderStep[] {
    const later = this.#left.flatMap((rung) => (rung.failed === undefined ? [rung.step] : []));
    return this.#current ? [this.#current, ...later] : later;
  }

  pass(why: PassedReason): LadderStep | undefined {
    if (!this.#current) return undefined;
    this.#leave(this.#current.asked.request.model, why);
    return this.#climb(false);
  }

  mayPass(why: PassedReason): boolean {
    return this.#left.some(
      ({ plan, failed }) =>
        failed === undefined && (takesOver(plan, why) || [...this.#met].some((met) => takesOver(plan, met))),
    );
  }

  /** Balance or budget do not cover the dearest step: from now on only steps remain that are taken for that. */
  passDear(): LadderStep | undefined {
    this.#left = this.#left.filter(({ plan }) => takesOver(plan, "budget"));
    return this.pass("budget");
  }

  #leave(model: string, why: PassedReason): void {
    this.passed.push({ model, why });
    this.#met.add(why);
  }

  #climb(first: boolean): LadderStep | undefined {
    this.#current = undefined;
    for (let at = first; ; at = false) {
      const rung = this.#left.shift();
      if (!rung) return undefined;
      if (!at && !this.#isTaken(rung)) continue;
      if (rung.failed !== undefined) {
        this.#error ??= rung.error;
        this.#leave(rung.plan.model, rung.failed);
        continue;
      }
      const resting = this.#isResting(rung.step);
      if (
        resting &&
        this.#left.some((one) => takesOver(one.plan, resting) && one.failed === undefined && one.step.selection.ready)
      ) {
        this.#leave(rung.plan.model, resting);
        continue;
      }
      return (this.#current = rung.step);
    }
  }

  #isTaken({ plan }: Rung): boolean {
    return [...this.#met].some((why) => takesOver(plan, why));
  }

  /** All channels of a step are in a cooldown: another step comes first, where there is one. */
  #isResting({ selection }: LadderStep): PassedReason | undefined {
    if (selection.ready) return undefined;
    const { closed } = selection;
    return !closed ? "transient" : closed.named ? "named_wait" : "account";
  }
}

/**
 * The ladder of a call to a virtual model, held at `moment`. `tell` gets the name of the model that answers. Throws
 * operation_unsupported, and the first step's error where no step can serve the call.
 */
export function ladderOf(
  asked: Asked,
  json: JsonObject | undefined,
  virtual: VirtualCall,
  moment: number,
  tell?: (model: string) => void,
): ModelLadder {
  const { engine, operation, caller, request } = asked;
  if (!LADDERED.has(operation.key)) fail("operation_unsupported", { group: caller.group, model: request.model });
  const steps = orderedSteps(virtual.steps, engine.routing.random);
  const rungs = steps.map((plan, at) => rungOf(asked, json, plan, steps.slice(at + 1), virtual, moment));
  return new ModelLadder(virtual.name, rungs, virtual.told ? tell : undefined);
}
