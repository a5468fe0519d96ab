/** Attempts one after the other until one succeeds, a failure says stop, or the options do. */
import type { EndReason, NotRetried } from "../../../shared/log";
import { type Attempt, attempt } from "./attempt";
import type { Call } from "../call/call";
import { type Failure, failureOf, isOfKey } from "../../protocol/upstream-failure";
import { bindChannel } from "../billing/call-price";
import { hasAnotherKey } from "../routing/key-rotation";
import { spillToDisk } from "./body-release";
import type { Used } from "../../contracts/rate-limits";
import { lowerLimit } from "../billing/output-limit";
import { whyNotAgain } from "./retry-policy";
import type { PoolChannel } from "../../contracts/channel";
import type { Selection } from "../routing/channel-selector";
import { SPOOL_LIMIT } from "../../lib/request-body/spool-file";
import type { Bytes } from "../../lib/sse";

const EMPTY: Bytes = Buffer.alloc(0);

export type Success = Extract<Attempt, { ok: true }>;
export interface Refused {
  ok: false;
  failure: Failure;
  end_reason: EndReason;
}
export type RetryOutcome = Success | Refused;

const NOTHING_USED: Used = { tokens: 0, success: false, units: 0 };

/** The last attempt's record says why it was the last. */
function explain({ attempts }: Call, not_retried: NotRetried): void {
  const last = attempts.at(-1);
  if (last) last.not_retried = not_retried;
}

/** Why a call ended whose last attempt failed before any content. */
export function endReasonOf(failure: Failure): EndReason {
  // Refused before anything was sent.
  if (failure.class === "limited") return "refused";
  if (failure.class === "caller_mistake" && failure.upstream_status === 0) return "refused";
  if (failure.class === "timeout") return "idle_timeout";
  if (failure.class === "cut") return "upstream_cut";
  return "upstream_error";
}

/** Tries channels with a whole request each. */
export const withRetries = (call: Call, selection: Selection): Promise<RetryOutcome> =>
  call.body.length > SPOOL_LIMIT ? runLarge(call, selection) : tryChannels(call, selection, attempt);

async function runLarge(call: Call, selection: Selection): Promise<RetryOutcome> {
  await spillToDisk(call, selection);
  try {
    return await tryChannels(call, selection, attempt);
  } finally {
    call.spooled?.close();
  }
}

/**
 * Tries channels with `attempt`: at most RetryTimes more after the first, none for a failure that another channel
 * cannot mend, none that would pay twice for much or come too late (retries.ts), none for a caller who has gone. A
 * channel at a limit of its own is passed over, which is no try. A pinned channel is the only one. No channel is tried
 * twice, but with another of its keys.
 */
export async function tryChannels<T extends { ok: true }>(
  call: Call,
  selection: Selection,
  attempt: (call: Call, channel: PoolChannel) => Promise<T | { ok: false; failure: Failure }>,
): Promise<T | Refused> {
  const { option } = call.engine.controlPlane;
  const { retries } = call.engine.routing;
  let failure: Failure = failureOf("unreachable");
  retries.called(call.request.model);
  for (let tries = 0; tries <= option.retryTimes;) {
    const channel = selection.next();
    if (!channel) break;
    bindChannel(call, channel, selection.groupOf(channel));
    // What the call needs of the channel's own limits; most have none.
    const asked = call.engine.controlPlane.limits.enterChannel(channel, call.caller, call.limitRequest);
    const channelSlot = asked && (await asked);
    if (channelSlot?.refused) {
      const { code, retry_after_s } = channelSlot.refused;
      selection.limited(channel, code, retry_after_s * 1000);
      if (tries === 0)
        failure = {
          ...failureOf("limited"),
          retry_after_s: Math.min(retry_after_s, failure.retry_after_s ?? Infinity),
        };
      continue;
    }
    if (tries > 0 && !retries.take(call.request.model)) {
      explain(call, "retry_budget");
      await channelSlot?.end(NOTHING_USED);
      break;
    }
    call.channelSlot = channelSlot;
    tries++;
    const outcome = await attempt(call, call.engine.routing.keys.take(channel, call.request.model, call.attempts));
    if (outcome.ok) {
      // A stream may be open for long, and nobody will send the body again.
      call.body = EMPTY;
      if (call.affinity_key !== undefined) call.engine.routing.affinity.set(call.affinity_key, channel.id);
      return outcome;
    }
    failure = outcome.failure;
    const left = channelSlot?.end(NOTHING_USED);
    if (left) await left;
    if (call.left) return { ok: false, failure, end_reason: "caller_left" };
    if (lowerLimit(call, failure)) {
      selection.requeue(channel);
      tries--;
      continue;
    }
    if (isOfKey(failure) && hasAnotherKey(channel, call.request.model, call.attempts, call.engine.routing.cooldown))
      selection.requeue(channel);
    if (!failure.retry) break;
    const why = tries > option.retryTimes || selection.left === 0 ? undefined : whyNotAgain(call, failure);
    if (why) {
      explain(call, why);
      break;
    }
  }
  return { ok: false, failure, end_reason: endReasonOf(failure) };
}
