/**
 * Google's errors: google.rpc.Status (ai.google.dev/gemini-api/docs/troubleshooting,
 * cloud.google.com/apis/design/errors).
 */
import { inWords, OUT_OF_QUOTA_CODE, type RelayError } from "../../relay-error";
import type { QuotaViolation, WireError, WireObject } from "../../chat-events";
import { compact, isObject, number, objects, text } from "../shared/json";

/**
 * The words of google.rpc.Code by HTTP status: the mapping in google/rpc/code.proto, for statuses that it does not name
 * the nearest meaning (grpc/doc/http-grpc-status-mapping.md for 502; read November 2026).
 */
const statuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  402: "RESOURCE_EXHAUSTED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  405: "UNIMPLEMENTED",
  408: "DEADLINE_EXCEEDED",
  409: "ABORTED",
  410: "NOT_FOUND",
  411: "INVALID_ARGUMENT",
  413: "INVALID_ARGUMENT",
  414: "INVALID_ARGUMENT",
  415: "INVALID_ARGUMENT",
  416: "OUT_OF_RANGE",
  422: "INVALID_ARGUMENT",
  429: "RESOURCE_EXHAUSTED",
  431: "INVALID_ARGUMENT",
  499: "CANCELLED",
  500: "INTERNAL",
  501: "UNIMPLEMENTED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
  522: "UNAVAILABLE",
  524: "DEADLINE_EXCEEDED",
  529: "UNAVAILABLE",
};

const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";
const QUOTA_FAILURE = "type.googleapis.com/google.rpc.QuotaFailure";

/**
 * Gemini CLI gives up at a limit of the day and tries again at every other 429 (google-gemini/gemini-cli,
 * packages/core/src/utils/googleQuotaErrors.ts, read November 2026): an empty balance has to be one.
 */
const NO_BALANCE: readonly QuotaViolation[] = [{ quotaId: "BalancePerDay" }];

/**
 * What Google says in words only, by the codes of protocol/vendor-errors.ts (api-errors, FAILED_PRECONDITION and
 * NOT_FOUND, November 2026).
 */
function ownCode(status: string, message: string): string | undefined {
  if (status === "NOT_FOUND" && /\bmodels?\b/i.test(message)) return "model_not_found";
  if (status === "FAILED_PRECONDITION" && /location|free tier|billing/i.test(message))
    return "unsupported_country_region_territory";
  return undefined;
}

/** Seconds of a RetryInfo's delay ("27.5s", a google.protobuf.Duration); undefined without one. */
function retryDelay(details: readonly WireObject[]): number | undefined {
  const delay = text(details.find((detail) => detail["@type"] === RETRY_INFO)?.retryDelay);
  return /^\d+(\.\d+)?s$/.test(delay) ? Math.ceil(Number(delay.slice(0, -1))) : undefined;
}

/** The limits that a QuotaFailure names; undefined without one. */
function violationsIn(details: readonly WireObject[]): QuotaViolation[] | undefined {
  const failure = details.find((detail) => detail["@type"] === QUOTA_FAILURE);
  const violations = objects(failure?.violations).flatMap(({ quotaId, quotaValue }) =>
    text(quotaId) === "" ? [] : [compact({ quotaId: text(quotaId), quotaValue: text(quotaValue) || undefined })],
  );
  return violations.length > 0 ? violations : undefined;
}

/** {error: {code, message, status, details}}; without SSE the whole answer is a list with one such object. */
export function readError(body: unknown): WireError | undefined {
  const value: unknown = Array.isArray(body) ? body[0] : body;
  if (!isObject(value) || !isObject(value.error)) return undefined;
  const { message, status, code, details } = value.error;
  const entries = objects(details);
  const reason = entries.map((detail) => text(detail.reason)).find((found) => found !== "");
  const numeric = number(code);
  return compact({
    message: text(message),
    type: text(status),
    code: ownCode(text(status), text(message)) ?? reason ?? (text(status) || String(numeric ?? "")),
    param: null,
    retry_after_s: retryDelay(entries),
    violations: violationsIn(entries),
  });
}

/**
 * The message in Google's words (google-gemini/gemini-cli issue 6678), by which opencode and litellm know an overflow
 * (provider/error.ts, exception_mapping_utils.py; read November 2026).
 */
const messageOf = (error: RelayError): string =>
  inWords(error, /input token count[^]{0,40}exceeds the maximum/i, ({ used, limit }) => {
    const count = used === undefined ? "" : ` (${used})`;
    const most = limit === undefined ? "" : ` (${limit})`;
    return `The input token count${count} exceeds the maximum number of tokens allowed${most}.`;
  });

/**
 * What ends Gemini CLI's tries of a 503, where trying is in vain: it does not read x-should-retry (gemini-cli 0.61,
 * googleQuotaErrors.ts, read November 2026).
 */
const NO_CAPACITY: WireObject = {
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason: "MODEL_CAPACITY_EXHAUSTED",
};

export function writeError(error: RelayError): WireObject {
  const { status, code, retry, retry_after_s, violations = code === OUT_OF_QUOTA_CODE ? NO_BALANCE : [] } = error;
  const word = statuses[status] ?? (status < 500 ? "FAILED_PRECONDITION" : "INTERNAL");
  const details: WireObject[] = [];
  if (violations.length > 0) details.push({ "@type": QUOTA_FAILURE, violations });
  if (status === 503 && retry === false) details.push(NO_CAPACITY);
  // Google's own programs read when to come again here, not in the header; and would come again in vain.
  else if (retry_after_s !== undefined) details.push({ "@type": RETRY_INFO, retryDelay: `${retry_after_s}s` });
  return {
    error: compact({
      code: status,
      message: messageOf(error),
      status: word,
      details: details.length > 0 ? details : undefined,
    }),
  };
}
