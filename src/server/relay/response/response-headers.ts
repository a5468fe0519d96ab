/** The headers of every response: an allow list, nothing of the upstream's. */

/** The model that answered a call to a virtual one; `encodeURI` keeps any name a header value. */
export const MODEL_HEADER = "x-weir-model";

const EXPOSED = [
  MODEL_HEADER,
  "x-oneapi-request-id",
  "x-request-id",
  "request-id",
  "retry-after",
  "x-should-retry",
  ...["limit", "remaining", "reset"].flatMap((fact) => [`x-ratelimit-${fact}-requests`, `x-ratelimit-${fact}-tokens`]),
].join(", ");

/**
 * The headers of every response: an allow list without any of the upstream's. `origin` is the caller's Origin header.
 */
export function answerHeaders(contentType: string, requestId: string, origin: string | null): Record<string, string> {
  const headers: Record<string, string> = {
    "content-type": contentType,
    "x-oneapi-request-id": requestId,
    "x-request-id": requestId,
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
  };
  if (origin !== null) {
    headers["access-control-allow-origin"] = origin;
    headers["access-control-expose-headers"] = EXPOSED;
    headers.vary = "Origin";
  }
  return headers;
}
