/** The responses of the relay: bodies, errors, CORS. */
import type { ContentTap } from "./content-tap";
import type { CallerDialect } from "../../protocol/dialects/dialect";
import type { RelayError } from "../../protocol/relay-error";
import { asJsonArray } from "../../lib/sse-to-json-array";
import { addHeaders, MODEL_HEADER, responseWith } from "./response-headers";

/** Makes the responses of one call. */
export class Responder {
  /** Headers that report a caller's limits; undefined when the caller has none. */
  limits: Readonly<Record<string, string>> | undefined;
  /** Events are sent as one JSON array. */
  array = false;
  /** Samples the content where contents are kept. */
  tap: ContentTap | undefined;
  /** The header in which SDKs of the caller's dialect look for the call's id, besides those of every response. */
  idHeader: "request-id" | undefined;

  /** The model that answers, where the caller named a virtual one and may know it. */
  model: string | undefined;

  constructor(
    readonly requestId: string,
    readonly origin: string | null,
  ) {}

  #respond(body: BodyInit | null, contentType: string, status = 200): Response {
    const response = responseWith(body, status, contentType, this.requestId, this.origin);
    if (this.idHeader) response.headers.set(this.idHeader, this.requestId);
    // encodeURI: a header takes no Chinese.
    if (this.model !== undefined) response.headers.set(MODEL_HEADER, encodeURI(this.model));
    return response;
  }

  /** A whole response. */
  json(body: string | Uint8Array<ArrayBuffer>, status = 200, more?: Record<string, string>): Response {
    const type = "application/json";
    const response = this.#respond(this.tap ? this.tap.take(body, type) : body, type, status);
    addHeaders(response, more);
    addHeaders(response, this.limits);
    return response;
  }

  /** A forwarded response; `contentType` is one that the relay has chosen or recognised. */
  raw(body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>, contentType: string): Response {
    const response = this.#respond(this.tap ? this.tap.take(body, contentType) : body, contentType);
    if (contentType.startsWith("text/event-stream")) response.headers.set("cache-control", "no-cache");
    addHeaders(response, this.limits);
    return response;
  }

  /** A forwarded file, whole or in part; `contentType` is one that the relay has chosen. */
  file(
    body: ReadableStream<Uint8Array> | null,
    contentType: string,
    status: number,
    more: Record<string, string>,
  ): Response {
    const response = this.#respond(body, contentType, status);
    addHeaders(response, more);
    addHeaders(response, this.limits);
    return response;
  }

  /** A streamed response. */
  events(body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>): Response {
    const type = this.array ? "application/json; charset=utf-8" : "text/event-stream; charset=utf-8";
    const events = this.tap ? this.tap.take(body, type) : body;
    const response = this.#respond(this.array ? asJsonArray(events) : events, type);
    response.headers.set("cache-control", "no-cache");
    addHeaders(response, this.limits);
    return response;
  }

  /** An error in the caller's dialect. */
  error(dialect: CallerDialect, error: RelayError): Response {
    const { status, retry_after_s, retry } = error;
    return this.json(dialect.writeError(error), status, {
      ...(retry_after_s !== undefined && { "retry-after": String(retry_after_s) }),
      // Obeyed by the SDKs of OpenAI and Anthropic (src/client.ts of both; read November 2026).
      ...(retry === false && { "x-should-retry": "false" }),
    });
  }

  /** The response to a browser's preflight request. */
  preflight(request: Request): Response {
    const response = responseWith(null, 204, "text/plain", this.requestId, this.origin ?? "*");
    addHeaders(response, {
      "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
      "access-control-allow-headers": request.headers.get("access-control-request-headers") ?? "*",
      "access-control-max-age": "86400",
    });
    return response;
  }
}
