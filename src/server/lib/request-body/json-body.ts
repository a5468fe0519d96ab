/**
 * A caller's JSON body: read within bounds by read-body.ts, parsed once for its facts, and sent on as it was written
 * (lib/json-bytes.ts changes single members).
 */
import { fail } from "../../../shared/errors";
import { isObject, type JsonObject, topLevelMembers, tryParse } from "../json-bytes";
import type { Bytes } from "../sse";

/** Parsed bodies, for as long as their bytes are in use: a translation reuses what the relay has parsed. */
const parsed = new WeakMap<Bytes, JsonObject>();

/** A body as a read-only object; undefined for what is no object. */
export function bodyObject(bytes: Bytes): JsonObject | undefined {
  const known = parsed.get(bytes);
  if (known) return known;
  const value = tryParse(bytes);
  return isObject(value) ? value : undefined;
}

/** Throws bad_json for what is no JSON, or no object. */
export function parseBody(bytes: Bytes): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8", 0, bytes.length));
  } catch {
    fail("bad_json");
  }
  if (!isObject(value)) fail("bad_json");
  if (ambiguous(bytes)) refuseDuplicates(bytes);
  parsed.set(bytes, value);
  return value;
}

const modelKey = Buffer.from('"model"');
// An ASCII letter or underscore written as \u00XX: no honest client does this to a member name.
const escapedLetter = /\\u00(?:[4-7][0-9a-fA-F])/;
const escape = Buffer.from("\\u00");

/** Whether "model" may be named twice at the top: price and upstream might then read different ones. */
function ambiguous(bytes: Bytes): boolean {
  const first = bytes.indexOf(modelKey);
  if (first >= 0 && bytes.indexOf(modelKey, first + 7) >= 0) return true;
  const escaped = bytes.indexOf(escape);
  return escaped >= 0 && escapedLetter.test(bytes.toString("latin1", escaped, bytes.length));
}

function refuseDuplicates(bytes: Bytes): void {
  let seen = false;
  for (const member of topLevelMembers(bytes)) {
    if (member.key !== "model") continue;
    if (seen) fail("invalid_request", { detail: "model" });
    seen = true;
  }
}

const QUOTE = 34;
const base64Mark = Buffer.from(";base64,");
/** Tokens assumed at most for one embedded file; vendors count an image as some thousands whatever its size. */
const EMBEDDED_TOKENS = 8192;

/**
 * An upper bound of the tokens of a body: a byte is at most one token, and an embedded file (data URL) counts as at
 * most EMBEDDED_TOKENS.
 */
export function inputTokenBound(bytes: Bytes): number {
  let bound = bytes.length;
  for (let at = bytes.indexOf(base64Mark); at >= 0; at = bytes.indexOf(base64Mark, at)) {
    const end = bytes.indexOf(QUOTE, at);
    const size = (end < 0 ? bytes.length : end) - at;
    if (size > EMBEDDED_TOKENS) bound -= size - EMBEDDED_TOKENS;
    at += size;
  }
  return bound;
}
