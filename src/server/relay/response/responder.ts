/** The responses of the relay: bodies, errors, CORS. */
import type { ContentTap } from "./content-tap";
import type { CallerDialect } from "../../protocol/dialects/dialect";
import type { RelayError } from "../../protocol/relay-error";
import { asJsonArray } from "../../lib/sse-to-json-array";
import { answerHeaders, MODEL_HEADER } from "./response-headers";

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

  #headers(contentType: string): Record<string, string> {
    const headers = answerHeaders(contentType, this.requestId, this.origin);
    if (this.idHeader) headers[this.idHeader] = this.requestId;
    // encodeURI: a header takes no Chinese.
    if (this.model !== undefined) headers[MODEL_HEADER] = encodeURI(this.model);
    return headers;
  }

  /** A whole response. */
  json(body: string | Uint8Array<ArrayBuffer>, status = 200, more?: Record<string, string>): Response {
    const headers = this.#headers("application/json");
    if (more) Object.assign(headers, more);
    if (this.limits) Object.assign(headers, this.limits);
    return new Response(this.tap ? this.tap.take(body, "application/json") : body, { status, headers });
  }

  /** A forwarded response; `contentType` is one that the relay has chosen or recognised. */
  raw(body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>, contentType: string): Response {
    const headers = this.#headers(contentType);
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
    const headers = { ...this.#headers(contentType), ...more, ...this.limits };
    return new Response(body, { status, headers });
  }

  /** A streamed response. */
  events(body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>): Response {
    const type = this.array ? "application/json; charset=utf-8" : "text/event-stream; charset=utf-8";
    const headers = this.#headers(type);
    headers["cache-control"] = "no-cache";
    if (this.limits) Object.assign(headers, this.limits);
    const events = this.tap ? this.tap.take(body, type) : body;
    return new Response(this.array ? asJsonArray(events) : events, { headers });
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
    const headers = answerHeaders("text/plain", this.requestId, this.origin ?? "*");
    headers["access-control-allow-methods"] = "GET, POST, PUT, PATCH, DELETE, OPTIONS";
    headers["access-control-allow-headers"] = request.headers.get("access-control-request-headers") ?? "*";
    headers["access-control-max-age"] = "86400";
    return new Response(null, { status: 204, headers });
  }
}
