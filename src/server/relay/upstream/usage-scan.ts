/**
 * Finds the usage and the error of a stream that passes through unchanged, in constant memory. Pictures are events of
 * many megabytes, so only the two objects themselves are kept.
 */
import { isObject, tryParse } from "../../lib/json-bytes";
import { asBuffer, type Bytes } from "../../lib/sse";

/** Most bytes of one object. */
const OBJECT_LIMIT = 8 << 10;
/** In valid JSON a quote inside a text is escaped, so a quote followed by a colon can only end a member's name. */
const names = { usage: Buffer.from('"usage"'), error: Buffer.from('"error"') };
const OVERLAP = 16;
const QUOTE = 34;
const BACKSLASH = 92;
const COLON = 58;

export class UsageScan {
  /** The last object `usage`. */
  usage: unknown;
  /** The first object `error`. */
  error: unknown;
  #rest: Bytes = Buffer.alloc(0);
  #taking: { name: keyof typeof names; bytes: Bytes } | undefined;

  push(chunk: Uint8Array): void {
    let bytes = this.#rest.length === 0 ? asBuffer(chunk) : Buffer.concat([this.#rest, chunk]);
    this.#rest = Buffer.alloc(0);
    for (;;) {
      if (this.#taking) {
        const all: Bytes = Buffer.concat([this.#taking.bytes, bytes]);
        const found = objectAfterColon(all);
        if (found === undefined && all.length <= OBJECT_LIMIT) {
          this.#taking.bytes = all;
          return;
        }
        if (found) this.#note(this.#taking.name, tryParse(all.subarray(...found)));
        this.#taking = undefined;
        bytes = found ? all.subarray(found[1]) : all;
      }
      const usage = bytes.indexOf(names.usage);
      const error = bytes.indexOf(names.error);
      const name = error >= 0 && (usage < 0 || error < usage) ? "error" : "usage";
      const at = name === "usage" ? usage : error;
      if (at < 0) {
        // A copy of a possibly incomplete name: the chunk may be large.
        this.#rest = Buffer.from(bytes.subarray(Math.max(0, bytes.length - OVERLAP)));
        return;
      }
      bytes = bytes.subarray(at + names[name].length);
      this.#taking = { name, bytes: Buffer.alloc(0) };
    }
  }

  #note(name: keyof typeof names, value: unknown): void {
    if (!isObject(value)) return;
    if (name === "usage") this.usage = value;
    else this.error ??= value;
  }
}

/**
 * The start and end of the object after a name and its colon; 0 when there is none, undefined when more data is needed.
 */
function objectAfterColon(bytes: Bytes): readonly [start: number, end: number] | 0 | undefined {
  let i = afterSpaces(bytes, 0);
  if (i < bytes.length && bytes[i] !== COLON) return 0;
  i = afterSpaces(bytes, i + 1);
  if (i >= bytes.length) return undefined;
  if (bytes[i] !== 123) return 0;
  const start = i;
  let depth = 0;
  let quoted = false;
  for (; i < bytes.length; i++) {
    const byte = bytes[i];
    if (quoted) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) quoted = true;
    else if (byte === 123) depth++;
    else if (byte === 125 && --depth === 0) return [start, i + 1];
  }
  return undefined;
}

function afterSpaces(bytes: Bytes, from: number): number {
  let i = from;
  while (bytes[i] === 32) i++;
  return i;
}
