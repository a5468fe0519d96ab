/**
 * A vendor of videos: pure translation between the neutral request (ask.ts) and the vendor's API for creating, polling
 * and ending a job. Sending, billing and storing are the engine's.
 */
import type { WireError, WireObject } from "../../../protocol/chat-events";
import type { PoolChannel } from "../../../contracts/channel";
import type { ProviderContext } from "../../providers/provider";
import type { VideoRequest } from "./ask";

/** A request to the vendor, complete except for authentication. */
export interface VendorCall {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: WireObject;
  /** Instead of `body`. */
  readonly form?: FormData;
}

/** The channel and model of a job. */
export interface Place {
  readonly channel: PoolChannel;
  /** The vendor's name of the model. */
  readonly model: string;
}

/** An accepted job. */
export interface VendorJob {
  readonly upstream_id: string;
  /** What polling needs besides the id; the engine stores it as text. */
  readonly kind: string;
}

/** The result as far as the vendor reports it: the price is corrected by it. */
export interface VideoUse {
  readonly seconds?: number;
  readonly resolution?: string;
  /** Tokens, for vendors that bill by them (Ark). */
  readonly tokens?: number;
  readonly n?: number;
}

export type VideoReport =
  | { readonly status: "queued" | "running"; readonly progress?: number }
  /** `media`: the type of the files, video by default. */
  | {
      readonly status: "succeeded";
      readonly files: readonly string[];
      readonly use?: VideoUse;
      readonly media?: "image";
    }
  /** Also for a job that the vendor no longer knows. */
  | { readonly status: "failed"; readonly code: string; readonly message: string };

export interface VideoVendor {
  /** Throws RequestFault for a request that this vendor does not support. */
  submit(request: VideoRequest, place: Place): VendorCall & { readonly kind?: string };
  /** The vendor's id of the job in the response; undefined: not accepted. */
  accepted(answer: WireObject): string | undefined;
  poll(job: VendorJob, place: Place): VendorCall;
  /** undefined: not a response about a job. */
  report(answer: WireObject): VideoReport | undefined;
  /** Cancels a running job; absent where the vendor cannot. */
  cancel?(job: VendorJob, place: Place): VendorCall;
  /** A new video from a finished one. */
  remix?(job: VendorJob, prompt: string, place: Place): VendorCall;
  /** Deletes a finished one at the vendor. */
  remove?(job: VendorJob, place: Place): VendorCall;
  /** The error in a response, undefined when there is none. */
  readError(answer: unknown): WireError | undefined;
  /**
   * The authentication headers; absent: the ordinary ones of the channel type. Throws Failed when there is no token.
   */
  headers?(channel: PoolChannel, context: ProviderContext): Record<string, string> | Promise<Record<string, string>>;
  /** The headers of a signature over the final request. */
  sign?(call: VendorCall, channel: PoolChannel, now: number, body: string): Record<string, string>;
  /**
   * Where the files of a finished job are fetched with the channel's key at the channel's own host. Absent: the report
   * contains a public URL.
   */
  content?(
    job: VendorJob,
    file: string,
    place: Place,
  ): readonly { readonly url: string; readonly media: "image" | "video" }[];
  /** The report names a file; this returns its current URL. */
  readonly locate?: {
    call(file: string, place: Place): VendorCall;
    read(answer: WireObject): string | undefined;
  };
  /** The response of `poll` contains the files themselves: the bytes of the `index`th as base64. */
  inline?(answer: WireObject, index: number): { readonly type: string; readonly base64: string } | undefined;
  /** Seconds for which a URL is valid, if a later poll returns a new one. */
  readonly link_seconds?: number;
}
