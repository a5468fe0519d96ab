/** Attempts one after the other until one succeeds, a failure is final, or the options end them. */
import type { EndReason, NotRetried } from "../../../shared/log";
import type { PoolChannel } from "../../contracts/channel";
import { NOTHING_USED } from "../../contracts/rate-limits";
import { type Failure, failureOf } from "../../protocol/upstream-failure";
import { type Quote, quoteAt } from "../billing/call-price";
import { loweredLimit } from "../billing/output-limit";
import type { Admitted, Answered, Attempted, LeftOut } from "../call/call";
import { Translation } from "../call/translation";
import { hasAnotherKey } from "../routing/key-rotation";
import type { Tried } from "./attempt";
import { refusedPart } from "./left-out";
import { whyNotAgain } from "./retry-policy";

export interface Refused {
  ok: false;
  failure: Failure;
  end_reason: EndReason;
}
export type RetryOutcome<Answer> = ({ ok: true } & Answered<Answer>) | Refused;

/** Writes the reason for stopping into the last attempt's record. */
function explain({ attempts }: Admitted, not_retried: NotRetried): void {
  const last = attempts.at(-1);
  if (last) last.not_retried = not_retried;
}

/** Why a call ended whose last attempt failed before any content. */
function endReasonOf(failure: Failure): EndReason {
  // Refused before anything was sent.
  if (failure.kind === "limited" || failure.kind === "paused") return "refused";
  if (failure.kind === "caller_mistake" && failure.upstream_status === 0) return "refused";
  if (failure.kind === "timeout") return "idle_timeout";
  if (failure.kind === "cut") return "upstream_cut";
  return "upstream_error";
}

/**
 * Runs one attempt after the other: at most RetryTimes more after the first, none for a failure that no other channel
 * can fix, none that could pay twice for an expensive call or come too late (retry-policy.ts), none for a caller who
 * has left. A channel at its own limit is skipped, which does not count as an attempt. A pinned channel is the only
 * one. No channel is tried twice, except with another of its keys, with a lower output limit, or without a part that it
 * refused.
 */
export async function tryChannels<Answer>(
  call: Admitted,
  run: (attempt: Attempted) => Promise<Tried<Answer>>,
  quote: (call: Admitted, channel: PoolChannel, group: string | undefined) => Quote = quoteAt,
): Promise<RetryOutcome<Answer>> {
  const { asked, selection, attempts, progress } = call;
  const { engine, request } = asked;
  const { model } = request;
  const { option, limits } = engine.controlPlane;
  const { retries, keys, cooldown } = engine.routing;
  let { output_limit } = call;
  let left_out: readonly LeftOut[] = [];
  let failure: Failure = failureOf("unreachable");
  retries.called(model);
  for (let tries = 0; tries <= option.retryTimes;) {
    const channel = selection.next();
    if (!channel) {
      const { closed_ms } = selection;
      if (tries === 0 && closed_ms !== undefined && failure.kind !== "limited") failure = pausedFor(closed_ms);
      break;
    }
    const { caller, price, terms } = quote(call, channel, selection.groupOf(channel));
    // The call's use of the channel's own limits; most channels have none.
    const entering = limits.enterChannel(channel, caller, call.limitRequest);
    const slot = entering && (await entering);
    if (slot?.refused) {
      const { code, retry_after_s } = slot.refused;
      selection.limited(channel, code, retry_after_s * 1000);
      if (tries === 0) failure = limitedFor(Math.min(retry_after_s, failure.retry_after_s ?? Infinity));
      continue;
    }
    if (tries > 0 && !retries.take(model)) {
      explain(call, "retry_budget");
      await slot?.end(NOTHING_USED, "stays");
      break;
    }
    tries++;
    const attempt: Attempted = {
      call,
      channel: keys.take(channel, model, attempts),
      caller,
      price,
      terms,
      output_limit,
      left_out,
      slot,
      translation: new Translation(),
    };
    progress.attempt = attempt;
    const tried = await run(attempt);
    if (tried.ok) {
      // A stream may be open for long, and the body is not sent again.
      asked.content.drop();
      if (call.affinity_key !== undefined) engine.routing.affinity.set(call.affinity_key, channel.id);
      return { ok: true, attempt, answer: tried.answer };
    }
    ({ failure } = tried);
    const left = slot?.end(NOTHING_USED, "stays");
    if (left) await left;
    if (progress.left) return { ok: false, failure, end_reason: "caller_left" };
    const lowered = loweredLimit(output_limit, failure);
    if (lowered !== undefined) {
      output_limit = lowered;
      selection.requeue(channel);
      tries--;
      continue;
    }
    const part = refusedPart(attempt, failure);
    if (part) {
      left_out = [...left_out, part];
      selection.requeue(channel);
      tries--;
      continue;
    }
    if (failure.retry === "other_key" && hasAnotherKey(channel, model, attempts, cooldown)) selection.requeue(channel);
    if (failure.retry === "no") break;
    const why = tries > option.retryTimes || selection.left === 0 ? undefined : whyNotAgain(attempt, failure);
    if (why) {
      explain(call, why);
      break;
    }
  }
  return { ok: false, failure, end_reason: endReasonOf(failure) };
}

const pausedFor = (ms: number): Failure => ({ ...failureOf("paused"), retry_after_s: Math.ceil(ms / 1000) });
const limitedFor = (retry_after_s: number): Failure => ({ ...failureOf("limited"), retry_after_s });
