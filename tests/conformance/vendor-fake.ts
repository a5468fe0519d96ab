/**
 * The type of a file in vendors/: a fake of one vendor in its own wire format. The suite (conformance.test.ts) finds
 * the files; a new vendor is a new file with `export const vendor: VendorFake`.
 */
import { inflateSync } from "node:zlib";
import type { FailureKind } from "../../src/shared/failures";

/** A request as the vendor receives it. */
export interface Asked {
  readonly method: string;
  /** The fake's address, `base` included, without a trailing slash. */
  readonly origin: string;
  readonly url: URL;
  /** Path and query behind `origin`. */
  readonly path: string;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; {} if it is not JSON. */
  readonly json: Record<string, unknown>;
}

/** A call other than chat, or one for a special feature of this vendor. */
export interface VendorCall {
  /** The guarantee, as a sentence. */
  readonly name: string;
  /** The caller's path and body: an object, or a form. `model` in the body is what the fake sees. */
  readonly path: string;
  readonly body: Record<string, unknown> | FormData;
  readonly headers?: Record<string, string>;
  /** Checks the caller's response, read as text. */
  check(answer: { status: number; text: string; json: Record<string, unknown>; headers: Headers }): void;
  /** The charged tokens; absent: not checked. */
  readonly usage?: { readonly prompt: number; readonly completion: number };
}

export interface VendorFake {
  /** The key of the channel type; several where vendors differ only in the address. */
  readonly types: readonly string[];
  /** The vendor's document or SDK, and when it was read. */
  readonly source: string;
  /**
   * The key in the format of the type, built from the fake's address if it contains one; "upstream-key" when absent.
   */
  readonly key?: string | ((origin: string) => string);
  readonly other?: string;
  /** Appended to the fake's address for base_url, for example /api/v3; `{model}` is left for the channel to fill. */
  readonly base?: string;
  /** For a vendor with a WebSocket: the scheme of base_url. */
  readonly scheme?: "http" | "ws";
  /** The model of chat calls. */
  readonly model: string;
  /**
   * The text and usage of every chat response (usage absent: the vendor reports none, and an estimate is charged).
   * Absent: the type does not support chat.
   */
  readonly chat?: { readonly says: string; readonly prompt?: number; readonly completion?: number };
  /** An error response: what the fake answers for the model `model`, and its classification. */
  readonly refusal?: { readonly model: string; readonly kind: FailureKind; readonly message: string };
  readonly calls?: readonly VendorCall[];
  /** Answers a request; throws (by `expect`) if the vendor would not accept it. */
  answer(asked: Asked): Response | Promise<Response>;
  /** For a vendor with a WebSocket: its messages for one request. `close` ends the connection. */
  message?(text: string, url: URL, send: (text: string) => void, close: () => void): void;
}

/** A caller's form: strings and files. */
export function formOf(fields: Readonly<Record<string, string | readonly File[]>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    for (const one of typeof value === "string" ? [value] : value) form.append(name, one);
  return form;
}

/** A stand-in for an image file; its bytes are "hi". */
export const picture = (name = "a.png", type = "image/png"): File => new File(["hi"], name, { type });

/** A mask of one pixel by transparency: clear, which OpenAI edits. */
export const clearMask = (): File =>
  new File(
    [
      Buffer.from(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==",
        "base64",
      ),
    ],
    "mask.png",
    { type: "image/png" },
  );

/** Whether base64 is that mask in the format of other vendors: a grey PNG of one white pixel. */
export function isWhitePixel(base64: unknown): boolean {
  const png = Buffer.from(String(base64), "base64");
  return (
    png.subarray(1, 4).equals(Buffer.from("PNG")) &&
    png.subarray(16, 26).equals(Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0])) &&
    inflateSync(png.subarray(41, 41 + png.readUInt32BE(33))).equals(Buffer.from([0, 255]))
  );
}

/** Frames of data as an SSE body. */
export const sse = (...data: (string | object)[]): Response =>
  new Response(data.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });

/** Frames that repeat their type as the event's name (Anthropic, OpenAI's responses). */
export const namedSse = (...data: ({ type: string } & Record<string, unknown>)[]): Response =>
  new Response(data.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
