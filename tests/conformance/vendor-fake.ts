/**
 * What a file in vendors/ is: one vendor, played in its own wire format. The suite (conformance.test.ts) finds the
 * files by itself; a new vendor is a new file with `export const vendor: VendorFake`.
 */
import { inflateSync } from "node:zlib";
import type { FailureClass } from "../../src/server/protocol/upstream-failure";

/** A request as the vendor gets it. */
export interface Asked {
  readonly method: string;
  /** Where the fake is, `base` included, without a trailing slash. */
  readonly origin: string;
  readonly url: URL;
  /** Path and query behind `origin`. */
  readonly path: string;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; {} where it is none. */
  readonly json: Record<string, unknown>;
}

/** A call besides chat, or one that shows something of this vendor. */
export interface VendorCall {
  /** The guarantee, as a sentence. */
  readonly name: string;
  /** The caller's path and body: an object, or a form. `model` in the body is what the fake sees. */
  readonly path: string;
  readonly body: Record<string, unknown> | FormData;
  readonly headers?: Record<string, string>;
  /** Looks at the caller's answer, read as text. */
  check(answer: { status: number; text: string; json: Record<string, unknown>; headers: Headers }): void;
  /** What is charged for; absent: not looked at. */
  readonly usage?: { readonly prompt: number; readonly completion: number };
}

export interface VendorFake {
  /** The key of the channel type; several where vendors differ in the address alone. */
  readonly types: readonly string[];
  /** The vendor's document or SDK, and when it was read. */
  readonly source: string;
  /** The key in the form of the type, made of the fake's address where it names one; "upstream-key" when absent. */
  readonly key?: string | ((origin: string) => string);
  readonly other?: string;
  /** Put behind the fake's address to make base_url, for example /api/v3; `{model}` stays for the channel to fill. */
  readonly base?: string;
  /** For a vendor that is reached by a WebSocket: the scheme of base_url. */
  readonly scheme?: "http" | "ws";
  /** The model that chat is asked of. */
  readonly model: string;
  /**
   * What the fake says in every chat answer, and what it counts (absent: nothing, an estimate is charged). Absent: the
   * type does no chat.
   */
  readonly chat?: { readonly says: string; readonly prompt?: number; readonly completion?: number };
  /** An answer that refuses: what the fake answers when the model is `model`, and how it must be judged. */
  readonly refusal?: { readonly model: string; readonly class: FailureClass; readonly message: string };
  readonly calls?: readonly VendorCall[];
  /** Answers a request; throws (by `expect`) where it is not what the vendor takes. */
  answer(asked: Asked): Response | Promise<Response>;
  /** For a vendor that is reached by a WebSocket: what it sends for one message. `close` ends the connection. */
  message?(text: string, url: URL, send: (text: string) => void, close: () => void): void;
}

/** A caller's form: texts, and files as they are. */
export function formOf(fields: Readonly<Record<string, string | readonly File[]>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    for (const one of typeof value === "string" ? [value] : value) form.append(name, one);
  return form;
}

/** A file that stands for a picture; its bytes are "hi". */
export const picture = (name = "a.png", type = "image/png"): File => new File(["hi"], name, { type });

/** A mask of one pixel, by transparency: clear, which marks it to OpenAI. */
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

/** Whether base64 is that mask as vendors besides OpenAI have it: a grey PNG of one white pixel. */
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
