/**
 * Events of a Responses stream as neutral events (OpenAI API reference, responses streaming; types of the `openai` SDK
 * 7.55, ResponseStreamEvent; read November 2026). Events that say nothing new are passed over.
 */
import type { AnswerEvent, BlockStart, ReasoningSignature, WireError, WireObject } from "../../chat-events";
import { readError as readChatError } from "../openai-chat/error";
import { dataObject, isObject, number, object, objects, text } from "../shared/json";
import type { StreamDecoder } from "../translation";
import { blocksOfItem, finishOf, usageOf } from "./answer-decode";
import { decodeAnnotation, PARAGRAPH, signatureOfItem } from "./items";

/** {error: …}, a failed response, or an error event whose members stand at the top. */
export function readError(body: unknown): WireError | undefined {
  if (!isObject(body)) return undefined;
  const inside = readChatError(body);
  if (inside && body.error !== null && body.error !== undefined) return inside;
  const response = object(body.response);
  if (isObject(response.error)) return readChatError({ error: response.error });
  if (body.type !== "error") return undefined;
  const { message, code, param } = body;
  return {
    message: text(message),
    type: text(code),
    code: text(code),
    param: typeof param === "string" ? param : null,
  };
}

interface OpenBlock {
  readonly block: number;
  said: boolean;
}

export class ResponsesStreamDecoder implements StreamDecoder {
  #next = 0;
  #called = false;
  #started = false;
  /** By output index, and content index where an item has parts. */
  readonly #open = new Map<string, OpenBlock>();

  decode(data: string, out: AnswerEvent[]): boolean {
    if (data.trim() === "[DONE]") return true;
    const event = dataObject(data);
    if (!event) return false;
    const item = String(number(event.output_index) ?? 0);
    const part = `${item}:${number(event.content_index) ?? 0}`;
    switch (event.type) {
      case "response.output_text.delta":
        this.#say(part, { kind: "text" }, text(event.delta), out);
        return true;
      case "response.refusal.delta":
        this.#say(part, { kind: "refusal" }, text(event.delta), out);
        return true;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        this.#say(item, { kind: "reasoning" }, text(event.delta), out);
        return true;
      case "response.reasoning_summary_part.added":
        if (this.#open.get(item)?.said) this.#say(item, { kind: "reasoning" }, PARAGRAPH, out);
        return true;
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta": {
        const open = this.#open.get(item);
        if (open) this.#piece(open, text(event.delta), out);
        return true;
      }
      case "response.output_text.annotation.added":
        if (isObject(event.annotation)) {
          const { block } = this.#block(part, { kind: "text" }, out);
          out.push({ type: "block_citation", choice: 0, block, citation: decodeAnnotation(event.annotation) });
        }
        return true;
      case "response.content_part.done":
        this.#end(part, undefined, out);
        return true;
      case "response.output_item.added":
        this.#add(item, object(event.item), out);
        return true;
      case "response.output_item.done":
        this.#finishItem(item, object(event.item), out);
        return true;
      case "response.created":
        this.#start(object(event.response), out);
        return true;
      case "response.completed":
      case "response.incomplete": {
        const response = object(event.response);
        this.#start(response, out);
        this.#closeAll(out);
        const usage = usageOf(response);
        // Before the finish, so that the last frames may name the tier.
        if (usage) out.push({ type: "usage", usage });
        out.push({ type: "finish", choice: 0, finish: finishOf(response, this.#called) });
        out.push({ type: "done" });
        return true;
      }
      case "response.failed":
      case "error": {
        const error = readError(event) ?? { message: "", type: "", code: "", param: null };
        const usage = usageOf(isObject(event.response) ? event.response : event);
        if (usage) out.push({ type: "usage", usage });
        out.push({ type: "error", error });
        return true;
      }
      default: {
        const error = event.type === undefined ? readError(event) : undefined;
        if (error) out.push({ type: "error", error });
        return event.type !== undefined || error !== undefined;
      }
    }
  }

  end(out: AnswerEvent[]): void {
    this.#closeAll(out);
  }

  #start(response: WireObject, out: AnswerEvent[]): void {
    if (this.#started) return;
    this.#started = true;
    const created = number(response.created_at);
    out.push({
      type: "message_start",
      id: text(response.id),
      model: text(response.model),
      ...(created !== undefined && { created }),
    });
  }

  #begin(key: string, start: BlockStart, out: AnswerEvent[]): OpenBlock {
    const open = { block: this.#next++, said: false };
    this.#open.set(key, open);
    out.push({ type: "block_start", choice: 0, block: open.block, start });
    return open;
  }

  #block(key: string, start: BlockStart, out: AnswerEvent[]): OpenBlock {
    return this.#open.get(key) ?? this.#begin(key, start, out);
  }

  #say(key: string, start: BlockStart, words: string, out: AnswerEvent[]): void {
    if (words !== "") this.#piece(this.#block(key, start, out), words, out);
  }

  #piece(open: OpenBlock, words: string, out: AnswerEvent[]): void {
    if (words === "") return;
    open.said = true;
    out.push({ type: "block_delta", choice: 0, block: open.block, text: words });
  }

  #end(key: string, reasoningSignature: ReasoningSignature | undefined, out: AnswerEvent[]): void {
    const open = this.#open.get(key);
    if (!open) return;
    this.#open.delete(key);
    out.push({ type: "block_end", choice: 0, block: open.block, ...(reasoningSignature && { reasoningSignature }) });
  }

  #closeAll(out: AnswerEvent[]): void {
    for (const key of [...this.#open.keys()]) this.#end(key, undefined, out);
  }

  #add(key: string, item: WireObject, out: AnswerEvent[]): void {
    const custom = item.type === "custom_tool_call";
    if (item.type === "function_call" || custom) {
      this.#called = true;
      this.#begin(
        key,
        { kind: "tool_call", id: text(item.call_id), name: text(item.name), ...(custom && { custom }) },
        out,
      );
    } else if (item.type === "reasoning") {
      this.#begin(key, { kind: "reasoning" }, out);
    }
  }

  #finishItem(key: string, item: WireObject, out: AnswerEvent[]): void {
    switch (item.type) {
      case "reasoning": {
        const open = this.#block(key, { kind: "reasoning" }, out);
        if (!open.said)
          this.#piece(
            open,
            objects(item.summary)
              .map((part) => text(part.text))
              .join(PARAGRAPH),
            out,
          );
        return this.#end(key, signatureOfItem(item), out);
      }
      case "function_call":
      case "custom_tool_call": {
        if (!this.#open.has(key)) this.#add(key, item, out);
        const open = this.#open.get(key);
        if (open && !open.said) this.#piece(open, text(item.arguments) || text(item.input), out);
        return this.#end(key, undefined, out);
      }
      case "message":
        for (const open of [...this.#open.keys()]) if (open.startsWith(`${key}:`)) this.#end(open, undefined, out);
        return;
      default:
        for (const block of blocksOfItem(item)) {
          if (block.type !== "opaque" && block.type !== "image") continue;
          this.#begin(key, { kind: "whole", block }, out);
          this.#end(key, undefined, out);
        }
    }
  }
}
