/** HTTP conventions of the relay: where the key is presented, the headers of responses, CORS. */
import type { Lang } from "../../../shared/text";
import type { ContentTap } from "./content-tap";
import type { CallerDialect } from "../../protocol/dialects/dialect";
import type { RelayError } from "../../protocol/relay-error";
import { asJsonArray } from "../../lib/sse-to-json-array";

/**
 * The sub-protocol in which a browser's WebSocket, which cannot set headers, presents a key (OpenAI's realtime guide).
 */
const KEY_PROTOCOL = "openai-insecure-api-key.";

/** The sub-protocols that a WebSocket handshake offers. */
export const offeredProtocols = ({ headers }: Request): string[] =>
  (headers.get("sec-websocket-protocol") ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/**
 * The presented key: Authorization (with or without Bearer), x-api-key, api-key, x-goog-api-key, mj-api-secret, a
 * WebSocket sub-protocol or ?key=. Undefined when there is none. The authenticator parses the key itself.
 */
export function presentedKey(request: Request): string | undefined {
  const { headers } = request;
  const authorization = headers.get("authorization");
  if (authorization) {
    const key = authorization.startsWith("Bearer ") ? authorization.slice(7) : authorization.replace(/^bearer\s+/i, "");
    if (key.trim() !== "") return key.trim();
  }
  const other =
    headers.get("x-api-key") ?? headers.get("api-key") ?? headers.get("x-goog-api-key") ?? headers.get("mj-api-secret");
  if (other) return other.trim();
  if (headers.has("sec-websocket-protocol")) {
    const protocol = offeredProtocols(request).find((name) => name.startsWith(KEY_PROTOCOL));
    if (protocol) return protocol.slice(KEY_PROTOCOL.length);
  }
  return inQuery(request, "key");
}

function inQuery({ url }: Request, name: string): string | undefined {
  const query = url.indexOf("?");
  return query < 0 ? undefined : (new URLSearchParams(url.slice(query)).get(name) ?? undefined);
}

/** The form of a dated API version. */
const VERSION = /^[\w.-]{1,32}$/;

/** The API version in the caller's URL (Azure's `?api-version=`), "" = none. */
export function askedVersion(request: Request): string {
  const version = inQuery(request, "api-version") ?? "";
  return VERSION.test(version) ? version : "";
}

/** The language of messages: English where the caller prefers it, Chinese otherwise. */
export function callerLang(request: Request): Lang {
  return /^\s*en/i.test(request.headers.get("accept-language") ?? "") ? "en" : "zh";
}

const EXPOSED = [
  "x-oneapi-request-id",
  "x-request-id",
  "retry-after",
  ...["limit", "remaining", "reset"].flatMap((fact) => [`x-ratelimit-${fact}-requests`, `x-ratelimit-${fact}-tokens`]),
].join(", ");

/**
 * The headers of every response: an allow list without any of the upstream's. `origin` is the caller's Origin header.
 */
function answerHeaders(contentType: string, requestId: string, origin: string | null): Record<string, string> {
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

/** Makes the responses of one call. */
export class Responder {
  /** Headers that report a caller's limits; undefined when the caller has none. */
  limits: Readonly<Record<string, string>> | undefined;
  /** Events are sent as one JSON array. */
  array = false;
  /** Samples the content where contents are kept. */
  tap: ContentTap | undefined;

  constructor(
    readonly requestId: string,
    readonly origin: string | null,
  ) {}

  /** A whole response. */
  json(body: string | Uint8Array<ArrayBuffer>, status = 200, more?: Record<string, string>): Response {
    const headers = answerHeaders("application/json", this.requestId, this.origin);
    if (more) Object.assign(headers, more);
    if (this.limits) Object.assign(headers, this.limits);
    return new Response(this.tap ? this.tap.take(body, "application/json") : body, { status, headers });
  }

  /** A forwarded response; `contentType` is one that the relay has chosen or recognised. */
  raw(body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>, contentType: string): Response {
    const headers = answerHeaders(contentType, this.requestId, this.origin);
    if (contentType.startsWith("text/event-stream")) headers["cache-control"] = "no-cache";
    if (this.limits) Object.assign(headers, this.limits);
    return new Response(this.tap ? this.tap.take(body, contentType) : body, { headers });
  }

  /** A forwarded file, whole or in part; `contentType` is one that the relay has chosen. */
  file(
    body: ReadableStream<Uint8Array> | null,
    contentType: string,
    status: number,
    more: Record<string, string>,
  ): Response {
    const headers = { ...answerHeaders(contentType, this.requestId, this.origin), ...more, ...this.limits };
    return new Response(body, { status, headers });
  }

  /** A streamed response. */
  events(body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>): Response {
    const type = this.array ? "application/json; charset=utf-8" : "text/event-stream; charset=utf-8";
    const headers = answerHeaders(type, this.requestId, this.origin);
    headers["cache-control"] = "no-cache";
    if (this.limits) Object.assign(headers, this.limits);
    const events = this.tap ? this.tap.take(body, type) : body;
    return new Response(this.array ? asJsonArray(events) : events, { headers });
  }

  /** An error in the caller's dialect. */
  error(dialect: CallerDialect, error: RelayError): Response {
    const retry = error.retry_after_s;
    return this.json(
      dialect.writeError(error),
      error.status,
      retry === undefined ? undefined : { "retry-after": String(retry) },
    );
  }

  /** The response to a browser's preflight request. */
  preflight(request: Request): Response {
    const headers = answerHeaders("text/plain", this.requestId, this.origin ?? "*");
    headers["access-control-allow-methods"] = "GET, POST, PUT, PATCH, DELETE, OPTIONS";
    headers["access-control-allow-headers"] = request.headers.get("access-control-request-headers") ?? "*";
    headers["access-control-max-age"] = "86400";
    return new Response(null, { status: 204, headers });
  }
}
