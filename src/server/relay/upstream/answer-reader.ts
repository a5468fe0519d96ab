/** Reads an upstream stream and tells what it means. */
import type { UsageTally } from "../../protocol/usage-tally";
import type { Warning, WireError } from "../../protocol/chat-events";
import type { Bytes } from "../../lib/sse";
import type { RelayError } from "../../protocol/relay-error";

/** Reads a streamed answer along, and says what the caller gets of it. */
export interface AnswerReader {
  /** What it has told of its usage, and how much content it has delivered. */
  readonly tally: UsageTally;
  /** A finish reason came. */
  readonly finished: boolean;
  /** The upstream's last word came; nothing after it counts. */
  readonly done: boolean;
  /** The upstream's error event; nothing after it counts. */
  readonly error: WireError | undefined;
  /** A frame was not what the upstream's dialect writes; nothing after it counts. */
  malformed: boolean;
  /** True when nothing more is to be read. */
  readonly over: boolean;
  readonly warnings: readonly Warning[];
  /** Takes whole frames; answers the bytes for the caller, possibly none. */
  feed(region: Bytes): Bytes;
  /** The upstream's body has ended: what was still to come. */
  end(): Uint8Array;
  /** The last words of a complete answer: sent after the charge. */
  close(): Uint8Array;
  /** The last words of an answer that failed. */
  fail(error: RelayError): Uint8Array;
}
