/**
 * What a parser would make of JSON text, counted over its bytes before anything is parsed: 60 MB of `{},{},…` would stop the
 * process for seconds and take gigabytes. Numbers are not counted: an embedding call may hold millions of token ids.
 */
import { AppError } from "../../shared/errors";

/** Most that one JSON text of a caller may hold. */
export const JSON_LIMITS = {
  /** Objects and arrays. */
  containers: 100_000,
  /** Objects and arrays inside one another. */
  depth: 100,
  /** Names of members, and texts. */
  strings: 500_000,
} as const;

const QUOTE = 34;
const BACKSLASH = 92;
/** Bytes of a string that are looked at one by one before a search begins: most strings are short, and a search costs more to start. */
const SHORT = 16;

/** Counts text that arrives in pieces of any size. What is no JSON is for the parser to say. */
export class JsonScan {
  #containers = 0;
  #strings = 0;
  #depth = 0;
  #inString = false;
  /** The piece ended inside a string with a backslash that escapes the next byte. */
  #escaping = false;

  /** Throws body_too_complex as soon as a limit is passed. */
  push(bytes: Uint8Array): void {
    let at = this.#inString ? this.#stringEnd(bytes, 0) : 0;
    while (at < bytes.length) {
      switch (bytes[at++]) {
        case QUOTE: {
          this.#strings++;
          const near = Math.min(bytes.length, at + SHORT);
          while (at < near && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++;
          at = bytes[at] === QUOTE ? at + 1 : this.#stringEnd(bytes, at);
          break;
        }
        case 123: // {
        case 91: // [
          this.#containers++;
          if (++this.#depth > JSON_LIMITS.depth) this.#refuse();
          break;
        case 125: // }
        case 93: // ]
          this.#depth--;
          break;
      }
    }
    if (this.#containers > JSON_LIMITS.containers || this.#strings > JSON_LIMITS.strings) this.#refuse();
  }

  /** The index after the closing quote of the string that `from` is in; the length when it goes on in the next piece. */
  #stringEnd(bytes: Uint8Array, from: number): number {
    const start = this.#escaping ? from + 1 : from;
    this.#escaping = false;
    for (let quote = bytes.indexOf(QUOTE, start); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1)) {
      if (isEscaped(bytes, quote, start)) continue;
      this.#inString = false;
      return quote + 1;
    }
    this.#inString = true;
    this.#escaping = isEscaped(bytes, bytes.length, start);
    return bytes.length;
  }

  #refuse(): never {
    throw new AppError("body_too_complex", JSON_LIMITS);
  }
}

/** Whether an odd number of backslashes stands before `at`. */
function isEscaped(bytes: Uint8Array, at: number, start: number): boolean {
  let first = at;
  while (first > start && bytes[first - 1] === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

/** Throws body_too_complex for text that is too much to parse. */
export const scanJson = (bytes: Uint8Array): void => new JsonScan().push(bytes);
