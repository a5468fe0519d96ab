/** Admission of a call to a virtual model. */
import { AppError, type ErrorCode } from "../../../shared/errors";
import type { VirtualCall } from "../../contracts/virtual-models";
import type { JsonObject } from "../../lib/json-bytes";
import { admitAndHold, type Opened } from "../billing/admit-and-hold";
import { cacheWritesOf } from "../billing/cache-writes";
import { dearestHold, type HoldPlan, planHold } from "../billing/hold";
import { allTakeLimits } from "../billing/output-limit";
import type { Asked, LadderStep } from "../call/call";
import type { Responder } from "../response/responder";
import { ladderOf } from "../upstream/ladder";
import { answersInMore } from "../upstream/retry-policy";

/** Refusals that a cheaper step may escape. */
const MONEY: ReadonlySet<ErrorCode> = new Set([
  "insufficient_user_quota",
  "insufficient_token_quota",
  "budget_day_used_up",
  "budget_month_used_up",
]);

function planOf({ asked, selection, price }: LadderStep): HoldPlan {
  const { candidates } = selection;
  const limitable = (): boolean =>
    allTakeLimits(candidates, asked.operation, asked.request.model) && !answersInMore(asked, price);
  return planHold(asked, price, limitable, cacheWritesOf(asked, candidates, price));
}

/**
 * Admits the call at its first possible step, with a hold for the dearest that may follow. Where balance or budget do
 * not cover that, it is asked for the steps that are meant for such callers. Throws the caller's error.
 */
export async function openLadder(
  asked: Asked,
  json: JsonObject | undefined,
  virtual: VirtualCall,
  responder: Responder,
): Promise<Opened> {
  const held_at = asked.engine.controlPlane.now();
  const ladder = ladderOf(asked, json, virtual, held_at, (model) => (responder.model = model));
  let refusal: unknown;
  for (let step: LadderStep | undefined = ladder.current; step; step = ladder.passDear()) {
    const [first = planOf(step), ...others] = ladder.possible.map(planOf);
    const { price, ...routed } = step;
    const opening = { ...routed, ladder };
    try {
      return await admitAndHold(
        step.asked,
        opening,
        { price, held_at },
        responder,
        undefined,
        dearestHold(first, others),
      );
    } catch (error) {
      if (!(error instanceof AppError) || !MONEY.has(error.code)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}
