/**
 * Sensitive words: a call whose texts contain one is refused before a channel or the ledger hears of it (checklist
 * D-21), or goes on with a mask in their place where the operator wants that (option StopOnSensitiveEnabled).
 */
import { fail } from "../../../shared/errors";
import { scanJson } from "../../lib/request-body/json-scan";
import { inputTokenBound, parseBody } from "../../lib/request-body/json-body";
import { isObject, tryParse } from "../../lib/json-bytes";
import type { Received } from "./receive";
import type { Operation } from "../operations/operation";
import type { ControlPlane } from "../../contracts/control-plane";
import type { Bytes } from "../../lib/sse";

/** Members that hold no text to read: files, addresses, and what vendors signed or encrypted. */
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

/** A file inside an address, and nothing but a file. */
const EMBEDDED = /^data:[\w.+/;=-]*;base64,[\w+/=-]*$/;

/**
 * Every text of a request, whichever dialect wrote it: messages, system prompts, tools and their results. Over all
 * members rather than over the known blocks of each dialect: a block that is not known must be no way around.
 */
export function* textsOf(body: unknown): Generator<string> {
  const rest: unknown[] = [body];
  for (let value = rest.pop(); value !== undefined || rest.length > 0; value = rest.pop()) {
    if (typeof value === "string") {
      if (!EMBEDDED.test(value)) yield value;
    } else if (Array.isArray(value)) {
      for (const item of value) rest.push(item);
    } else if (isObject(value)) {
      // An address may stand under an object of the same name; a sound or file as an object has texts beside its bytes.
      for (const [name, member] of Object.entries(value))
        if (typeof member !== "string" || !OPAQUE.has(name)) rest.push(member);
    }
  }
}

type Options = Pick<ControlPlane, "option">;

/** JSON text of a body with a mask in the place of each word; the same texts as `textsOf` reads. */
const masked = (body: unknown, mask: (text: string) => string): string =>
  JSON.stringify(body, (name, value: unknown) =>
    typeof value === "string" && !OPAQUE.has(name) && !EMBEDDED.test(value) ? mask(value) : value,
  );

/**
 * What of a call goes on: the same, or its body without the words. Throws sensitive_words_detected; always for a form,
 * which flows as it is.
 */
export function screened({ option }: Options, operation: Operation, received: Received): Received {
  const { json, form, body } = received;
  const words = option.sensitiveWords;
  const found = words && (form ? form.texts() : textsOf(json)).some((text) => words.occursIn(text));
  if (!found) return received;
  if (form || option.maskSensitive !== true) fail("sensitive_words_detected");
  // The body may hold more than what the caller sent: the turns that his call continues.
  const mask = (value: unknown): Bytes => Buffer.from(masked(value, (text) => words.mask(text)));
  const written = mask(parseBody(body));
  const said = parseBody(mask(json));
  const longer = Math.max(0, inputTokenBound(written) - inputTokenBound(body));
  return { body: written, json: said, form, asked: operation.read(said), input_bound: received.input_bound + longer };
}

/**
 * Throws sensitive_words_detected for what cannot go on with a mask: a job, whose input has been read and priced by
 * now.
 */
export function refuseSensitive({ option }: Options, asked: unknown): void {
  const words = option.sensitiveWords;
  if (words && textsOf(asked).some((text) => words.occursIn(text))) fail("sensitive_words_detected");
}

/** A realtime frame of sound: nothing to read. */
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
