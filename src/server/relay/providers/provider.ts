/**
 * A provider decides the address and the authentication of a call. An ordinary OpenAI-compatible vendor is data
 * (shared/channel-types.ts) and needs no file; an unusual one (`custom: true`) has one file here, registered in
 * registry.ts.
 */
import type { Operation } from "../../../shared/channel-types";
import type { UpstreamDialectKey } from "../../protocol/dialects/vendor-dialects";
import type { Warn, WireError, WireObject } from "../../protocol/chat-events";
import type { SpooledBody, ByteRange } from "../../lib/request-body/spooled-body";
import type { PoolChannel } from "../../contracts/channel";
import type { Bytes } from "../../lib/sse";
import type { VendorRules } from "../../contracts/vendor-rules";
import type { Redact } from "../../protocol/clean-text";

/** A request that is about to leave. */
export interface Outgoing {
  readonly channel: PoolChannel;
  readonly operation: Operation;
  /** The vendor's name of the model. */
  readonly model: string;
  /** Whether the response is streamed. */
  readonly stream: boolean;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text in the channel's dialect; empty for a form, and when a large body was written to a file. */
  body: Bytes;
  /** The file that holds a large body: it is sent from there. */
  spooled?: SpooledBody;
  /** The position of `body` in that file. */
  place?: ByteRange;
  /** Hears of the body that the channel's overrides made. */
  overridden?: (body: WireObject) => void;
  /** The body stays as the caller sent it: no override changes it. */
  readonly as_is?: boolean;
  /** Sent instead of `body`: a streamed multipart form. */
  readonly form?: BodyInit;
  /** Read instead of `body` for a vendor that takes no forms: the caller's form as the body of OpenAI's JSON call. */
  readonly inJson?: () => Promise<WireObject>;
  /** The operator's options for calls to Claude and Gemini models. */
  readonly rules?: VendorRules | undefined;
}

/** A token count request for a conversation, ready to be sent, and the member of the response that holds the count. */
export interface CountRequest {
  readonly outgoing: Outgoing;
  readonly member: string;
}

type Decoded = WireObject | Response | undefined;

/** An operation other than chat of a vendor that has its own format for it. */
export interface DirectCodec {
  /** Converts OpenAI's body (with the vendor's name of the model) to the vendor's. Throws RequestFault. */
  encode(body: WireObject, outgoing: Pick<Outgoing, "channel" | "model" | "rules">): WireObject | Promise<WireObject>;
  /** Image edits are supported as well: `encode` then finds the images in the body (pictures.ts). */
  readonly edits?: true;
  /**
   * Converts the vendor's answer to OpenAI's (rerank: Jina's): an object, or a Response for other media types.
   * undefined: not an answer of this operation. `asked` is OpenAI's body. Throws Failed when a file that the answer
   * names cannot be fetched.
   */
  decode(answer: WireObject, asked: WireObject, context: ProviderContext): Decoded | Promise<Decoded>;
}

export interface Provider {
  /**
   * The URL of a call; undefined when this vendor does not serve the operation. `stream`: whether the response is
   * streamed.
   */
  url(channel: PoolChannel, operation: Operation, model: string, stream?: boolean): string | undefined;
  /** Headers of a call besides content-type and accept; names in lower case. */
  headers(channel: PoolChannel): Record<string, string>;
  /** The dialect of a model, if it differs from the type's. undefined: the type's. */
  dialect?(channel: PoolChannel, model: string): UpstreamDialectKey | undefined;
  /**
   * The last change before the request is sent: a token, a signature, a wrapped body. Throws Failed when there is no
   * token.
   */
  prepare?(outgoing: Outgoing, context: ProviderContext): Outgoing | Promise<Outgoing>;
  /**
   * Sends the request, where that takes more than one fetch, and answers in the format that the relay reads: an error
   * with its status; a whole answer as one JSON object; a stream as events in the channel's dialect (framing.ts builds
   * them from the vendor's frames, lines or messages). Aborts with `tools.signal`.
   */
  open?(outgoing: Outgoing, context: ProviderContext): Promise<Response>;
  /**
   * The token count request for the conversation in `outgoing`, which is in the model's dialect and has the address of
   * a call. Absent: the count is at a path below the call's own address. Throws Failed when there is no token.
   */
  count?(outgoing: Outgoing, context: ProviderContext): Promise<CountRequest>;
  /** The error object of a body, where the channel's dialect does not find it. */
  readError?(body: unknown): WireError | undefined;
  /** Its calls refuse a limit of output tokens, in any dialect. */
  readonly unlimited?: true;
  /**
   * Operations other than chat with their own format; without an entry they are in OpenAI's where the type's dialect
   * is.
   */
  readonly direct?: Readonly<Partial<Record<Operation, DirectCodec>>>;
}

export interface ProviderContext {
  /** Aborts when the call ends or times out. */
  readonly signal: AbortSignal;
  /** One request; redirects are not followed, because they could send the channel's key anywhere. */
  fetch(
    url: string,
    init: Pick<RequestInit, "method" | "body"> & { headers?: Record<string, string> },
  ): Promise<Response>;
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects when the signal aborts. */
  wait(ms: number): Promise<void>;
  /** Records a member of the request that the vendor does not support, as a warning. */
  readonly warn: Warn;
  /** The channel's access token: a cached one, or a new one from `fetchToken`. */
  token(fetchToken: () => Promise<FreshToken>): Promise<string>;
  /** The vendor's message without the channel's secrets. */
  readonly redact: Redact;
  /** Drops the channel's token: the vendor no longer accepts it. */
  dropToken(): void;
}

/** A token from its vendor. */
export interface FreshToken {
  token: string;
  /** Lifetime in seconds. */
  expires_in: number;
}
