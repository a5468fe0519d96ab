/** Errors of /v1 for callers: the relay's own, or a classified upstream failure, in the caller's dialect. */
import { AppError, type ErrorCode, errors, errorText, type ErrorValues, type Owner } from "../../../shared/errors";
import type { Lang } from "../../../shared/text";
import { isUnavailable } from "../../lib/unavailable";
import type { Admitted } from "../call/call";
import { errorCodeOf, type Failure } from "../../protocol/upstream-failure";
import type { RelayError } from "../../protocol/relay-error";

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
  previous_response_not_found: "previous_response_id",
  background_unsupported: "background",
};

/** An error of the relay itself. */
export function ownError(code: ErrorCode, values: ErrorValues, lang: Lang, requestId: string): RelayError {
  const fact = errors[code];
  const retry = values.retry_after_s;
  return {
    status: fact.status,
    type: typeOf(fact.status, fact.owner),
    code,
    message: withId(errorText(code, values, lang), requestId),
    param: parameters[code] ?? null,
    ...(typeof retry === "number" && { retry_after_s: retry }),
  };
}

/** The number of retries of a call, for its final error (C-604); nothing when it was not retried. */
function retried(retries: number, lang: Lang): string {
  if (retries <= 0) return "";
  return lang === "zh" ? `（已重试 ${retries} 次）` : ` (retried ${retries} time${retries === 1 ? "" : "s"})`;
}

/** The final failure of a call, after all its attempts. */
export function callError({ asked, attempts }: Pick<Admitted, "asked" | "attempts">, failure: Failure): RelayError {
  return failureError(failure, asked.lang, asked.request_id, attempts.length - 1);
}

/**
 * A failure of the upstream: its own text where it concerns the caller and contains no secrets, the relay's text
 * otherwise.
 */
export function failureError(failure: Failure, lang: Lang, requestId: string, retries = 0): RelayError {
  const { error, status } = failure;
  const code = errorCodeOf(failure);
  const retry = failure.retry_after_s === undefined ? {} : { retry_after_s: failure.retry_after_s };
  if (failure.quote && error && error.message !== "") {
    const message = withId(error.message + retried(retries, lang), requestId);
    return {
      status,
      type: error.type || typeOf(status, failure.owner),
      code: error.code || code,
      message,
      param: error.param,
      ...retry,
    };
  }
  const values = {
    status: failure.upstream_status || status,
    phase: failure.phase ?? String(failure.upstream_status),
    retry_after_s: failure.retry_after_s ?? 0,
  };
  const message = withId(errorText(code, values, lang) + retried(retries, lang), requestId);
  return { status, type: typeOf(status, failure.owner), code, message, param: null, ...retry };
}

/** A thrown error as a response. Anything but an AppError reveals only the request id. */
export function thrownError(thrown: unknown, lang: Lang, requestId: string): RelayError {
  if (thrown instanceof AppError) return ownError(thrown.code, thrown.values, lang, requestId);
  return ownError(isUnavailable(thrown) ? "database_unavailable" : "internal", {}, lang, requestId);
}
