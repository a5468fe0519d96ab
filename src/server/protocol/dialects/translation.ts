/** What a dialect must be able to do so that it can be translated: values in, values out, no clock and no network. */
import type { Served } from "../../../shared/price-rules";
import type { RelayError } from "../relay-error";
import type {
  AnswerEvent,
  ChatAnswer,
  ChatPrompt,
  DialectKey,
  Usage,
  Warn,
  WireError,
  WireObject,
} from "../chat-events";
import type { FeatureRecord } from "./features";
import type { AnswerSupport, RequestSupport } from "./shared/support";

/** What an answer's frames say of themselves where the upstream does not, or says what the caller must not see. */
export interface AnswerContext {
  /** Unique; used where the upstream gives no id. Letters, digits, _ and - only. */
  readonly id: string;
  /** The model's name for the caller; the upstream's when undefined. */
  readonly model?: string;
  /** Epoch seconds, used where the upstream does not say. */
  readonly created: number;
  /** The time in epoch seconds; where it is absent, an answer ends when it was created. */
  readonly now?: () => number;
  /** The caller wants usage in a stream. */
  readonly include_usage: boolean;
  /** What the answer's headers say of its service. */
  readonly served?: Served;
  /** The call as the caller made it; some dialects repeat parts of it in every answer. */
  readonly request?: WireObject;
  /** An answer whose beginning the caller has from the upstream itself: what it said of itself, and frames so far. */
  readonly begun?: {
    readonly id: string;
    readonly model: string;
    readonly created: number | undefined;
    readonly frames: number;
  };
}

/** What stands in the address of a call instead of its body. */
export interface RequestAddress {
  readonly model?: string;
  readonly stream?: boolean;
}

/** One frame, not yet bytes. */
export interface OutFrame {
  readonly data: string;
  readonly event?: string;
}

/** Reads a stream's frames. One for each stream: it remembers which blocks are open. */
export interface StreamDecoder {
  /** Adds the events of one frame's data. False: the data is not what the dialect writes. */
  decode(data: string, out: AnswerEvent[]): boolean;
  /** The body has ended: adds what only then is known. */
  end(out: AnswerEvent[]): void;
}

/** Writes a stream's frames. One for each stream. */
export interface StreamEncoder {
  /** Adds the frames of one event; usage and finish may wait for `close`. */
  encode(event: AnswerEvent, out: OutFrame[]): void;
  /** Adds the last frames of a complete answer. */
  close(out: OutFrame[]): void;
  /**
   * Adds the last frames of an answer that failed; `usage` is what it cost until then, where its vendor has said so.
   */
  fail(error: RelayError, out: OutFrame[], usage?: Usage): void;
}

export interface ChatDialect {
  readonly key: DialectKey;
  /** Throws RequestFault where the body is not a call of this dialect. */
  decodeRequest(body: WireObject, address?: RequestAddress): ChatPrompt;
  /** A call of this dialect for a channel of another one; absent: as it is. */
  forOthers?(prompt: ChatPrompt, warn: Warn): ChatPrompt;
  encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject;
  /** A call of another dialect for a channel of this one; absent: as it is. */
  fromOthers?(prompt: ChatPrompt, warn: Warn): ChatPrompt;
  /** undefined when the body is no answer of this dialect. `id` names calls where the upstream gives no ids. */
  decodeAnswer(body: WireObject, id: string): ChatAnswer | undefined;
  encodeAnswer(answer: ChatAnswer, context: AnswerContext, warn: Warn): WireObject;
  /** `id` as in decodeAnswer. */
  streamDecoder(id: string): StreamDecoder;
  streamEncoder(context: AnswerContext, warn: Warn): StreamEncoder;
  /** The error object of a body, undefined when there is none. */
  readError(body: unknown): WireError | undefined;
  /** The body of an error answer. */
  writeError(error: RelayError): WireObject;
  /** What the dialect can say; what it cannot names the vendor's limit. */
  readonly features: FeatureRecord;
  /** What `encodeRequest` does with each member of a prompt. */
  readonly requestSupport: RequestSupport;
  /** What `encodeAnswer` and `streamEncoder` do with each member of an answer. */
  readonly answerSupport: AnswerSupport;
}
