/** The response headers that report the caller's limits. */
import type { LimitStates } from "../../contracts/rate-limits";
import type { Responder } from "../response/responder";

/** The response reports `limits`, whether the call is admitted or refused. */
export function reportLimits(responder: Responder, limits: LimitStates | undefined): void {
  if (limits) responder.limits = headersOf(limits);
}

/** The x-ratelimit-* headers as OpenAI's API writes them (a reset is a duration, "17s"). */
function headersOf({ requests, tokens }: LimitStates): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, state] of [
    ["requests", requests],
    ["tokens", tokens],
  ] as const) {
    if (!state) continue;
    headers[`x-ratelimit-limit-${name}`] = String(state.limit);
    headers[`x-ratelimit-remaining-${name}`] = String(state.remaining);
    headers[`x-ratelimit-reset-${name}`] = `${state.reset_seconds}s`;
  }
  return headers;
}
