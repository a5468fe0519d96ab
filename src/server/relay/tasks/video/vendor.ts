/**
 * A vendor of videos: pure translation between the neutral question (ask.ts) and his words for making, asking for and
 * ending a job. Sending, paying and remembering are the engine's.
 */
import type { WireError, WireObject } from "../../../protocol/chat-events";
import type { PoolChannel } from "../../../contracts/channel";
import type { ProviderContext } from "../../providers/provider";
import type { VideoAsk } from "./ask";

/** A request to the vendor, whole but for what proves the channel. */
export interface VendorCall {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: WireObject;
  /** Instead of `body`. */
  readonly form?: FormData;
}

/** Where a job is, or goes. */
export interface Place {
  readonly channel: PoolChannel;
  /** The vendor's name of the model. */
  readonly model: string;
}

/** A job that was accepted. */
export interface VendorJob {
  readonly upstream_id: string;
  /** What else it takes to ask for it; kept by the engine as text. */
  readonly kind: string;
}

/** What the vendor says he made and counted, as far as he says it: what the price is corrected by. */
export interface VideoUse {
  readonly seconds?: number;
  readonly resolution?: string;
  /** Tokens of the vendors that count so (Ark). */
  readonly tokens?: number;
  readonly n?: number;
}

export type VideoReport =
  | { readonly status: "queued" | "running"; readonly progress?: number }
  /** `media`: what the files are, videos unless said. */
  | {
      readonly status: "succeeded";
      readonly files: readonly string[];
      readonly use?: VideoUse;
      readonly media?: "image";
    }
  /** Also one that the vendor no longer knows. */
  | { readonly status: "failed"; readonly code: string; readonly message: string };

export interface VideoVendor {
  /** Throws RequestFault for what this vendor cannot be asked. */
  submit(ask: VideoAsk, place: Place): VendorCall & { readonly kind?: string };
  /** The vendor's id of the job in his answer; undefined: he took none. */
  accepted(answer: WireObject): string | undefined;
  poll(job: VendorJob, place: Place): VendorCall;
  /** undefined: no answer about a job. */
  report(answer: WireObject): VideoReport | undefined;
  /** Ends a job that has not ended; absent where the vendor cannot. */
  cancel?(job: VendorJob, place: Place): VendorCall;
  /** A new video out of a finished one. */
  remix?(job: VendorJob, prompt: string, place: Place): VendorCall;
  /** Forgets a finished one at the vendor's. */
  remove?(job: VendorJob, place: Place): VendorCall;
  /** The error in an answer, undefined when there is none. */
  readError(answer: unknown): WireError | undefined;
  /**
   * The headers that prove the channel; absent: its type's ordinary ones. Throws Failed where no token is to be had.
   */
  headers?(channel: PoolChannel, context: ProviderContext): Record<string, string> | Promise<Record<string, string>>;
  /** The headers of a signature over a request as it leaves. */
  sign?(call: VendorCall, channel: PoolChannel, now: number, body: string): Record<string, string>;
  /**
   * Where a finished job's file, and what else there is of it, is fetched with the channel's key at the channel's own
   * host. Absent: the report names an address that is open to everybody who knows it.
   */
  content?(
    job: VendorJob,
    file: string,
    place: Place,
  ): readonly { readonly url: string; readonly media: "image" | "video" }[];
  /** The report names a file; this tells its address of the moment. */
  readonly locate?: {
    call(file: string, place: Place): VendorCall;
    read(answer: WireObject): string | undefined;
  };
  /** The answer of `poll` holds the files themselves: the bytes of the `index`th as base64. */
  inline?(answer: WireObject, index: number): { readonly type: string; readonly base64: string } | undefined;
  /** Seconds that an address is good for, where a later question names a new one. */
  readonly link_seconds?: number;
}
