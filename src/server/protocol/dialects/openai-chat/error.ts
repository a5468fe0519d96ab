/** OpenAI's error object: {error: {message, type, param, code}}, and the looser shapes of compatible vendors. */
import { isObject, type JsonObject } from "../../../lib/json-bytes";
import type { RelayError } from "../../relay-error";
import type { ErrorMembers, Usage, WireError } from "../../chat-events";
import { writeFrame } from "../../../lib/sse";
import { readBaseResp } from "./base-resp";
import { toWire } from "./error-body";
import { encodeUsage } from "./usage-encode";

const text = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";

/** The members that single vendors add and clients read; undefined without any. */
function membersOf({ failed_generation, metadata }: JsonObject): ErrorMembers | undefined {
  const { provider_name, raw } = isObject(metadata) ? metadata : {};
  const words = typeof raw === "string" ? raw : isObject(raw) ? JSON.stringify(raw) : "";
  const named = text(provider_name);
  const behind = { ...(named !== "" && { provider_name: named }), ...(words !== "" && { raw: words }) };
  const more = {
    ...(typeof failed_generation === "string" && { failed_generation }),
    ...(Object.keys(behind).length > 0 && { metadata: behind }),
  };
  return Object.keys(more).length > 0 ? more : undefined;
}

/**
 * Reads `error` as object or text, MiniMax's base_resp, Cloudflare's `errors`, else a bare {message|msg|detail, code}.
 * undefined when there is no sign of an error.
 */
export function readError(body: unknown): WireError | undefined {
  if (!isObject(body)) return undefined;
  const { error } = body;
  if (isObject(error)) {
    const more = membersOf(error);
    return {
      message: text(error.message) || text(error.msg),
      type: text(error.type),
      code: text(error.code),
      param: typeof error.param === "string" ? error.param : null,
      ...(more && { more }),
    };
  }
  if (typeof error === "string" && error !== "") {
    return { message: error, type: text(body.type), code: text(body.code), param: null };
  }
  const inside = Array.isArray(body.choices) ? undefined : readBaseResp(body);
  if (inside) return inside;
  const first: unknown = Array.isArray(body.errors) ? body.errors[0] : undefined;
  if (isObject(first)) return { message: text(first.message), type: "", code: text(first.code), param: null };
  const message = text(body.message) || text(body.msg) || text(body.detail);
  if (message === "" || Array.isArray(body.choices) || Array.isArray(body.data)) return undefined;
  return { message, type: text(body.type), code: text(body.code), param: null };
}

/** The body of an error answer. */
export const writeError = (error: RelayError): string => JSON.stringify(toWire(error));

/** The last frame of a stream that failed; no [DONE] follows. */
export const errorFrame = (error: RelayError, usage?: Usage): Uint8Array =>
  writeFrame(JSON.stringify({ ...toWire(error), ...(usage && { usage: encodeUsage(usage) }) }));
