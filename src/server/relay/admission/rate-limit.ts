/** Admission under the caller's limits, with the response headers that report them. */
import type { Admission } from "../../contracts/rate-limits";
import type { Responder } from "../response/responder";
import { AppError } from "../../../shared/errors";

/** Admits the call or throws the 429; either way the response's headers report the state of the caller's limits. */
export function enter(admission: Admission, responder: Responder): Admission {
  responder.limits = headersOf(admission);
  const { refused } = admission;
  if (refused) throw new AppError(refused.code, refused.values);
  return admission;
}

/** The x-ratelimit-* headers as OpenAI's API writes them (a reset is a duration, "17s"). */
function headersOf({ requests, tokens }: Admission): Record<string, string> {
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
