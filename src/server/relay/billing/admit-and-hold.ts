/** Admission of a call that costs something: its limits and its hold. */
import { reportLimits } from "../admission/limit-headers";
import { type Admitted, type Asked, type Ladder, startProgress } from "../call/call";
import { Deadlines } from "../call/deadlines";
import { steadyOf } from "../../lib/timers";
import type { Responder } from "../response/responder";
import type { Selection } from "../routing/channel-selector";
import { cacheWritesOf } from "./cache-writes";
import { CallBilling } from "./call-billing";
import { type HoldPlan, planHold } from "./hold";

/** The choices made for a call before it is admitted. */
export interface Routed {
  readonly selection: Selection;
  readonly affinity_key: string | undefined;
  /** The steps of a virtual model, of which this is the first. */
  readonly ladder?: Ladder | undefined;
}

/** An admitted call and its hold. */
export interface Opened {
  readonly call: Admitted;
  readonly billing: CallBilling;
}

/**
 * Admits a call under its limits and holds its highest possible cost. Throws the caller's error when either is refused;
 * then nothing is taken. `planned`: the hold, where other prices than this one decide it.
 */
export async function admitAndHold(
  asked: Asked,
  { selection, affinity_key, ladder }: Routed,
  { price, held_at }: Pick<Admitted, "price" | "held_at">,
  responder: Responder,
  limitable?: () => boolean,
  planned?: HoldPlan,
): Promise<Opened> {
  const { engine, caller, arrived } = asked;
  const { controlPlane, timers } = engine;
  const plan = planned ?? planHold(asked, price, limitable, cacheWritesOf(asked, selection.candidates, price));
  const billing = new CallBilling(asked, price, plan);
  const outcome = await controlPlane.admit({ caller, limits: plan.limitRequest, hold: billing.holdRequest() });
  reportLimits(responder, outcome.limits);
  if (!outcome.granted) throw billing.refused(outcome);
  const accepting = billing.accept(outcome);
  const held = accepting instanceof Promise ? await accepting : accepting;
  const call: Admitted = {
    asked,
    selection,
    affinity_key,
    price,
    held_at,
    limitRequest: held.limitRequest,
    output_limit: held.output_limit,
    admission: outcome.limits,
    deadlines: new Deadlines(steadyOf(controlPlane.now), timers),
    attempts: [],
    progress: startProgress(arrived),
    ...(ladder && { ladder }),
  };
  return { call, billing };
}
