/** Attempts one after the other until one succeeds, a failure is final, or the options end them. */
import type { EndReason, NotRetried } from "../../../shared/log";
import { stepReasonOf } from "../../../shared/virtual-models";
import type { PoolChannel } from "../../contracts/channel";
import { NOTHING_USED } from "../../contracts/rate-limits";
import { closedFailure, type Failure, failureOf, mayBeAccepted } from "../../protocol/upstream-failure";
import { type Quote, quoteAt } from "../billing/call-price";
import { loweredLimit } from "../billing/output-limit";
import type { Admitted, Answered, Attempted, LeftOut } from "../call/call";
import { Translation } from "../call/translation";
import { hasAnotherKey } from "../routing/key-rotation";
import { credentialId } from "../providers/credential-id";
import type { Tried } from "./attempt";
import { refusedPart } from "./left-out";
import { NextRound } from "./next-round";
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
  if (failure.kind === "limited" || failure.kind === "paused" || failure.kind === "waiting") return "refused";
  if (failure.kind === "caller_mistake" && failure.upstream_status === 0) return "refused";
  if (failure.kind === "timeout") return "idle_timeout";
  if (failure.kind === "cut") return "upstream_cut";
  return "upstream_error";
}

/** Until a channel was tried. */
const NOT_TRIED: Failure = failureOf("unreachable");

/** Milliseconds that a channel is left alone after a failure that another channel has shown to be its own. */
const PROVEN_COOL_MS = 5_000;

/**
 * Runs one attempt after the other: at most RetryTimes more after the first, none for a failure that no other channel
 * can fix, none that could pay twice for an expensive call or come too late (retry-policy.ts), none for a caller who
 * has left. A channel at its own limit is skipped, which does not count as an attempt. A pinned channel is the only
 * one. A channel is tried again with another of its keys, with a lower output limit, or without a part that it refused;
 * and, where no other is left, after a wait (next-round.ts).
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
  const round = new NextRound(call);
  const unproven: PoolChannel[] = [];
  let { output_limit } = call;
  let left_out: readonly LeftOut[] = [];
  let failure = NOT_TRIED;
  /** A retry is taken from the budget before the wait for it. */
  let taken = false;
  const mayRetry = (): boolean => {
    taken ||= retries.take(model);
    if (!taken) explain(call, "retry_budget");
    return taken;
  };
  retries.called(model);
  for (let tries = 0; tries <= option.retryTimes;) {
    const channel = selection.next();
    if (!channel) {
      const { closed } = selection;
      const why = tries > 0 ? stepReasonOf(failure) : undefined;
      const wait = why && call.ladder?.mayPass(why) ? undefined : round.begin();
      if (wait === undefined) {
        if (tries === 0 && closed && failure.kind !== "limited")
          failure = closedFailure(closed.named ? "waiting" : "paused", closed.ms);
        break;
      }
      if (tries > 0 && !mayRetry()) break;
      await round.wait(wait);
      if (progress.left) return { ok: false, failure, end_reason: "caller_left" };
      continue;
    }
    // It began to drain after the call was routed.
    if (engine.controlPlane.pool.byId(channel.id)?.channel.drain) continue;
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
    // While this call waited for its slot, another may have closed the channel or begun to probe it.
    if (slot && selection.closedOf(channel)) {
      selection.requeue(channel);
      await slot.end(NOTHING_USED, "stays");
      continue;
    }
    if (tries > 0 && !mayRetry()) {
      await slot?.end(NOTHING_USED, "stays");
      break;
    }
    taken = false;
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
    engine.running.add(call);
    const tried = await run(attempt);
    if (tried.ok) {
      // A stream may be open for long, and the body is not sent again.
      asked.content.drop();
      if (call.affinity_key !== undefined) engine.routing.affinity.set(call.affinity_key, channel.id);
      // The request itself was not to blame: another channel has answered it.
      for (const failed of unproven)
        if (failed.id !== channel.id) cooldown.add(credentialId(failed), model, PROVEN_COOL_MS);
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
    if (failure.cool_ms === 0 && mayBeAccepted(failure)) unproven.push(attempt.channel);
    if (failure.retry === "other_key" && hasAnotherKey(channel, model, attempts, cooldown)) selection.requeue(channel);
    else round.left(channel, failure);
    if (failure.retry === "no") break;
    const again = tries <= option.retryTimes && (selection.left > 0 || round.possible);
    const why = again ? whyNotAgain(attempt, failure) : undefined;
    if (why) {
      explain(call, why);
      break;
    }
  }
  return { ok: false, failure, end_reason: endReasonOf(failure) };
}

const limitedFor = (retry_after_s: number): Failure => ({ ...failureOf("limited"), retry_after_s });
