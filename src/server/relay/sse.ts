/**
 * Server-sent events: bytes -> whole frames -> bytes. The only SSE code in the house (WHATWG HTML, 9.2).
 * Lines end in LF, CR or CRLF; a blank line ends a frame; bytes may be cut anywhere.
 */

/** Bytes of ours: never shared with another thread. */
export type Bytes = Buffer<ArrayBuffer>;

const LF = 10;
const CR = 13;
const empty = Buffer.alloc(0);

/** Most bytes of a frame that has not ended. */
export const TAIL_LIMIT = 1 << 20;

/** A frame grew beyond TAIL_LIMIT without an end. */
export class FrameTooLarge extends Error {
  override readonly name = "FrameTooLarge";
}

/** Looks at bytes as a Buffer, without a copy. */
export function asBuffer(bytes: Uint8Array): Bytes {
  // fetch and the server never give shared memory, their types do not say so.
  return Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * The end (exclusive) of the last whole frame in [from, to), or -1. A blank line is two line ends in a row; a CR that is
 * followed by LF is one line end.
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

/** Cuts a stream of bytes into regions of whole frames; what follows the last blank line waits (at most 1 MB). */
export class FrameSplitter {
  #tail: Bytes = empty;
  /** Bytes of the tail already known to hold no frame end. */
  #searched = 0;

  /** The whole frames that are now complete, undefined when there is none. Throws FrameTooLarge. */
  push(chunk: Uint8Array): Bytes | undefined {
    const fresh = asBuffer(chunk);
    const bytes = this.#tail.length === 0 ? fresh : Buffer.concat([this.#tail, fresh]);
    // A line end may straddle the cut: look at three bytes again.
    const end = lastFrameEnd(bytes, Math.max(0, this.#searched - 3), bytes.length);
    const rest = end < 0 ? bytes : bytes.subarray(end);
    if (rest.length > TAIL_LIMIT) throw new FrameTooLarge("a frame of the stream is too large");
    // A copy, so that a short tail does not keep a large chunk alive.
    this.#tail = rest.length === 0 ? empty : Buffer.from(rest);
    this.#searched = rest.length;
    return end < 0 ? undefined : bytes.subarray(0, end);
  }

  /** What is left when the stream ends: a frame without its blank line, or nothing. */
  end(): Bytes {
    const rest = this.#tail;
    this.#tail = empty;
    this.#searched = 0;
    return rest;
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

/** One frame, read. `data` is undefined when the frame has none (comments, pings, an empty data line: no event, WHATWG HTML 9.2.6). */
export interface Frame {
  event: string;
  data: string | undefined;
}

/** Reads one whole frame. */
export function readFrame(frame: Bytes): Frame {
  const text = frame.toString("utf8", 0, frame.length);
  let event = "";
  let data: string | undefined;
  for (const line of text.split(/\r\n|\n|\r/)) {
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

/** Every field of a frame by name, for vendors that have more of them than events have. Lines of one field are joined by LF. */
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

/** A frame with one data line; `data` must hold no line end. */
export function writeFrame(data: string, event?: string): Bytes {
  return Buffer.from(event ? `event: ${event}\ndata: ${data}\n\n` : `data: ${data}\n\n`);
}

/** A comment frame: keeps proxies and clients awake, means nothing. */
export const PING: Uint8Array = Buffer.from(": ping\n\n");
