/**
 * A stream that passes through in a dialect other than OpenAI's: frames untouched (Google's in their plainest form),
 * read by the dialect's own decoder.
 */
import type { AnswerReader } from "./answer-reader";
import type { AnswerContext, OutFrame, StreamDecoder } from "../../protocol/dialects/translation";
import type { RelayError } from "../../protocol/relay-error";
import type { AnswerEvent, DialectKey, Usage, Warning, WireError } from "../../protocol/chat-events";
import { asBuffer, type Bytes, firstFrameEnd, isPlainFrame, PING, readFrame, writeFrame } from "../../lib/sse";
import { chatDialects } from "../../protocol/dialects/chat-dialects";
import { UsageTally } from "../../protocol/usage-tally";
import { tellable } from "../../protocol/usage-check";

const EMPTY: Bytes = Buffer.alloc(0);

/**
 * A frame for clients that read only frames of one data line (@google/genai 3.1 skips or fails at any other); without
 * data it is a ping. Line ends between the tokens of JSON mean nothing.
 */
const plain = (frame: Bytes, data: string | undefined): Bytes =>
  data === undefined ? asBuffer(PING) : isPlainFrame(frame) ? frame : writeFrame(data.replaceAll("\n", " "));

/** Inside a text the quotes would be escaped. */
const CONTINUES_NOTHING = /"previous_response_id"\s*:\s*null/;

/** A response's JSON with the response that it continues, where its vendor knows of none. */
export const continuing = (json: string, previous: string): string =>
  json.replace(CONTINUES_NOTHING, () => `"previous_response_id":${JSON.stringify(previous)}`);

export class DialectPassthrough implements AnswerReader {
  readonly #decoder: StreamDecoder;
  readonly #events: AnswerEvent[] = [];
  /** The usage in the error frame, which the caller does not get. */
  #spent: Usage | undefined;
  /** The frames from the finish on, held back until the charge. */
  readonly #last: Bytes[] = [];
  #begun: { id: string; model: string; created: number | undefined } | undefined;
  /** The caller's clients do not implement the event stream format. */
  readonly #plain: boolean;
  /** Frames with data that were sent to the caller. */
  #passed = 0;

  readonly tally = new UsageTally();
  finished = false;
  done = false;
  error: WireError | undefined;
  malformed = false;
  readonly warnings: readonly Warning[] = [];

  constructor(
    readonly dialect: DialectKey,
    readonly context: AnswerContext,
    /** The response that the call continues, if its vendor does not know it. */
    readonly continues?: string,
  ) {
    this.#decoder = chatDialects[dialect].streamDecoder(context.id);
    this.#plain = dialect === "gemini";
  }

  get usage(): Usage | undefined {
    return this.tally.usage;
  }

  get over(): boolean {
    return this.done || this.malformed || this.error !== undefined;
  }

  feed(region: Bytes): Bytes {
    const parts: Bytes[] = [];
    let sent = region.length;
    /** End of the last frame that did not pass as it came. */
    let rewritten = 0;
    for (let from = 0; from < region.length;) {
      const next = firstFrameEnd(region, from, region.length);
      const end = next < 0 ? region.length : next;
      const frame = region.subarray(from, end);
      const { data } = readFrame(frame);
      if (data !== undefined) this.#read(data);
      const bad = this.malformed || this.error !== undefined;
      const told = this.#plain ? plain(frame, data) : this.#continued(frame);
      if (this.finished || this.over) {
        if (sent === region.length) sent = from;
        // A copy: the region may be large.
        if (!bad) this.#last.push(Buffer.from(told));
      } else {
        if (data !== undefined) this.#passed++;
        if (told !== frame) {
          parts.push(region.subarray(rewritten, from), told);
          rewritten = end;
        }
      }
      if (this.over) break;
      from = end;
    }
    const rest = region.subarray(rewritten, sent);
    return parts.length === 0 ? rest : Buffer.concat([...parts, rest]);
  }

  /** The frame as it came, or with the response that the call continues. */
  #continued(frame: Bytes): Bytes {
    if (this.continues === undefined) return frame;
    const text = frame.toString("utf8");
    return CONTINUES_NOTHING.test(text) ? Buffer.from(continuing(text, this.continues)) : frame;
  }

  end(): Uint8Array {
    if (!this.over) this.#decoder.end(this.#events);
    this.#take();
    return EMPTY;
  }

  close(): Uint8Array {
    return Buffer.concat(this.#last);
  }

  fail(error: RelayError): Uint8Array {
    const frames: OutFrame[] = [];
    const begun = this.#begun && this.#passed > 0 ? { begun: { ...this.#begun, frames: this.#passed } } : {};
    const spent = this.#spent && tellable(this.#spent);
    chatDialects[this.dialect].streamEncoder({ ...this.context, ...begun }, () => undefined).fail(error, frames, spent);
    return Buffer.concat([...this.#last, ...frames.map(({ data, event }) => writeFrame(data, event))]);
  }

  #read(data: string): void {
    if (this.#decoder.decode(data, this.#events)) this.#take();
    else this.malformed = true;
  }

  #take(): void {
    let spent: Usage | undefined;
    for (const event of this.#events.splice(0)) {
      if (event.type === "block_delta") this.tally.contentBytes += Buffer.byteLength(event.text);
      else if (event.type === "usage") this.tally.add((spent = event.usage));
      else if (event.type === "finish") this.finished = true;
      else if (event.type === "error") [this.error, this.#spent] = [event.error, spent];
      else if (event.type === "done") this.done = true;
      else if (event.type === "message_start")
        this.#begun = { id: event.id, model: event.model, created: event.created };
    }
  }
}
