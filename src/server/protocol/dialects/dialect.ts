/** What a dialect can do for the relay. Pure functions: bytes and values in, bytes and values out. */
import { PING, writeFrame } from "../../lib/sse";
import type { Bytes } from "../../lib/sse";
import type { JsonObject } from "../../lib/json-bytes";
import type { RelayError } from "../relay-error";
import type { ChatEvent, ChatResult, DialectKey, Usage, WireError } from "../chat-events";
import type { ChatDialect } from "./translation";

/** The language that a caller speaks, for what the relay says by itself. */
export interface CallerDialect {
  readonly key: DialectKey;
  /** A frame that means nothing and keeps the connection awake. */
  readonly ping: Uint8Array;
  /** The JSON text of an error answer. */
  writeError(error: RelayError): string;
}

/** A caller's dialect from its translations. `ping` is the data of its ping event; a comment where it has none. */
export const callerDialect = ({ key, writeError }: ChatDialect, ping?: string): CallerDialect => ({
  key,
  ping: ping === undefined ? PING : writeFrame(`{"type":"${ping}"}`, ping),
  writeError: (error) => JSON.stringify(writeError(error)),
});

/** A dialect whose streams pass through as bytes: only frames that can matter are parsed. */
export interface Dialect extends CallerDialect {
  readonly key: "openai-chat";
  /** The dialect's last word in a stream. */
  readonly terminal: Uint8Array;

  /**
   * The events of one frame's data. Empty for data that says nothing the relay knows; undefined when it is malformed.
   */
  decodeFrame(data: string): ChatEvent[] | undefined;
  /**
   * Where the first frame that can carry usage, a finish, an error or the dialect's last word, or that is broken off,
   * may begin in a region of whole frames: an offset inside it, -1 when there is none. Cheap; may err towards finding
   * one.
   */
  notable(region: Bytes): number;
  /** Bytes of generated content in a region, without parsing. */
  contentBytes(region: Bytes): number;
  /** Reads a whole answer. undefined when it is not an answer of this dialect. */
  readResult(body: JsonObject): ChatResult | undefined;
  /** The error object of a body, undefined when there is none. */
  readError(body: unknown): WireError | undefined;

  /** The frame that ends a stream with an error; `usage` is what it cost until then, where its vendor has said so. */
  errorFrame(error: RelayError, usage?: Usage): Uint8Array;
}
