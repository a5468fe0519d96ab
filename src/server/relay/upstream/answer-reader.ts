/** The interface that every reader of an upstream stream has. */
import type { UsageTally } from "../../protocol/usage-tally";
import type { Warning, WireError } from "../../protocol/chat-events";
import type { Bytes } from "../../lib/sse";
import type { RelayError } from "../../protocol/relay-error";

/** Reads a streamed response and returns the bytes for the caller. */
export interface AnswerReader {
  /** The usage reported so far, and the amount of content delivered. */
  readonly tally: UsageTally;
  /** A finish reason came. */
  readonly finished: boolean;
  /** The upstream's last event came; nothing after it counts. */
  readonly done: boolean;
  /** The upstream's error event; nothing after it counts. */
  readonly error: WireError | undefined;
  /** A frame was invalid in the upstream's dialect; nothing after it counts. */
  malformed: boolean;
  /** True when nothing more has to be read. */
  readonly over: boolean;
  readonly warnings: readonly Warning[];
  /** Takes whole frames; returns the bytes for the caller, possibly none. */
  feed(region: Bytes): Bytes;
  /** The upstream's body has ended: returns the remaining bytes. */
  end(): Uint8Array;
  /** The last bytes of a complete response: sent after the charge. */
  close(): Uint8Array;
  /** The last bytes of a failed response. */
  fail(error: RelayError): Uint8Array;
}
