/**
 * The vendor's stream of POST /v2/chat as neutral events (docs.cohere.com/v2/docs/streaming, tool-use-streaming,
 * reasoning; read November 2026). Unknown events are passed over.
 */
import type { AnswerEvent, WireObject } from "../../chat-events";
import { BlockWriter } from "../shared/block-writer";
import { dataObject, number, object, objects, text } from "../shared/json";
import type { StreamDecoder } from "../translation";
import { decodeCitations, decodeFinish, failureIn, readError, readUsage } from "./answer";

/** Documents show one object, some versions of the vendor's SDKs a list of one. */
const only = (value: unknown): WireObject => (Array.isArray(value) ? (objects(value)[0] ?? {}) : object(value));

export class CohereStreamDecoder implements StreamDecoder {
  readonly #blocks = new BlockWriter();
  /** The vendor's index of a call -> its block; one that has not ended. */
  readonly #calls = new Map<number, number>();
  readonly #id: string;

  constructor(id: string) {
    this.#id = id;
  }

  decode(data: string, out: AnswerEvent[]): boolean {
    if (data.trim() === "[DONE]") return true;
    const event = dataObject(data);
    if (!event) return false;
    const delta = object(event.delta);
    const message = object(delta.message);
    const index = number(event.index) ?? 0;
    switch (event.type) {
      case "message-start":
        out.push({ type: "message_start", id: text(event.id) || this.#id, model: "" });
        return true;
      case "content-start":
      case "content-delta": {
        const content = object(message.content);
        this.#blocks.say("reasoning", text(content.thinking), out);
        this.#blocks.say("text", text(content.text), out);
        return true;
      }
      case "tool-plan-delta":
        this.#blocks.say("text", text(message.tool_plan), out);
        return true;
      case "tool-call-start": {
        const call = only(message.tool_calls);
        const { name, arguments: input } = object(call.function);
        this.#endCall(index, out);
        const block = this.#blocks.call(text(call.id) || `${this.#id}_${index}`, text(name), out);
        this.#calls.set(index, block);
        this.#blocks.more(block, text(input), out);
        return true;
      }
      case "tool-call-delta": {
        const block = this.#calls.get(index);
        const { arguments: input } = object(only(message.tool_calls).function);
        if (block !== undefined) this.#blocks.more(block, text(input), out);
        return true;
      }
      case "tool-call-end":
        this.#endCall(index, out);
        return true;
      case "citation-start":
        for (const citation of decodeCitations(only(message.citations))) this.#blocks.cite(citation, out);
        return true;
      case "message-end":
        this.#finish(delta, out);
        return true;
      default: {
        const error = event.type === undefined ? readError(event) : undefined;
        if (error) out.push({ type: "error", error });
        return event.type !== undefined || error !== undefined;
      }
    }
  }

  end(out: AnswerEvent[]): void {
    this.#blocks.close(out);
    for (const index of this.#calls.keys()) this.#endCall(index, out);
  }

  #endCall(index: number, out: AnswerEvent[]): void {
    const block = this.#calls.get(index);
    if (block === undefined) return;
    this.#calls.delete(index);
    this.#blocks.end(block, out);
  }

  #finish(delta: WireObject, out: AnswerEvent[]): void {
    this.end(out);
    const usage = readUsage(delta.usage);
    if (usage) out.push({ type: "usage", usage });
    const error = failureIn(delta.finish_reason, delta.error);
    if (error) {
      out.push({ type: "error", error });
      return;
    }
    out.push({ type: "finish", choice: 0, finish: decodeFinish(text(delta.finish_reason)) }, { type: "done" });
  }
}
