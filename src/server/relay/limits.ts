/** Limits as the relay sees them: a call asks to enter, is told where it stands, and says what it used when it ends. */
import { AppError, type ErrorCode } from "../../shared/errors";
import type { Door } from "./door";
import type { Caller } from "./seams";

export interface LimitState {
  limit: number;
  remaining: number;
  /** Seconds until the window ends. */
  reset_seconds: number;
}

/** The answer to a call that asked to enter. */
export interface Admission {
  /** The limit that keeps it out; then nothing was taken. */
  refused?: { code: ErrorCode; limit: number; retry_after_s: number };
  /** The tightest limit on requests, and the one on tokens; absent where there is none. */
  requests?: LimitState;
  tokens?: LimitState;
  /** The call is over. Only the first call counts. */
  end(used: { tokens: number; success: boolean }): void;
}

export interface Limits {
  /** undefined when nothing limits this caller: then there is nothing to wait for. `tokens`: what the call may use. */
  admit(caller: Caller, tokens: number): Promise<Admission> | undefined;
}

/** Lets the call in, or throws the 429; either way the answer's headers tell where the caller stands. */
export function enter(admission: Admission, door: Door): Admission {
  door.limits = headersOf(admission);
  const { refused } = admission;
  if (refused) throw new AppError(refused.code, { limit: refused.limit, retry_after_s: refused.retry_after_s });
  return admission;
}

/** The x-ratelimit-* headers as OpenAI's API writes them (a reset is a duration, "17s"). */
function headersOf({ requests, tokens }: Admission): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, state] of [["requests", requests], ["tokens", tokens]] as const) {
    if (!state) continue;
    headers[`x-ratelimit-limit-${name}`] = String(state.limit);
    headers[`x-ratelimit-remaining-${name}`] = String(state.remaining);
    headers[`x-ratelimit-reset-${name}`] = `${state.reset_seconds}s`;
  }
  return headers;
}
