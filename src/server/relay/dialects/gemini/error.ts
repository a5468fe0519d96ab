/** Google's errors: google.rpc.Status (ai.google.dev/gemini-api/docs/troubleshooting, cloud.google.com/apis/design/errors). */
import type { RelayError } from "../../error";
import type { WireError, WireObject } from "../../events";
import { isObject, number, objects, text } from "../shared/json";

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

/** {error: {code, message, status, details}}; without SSE the whole answer is a list with one such object. */
export function readError(body: unknown): WireError | undefined {
  const value: unknown = Array.isArray(body) ? body[0] : body;
  if (!isObject(value) || !isObject(value.error)) return undefined;
  const { message, status, code, details } = value.error;
  const reason = objects(details)
    .map((detail) => text(detail.reason))
    .find((found) => found !== "");
  const numeric = number(code);
  return {
    message: text(message),
    type: text(status),
    code: reason ?? (text(status) || String(numeric ?? "")),
    param: null,
  };
}

export function writeError({ status, message }: RelayError): WireObject {
  return {
    error: { code: status, message, status: statuses[status] ?? (status < 500 ? "FAILED_PRECONDITION" : "INTERNAL") },
  };
}
