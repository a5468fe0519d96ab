/**
 * A provider is an address: where a call goes and how it proves itself. The ordinary OpenAI-compatible vendor is data
 * (shared/channel-types.ts) and needs no file; an odd one (`custom: true`) has one file here, registered in
 * registry.ts.
 */
import type { Operation } from "../../../shared/channel-types";
import type { UpstreamDialectKey } from "../../protocol/dialects/vendor-dialects";
import type { Warn, WireError, WireObject } from "../../protocol/chat-events";
import type { SpooledBody, ByteRange } from "../../lib/request-body/spooled-body";
import type { PoolChannel } from "../../contracts/channel";
import type { Bytes } from "../../lib/sse";
import type { VendorRules } from "../../contracts/vendor-rules";
import type { Redact } from "../../protocol/upstream-failure";

/** A request that is about to leave. */
export interface Outgoing {
  readonly channel: PoolChannel;
  readonly operation: Operation;
  /** The vendor's name of the model. */
  readonly model: string;
  /** The answer is to be streamed. */
  readonly stream: boolean;
  readonly url: string;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * JSON text in the language of the channel; empty where there is a form, and when a large one has gone to its file.
   */
  body: Bytes;
  /** The file of a call with a large body: it is sent from there. */
  spooled?: SpooledBody;
  /** Where `body` lies in that file. */
  place?: ByteRange;
  /** The body stays as the caller wrote it: no override changes it. */
  readonly as_is?: boolean;
  /** Sent instead of `body`: a multipart form, which flows. */
  readonly form?: BodyInit;
  /** Read instead of `body` for a vendor that takes no forms: the caller's form as the body of OpenAI's JSON call. */
  readonly inJson?: () => Promise<WireObject>;
  /** What the operator says of calls to single makers' models. */
  readonly rules?: VendorRules;
}

/**
 * The inquiry how many tokens a conversation has: the request, ready to be sent, and the member of its answer that
 * tells.
 */
export interface CountInquiry {
  readonly outgoing: Outgoing;
  readonly member: string;
}

type Decoded = WireObject | Response | undefined;

/** An operation that is no conversation, of a vendor that does not speak OpenAI's language for it. */
export interface DirectCodec {
  /** OpenAI's body (with the vendor's name of the model) as the vendor wants it. Throws RequestFault. */
  encode(body: WireObject, outgoing: Pick<Outgoing, "channel" | "model" | "rules">): WireObject | Promise<WireObject>;
  /** Pictures are edited as well: `encode` then finds them in the body (pictures.ts). */
  readonly edits?: true;
  /**
   * The vendor's answer as OpenAI's (rerank: Jina's): an object, or a Response for what is no JSON. undefined: no
   * answer of this operation. `asked` is OpenAI's body. Throws Failed where what the answer names cannot be fetched.
   */
  decode(answer: WireObject, asked: WireObject, context: ProviderContext): Decoded | Promise<Decoded>;
}

export interface Provider {
  /**
   * The URL of a call; undefined when this vendor does not serve the operation. `stream`: the answer is to be streamed.
   */
  url(channel: PoolChannel, operation: Operation, model: string, stream?: boolean): string | undefined;
  /** Headers of a call besides content-type and accept; names in small letters. */
  headers(channel: PoolChannel): Record<string, string>;
  /** The language of a model, where that is not the type's. undefined: the type's. */
  dialect?(channel: PoolChannel, model: string): UpstreamDialectKey | undefined;
  /**
   * The last change before the request leaves: a token put in, a signature over it, the body wrapped. Throws Failed
   * where no token is to be had.
   */
  prepare?(outgoing: Outgoing, context: ProviderContext): Outgoing | Promise<Outgoing>;
  /**
   * Sends the request, where that is not one fetch, and answers as the relay reads it: an error with its status; a
   * whole answer as one JSON object; a stream as events whose data is the channel's dialect (framing.ts makes them of
   * the vendor's frames, lines or messages). Ends with `tools.signal`.
   */
  open?(outgoing: Outgoing, context: ProviderContext): Promise<Response>;
  /**
   * The inquiry for the conversation of `outgoing`, which is in the model's language and has the address of a call;
   * where that is not asked below the call's own address. Throws Failed where no token is to be had.
   */
  count?(outgoing: Outgoing, context: ProviderContext): Promise<CountInquiry>;
  /** The error object of a body, where the channel's dialect cannot tell. */
  readError?(body: unknown): WireError | undefined;
  /** Its calls refuse a limit of output tokens, whatever their language. */
  readonly unlimited?: true;
  /** Operations besides chat that need words of their own; the rest is OpenAI's where the type's dialect is. */
  readonly direct?: Readonly<Partial<Record<Operation, DirectCodec>>>;
}

export interface ProviderContext {
  /** Aborts when the call is over or too late. */
  readonly signal: AbortSignal;
  /** One request; no redirect is followed: it could lead anywhere with the channel's key. */
  fetch(
    url: string,
    init: Pick<RequestInit, "method" | "body"> & { headers?: Record<string, string> },
  ): Promise<Response>;
  /** Epoch milliseconds. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects when the signal aborts. */
  wait(ms: number): Promise<void>;
  /** Takes note of what of the request the vendor cannot be told. */
  readonly warn: Warn;
  /** The channel's access token: a kept one, or a new one by `ask`. */
  token(ask: () => Promise<FreshToken>): Promise<string>;
  /** The vendor's words without the channel's secrets. */
  readonly redact: Redact;
  /** Forgets the channel's token: the vendor no longer takes it. */
  dropToken(): void;
}

/** A token as its vendor gave it. */
export interface FreshToken {
  token: string;
  /** Seconds that it is good for. */
  expires_in: number;
}
