/**
 * ConverseStream as neutral events, each event an object under its name
 * (docs.aws.amazon.com/bedrock/latest/APIReference, API_runtime_ConverseStream; read November 2026). The counts come
 * after the stop reason, in the last event.
 */
import { readError } from "../anthropic/error";
import type { AnswerEvent, WireObject } from "../../chat-events";
import { BlockWriter } from "../shared/block-writer";
import { dataObject, isObject, number, object, text } from "../shared/json";
import type { StreamDecoder } from "../translation";
import { decodeFinish, readUsage } from "./answer";

export class ConverseStreamDecoder implements StreamDecoder {
  readonly #blocks = new BlockWriter();
  /** The vendor's index of a call that has not ended -> its block. */
  readonly #calls = new Map<number, number>();
  readonly #id: string;

  constructor(id: string) {
    this.#id = id;
  }

  decode(data: string, out: AnswerEvent[]): boolean {
    const event = dataObject(data);
    if (!event) return false;
    const error = readError(event);
    if (error) {
      out.push({ type: "error", error });
      return true;
    }
    if (isObject(event.messageStart)) out.push({ type: "message_start", id: this.#id, model: "" });
    else if (isObject(event.contentBlockStart)) this.#start(event.contentBlockStart, out);
    else if (isObject(event.contentBlockDelta)) this.#delta(event.contentBlockDelta, out);
    else if (isObject(event.contentBlockStop)) this.#stop(number(event.contentBlockStop.contentBlockIndex) ?? 0, out);
    else if (isObject(event.messageStop)) {
      this.end(out);
      out.push({ type: "finish", choice: 0, finish: decodeFinish(text(event.messageStop.stopReason)) });
    } else if (isObject(event.metadata)) {
      const usage = readUsage(event.metadata.usage);
      if (usage) out.push({ type: "usage", usage });
      out.push({ type: "done" });
    }
    return true;
  }

  end(out: AnswerEvent[]): void {
    this.#blocks.close(out);
    for (const index of this.#calls.keys()) this.#stop(index, out);
  }

  #start({ start, contentBlockIndex }: WireObject, out: AnswerEvent[]): void {
    const { toolUse } = object(start);
    if (!isObject(toolUse)) return;
    const index = number(contentBlockIndex) ?? 0;
    this.#calls.set(
      index,
      this.#blocks.call(text(toolUse.toolUseId) || `${this.#id}_${index}`, text(toolUse.name), out),
    );
  }

  #delta({ delta, contentBlockIndex }: WireObject, out: AnswerEvent[]): void {
    const { text: words, toolUse, reasoningContent } = object(delta);
    this.#blocks.say("text", text(words), out);
    this.#blocks.say("reasoning", text(object(reasoningContent).text), out);
    const block = this.#calls.get(number(contentBlockIndex) ?? 0);
    if (block !== undefined) this.#blocks.more(block, text(object(toolUse).input), out);
  }

  #stop(index: number, out: AnswerEvent[]): void {
    const block = this.#calls.get(index);
    if (block === undefined) return this.#blocks.close(out);
    this.#calls.delete(index);
    this.#blocks.end(block, out);
  }
}
