/** Errors of /v1 for callers: the relay's own, or a classified upstream failure, in the caller's dialect. */
import { AppError, type ErrorCode, errors, errorText, type ErrorValues, type Owner } from "../../../shared/errors";
import { failureCode, isCallers } from "../../../shared/failures";
import { retriedText, type StoredText } from "../../../shared/log-text";
import type { Lang } from "../../../shared/text";
import type { RelayOptions } from "../../contracts/control-plane";
import { isUnavailable } from "../../lib/unavailable";
import type { Admitted, Arrival } from "../call/call";
import { errorCodeOf, type Failure } from "../../protocol/upstream-failure";
import type { WireError } from "../../protocol/chat-events";
import { OUT_OF_QUOTA_CODE, OVERFLOW_CODE, type RelayError } from "../../protocol/relay-error";

function typeOf(status: number, owner: Owner): string {
  if (owner === "upstream") return status === 429 ? "rate_limit_error" : "upstream_error";
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

const withId = (message: string, requestId: string): string => `${message} (request id: ${requestId})`;

/** The parameter that an error is about. */
const parameters: Readonly<Partial<Record<ErrorCode, string>>> = {
  model_missing: "model",
  model_not_found: "model",
  model_unavailable: "model",
  previous_response_not_found: "previous_response_id",
  background_unsupported: "background",
};

/** Seconds after which an outage may be over, where its error names none. */
const USUAL_WAIT_S: Readonly<Partial<Record<ErrorCode, number>>> = { database_unavailable: 5, draining: 5 };

/**
 * The errors of a caller without balance, with the statuses of the family's gateways (option QuotaRefused403Enabled;
 * C-593). All others read 429 insufficient_quota, as at OpenAI (platform.openai.com/docs/guides/error-codes, read
 * November 2026).
 */
const OUT_OF_QUOTA: Readonly<Partial<Record<ErrorCode, number>>> = {
  token_exhausted: 401,
  insufficient_user_quota: 403,
  insufficient_token_quota: 403,
  quota_exhausted_midstream: 403,
};

/** Budgets that end with the day or the month: no client waits for that. */
const USED_UP: ReadonlySet<ErrorCode> = new Set(["budget_day_used_up", "budget_month_used_up"]);

const membersOf = (members: string): Pick<RelayError, "param" | "unsupported"> => {
  const unsupported = members.split(", ");
  return { param: unsupported[0] ?? null, unsupported };
};

/** The reader of an error. */
export type ErrorReader = Pick<Arrival, "lang" | "request_id"> & {
  readonly engine: { readonly controlPlane: { readonly option: Pick<RelayOptions, "quotaRefusedWith403"> } };
};

/** An error of the relay itself. */
export function ownError(code: ErrorCode, values: ErrorValues, { lang, request_id, engine }: ErrorReader): RelayError {
  const fact = errors[code];
  const common = { message: withId(errorText(code, values, lang), request_id), request_id };
  const familys = OUT_OF_QUOTA[code];
  if (familys !== undefined) {
    const told = engine.controlPlane.option.quotaRefusedWith403
      ? { status: familys, type: typeOf(familys, fact.owner), code }
      : { status: fact.status, type: OUT_OF_QUOTA_CODE, code: OUT_OF_QUOTA_CODE };
    return { ...told, ...common, param: null, retry: false };
  }
  const retry = values.retry_after_s ?? USUAL_WAIT_S[code];
  return {
    status: fact.status,
    type: typeOf(fact.status, fact.owner),
    code: code === "input_too_long" ? OVERFLOW_CODE : code,
    ...common,
    param: parameters[code] ?? null,
    ...(code === "member_unsupported" && membersOf(String(values.members))),
    ...(typeof retry === "number" && { retry_after_s: retry }),
    ...(USED_UP.has(code) && { retry: false }),
  };
}

/** OpenAI's own codes for a filtered request; its clients know each of them. */
const FILTER_CODES: ReadonlySet<string> = new Set([
  "content_policy_violation",
  "moderation_blocked",
  "invalid_prompt",
  "bio_policy",
  "misalignment_policy_violation",
  "image_content_policy_violation",
]);

/** Type and code of a quoted error: the vendor's, or OpenAI's for what clients recognise by them. */
function toldAs({ kind, status, owner }: Failure, { type, code }: WireError): Pick<RelayError, "type" | "code"> {
  const own = errorCodeOf({ kind });
  if (kind === "rate_limited") return { type: typeOf(status, owner), code: code || own };
  if (kind === "model_missing") return { type: typeOf(status, owner), code: "model_not_found" };
  if (!isCallers(kind) || kind === "caller_mistake") return { type: type || typeOf(status, owner), code: code || own };
  return { type: typeOf(status, owner), code: kind === "content_filtered" && FILTER_CODES.has(code) ? code : own };
}

/** The final failure of a call, after all its attempts. */
export function callError({ asked, attempts }: Pick<Admitted, "asked" | "attempts">, failure: Failure): RelayError {
  return failureError(failure, asked.lang, asked.request_id, attempts.length - 1);
}

/** A limit of Google's that ends with the day (gemini-cli, googleQuotaErrors.ts, read November 2026). */
const OF_THE_DAY = /PerDay|Daily/;

/**
 * A failure of the upstream: its own text where it concerns the caller and contains no secrets, the relay's text
 * otherwise.
 */
export function failureError(failure: Failure, lang: Lang, requestId: string, retries = 0): RelayError {
  const { error, status, tokens } = failure;
  const code = errorCodeOf(failure);
  const violations = failure.error?.violations;
  const isAccounts = failure.class === "account";
  const inVain = isAccounts || violations?.some(({ quotaId }) => OF_THE_DAY.test(quotaId));
  const more = {
    request_id: requestId,
    ...(inVain && { retry: false as const }),
    ...(violations && { violations }),
    // An account that has just failed does not heal by waiting, and Codex waits as often as it is told to (0.169,
    // November 2026); one that cools is asked again at a known time.
    ...(failure.retry_after_s !== undefined &&
      (!isAccounts || failure.kind === "paused") && { retry_after_s: failure.retry_after_s }),
    ...(tokens && { tokens }),
  };
  if (failure.quote && error && error.message !== "") {
    const message = withId(error.message + retriedText(retries, lang), requestId);
    return {
      status,
      ...toldAs(failure, error),
      message,
      param: error.param,
      ...more,
      ...(error.more && { more: error.more }),
    };
  }
  const values = {
    // An error inside a 200 answer has the status that it is told with.
    status: failure.upstream_status >= 300 ? failure.upstream_status : status,
    phase: failure.phase ?? String(failure.upstream_status),
    retry_after_s: failure.retry_after_s ?? 0,
  };
  const message = withId(errorText(code, values, lang) + retriedText(retries, lang), requestId);
  return { status, type: typeOf(status, failure.owner), code, message, param: null, ...more };
}

/** A failure for the log: what its reader is told is decided when it is read (shared/log-text.ts). */
export function failureText(failure: Failure, retries: number): StoredText {
  const { error, quote, upstream_status, phase, retry_after_s } = failure;
  return {
    code: failureCode(failure.kind),
    params: {
      status: upstream_status || failure.status,
      ...(failure.kind === "timeout" && { phase: phase ?? String(upstream_status) }),
      ...(retry_after_s !== undefined && { retry_after_s }),
      ...(quote && error && error.message !== "" && { detail: error.message }),
      ...(retries > 0 && { retries }),
    },
  };
}

/** A thrown error as a response. Anything but an AppError reveals only the request id. */
export function thrownError(thrown: unknown, reader: ErrorReader): RelayError {
  const { code, params } = thrownText(thrown);
  return ownError(code, params, reader);
}

/** The same for the log. */
export function thrownText(thrown: unknown): { code: ErrorCode; params: ErrorValues } {
  if (thrown instanceof AppError) return { code: thrown.code, params: thrown.values };
  return { code: isUnavailable(thrown) ? "database_unavailable" : "internal", params: {} };
}
