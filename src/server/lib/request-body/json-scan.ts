/**
 * The size of what a parser would make of JSON text, counted over its bytes before anything is parsed: 60 MB of
 * `{},{},…` would stop the process for seconds and take gigabytes. Numbers are not counted: an embedding call may hold
 * millions of token ids.
 */
import { AppError } from "../../../shared/errors";

/** The most that one JSON text of a caller may contain. */
export const JSON_LIMITS = {
  /** Objects and arrays. */
  containers: 100_000,
  /** Objects and arrays inside one another. */
  depth: 100,
  /** Names of members, and texts. */
  strings: 500_000,
  /** Different names: each costs a parser more than the object that it is in. */
  names: 20_000,
} as const;

const QUOTE = 34;
const BACKSLASH = 92;
/**
 * Bytes of a string that are compared one by one before a search starts: most strings are short, and a search costs
 * more to start.
 */
const SHORT = 16;
/** Names that are not compared at all: few bodies have more. */
const NAMES_FREE = 1000;
/** Bits, a power of two, that represent names; two that share one count as one, which lets a few more through. */
const NAME_BITS = 1 << 18;
/** Bytes of a name up to which a loop is quicker than a call. */
const SHORT_NAME = 64;
/** Random per process, so that no caller can construct names that share a bit. */
const SEED = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;

/** Counts text that arrives in pieces of any size. Invalid JSON is left to the parser. */
export class JsonScan {
  #containers = 0;
  #strings = 0;
  #depth = 0;
  #inString = false;
  /** The piece ended inside a string with a backslash that escapes the next byte. */
  #escaping = false;
  #names = 0;
  #different = 0;
  #seen: Uint32Array | undefined;

  /** Throws body_too_complex as soon as a limit is passed. */
  push(bytes: Uint8Array): void {
    let at = this.#inString ? this.#stringEnd(bytes, 0) : 0;
    // Of the last string: from behind its first quote to behind its second.
    let start = 0;
    let end = at;
    while (at < bytes.length) {
      switch (bytes[at++]) {
        case QUOTE: {
          this.#strings++;
          start = at;
          const near = Math.min(bytes.length, at + SHORT);
          while (at < near && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++;
          at = bytes[at] === QUOTE ? at + 1 : this.#stringEnd(bytes, at);
          end = at;
          break;
        }
        case 58: // :
          if (++this.#names > NAMES_FREE) this.#note(bytes, start, end);
          break;
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

  /** Counts a name, [start, end). */
  #note(bytes: Uint8Array, start: number, end: number): void {
    this.#seen ??= new Uint32Array(NAME_BITS >>> 5);
    const bit = hashOf(bytes, start, end) & (NAME_BITS - 1);
    const mask = 1 << (bit & 31);
    const word = this.#seen[bit >>> 5] ?? 0;
    if ((word & mask) !== 0) return;
    this.#seen[bit >>> 5] = word | mask;
    if (++this.#different > JSON_LIMITS.names - NAMES_FREE) this.#refuse();
  }

  /**
   * The index after the closing quote of the string that `from` is in; the length when it continues in the next piece.
   */
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

/** FNV-1a; of long names xxHash, which is native. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > SHORT_NAME) return Bun.hash.xxHash32(bytes.subarray(start, end), SEED);
  let hash = SEED;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash ^ (hash >>> 15);
}

/** Whether an odd number of backslashes is before `at`. */
function isEscaped(bytes: Uint8Array, at: number, start: number): boolean {
  let first = at;
  while (first > start && bytes[first - 1] === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}

/** Throws body_too_complex for text that is too much to parse. */
export const scanJson = (bytes: Uint8Array): void => new JsonScan().push(bytes);
