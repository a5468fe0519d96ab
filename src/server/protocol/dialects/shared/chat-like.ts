/** Streams of vendors whose frames are OpenAI's chunks by other names. */
import type { AnswerEvent, WireError, WireObject } from "../../chat-events";
import { ChatStreamDecoder } from "../openai-chat/stream-decode";
import type { StreamDecoder } from "../translation";
import { dataObject } from "./json";

export interface ChatLike {
  /** The error of a frame, undefined when it is none. */
  readError(frame: WireObject): WireError | undefined;
  /** A frame as OpenAI's chunk; undefined when it is not what the vendor writes. */
  chunkOf(frame: WireObject): WireObject | undefined;
}

export class ChatLikeDecoder implements StreamDecoder {
  readonly #chat: ChatStreamDecoder;
  readonly #vendor: ChatLike;

  constructor(id: string, vendor: ChatLike) {
    this.#chat = new ChatStreamDecoder(id);
    this.#vendor = vendor;
  }

  decode(data: string, out: AnswerEvent[]): boolean {
    const frame = dataObject(data);
    if (!frame) return false;
    const error = this.#vendor.readError(frame);
    const chunk = error ? undefined : this.#vendor.chunkOf(frame);
    if (error) out.push({ type: "error", error });
    else if (chunk) this.#chat.read(chunk, out);
    return error !== undefined || chunk !== undefined;
  }

  end(out: AnswerEvent[]): void {
    this.#chat.end(out);
  }
}
