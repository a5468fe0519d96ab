/**
 * Server-sent events: bytes -> whole frames -> bytes (WHATWG HTML, 9.2). All SSE code is here. Lines end in LF, CR or
 * CRLF; a blank line ends a frame; bytes may be cut anywhere.
 */

/** Unshared bytes: no other thread has them. */
export type Bytes = Buffer<ArrayBuffer>;

const LF = 10;
const CR = 13;
const empty = Buffer.alloc(0);

/** Most bytes of an unfinished frame that has no share of the process's memory for large frames. */
export const TAIL_LIMIT = 1 << 20;
/** Most bytes of any unfinished frame: pictures are one frame each, and the last one of some dialects repeats all. */
export const FRAME_LIMIT = 32 << 20;
/** The same of all unfinished frames of the process, beyond the TAIL_LIMIT of each. */
const LARGE_FRAMES_LIMIT = 128 << 20;

/** A frame exceeded the limit without an end. */
export class FrameTooLarge extends Error {
  override readonly name = "FrameTooLarge";
}

/**
 * Views unshared bytes as a Buffer. The same object: a view of its memory (`bytes.buffer`) would cost 400 bytes of
 * garbage and 150 ns for each piece of each stream.
 */
export const asBuffer = (bytes: Uint8Array): Bytes =>
  // fetch and the server never return shared memory; their types do not say so.
  Object.setPrototypeOf(bytes, Buffer.prototype) as Bytes;

/**
 * The end (exclusive) of the last whole frame in [from, to), or -1. A blank line is two line ends in a row; a CR that
 * is followed by LF is one line end.
 */
export function lastFrameEnd(bytes: Uint8Array, from: number, to: number): number {
  for (let i = to - 1; i > from; i--) {
    const byte = bytes[i];
    if (byte !== LF && byte !== CR) continue;
    // The byte before the line end that ends at i.
    const before = byte === LF && bytes[i - 1] === CR ? i - 2 : i - 1;
    if (before >= from && (bytes[before] === LF || bytes[before] === CR)) return i + 1;
  }
  return -1;
}

/** The end (exclusive) of the first whole frame in [from, to), or -1. */
export function firstFrameEnd(bytes: Uint8Array, from: number, to: number): number {
  for (let i = from; i < to; i++) {
    const byte = bytes[i];
    if (byte !== LF && byte !== CR) continue;
    const next = byte === CR && bytes[i + 1] === LF ? i + 2 : i + 1;
    if (next >= to) return -1;
    const after = bytes[next];
    if (after === LF) return next + 1;
    if (after === CR) return next + 1 < to && bytes[next + 1] === LF ? next + 2 : next + 1;
    i = next - 1;
  }
  return -1;
}

/** Memory that unfinished frames share. */
export class FrameMemory {
  #left: number;

  constructor(limit: number) {
    this.#left = limit;
  }

  /** Bytes that are free. */
  get left(): number {
    return this.#left;
  }

  /** Takes `bytes` (negative: gives back); false, and nothing is taken, when so many are not free. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/** That of the process. */
const largeFrames = new FrameMemory(LARGE_FRAMES_LIMIT);

/**
 * Cuts a stream of bytes into regions of whole frames; what follows the last blank line waits (at most `limit` bytes,
 * those beyond TAIL_LIMIT in `memory`: `end` must then be called, however the stream ends).
 */
export class FrameSplitter {
  /** The pieces that wait: they contain no frame end, and are joined once, when it comes. */
  #tail: Bytes[] = [];
  #waiting = 0;
  /** Bytes taken from the shared memory. */
  #taken = 0;

  constructor(
    readonly limit = TAIL_LIMIT,
    readonly memory = largeFrames,
  ) {}

