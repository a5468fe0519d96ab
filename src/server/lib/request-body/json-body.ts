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

/** Throws bad_json for what is no JSON, or no object, and invalid_request for a decisive member that is there twice. */
export function parseBody(bytes: Bytes): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8", 0, bytes.length));
  } catch {
    fail("bad_json");
  }
  if (!isObject(value)) fail("bad_json");
  const repeated = repeatedMember(bytes, value);
  if (repeated !== undefined) fail("invalid_request", { detail: `duplicate member "${repeated}"` });
  parsed.set(bytes, value);
  return value;
}

/**
 * Members by which a call is routed, priced or bounded. Of two with one name the parser keeps the last and a vendor may
 * read the first, so the price would be that of another call.
 */
const DECISIVE: ReadonlyMap<string, Buffer> = new Map(
  [
    ...["model", "stream", "background", "n", "best_of"],
    ...["max_tokens", "max_completion_tokens", "max_output_tokens", "generationConfig", "generation_config"],
    ...["service_tier", "serviceTier", "speed", "inference_geo", "extra_body"],
    ...["size", "quality", "partial_images", "seconds", "duration", "resolution"],
  ].map((name) => [name, Buffer.from(JSON.stringify(name))]),
);
// An ASCII letter or underscore written as \u00XX: no honest client does this to a member name.
const escapedLetter = /\\u00(?:[4-7][0-9a-fA-F])/;
const escape = Buffer.from("\\u00");

/** The name of a decisive member that JSON text has twice, in its outermost object or in `extra_body`. */
export function repeatedMember(bytes: Bytes, value: JsonObject): string | undefined {
  if (!mayRepeat(bytes, value)) return undefined;
  const seen = new Set<string>();
  for (const { key, start, end } of topLevelMembers(bytes)) {
    if (!DECISIVE.has(key)) continue;
    if (seen.has(key)) return key;
    seen.add(key);
    if (key !== "extra_body" || !isObject(value.extra_body)) continue;
    const inner = repeatedMember(bytes.subarray(start, end), value.extra_body);
    if (inner !== undefined) return `extra_body.${inner}`;
  }
  return undefined;
}

/** Quicker than reading the members: whether the text of a name that was found is there a second time. */
function mayRepeat(bytes: Bytes, value: JsonObject): boolean {
  for (const name in value) {
    const text = DECISIVE.get(name);
    if (!text) continue;
    if (name === "extra_body" && isObject(value[name])) return true;
    const first = bytes.indexOf(text);
    if (first >= 0 && bytes.includes(text, first + text.length)) return true;
  }
  const escaped = bytes.indexOf(escape);
  return escaped >= 0 && escapedLetter.test(bytes.toString("latin1", escaped, bytes.length));
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
