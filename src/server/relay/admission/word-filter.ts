/**
 * Sensitive words: a call whose texts contain one is refused before any channel or the ledger is involved (D-21), or
 * goes on with a mask in place of the words where the operator wants that (option StopOnSensitiveEnabled).
 */
import { fail } from "../../../shared/errors";
import { scanJson } from "../../lib/request-body/json-scan";
import { inputTokenBound, parseBody } from "../../lib/request-body/json-body";
import { isObject, tryParse } from "../../lib/json-bytes";
import type { Received } from "./receive";
import type { Operation } from "../operations/operation";
import type { ControlPlane } from "../../contracts/control-plane";
import type { Bytes } from "../../lib/sse";

/** Members that contain no readable text: files, addresses, and data that vendors signed or encrypted. */
const OPAQUE = new Set([
  "data",
  "url",
  "image_url",
  "file_data",
  "file_url",
  "fileUri",
  "b64_json",
  "audio",
  "model",
  "signature",
  "thoughtSignature",
  "thought_signature",
  "encrypted_content",
  "id",
  "tool_call_id",
  "call_id",
  "tool_use_id",
]);

/** A data URL that contains a file and nothing else. */
const EMBEDDED = /^data:[\w.+/;=-]*;base64,[\w+/=-]*$/;

/**
 * Every text of a request in any dialect: messages, system prompts, tools and their results. It walks all members
 * instead of each dialect's known blocks, so that an unknown block cannot bypass the filter.
 */
export function* textsOf(body: unknown): Generator<string> {
  const rest: unknown[] = [body];
  for (let value = rest.pop(); value !== undefined || rest.length > 0; value = rest.pop()) {
    if (typeof value === "string") {
      if (!EMBEDDED.test(value)) yield value;
    } else if (Array.isArray(value)) {
      for (const item of value) rest.push(item);
    } else if (isObject(value)) {
      // An address may be inside an object of the same name; a sound or file given as an object has texts beside its
      // bytes.
      for (const name in value) {
        const member = value[name];
        if (typeof member !== "string" || !OPAQUE.has(name)) rest.push(member);
      }
    }
  }
}

type Options = Pick<ControlPlane, "option">;

/** JSON text of a body with a mask in place of each word; covers the same texts as `textsOf`. */
const masked = (body: unknown, mask: (text: string) => string): string =>
  JSON.stringify(body, (name, value: unknown) =>
    typeof value === "string" && !OPAQUE.has(name) && !EMBEDDED.test(value) ? mask(value) : value,
  );

/**
 * The call that goes on: unchanged, or its body with the words masked. Throws sensitive_words_detected; always for a
 * form, which is forwarded unchanged.
 */
export function screened({ option }: Options, operation: Operation, received: Received): Received {
  const { json, form, body } = received;
  const words = option.sensitiveWords;
  const found = words && (form ? form.texts() : textsOf(json)).some((text) => words.occursIn(text));
  if (!found) return received;
  if (form || option.maskSensitive !== true) fail("sensitive_words_detected");
  // The body may contain more than the caller sent: the earlier turns of a conversation that it continues.
  const mask = (value: unknown): Bytes => Buffer.from(masked(value, (text) => words.mask(text)));
  const written = mask(parseBody(body));
  const said = parseBody(mask(json));
  const longer = Math.max(0, inputTokenBound(written) - inputTokenBound(body));
  return { body: written, json: said, form, asked: operation.read(said), input_bound: received.input_bound + longer };
}

/** Throws sensitive_words_detected where masking is impossible: a job, whose input has already been read and priced. */
export function refuseSensitive({ option }: Options, asked: unknown): void {
  const words = option.sensitiveWords;
  if (words && textsOf(asked).some((text) => words.occursIn(text))) fail("sensitive_words_detected");
}

/** A realtime audio frame, which has no text. */
const SOUND = /^\s*\{[^{]{0,100}"type"\s*:\s*"input_audio_buffer\.append"/;

/** The same for an event of a realtime session. */
export function screenedFrame({ option }: Options, frame: string): string {
  const words = option.sensitiveWords;
  if (!words || SOUND.test(frame)) return frame;
  const bytes = Buffer.from(frame);
  scanJson(bytes);
  const event = tryParse(bytes);
  if (!isObject(event) || !textsOf(event).some((text) => words.occursIn(text))) return frame;
  if (option.maskSensitive !== true) fail("sensitive_words_detected");
  return masked(event, (text) => words.mask(text));
}
