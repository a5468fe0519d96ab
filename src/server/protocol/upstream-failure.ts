/**
 * The one classification of what goes wrong upstream: (status, body) -> whose fault, try elsewhere or not, leave
 * (channel, model) alone for how long, disable the channel or not, and what the caller reads. Nothing else in the house
 * decides on an upstream's status.
 */
import type { ErrorCode, Owner } from "../../shared/errors";
import { FAILURES, type FailureKind } from "../../shared/failures";
import type { WireError } from "./chat-events";
import { isObject } from "../lib/json-bytes";

interface Rule {
  readonly owner: Owner;
  readonly retry: boolean;
  /** Milliseconds that (channel, model) is left alone; Retry-After wins where the upstream names it. */
  readonly cool_ms: number;
  /** A candidate for automatic disabling. */
  readonly disable: boolean;
  /** Status for the caller; undefined = the upstream's. */
  readonly status?: number;
  /** The upstream's own words may reach the caller. */
  readonly quote: boolean;
}

const failureRules: Readonly<Record<FailureKind, Rule>> = {
  caller_mistake: { owner: "caller", retry: false, cool_ms: 0, disable: false, quote: true },
  // Never asked: every channel is at a limit of its own.
  limited: { owner: "operator", retry: true, cool_ms: 0, disable: false, status: 429, quote: false },
  rate_limited: { owner: "upstream", retry: true, cool_ms: 5_000, disable: false, status: 429, quote: false },
  quota_exhausted: { owner: "operator", retry: true, cool_ms: 300_000, disable: true, status: 502, quote: false },
  bad_credentials: { owner: "operator", retry: true, cool_ms: 60_000, disable: true, status: 502, quote: false },
  forbidden: { owner: "operator", retry: true, cool_ms: 0, disable: false, status: 502, quote: false },
  model_missing: { owner: "operator", retry: true, cool_ms: 60_000, disable: false, status: 502, quote: true },
  overloaded: { owner: "upstream", retry: true, cool_ms: 5_000, disable: false, quote: true },
  server_error: { owner: "upstream", retry: true, cool_ms: 0, disable: false, quote: true },
  timeout: { owner: "upstream", retry: true, cool_ms: 5_000, disable: false, status: 504, quote: false },
  malformed: { owner: "upstream", retry: true, cool_ms: 0, disable: false, status: 502, quote: false },
  unreachable: { owner: "upstream", retry: true, cool_ms: 5_000, disable: false, status: 502, quote: false },
  cut: { owner: "upstream", retry: true, cool_ms: 0, disable: false, status: 502, quote: false },
};

/** Failures that are a key's own: another key of the same channel may do. */
const ofKey: ReadonlySet<FailureKind> = new Set(["rate_limited", "quota_exhausted", "bad_credentials", "forbidden"]);

export const isOfKey = (failure: Pick<Failure, "class">): boolean => ofKey.has(failure.class);

/** A failed attempt, judged. */
export interface Failure extends Rule {
  readonly class: FailureKind;
  /** Status for the caller. */
  readonly status: number;
  /** Status the upstream sent, 0 when none came. */
  readonly upstream_status: number;
  /** The upstream's error object, without the channel's secrets, and cleaned of addresses and keys. */
  readonly error?: WireError;
  readonly retry_after_s?: number;
  /** For a timeout: which one. */
  readonly phase?: string;
}

/**
 * Whether the upstream may be at work on the call, or done with it, although it failed: the request was sent whole, and
 * it was not refused. (A refused connection, an unknown host, every 4xx and a refusal by name say that nothing was
 * begun.)
 */
export function mayBeAccepted({
  class: name,
  upstream_status: status,
  phase,
}: Pick<Failure, "class" | "upstream_status" | "phase">): boolean {
  // Without a status nothing was sent: the channel's type does not serve the call.
  if (name === "malformed") return status > 0;
  if (status >= 300 && status < 500) return false;
  if (name === "timeout") return phase !== "connect";
  if (name === "overloaded") return status >= 500;
  return name === "cut" || name === "server_error";
}

/** What a request that was never answered failed by. A connection that is lost may have carried it. */
export const unanswered = (error: unknown): "cut" | "unreachable" => {
  const code = isObject(error) || error instanceof Error ? String(Reflect.get(error, "code") ?? "") : "";
  return /reset|closed|EPIPE/i.test(code) ? "cut" : "unreachable";
};