  /** The whole frames that are complete by now, undefined when there is none. Throws FrameTooLarge. */
  push(chunk: Uint8Array): Bytes | undefined {
    const fresh = asBuffer(chunk);
    // A line end may straddle the cut: look at three bytes again.
    const edge = this.#lastBytes(3);
    const seen = edge.length === 0 ? fresh : Buffer.concat([edge, fresh]);
    const found = lastFrameEnd(seen, 0, seen.length);
    const end = found < 0 ? -1 : this.#waiting - edge.length + found;
    const whole = end < 0 ? undefined : this.#tail.length === 0 ? fresh : Buffer.concat([...this.#tail, fresh]);
    const rest = whole ? whole.subarray(end) : fresh;
    this.#waiting = whole ? rest.length : this.#waiting + rest.length;
    if (this.#waiting > TAIL_LIMIT || this.#taken > 0) this.#takeMemory();
    if (whole) this.#tail = [];
    // A copy, so that a short tail does not keep a large chunk alive.
    if (rest.length > 0) this.#keep(Buffer.from(rest));
    return whole?.subarray(0, end);
  }

  #takeMemory(): void {
    const more = Math.max(0, this.#waiting - TAIL_LIMIT) - this.#taken;
    if (this.#waiting > this.limit || !this.memory.take(more))
      throw new FrameTooLarge("a frame of the stream is too large");
    this.#taken += more;
  }

  /** Pieces grow as they are joined, so that many small ones cost little time and memory. */
  #keep(piece: Bytes): void {
    for (let before = this.#tail.at(-1); before && before.length <= piece.length; before = this.#tail.at(-1)) {
      piece = Buffer.concat([before, piece]);
      this.#tail.pop();
    }
    this.#tail.push(piece);
  }

  /** The rest when the stream ends: a frame without its blank line, or nothing. */
  end(): Bytes {
    const rest = this.#tail.length === 1 ? (this.#tail[0] ?? empty) : Buffer.concat(this.#tail);
    this.#tail = [];
    this.#waiting = 0;
    this.memory.take(-this.#taken);
    this.#taken = 0;
    return rest;
  }

  /** At most `count` bytes from the end of what waits. */
  #lastBytes(count: number): Bytes {
    const last = this.#tail.at(-1);
    if (!last) return empty;
    if (last.length >= count) return last.subarray(last.length - count);
    const few = Buffer.concat(this.#tail.slice(-count));
    return few.subarray(Math.max(0, few.length - count));
  }
}

/** The frames of a region of whole frames, one by one. */
export function* wholeFrames(region: Bytes | undefined): Generator<Bytes> {
  for (let from = 0; region && from < region.length;) {
    const next = firstFrameEnd(region, from, region.length);
    const end = next < 0 ? region.length : next;
    yield region.subarray(from, end);
    from = end;
  }
}

/**
 * One parsed frame. `data` is undefined when the frame has none (comments, pings, an empty data line: no event, WHATWG
 * HTML 9.2.6).
 */
export interface Frame {
  event: string;
  data: string | undefined;
}

/** The lines of a frame. Few have a CR, and splitting at one letter is quicker. */
const linesOf = (text: string): string[] => (text.includes("\r") ? text.split(/\r\n|\n|\r/) : text.split("\n"));

/** Parses one whole frame. */
export const readFrame = (frame: Bytes): Frame => readLines(frame.toString("utf8", 0, frame.length));

function readLines(text: string): Frame {
  let event = "";
  let data: string | undefined;
  for (const line of linesOf(text)) {
    if (line.startsWith("data:")) {
      const value = line.charCodeAt(5) === 32 ? line.slice(6) : line.slice(5);
      data = data === undefined ? value : `${data}\n${value}`;
    } else if (line.startsWith("event:")) {
      event = line.slice(6).trim();
    } else if (line.startsWith("\uFEFFdata:")) {
      data = line.slice(6).trimStart();
    }
  }
  return { event, data: data === "" ? undefined : data };
}

/**
 * Whether a whole frame is one line of data and a blank line, ended by LF or CRLF: all that clients read which do not
 * implement the event stream format.
 */
export function isPlainFrame(frame: Bytes): boolean {
  const lf = frame.indexOf(LF);
  const cr = frame.indexOf(CR);
  const blank = cr < 0 ? lf === frame.length - 2 : cr === frame.length - 4 && lf === cr + 1;
  return blank && frame.subarray(0, DATA.length).equals(DATA_BYTES);
}

const DATA = "data:";
const DATA_BYTES = Buffer.from(DATA);

/** Whether whole frames may contain an event: comments have no data. */
export const mayHoldEvent = (region: Bytes): boolean => region.includes(DATA);

/**
 * The data of the frame in `text` from `from` to `end`. Most frames are an event's name and one line of data: those are
 * read without splitting the lines.
 */
export function frameData(text: string, from: number, end: number): string | undefined {
  const at = text.startsWith("event:", from) ? text.indexOf("\n", from) + 1 : from;
  const lineEnd = text.indexOf("\n", at);
  if (!text.startsWith(DATA, at) || lineEnd !== end - 2) return readLines(text.slice(from, end)).data;
  const begin = at + DATA.length + (text.charCodeAt(at + DATA.length) === 32 ? 1 : 0);
  return begin === lineEnd ? undefined : text.slice(begin, lineEnd);
}

/**
 * Every field of a frame by name, for vendors whose events have further fields. Lines of one field are joined by LF.
 */
export function readFields(frame: Bytes): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const line of frame.toString("utf8").split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const name = line.slice(0, colon);
    const value = line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    fields[name] = fields[name] === undefined ? value : `${fields[name]}\n${value}`;
  }
  return fields;
}

/** A frame with one data line; `data` must not contain a line end. */
export function writeFrame(data: string, event?: string): Bytes {
  return Buffer.from(event ? `event: ${event}\ndata: ${data}\n\n` : `data: ${data}\n\n`);
}

/** A comment frame: keeps proxies and clients awake without an event. */
export const PING: Uint8Array = Buffer.from(": ping\n\n");
