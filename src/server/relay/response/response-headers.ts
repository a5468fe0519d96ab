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

/** Parsed once: copying them costs a third less than giving the texts to each response. */
const COMMON = new Headers({
  "content-type": "application/json",
  "x-oneapi-request-id": "",
  "x-request-id": "",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
});

/** A response with these headers. `origin` is the caller's Origin header. */
export function responseWith(
  body: BodyInit | null,
  status: number,
  contentType: string,
  requestId: string,
  origin: string | null,
): Response {
  const response = new Response(body, { status, headers: COMMON });
  const { headers } = response;
  if (contentType !== "application/json") headers.set("content-type", contentType);
  headers.set("x-oneapi-request-id", requestId);
  headers.set("x-request-id", requestId);
  if (origin !== null) {
    headers.set("access-control-allow-origin", origin);
    headers.set("access-control-expose-headers", EXPOSED);
    headers.set("vary", "Origin");
  }
  return response;
}

/** Sets more headers of a response. */
export function addHeaders({ headers }: Response, more: Readonly<Record<string, string>> | undefined): void {
  for (const name in more) headers.set(name, more[name] ?? "");
}