const quotaWords = new Set([
  "insufficient_quota",
  "insufficient_user_quota",
  "billing_not_active",
  "billing_hard_limit_reached",
  "insufficient_balance",
  "payment_required",
  "credit_balance_too_low",
  // Moonshot (429), Volcengine Ark (403), Model Studio (400), whichever type of channel leads there.
  "exceeded_current_quota_error",
  "AccountOverdueError",
  "Arrearage",
]);
const credentialWords = new Set([
  "invalid_api_key",
  "authentication_error",
  "account_deactivated",
  "invalid_authentication",
  "unauthorized",
  "API_KEY_INVALID",
]);
const forbiddenWords = new Set(["unsupported_country_region_territory"]);
const modelWords = new Set([
  "model_not_found",
  "model_not_supported",
  "unsupported_model",
  // Moonshot, Volcengine Ark.
  "resource_not_found_error",
  "InvalidEndpointOrModel.NotFound",
  "ModelNotOpen",
]);
const overloadWords = new Set(["overloaded_error", "overloaded", "engine_overloaded", "server_overloaded"]);
const rateWords = new Set(["rate_limit_exceeded", "rate_limit_error", "too_many_requests"]);

/**
 * What an answer that has begun with 200 says of the request (types of the `openai` SDK 7.55, ResponseError; November
 * 2026).
 */
const callerWords = new Set([
  "invalid_request_error",
  "context_length_exceeded",
  "invalid_prompt",
  "bio_policy",
  "misalignment_policy_violation",
  "content_filter",
  "invalid_image",
  "invalid_image_format",
  "invalid_base64_image",
  "invalid_image_url",
  "image_too_large",
  "image_too_small",
  "image_parse_error",
  "image_content_policy_violation",
  "invalid_image_mode",
  "image_file_too_large",
  "unsupported_image_media_type",
  "empty_image_file",
  "failed_to_download_image",
]);

/** Longest pause that an upstream's Retry-After may order. */
const MAX_COOL_MS = 600_000;

function classOf(status: number, error: WireError | undefined): FailureKind {
  const says = (words: ReadonlySet<string>): boolean =>
    error !== undefined && (words.has(error.code) || words.has(error.type));
  if (says(quotaWords) || status === 402) return "quota_exhausted";
  if (says(credentialWords) || status === 401) return "bad_credentials";
  if (says(modelWords)) return "model_missing";
  if (says(forbiddenWords)) return "forbidden";
  if (status === 429) return "rate_limited";
  if (status === 403) return "forbidden";
  if (status === 408 || status === 504 || status === 524) return "timeout";
  if (status === 503 || status === 529 || (status >= 500 && says(overloadWords))) return "overloaded";
  if (status >= 500 || status < 400) return "server_error";
  return "caller_mistake";
}

/** Seconds that a Retry-After header asks for (seconds or HTTP date), undefined without a usable one. */
export function retryAfterSeconds(header: string | null | undefined, now: number): number | undefined {
  if (!header) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - now) / 1000;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds) : undefined;
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
  const name = classOf(seen, mapped === undefined ? error : undefined);
  const rule = failureRules[name];
  const cool_ms = retry_after_s === undefined ? rule.cool_ms : Math.min(retry_after_s * 1000, MAX_COOL_MS);
  const callerStatus = mapped ?? rule.status ?? seen;
  return {
    ...rule,
    class: name,
    cool_ms,
    upstream_status: status,
    // 1xx to 3xx are no errors to a caller.
    status: callerStatus >= 400 && callerStatus <= 599 ? callerStatus : 502,
    error: error && clean(redact, error),
    retry_after_s,
  };
}

/** Judges an error object inside a 200 answer or a stream: its own words first, a 502 otherwise. */
export function classifyErrorIn200(redact: Redact, error: WireError): Failure {
  const says = (words: ReadonlySet<string>): boolean => words.has(error.code) || words.has(error.type);
  const named = /^[45]\d\d$/.test(error.code) ? Number(error.code) : undefined;
  const status = says(rateWords) ? 429 : says(overloadWords) ? 503 : (named ?? (says(callerWords) ? 400 : 502));
  const failure = classifyStatus(redact, status, error, new Map());
  // The caller's request was accepted with 200: it cannot be the caller's mistake alone, another channel may take it.
  return { ...failure, retry: true, upstream_status: 200 };
}

