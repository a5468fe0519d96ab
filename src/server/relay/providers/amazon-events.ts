/** Amazon's binary event streams (application/vnd.amazon.eventstream) and errors, as the relay reads them: JSON. */
import { EventStreamCodec } from "@smithy/core/event-streams";
import type { OutFrame } from "../../protocol/dialects/translation";
import { isObject, type JsonObject, tryParse } from "../../lib/json-bytes";
import { asBuffer } from "../../lib/sse";
import { chunksOf } from "./framing";

/** Bytes of a message, at most: Amazon's own limit for a payload. */
const MESSAGE_LIMIT = 16 << 20;

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString("utf8"),
  (text) => Buffer.from(text, "utf8"),
);

/**
 * Splits a stream into its messages, each of which begins with its length in four bytes. Throws for a message that is
 * too large or truncated.
 */
async function* messagesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of chunksOf(body)) {
    rest = rest.length === 0 ? asBuffer(piece) : Buffer.concat([rest, piece]);
    while (rest.length >= 4) {
      const length = rest.readUInt32BE(0);
      if (length < 16 || length > MESSAGE_LIMIT) throw new Error("an event's length is impossible");
      if (rest.length < length) break;
      yield rest.subarray(0, length);
      rest = rest.subarray(length);
    }
  }
  if (rest.length > 0) throw Object.assign(new Error("an event was cut"), { code: "ECONNRESET" });
}

/** Amazon's error names as Anthropic's, so that one classification reads both. */
const errorTypes: Readonly<Record<string, string>> = {
  throttling: "rate_limit_error",
  servicequotaexceeded: "rate_limit_error",
  serviceunavailable: "overloaded_error",
  modelnotready: "overloaded_error",
  validation: "invalid_request_error",
  accessdenied: "permission_error",
  unrecognizedclient: "authentication_error",
  invalidsignature: "authentication_error",
  expiredtoken: "authentication_error",
  missingauthenticationtoken: "authentication_error",
  incompletesignature: "authentication_error",
  resourcenotfound: "model_not_found",
};

/**
 * Anthropic's error object for one of Amazon's. `name`: ThrottlingException, throttlingException, or with a suffix
 * after a colon.
 */
function amazonError(name: string, message: unknown): JsonObject {
  const bare = (name.split(":")[0] ?? "").replace(/Exception$/, "").toLowerCase();
  return {
    type: "error",
    error: { type: errorTypes[bare] ?? "api_error", message: typeof message === "string" ? message : name },
  };
}

/** An error response, with its error in Anthropic's form; Amazon names it in a header. */
export async function withError(response: Response): Promise<Response> {
  const body = tryParse(new Uint8Array(await response.arrayBuffer()));
  const said = isObject(body) ? (body.message ?? body.Message) : undefined;
  const headers = new Headers();
  for (const name of ["retry-after", "x-amzn-requestid"]) {
    const value = response.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  return Response.json(amazonError(response.headers.get("x-amzn-errortype") ?? "", said), {
    status: response.status,
    headers,
  });
}

/** The frames of a stream: `read` converts an event and its payload, undefined to skip it. */
export async function* jsonEvents(
  body: ReadableStream<Uint8Array> | null,
  read: (event: string, payload: JsonObject) => OutFrame | undefined,
): AsyncGenerator<OutFrame> {
  for await (const message of messagesOf(body)) {
    const { headers, body: bytes } = codec.decode(message);
    const said = (name: string): string => String(headers[name]?.value ?? "");
    const payload = tryParse(bytes);
    const kind = said(":message-type");
    if (kind === "exception" || kind === "error") {
      const name = said(":exception-type") || said(":error-code");
      const error = amazonError(
        name,
        (isObject(payload) ? payload.message : undefined) ?? (said(":error-message") || name),
      );
      yield { data: JSON.stringify(error), event: "error" };
      return;
    }
    const frame = isObject(payload) ? read(said(":event-type"), payload) : undefined;
    if (frame) yield frame;
  }
}
