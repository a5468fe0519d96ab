/** Sensitive words: a call whose texts contain one is refused before a channel or the ledger hears of it (checklist D-21). */
import { fail } from "../../shared/errors";
import { isObject, type JsonObject, tryParse } from "./json";
import type { Form } from "./operations/form";
import type { Seams } from "./seams";

/** Members that hold no text to read: files, addresses, and what vendors signed or encrypted. */
const OPAQUE = new Set([
  "data", "url", "image_url", "file_data", "file_url", "fileUri", "b64_json", "audio", "model",
  "signature", "thoughtSignature", "thought_signature", "encrypted_content", "id", "tool_call_id", "call_id", "tool_use_id",
]);

/** A file inside an address, and nothing but a file. */
const EMBEDDED = /^data:[\w.+/;=-]*;base64,[\w+/=-]*$/;

/**
 * Every text of a request, whichever dialect wrote it: messages, system prompts, tools and their results. Over all members
 * rather than over the known blocks of each dialect: a block that is not known must be no way around.
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
      for (const [name, member] of Object.entries(value)) if (typeof member !== "string" || !OPAQUE.has(name)) rest.push(member);
    }
  }
}

/** Throws sensitive_words_detected. */
export function refuseSensitive({ option }: Pick<Seams, "option">, { json, form }: { json?: JsonObject; form?: Form | undefined }): void {
  const words = option.sensitiveWords;
  if (!words) return;
  for (const text of form ? form.texts() : textsOf(json)) if (words.occursIn(text)) fail("sensitive_words_detected");
}

/** A realtime frame of sound: nothing to read. */
const SOUND = /^\s*\{[^{]{0,100}"type"\s*:\s*"input_audio_buffer\.append"/;

/** Throws sensitive_words_detected for an event of a realtime session that contains one. */
export function refuseSensitiveFrame({ option }: Pick<Seams, "option">, frame: string): void {
  if (!option.sensitiveWords || SOUND.test(frame)) return;
  const event = tryParse(Buffer.from(frame));
  if (isObject(event)) refuseSensitive({ option }, { json: event });
}
