/**
 * Reads a stream that is passed through: usage, finish, errors, content bytes. Regions of whole frames come in, the
 * bytes to forward come out; only frames that can matter are parsed.
 */
import type { AnswerReader } from "./answer-reader";
import type { Dialect } from "../../protocol/dialects/dialect";
import type { RelayError } from "../../protocol/relay-error";
import type { Usage, Warning, WireError } from "../../protocol/chat-events";
import { isObject } from "../../lib/json-bytes";
import { firstFrameEnd, lastFrameEnd, readFrame, type Bytes, writeFrame } from "../../lib/sse";
import { UsageTally } from "../../protocol/usage-tally";
import { countsOutput, tellable, wantsContent } from "../../protocol/usage-check";

const EMPTY = Buffer.alloc(0);

/** The error's chunk reduced to its usage. */
function withoutError(data: string): Bytes | undefined {
  const chunk: unknown = JSON.parse(data);
  if (!isObject(chunk)) return undefined;
  const { error: _, ...rest } = chunk;
  return writeFrame(JSON.stringify({ ...rest, choices: [] }));
}

export class OpenAiPassthrough implements AnswerReader {
  /** The content is not measured any more once the response is over and its usage is plausible. */
  readonly tally = new UsageTally();
  /** A finish reason came. */
  finished = false;
  /** The dialect's last event came: it is held back, and nothing after it counts. */
  done = false;
  /** The upstream's error frame; nothing after it counts. */
  error: WireError | undefined;
  /** A frame was invalid in the dialect; nothing after it counts. */
  malformed = false;
  /** Passthrough loses no content. */
  readonly warnings: readonly Warning[] = [];
  /**
   * In the current region: the position up to which content is measured, and the last usage with the end of its frame.
   */
  #measured = 0;
  #told: { usage: Usage; end: number } | undefined;
  /** End of what counts in that region: what comes behind the last frame is not passed on, and costs nothing. */
  #until = 0;
  /** The usage in the error frame, and that usage as a frame for a caller who requested usage. */
  #spent: { usage: Usage; frame: Bytes | undefined } | undefined;

  constructor(
    readonly dialect: Dialect,
    /** The caller requested frames that contain only usage. */
    readonly showUsage: boolean,
  ) {}

  /** True when nothing more has to be read. */
  get over(): boolean {
    return this.done || this.malformed || this.error !== undefined;
  }

  get usage(): Usage | undefined {
    return this.tally.usage;
  }

  /** Takes whole frames; returns the bytes for the caller, possibly none. */
  feed(region: Bytes): Bytes {
    this.#measured = 0;
    this.#until = region.length;
    const at = this.dialect.notable(region);
    const out = at < 0 ? region : this.#filter(region, at);
    // A complete and counted response needs no estimate.
    if (this.done && this.#told && !wantsContent(this.#told.usage)) this.#tell(this.#told.usage);
    else {
      if (this.#told) this.#measureTo(region, this.#told.end);
      if (this.#told) this.#tell(this.#told.usage);
      if (!this.done || this.usage === undefined || wantsContent(this.usage)) this.#measureTo(region, this.#until);
    }
    return out;
  }

  #measureTo(region: Bytes, end: number): void {
    this.tally.contentBytes += this.dialect.contentBytes(
      this.#measured === 0 && end === region.length ? region : region.subarray(this.#measured, end),
    );
    this.#measured = end;
  }

  #tell(usage: Usage): void {
    this.#told = undefined;
    this.tally.add(usage);
  }

  /** A frame of the region contains usage. Measured once for each region, however many frames count. */
  #count(region: Bytes, usage: Usage, end: number): void {
    if (this.#told && !countsOutput(usage) && countsOutput(this.#told.usage)) {
      this.#measureTo(region, this.#told.end);
      this.#tell(this.#told.usage);
    }
    this.#told = { usage, end };
  }

  end(): Uint8Array {
    return EMPTY;
  }

  close(): Uint8Array {
    return this.dialect.terminal;
  }

  fail(error: RelayError): Uint8Array {
    const { frame, usage } = this.#spent ?? {};
    const last = this.dialect.errorFrame(error, usage && tellable(usage));
    return frame ? Buffer.concat([frame, last]) : last;
  }

  /** Reads the frames from the first relevant one on; returns the region without the hidden ones. */
  #filter(region: Bytes, at: number): Bytes {
    // Frames before the first relevant one pass without being parsed.
    const start = Math.max(0, lastFrameEnd(region, 0, at));
    const parts: Bytes[] = [];
    let keptFrom = 0;
    for (let from = start; from < region.length;) {
      const next = firstFrameEnd(region, from, region.length);
      const end = next < 0 ? region.length : next;
      const hidden = this.#readFrame(region, from, end);
      if (hidden) {
        if (from > keptFrom) parts.push(region.subarray(keptFrom, from));
        keptFrom = end;
      }
      if (this.over) {
        this.#until = end;
        keptFrom = region.length;
        break;
      }
      from = end;
    }
    if (parts.length === 0 && keptFrom === 0) return region;
    if (keptFrom < region.length) parts.push(region.subarray(keptFrom));
    return parts.length === 0 ? EMPTY : parts.length === 1 ? (parts[0] ?? EMPTY) : Buffer.concat(parts);
  }

  /** Reads one frame of the region; true when the caller does not get it. */
  #readFrame(region: Bytes, from: number, end: number): boolean {
    const { data } = readFrame(region.subarray(from, end));
    if (data === undefined) return false;
    const events = this.dialect.decodeFrame(data);
    if (!events) {
      this.malformed = true;
      return true;
    }
    let hidden = false;
    let usage: Usage | undefined;
    for (const event of events) {
      switch (event.type) {
        case "finish":
          this.finished = true;
          break;
        case "usage":
          this.#count(region, (usage = event.usage), end);
          hidden = event.alone && !this.showUsage;
          break;
        case "error":
          this.error = event.error;
          if (usage) this.#spent = { usage, frame: this.showUsage ? withoutError(data) : undefined };
          return true;
        case "done":
          this.done = true;
          return true;
      }
    }
    return hidden;
  }
}
