/** What follows from each kind of failure: one row a kind. Nothing else decides on an upstream's failure. */
import type { Owner } from "../../shared/errors";
import type { FailureKind } from "../../shared/failures";

/**
 * `other_key`: the failure is that of a key, so another key of the same channel may do; else another channel.
 * `other_channel`: another channel may do. `no`: none would do better.
 */
export type Retry = "no" | "other_key" | "other_channel";

export interface FailureRule {
  /** Who can fix it. */
  readonly owner: Owner;
  readonly retry: Retry;
  /** Milliseconds that (channel, model) is left alone; Retry-After wins where the upstream names it. */
  readonly cool_ms: number;
  /** A candidate for automatic disabling. */
  readonly disable: boolean;
  /** Status for the caller; undefined = the upstream's, 502 without one. */
  readonly status?: number;
  /** The upstream's own words may reach the caller. */
  readonly quote: boolean;
}

type Treatment = Omit<FailureRule, "owner" | "retry">;

const row = (owner: Owner, retry: Retry, treatment: Treatment): FailureRule => ({ owner, retry, ...treatment });

/** A fault of the request never cools or disables the channel that names it. */
const HARMLESS = { cool_ms: 0, disable: false, quote: true } as const;

export const failureRules: Readonly<Record<FailureKind, FailureRule>> = {
  caller_mistake: row("caller", "no", HARMLESS),
  context_too_long: row("caller", "no", { ...HARMLESS, status: 400 }),
  too_large: row("caller", "no", { ...HARMLESS, status: 413 }),
  // Smaller calls are served, so the account is not at fault; another one may have a higher limit.
  over_account_rate: row("caller", "other_key", { ...HARMLESS, status: 413 }),
  content_filtered: row("caller", "no", { ...HARMLESS, status: 400 }),
  // Never asked: every channel is at a limit of its own.
  limited: row("operator", "other_channel", { cool_ms: 0, disable: false, status: 429, quote: false }),
  // Never asked: the accounts of all of them failed a moment ago.
  paused: row("operator", "no", { cool_ms: 0, disable: false, status: 503, quote: false }),
  // Never asked: the upstreams of all of them named a wait that the call has no time for.
  waiting: row("upstream", "no", { cool_ms: 0, disable: false, status: 503, quote: false }),
  // A call with a lower limit would be served, so the account is not at fault; another may pay for this one.
  unaffordable: row("caller", "other_channel", { cool_ms: 0, disable: false, status: 400, quote: true }),
  rate_limited: row("upstream", "other_key", { cool_ms: 5_000, disable: false, status: 429, quote: true }),
  quota_exhausted: row("operator", "other_key", { cool_ms: 300_000, disable: true, status: 502, quote: false }),
  bad_credentials: row("operator", "other_key", { cool_ms: 60_000, disable: true, status: 502, quote: false }),
  forbidden: row("operator", "other_key", { cool_ms: 0, disable: false, status: 502, quote: false }),
  model_missing: row("operator", "other_channel", { cool_ms: 60_000, disable: false, status: 404, quote: true }),
  overloaded: row("upstream", "other_channel", { cool_ms: 5_000, disable: false, quote: true }),
  server_error: row("upstream", "other_channel", { cool_ms: 0, disable: false, quote: true }),
  timeout: row("upstream", "other_channel", { cool_ms: 5_000, disable: false, status: 504, quote: false }),
  malformed: row("upstream", "other_channel", { cool_ms: 0, disable: false, status: 502, quote: false }),
  unreachable: row("upstream", "other_channel", { cool_ms: 5_000, disable: false, status: 502, quote: false }),
  cut: row("upstream", "other_channel", { cool_ms: 0, disable: false, status: 502, quote: false }),
};