/** A failure without an answer to judge. */
export function failureOf(name: FailureKind, upstream_status = 0, phase?: string): Failure {
  const rule = failureRules[name];
  return { ...rule, class: name, status: rule.status ?? 502, upstream_status, phase };
}

/** The error of shared/errors.ts that says this failure to a caller when the upstream's words may not. */
export const errorCodeOf = (failure: Failure): ErrorCode => FAILURES[failure.class].told;

/** Takes the secrets of the channel that was asked out of its upstream's words (providers/redact.ts). */
export type Redact = (text: string) => string;

/** For words that are ours alone. */
export const asIs: Redact = (text) => text;

// No pattern may be slower than its text is long: none begins again inside what it has failed on.
const hide: readonly (readonly [RegExp, string | ((found: string) => string)])[] = [
  [/\b(?:https?|wss?):\/\/[^\s"'<>)\]]+/gi, "[address]"],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g, "[address]"],
  [/\[?(?:[0-9a-f]{1,4}:){3,7}:?(?:[0-9a-f]{1,4})?\]?(?::\d+)?/gi, "[address]"],
  [
    /(?<![a-z0-9.-])[a-z0-9.-]+(?<=[a-z0-9]\.(?:com|net|org|io|ai|cn|dev|app|cloud|local|internal))(?!\w)(?::\d+)?(?:\/[^\s"'<>]*)?/gi,
    "[address]",
  ],
  [/(?<![\w-])eyJ[\w-]{8,}(?:\.[\w-]+){0,2}/g, "[key]"],
  [/\bBearer +[\w.~+/*=-]{6,}/gi, (found) => (/[\d*]/.test(found) ? "[key]" : found)],
  [/[A-Za-z0-9_*-]{8,}/g, (found) => (isKeyLike(found) ? "[key]" : found)],
];

/** How vendors' keys begin; a name such as `key-value-store` has neither digit nor capital behind it. */
const KEY =
  /^-*(?:(?:sk|pk|rk|gsk|xai|nvapi|pplx)-.{6}|(?:(?:sk|pk|rk|gsk|hf|ghp|r8)_|(?:org|proj|key)-|AKIA|ASIA|LTAI|AKID|AIza)(?=.{6}).*[\dA-Z*])/;
/**
 * An item's id or a compound name begins with a word of small letters: `rs_0123…`, `chatcmpl-…`, `cache_creation_1h_…`.
 */
const NAMED = /^-*[a-z]{1,16}[_-]/;
/** A name of several words in one: `includeServerSideToolInvocations2`. */
const WORDS = /^[A-Za-z][a-z]*(?:[A-Z][a-z]+)*\d{0,2}$/;
const LONG = 32;

/**
 * Whether a word looks like a key: by how it begins, by stars in its middle, or because it is long and says
 * nothing.
 */
function isKeyLike(word: string): boolean {
  if (KEY.test(word) || /[A-Za-z0-9]\*{3,}[A-Za-z0-9]/.test(word)) return true;
  return word.length >= LONG && /\d/.test(word) && !NAMED.test(word) && !WORDS.test(word);
}

/** A name of a field or none: holds nothing of the kind. */
const PLAIN = /^[a-z_]{0,31}$/;

/** A text of an upstream without addresses, hosts and what looks like a key; at most 1,000 characters. */
export function cleanText(text: string): string {
  if (PLAIN.test(text)) return text;
  let result = text.slice(0, 4000);
  for (const [pattern, mark] of hide)
    result = typeof mark === "string" ? result.replace(pattern, mark) : result.replace(pattern, mark);
  return result.slice(0, 1000);
}

/**
 * Every member by its name: a new one is lost rather than passed on as it came. The secrets go before anything is cut
 * or guessed.
 */
function clean(redact: Redact, { message, type, code, param, retry_after_s }: WireError): WireError {
  const said = (text: string): string => cleanText(redact(text));
  const error = {
    message: said(message),
    type: said(type),
    code: said(code),
    param: param === null ? null : said(param),
  };
  return retry_after_s === undefined ? error : { ...error, retry_after_s };
}
