/**
 * Reads along with a stream that is passed through: usage, finish, errors, content bytes. Regions of whole frames come
 * in, the bytes to forward come out; only frames that can matter are parsed.
 */
import type { AnswerReader } from "./answer";
import type { Dialect } from "./dialects/dialect";
import type { RelayError } from "./error";
import type { Usage, Warning, WireError } from "./events";
import { firstFrameEnd, lastFrameEnd, readFrame, type Bytes } from "./sse";

const nothing = Buffer.alloc(0);

export class Meter implements AnswerReader {
  /** The last usage that came: final values win. */
  usage: Usage | undefined;
  /** A finish reason came. */
  finished = false;
  /** The dialect's last word came: it is held back, and nothing after it counts. */
  done = false;
  /** The upstream's error frame; nothing after it counts. */
  error: WireError | undefined;
  /** A frame was not what the dialect writes; nothing after it counts. */
  malformed = false;
  /** What passes through loses nothing. */
  readonly warnings: readonly Warning[] = [];
  /** Bytes of generated content so far; not kept up once the answer is over and its usage known. */
  contentBytes = 0;

  constructor(
    readonly dialect: Dialect,
    /** The caller wants frames that carry nothing but usage. */
    readonly showUsage: boolean,
  ) {}

  /** True when nothing more is to be read. */
  get over(): boolean {
    return this.done || this.malformed || this.error !== undefined;
  }

  /** Takes whole frames; answers the bytes for the caller, possibly none. */
  feed(region: Bytes): Bytes {
    const at = this.dialect.notable(region);
    const out = at < 0 ? region : this.#sift(region, at);
    // What is complete and measured needs no estimate.
    if (!this.done || this.usage === undefined) this.contentBytes += this.dialect.contentBytes(region);
    return out;
  }

  end(): Uint8Array {
    return nothing;
  }

  close(): Uint8Array {
    return this.dialect.terminal;
  }

  fail(error: RelayError): Uint8Array {
    return this.dialect.errorFrame(error);
  }

  /** Reads the frames from the first notable one on; answers the region without the hidden ones. */
  #sift(region: Bytes, at: number): Bytes {
    // Frames before the first notable one go through unseen.
    const start = Math.max(0, lastFrameEnd(region, 0, at));
    const parts: Bytes[] = [];
    let keptFrom = 0;
    for (let from = start; from < region.length; ) {
      const next = firstFrameEnd(region, from, region.length);
      const end = next < 0 ? region.length : next;
      const hidden = this.#look(region.subarray(from, end));
      if (hidden) {
        if (from > keptFrom) parts.push(region.subarray(keptFrom, from));
        keptFrom = end;
      }
      if (this.over) {
        keptFrom = region.length;
        break;
      }
      from = end;
    }
    if (parts.length === 0 && keptFrom === 0) return region;
    if (keptFrom < region.length) parts.push(region.subarray(keptFrom));
    return parts.length === 0 ? nothing : parts.length === 1 ? (parts[0] ?? nothing) : Buffer.concat(parts);
  }

  /** Reads one frame; true when the caller does not get it. */
  #look(frame: Bytes): boolean {
    const { data } = readFrame(frame);
    if (data === undefined) return false;
    const events = this.dialect.decodeFrame(data);
    if (!events) {
      this.malformed = true;
      return true;
    }
    let hidden = false;
    for (const event of events) {
      switch (event.type) {
        case "finish":
          this.finished = true;
          break;
        case "usage":
          this.usage = event.usage;
          hidden = event.alone && !this.showUsage;
          break;
        case "error":
          this.error = event.error;
          return true;
        case "done":
          this.done = true;
          return true;
      }
    }
    return hidden;
  }
}
