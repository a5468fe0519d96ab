/**
 * Anthropic's stream events as neutral events (platform.claude.com/docs, streaming; types of @anthropic-ai/sdk 1.11,
 * RawMessageStreamEvent; read November 2026). Unknown events are passed over, as the documentation asks.
 */
import type { AnswerEvent, FinishReason, ReasoningSignature, WireObject } from "../../chat-events";
import { dataObject, isObject, number, object, text } from "../shared/json";
import type { StreamDecoder } from "../translation";
import { decodeCitation } from "./citations";
import { readError } from "./error";
import { decodeStop } from "./stop-reason";
import { mergeUsage, readUsage } from "./usage";

const KEY = "anthropic";

/** A block that only Anthropic knows is collected whole: its input arrives in pieces. */
interface Opaque {
  readonly value: Record<string, unknown>;
  json: string;
}

export class AnthropicStreamDecoder implements StreamDecoder {
  #usage: WireObject = {};
  /** The signature of the thinking block that is open. */
  #signature: ReasoningSignature | undefined;
  #opaque: Opaque | undefined;
  /**
   * The stop reason, told with message_stop: Anthropic's clients fail without that event, so an answer that ends before
   * it was cut off.
   */
  #finish: FinishReason | undefined;

  decode(data: string, out: AnswerEvent[]): boolean {
    const event = dataObject(data);
    if (!event) return false;
    switch (event.type) {
      case "content_block_delta":
        this.#delta(number(event.index) ?? 0, object(event.delta), out);
        return true;
      case "content_block_start":
        this.#begin(number(event.index) ?? 0, object(event.content_block), out);
        return true;
      case "content_block_stop":
        this.#end(number(event.index) ?? 0, out);
        return true;
      case "message_start": {
        const message = object(event.message);
        out.push({ type: "message_start", id: text(message.id), model: text(message.model) });
        if (isObject(message.usage)) this.#count(message.usage, out);
        return true;
      }
      case "message_delta": {
        const { stop_reason, stop_sequence } = object(event.delta);
        if (typeof stop_reason === "string") this.#finish = decodeStop(stop_reason, stop_sequence);
        if (isObject(event.usage)) this.#count(event.usage, out);
        return true;
      }
      case "message_stop":
        if (this.#finish) out.push({ type: "finish", choice: 0, finish: this.#finish });
        out.push({ type: "done" });
        return true;
      case "ping":
        out.push({ type: "ping" });
        return true;
      case "error": {
        const error = readError(event);
        if (isObject(event.usage)) this.#count(event.usage, out);
        if (error) out.push({ type: "error", error });
        return error !== undefined;
      }
      default:
        return true;
    }
  }

  end(): void {}

  #count(usage: WireObject, out: AnswerEvent[]): void {
    this.#usage = mergeUsage(this.#usage, usage);
    const read = readUsage(this.#usage);
    if (read) out.push({ type: "usage", usage: read });
  }

  #begin(block: number, content: WireObject, out: AnswerEvent[]): void {
    switch (content.type) {
      case "text":
        out.push({ type: "block_start", choice: 0, block, start: { kind: "text" } });
        return this.#say(block, text(content.text), out);
      case "thinking":
      case "redacted_thinking": {
        const redacted = content.type === "redacted_thinking";
        const data = text(redacted ? content.data : content.signature);
        this.#signature = data === "" ? undefined : { from: KEY, kind: redacted ? "encrypted" : "signature", data };
        out.push({ type: "block_start", choice: 0, block, start: { kind: "reasoning" } });
        return this.#say(block, text(content.thinking), out);
      }
      case "tool_use": {
        const start = { kind: "tool_call", id: text(content.id), name: text(content.name) } as const;
        out.push({ type: "block_start", choice: 0, block, start });
        const input = object(content.input);
        return this.#say(block, Object.keys(input).length > 0 ? JSON.stringify(input) : "", out);
      }
      default:
        this.#opaque = { value: { ...content }, json: "" };
    }
  }

  #say(block: number, words: string, out: AnswerEvent[]): void {
    if (words !== "") out.push({ type: "block_delta", choice: 0, block, text: words });
  }

  #delta(block: number, delta: WireObject, out: AnswerEvent[]): void {
    switch (delta.type) {
      case "text_delta":
        return this.#say(block, text(delta.text), out);
      case "thinking_delta":
        return this.#say(block, text(delta.thinking), out);
      case "input_json_delta":
        if (this.#opaque) this.#opaque.json += text(delta.partial_json);
        else this.#say(block, text(delta.partial_json), out);
        return;
      case "signature_delta":
        this.#signature = { from: KEY, kind: "signature", data: (this.#signature?.data ?? "") + text(delta.signature) };
        return;
      case "citations_delta":
        if (isObject(delta.citation)) {
          out.push({ type: "block_citation", choice: 0, block, citation: decodeCitation(delta.citation) });
        }
    }
  }

  #end(block: number, out: AnswerEvent[]): void {
    const { value, json } = this.#opaque ?? {};
    this.#opaque = undefined;
    if (value) {
      if (json !== undefined && json !== "") value.input = parsed(json);
      out.push({
        type: "block_start",
        choice: 0,
        block,
        start: { kind: "whole", block: { type: "opaque", from: KEY, value } },
      });
    }
    const reasoningSignature = this.#signature;
    this.#signature = undefined;
    out.push({ type: "block_end", choice: 0, block, ...(reasoningSignature && { reasoningSignature }) });
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
