/**
 * The one classification of what goes wrong upstream: (status, body) -> which kind of failure, and with it whose fault,
 * try elsewhere or not, leave (channel, model) alone for how long, disable the channel or not, and what the caller
 * reads. Vendors' words are in vendor-errors.ts, what follows from a kind in failure-rules.ts; nothing else decides on
 * an upstream's status.
 */
import type { ErrorCode } from "../../shared/errors";
import { FAILURES, failureClass, type FailureClass, type FailureKind, isCallers } from "../../shared/failures";
import { isObject } from "../lib/json-bytes";
import type { WireError } from "./chat-events";
import { cleanError, type Redact } from "./clean-text";
import { type FailureRule, failureRules } from "./failure-rules";
import type { TokenCounts } from "./relay-error";
import { tokenCounts, vendorKind } from "./vendor-error-kind";

/** A failed attempt, judged. */
export interface Failure extends FailureRule {
  readonly kind: FailureKind;
  readonly class: FailureClass;
  /** Status for the caller. */
  readonly status: number;
  /** Status the upstream sent, 0 when none came. */
  readonly upstream_status: number;
  /** The upstream's error object, without the channel's secrets, and cleaned of addresses and keys. */
  readonly error?: WireError;
  readonly retry_after_s?: number;
  /** What a call that is longer than its model's context has and may have, where the upstream says so. */
  readonly tokens?: TokenCounts;
  /** For a timeout: which one. */
  readonly phase?: string;
}

/**
 * Whether the upstream may be at work on the call, or done with it, although it failed: the request was sent whole, and
 * it was not refused. (A refused connection, an unknown host, every 4xx and a refusal by name say that nothing was
 * begun.)
 */
export function mayBeAccepted({
  kind,
  upstream_status: status,
  phase,
}: Pick<Failure, "kind" | "upstream_status" | "phase">): boolean {
  // Without a status nothing was sent: the channel's type does not serve the call.
  if (kind === "malformed") return status > 0;
  if (status >= 300 && status < 500) return false;
  if (kind === "timeout") return phase !== "connect";
  if (kind === "overloaded") return status >= 500;
  return kind === "cut" || kind === "server_error";
}

/** Whether the channel's key or its account is dead: until its operator acts no call of it can succeed. */
export const isAccountDead = ({ kind }: Pick<Failure, "kind">): boolean =>
  kind === "bad_credentials" || kind === "quota_exhausted";

/** What a request that was never answered failed by. A connection that is lost may have carried it. */
export const unanswered = (error: unknown): "cut" | "unreachable" => {
  const code = isObject(error) || error instanceof Error ? String(Reflect.get(error, "code") ?? "") : "";
  return /reset|closed|EPIPE/i.test(code) ? "cut" : "unreachable";
};

/** Longest pause that an upstream's Retry-After may order. */
const MAX_COOL_MS = 600_000;

/** The kind of an error by its vendor's word, where it has one, and its status. */
function kindOf(status: number, word: FailureKind | undefined): FailureKind {
  if (word === "unaffordable") return word;
  if (word === "quota_exhausted" || status === 402) return "quota_exhausted";
  if (word === "bad_credentials" || status === 401) return "bad_credentials";
  if (word !== undefined && word !== "overloaded") return word;
  if (status === 429) return "rate_limited";
  if (status === 403) return "forbidden";
  if (status === 408 || status === 504 || status === 524) return "timeout";
  if (status === 503 || status === 529 || word === "overloaded") return "overloaded";
  if (status >= 500 || status < 400) return "server_error";
  return status === 413 ? "too_large" : "caller_mistake";
}

/** Longest wait that an upstream may name to a caller, in seconds. */
const MAX_RETRY_AFTER_S = 3600;
/** An HTTP date begins with its weekday (RFC 9110, 5.6.7); Date.parse would read a year in much else. */
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

