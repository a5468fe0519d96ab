/** Attempts one after the other until one succeeds, a failure says stop, or the options do. */
import type { EndReason } from "../../shared/log";
import { type Attempt, attempt } from "./attempt";
import type { Call } from "./call";
import { type Failure, failureOf, isOfKey } from "./failures";
import { serveIn } from "./groups";
import { hasAnotherKey } from "./keys";
import type { Admission } from "./limits";
import type { PoolChannel } from "./seams";
import type { Selection } from "./select";

export type Success = Extract<Attempt, { ok: true }>;
export type TriesOutcome = Success | { ok: false; failure: Failure; end_reason: EndReason };

/** Why a call ended whose last attempt failed before any content. */
export function endReasonOf(failure: Failure): EndReason {
  // Refused before anything was sent.
  if (failure.class === "limited") return "refused";
  if (failure.class === "caller_mistake" && failure.upstream_status === 0) return "refused";
  if (failure.class === "timeout") return "idle_timeout";
  if (failure.class === "cut") return "upstream_cut";
  return "upstream_error";
}

/** Takes what the call needs of the channel's own limits; what keeps it out when there is no room. */
async function takeRoom(call: Call, channel: PoolChannel): Promise<Admission["refused"]> {
  delete call.room;
  const room = call.engine.seams.limits.enterChannel(channel, call.caller, call.need);
  if (!room) return undefined;
  const admission = await room;
  if (!admission.refused) call.room = admission;
  return admission.refused;
}

/**
 * Tries channels: at most RetryTimes more after the first (one at a limit of its own is passed over and no try), none after the shared time budget, none for a failure that
 * another channel cannot mend, none for a caller who has gone. A pinned channel is the only one. No channel is tried twice,
 * but with another of its keys.
 */
export async function runAttempts(call: Call, selection: Selection): Promise<TriesOutcome> {
  const { option, now } = call.engine.seams;
  let failure: Failure = failureOf("unreachable");
  for (let tries = 0; tries <= option.retryTimes; ) {
    const channel = selection.next();
    if (!channel) break;
    serveIn(call, channel, selection.groupOf(channel));
    const full = await takeRoom(call, channel);
    if (full) {
      selection.limited(channel, full.code, full.retry_after_s * 1000);
      const sooner = Math.min(full.retry_after_s, failure.retry_after_s ?? Infinity);
      if (tries === 0) failure = { ...failureOf("limited"), retry_after_s: sooner };
      continue;
    }
    tries++;
    const outcome = await attempt(call, channel);
    if (outcome.ok) {
      // A stream may be open for long, and nobody will send the body again.
      if (call.sticky_key !== undefined) call.engine.routing.sticky.set(call.sticky_key, channel.id);
      call.body = Buffer.alloc(0);
      return outcome;
    }
    failure = outcome.failure;
    await call.room?.end({ tokens: 0, success: false, units: 0 });
    if (call.left) return { ok: false, failure, end_reason: "caller_left" };
    if (isOfKey(failure) && hasAnotherKey(channel, call)) selection.giveBack(channel);
    if (!failure.retry || now() - call.arrived >= option.attemptBudgetMs) break;
  }
  return { ok: false, failure, end_reason: endReasonOf(failure) };
}
