/**
 * Google's errors: google.rpc.Status (ai.google.dev/gemini-api/docs/troubleshooting,
 * cloud.google.com/apis/design/errors).
 */
import { inWords, type RelayError } from "../../relay-error";
import type { WireError, WireObject } from "../../chat-events";
import { compact, isObject, number, objects, text } from "../shared/json";

const statuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  413: "INVALID_ARGUMENT",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  501: "UNIMPLEMENTED",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";

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

export function writeError(error: RelayError): WireObject {
  const { status, retry_after_s } = error;
  const word = statuses[status] ?? (status < 500 ? "FAILED_PRECONDITION" : "INTERNAL");
  // Google's own programs read when to come again here, not in the header.
  const details = retry_after_s === undefined ? undefined : [{ "@type": RETRY_INFO, retryDelay: `${retry_after_s}s` }];
  return { error: compact({ code: status, message: messageOf(error), status: word, details }) };
}