/** Seconds that a Retry-After header asks for (seconds or HTTP date), undefined without a usable one. */
export function retryAfterSeconds(header: string | null | undefined, now: number): number | undefined {
  const asked = header?.trim() ?? "";
  const seconds = HTTP_DATE.test(asked)
    ? (Date.parse(asked) - now) / 1000
    : /^\d+(\.\d+)?$/.test(asked)
      ? Number(asked)
      : NaN;
  return seconds >= 0 ? Math.ceil(seconds) : undefined;
}

/** A failure of `kind`; `status` is the upstream's, `told` the caller's where the kind has none of its own. */
function judged(
  redact: Redact,
  kind: FailureKind,
  { status, told, error }: { status: number; told: number; error: WireError | undefined },
  named_wait_s: number | undefined,
): Failure {
  const rule = failureRules[kind];
  const retry_after_s = named_wait_s === undefined ? undefined : Math.min(named_wait_s, MAX_RETRY_AFTER_S);
  const tokens = error && kind === "context_too_long" ? tokenCounts(error.message) : undefined;
  return {
    ...rule,
    kind,
    class: failureClass(kind, retry_after_s),
    cool_ms:
      retry_after_s === undefined || rule.owner === "caller"
        ? rule.cool_ms
        : Math.min(retry_after_s * 1000, MAX_COOL_MS),
    upstream_status: status,
    // 1xx to 3xx are no errors to a caller.
    status: told >= 400 && told <= 599 ? told : 502,
    error: error && cleanError(redact, error),
    retry_after_s,
    ...(tokens && { tokens }),
  };
}

/**
 * Judges an answer that is an error; `redact` is that of the channel that gave it. `status` is the upstream's;
 * `mapping` (status -> status) is applied first, and a status that the operator mapped is what the caller sees.
 */
export function classifyStatus(
  redact: Redact,
  status: number,
  error: WireError | undefined,
  mapping: ReadonlyMap<number, number>,
  retry_after_s = error?.retry_after_s,
): Failure {
  const mapped = mapping.get(status);
  const seen = mapped ?? status;
  const word = error && mapped === undefined ? vendorKind(error, { status, in_answer: false }) : undefined;
  const kind = kindOf(seen, word);
  return judged(redact, kind, { status, told: mapped ?? failureRules[kind].status ?? seen, error }, retry_after_s);
}

/** Judges an error object inside a 200 answer or a stream: its own words first, a 502 otherwise. */
export function classifyErrorIn200(redact: Redact, error: WireError): Failure {
  const named = /^[45]\d\d$/.test(error.code) ? Number(error.code) : undefined;
  const word = vendorKind(error, { status: named, in_answer: true });
  const status =
    word === "rate_limited" ? 429 : word === "overloaded" ? 503 : (named ?? (word && isCallers(word) ? 400 : 502));
  // A status says more than that the request is invalid.
  const kind = kindOf(status, word === "caller_mistake" && named !== undefined ? undefined : word);
  const failure = judged(
    redact,
    kind,
    { status: 200, told: failureRules[kind].status ?? status, error },
    error.retry_after_s,
  );
  // The request was accepted with 200: what is called invalid here, another channel may take.
  return kind === "caller_mistake" ? { ...failure, retry: "other_channel" } : failure;
}

/** A failure without an answer to judge. */
export function failureOf(kind: FailureKind, upstream_status = 0, phase?: string): Failure {
  const rule = failureRules[kind];
  return { ...rule, kind, class: failureClass(kind, undefined), status: rule.status ?? 502, upstream_status, phase };
}

/**
 * The failure of a call that no channel was asked for: their accounts failed a moment ago, or their upstreams named a
 * wait. `ms`: until one may be asked.
 */
export function closedFailure(kind: "paused" | "waiting", ms: number): Failure {
  const retry_after_s = Math.ceil(ms / 1000);
  return { ...failureOf(kind), class: failureClass(kind, retry_after_s), retry_after_s };
}

/** The error of shared/errors.ts that says this failure to a caller when the upstream's words may not. */
export const errorCodeOf = ({ kind }: Pick<Failure, "kind">): ErrorCode => FAILURES[kind].told;
