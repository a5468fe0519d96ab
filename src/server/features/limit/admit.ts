/**
 * The limits of a model call: requests and tokens a minute and concurrent calls of its token (C-262), and the options
 * ModelRequestRateLimit* of its user (all requests, and successful ones). All are asked in one step, so a call that one of
 * them refuses takes nothing of the others.
 */
import type { ErrorCode } from "../../../shared/errors";
import type { Services } from "../../context";
import type { Demand, Reservation } from "../../cluster/types";
import type { Admission, Limits, LimitState } from "../../relay/limits";
import type { Caller } from "../../relay/seams";

const MINUTE = 60;
/** Nobody knows when a running call ends. */
const RETRY_CONCURRENT_SECONDS = 1;

interface Rule extends Demand {
  code: ErrorCode;
  /** What the call came to when it ended. */
  used(end: { tokens: number; success: boolean }): number;
  /** Which header tells of it. */
  tells?: "requests" | "tokens";
}

const one = (): number => 1;

function tokenRules({ token_id, rpm, tpm, concurrency }: Caller, tokens: number): Rule[] {
  const rules: Rule[] = [];
  if (rpm > 0) {
    rules.push({ key: `rpm:token:${token_id}`, amount: 1, limit: rpm, window_seconds: MINUTE, code: "rate_limited_requests", used: one, tells: "requests" });
  }
  if (tpm > 0) {
    // An estimate beyond the whole limit would never be let in: such a call needs the window for itself.
    const amount = Math.min(tokens, tpm);
    rules.push({ key: `tpm:token:${token_id}`, amount, limit: tpm, window_seconds: MINUTE, code: "rate_limited_tokens", used: (end) => end.tokens, tells: "tokens" });
  }
  if (concurrency > 0) {
    rules.push({ key: `calls:token:${token_id}`, amount: 1, limit: concurrency, window_seconds: 0, code: "rate_limited_concurrency", used: () => 0 });
  }
  return rules;
}

/** The user's rules from the options; a group's own pair replaces both numbers. 0 = no limit. */
function userRules({ user_id, group }: Caller, options: LimitNeeds["options"]): Rule[] {
  if (!options.get("ModelRequestRateLimitEnabled")) return [];
  const groups = options.get("ModelRequestRateLimitGroup");
  const own = Object.hasOwn(groups, group) ? groups[group] : undefined;
  const total = own?.[0] ?? options.get("ModelRequestRateLimitCount");
  const successful = own?.[1] ?? options.get("ModelRequestRateLimitSuccessCount");
  const window_seconds = options.get("ModelRequestRateLimitDurationMinutes") * MINUTE;
  const rules: Rule[] = [];
  if (total > 0) {
    rules.push({ key: `all:user:${user_id}`, amount: 1, limit: total, window_seconds, code: "rate_limited_user", used: one, tells: "requests" });
  }
  if (successful > 0) {
    // Taken before it is known: only so is the number exact while calls run side by side. A failure gives it back.
    rules.push({ key: `done:user:${user_id}`, amount: 1, limit: successful, window_seconds, code: "rate_limited_user", used: (end) => (end.success ? 1 : 0), tells: "requests" });
  }
  return rules;
}

/** What the limits need of a process's services. */
export interface LimitNeeds {
  cluster: Pick<Services["cluster"], "counter">;
  options: Pick<Services["options"], "get">;
}

export function createLimits({ cluster, options }: LimitNeeds): Limits {
  const ask = async (rules: readonly Rule[]): Promise<Admission> => admission(rules, await cluster.counter.reserve(rules));
  return {
    admit: (caller, tokens) => {
      const { rpm, tpm, concurrency } = caller;
      if (rpm <= 0 && tpm <= 0 && concurrency <= 0 && !options.get("ModelRequestRateLimitEnabled")) return undefined;
      const rules = [...userRules(caller, options), ...tokenRules(caller, tokens)];
      return rules.length === 0 ? undefined : ask(rules);
    },
  };
}

function admission(rules: readonly Rule[], { refused, states, end }: Reservation): Admission {
  const answer: Admission = { end: (used) => end(rules.map((rule) => rule.used(used))) };
  rules.forEach(({ limit, tells }, i) => {
    const { remaining = 0, reset_seconds = 0 } = states[i] ?? {};
    const state: LimitState = { limit, remaining, reset_seconds };
    const known = tells && answer[tells];
    if (tells && (!known || remaining < known.remaining)) answer[tells] = state;
  });
  const rule = rules[refused];
  if (rule) {
    const reset = states[refused]?.reset_seconds ?? 0;
    const retry_after_s = rule.window_seconds > 0 ? Math.max(1, reset) : RETRY_CONCURRENT_SECONDS;
    answer.refused = { code: rule.code, limit: rule.limit, retry_after_s };
  }
  return answer;
}
