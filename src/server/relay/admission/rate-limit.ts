/** A call enters under its limits, and its answer tells where the caller stands. */
import type { Admission } from "../../contracts/rate-limits";
import type { Responder } from "../response/responder";
import { AppError } from "../../../shared/errors";

/** Lets the call in, or throws the 429; either way the answer's headers tell where the caller stands. */
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
