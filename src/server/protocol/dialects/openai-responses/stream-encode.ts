/**
 * Neutral events as a Responses stream: created, in_progress, then for each item added, deltas, done, at last
 * completed, incomplete or failed (OpenAI API reference, responses streaming; types of the `openai` SDK 7.55; read
 * November 2026). The dialect repeats what was said in its done events and at the end: one copy, at most 16 MB of it.
 */
import type { RelayError } from "../../relay-error";
import type {
  AnswerEvent,
  BlockStart,
  FinishReason,
  ReasoningSignature,
  Usage,
  Warn,
  WireObject,
} from "../../chat-events";
import { openaiMessage } from "../openai-chat/error-body";
import { openaiTier, warnExtra } from "../shared/service-tier";
import { warnMembers } from "../shared/unsupported";
import type { AnswerContext, OutFrame, StreamEncoder } from "../translation";
import { callItem, encodeUsage, messageItem, outcomeOf, shellOf } from "./answer-encode";
import { encodeAnnotation, freeFormInput, itemOfThoughts } from "./items";
import { type Declared, declaredTools } from "./namespaces";
import { answerSupport } from "./support";

/** Most characters that are kept to be repeated. */
const LIMIT = 16 * 1024 * 1024;

type Kind = "text" | "refusal" | "reasoning" | "call" | "free_call" | "foreign_free_call";

interface OpenItem {
  readonly kind: Kind;
  readonly call: { id: string; name: string; namespace?: string };
  /** -1 until the item was added. */
  index: number;
  id: string;
  kept: string;
  /** A piece between its number and its text; "" until one was sent. */
  place: string;
  annotations: WireObject[];
}

/** The event of a piece. A free-form call that came as JSON is sent whole at its end. */
const deltas: Readonly<Record<Exclude<Kind, "foreign_free_call">, string>> = {
  text: "response.output_text.delta",
  refusal: "response.refusal.delta",
  reasoning: "response.reasoning_summary_text.delta",
  call: "response.function_call_arguments.delta",
  free_call: "response.custom_tool_call_input.delta",
};

const places: Readonly<Record<keyof typeof deltas, string>> = {
  text: '"content_index":0,"logprobs":[],',
  refusal: '"content_index":0,',
  reasoning: '"summary_index":0,',
  call: "",
  free_call: "",
};

const piece = (kind: keyof typeof deltas) => ({
  type: deltas[kind],
  head: `{"type":"${deltas[kind]}","sequence_number":`,
  place: places[kind],
});

/** What stands in every piece of a kind. */
const pieces = {
  text: piece("text"),
  refusal: piece("refusal"),
  reasoning: piece("reasoning"),
  call: piece("call"),
  free_call: piece("free_call"),
};

const prefixes: Readonly<Record<Kind, string>> = {
  text: "msg",
  refusal: "msg",
  reasoning: "rs",
  call: "fc",
  free_call: "ctc",
  foreign_free_call: "ctc",
};

export class ResponsesStreamEncoder implements StreamEncoder {
  #sequence = 0;
  #shell: WireObject | undefined;
  #usage: Usage | undefined;
  #finish: FinishReason | undefined;
  #kept = 0;
  readonly #output: WireObject[] = [];
  readonly #open = new Map<number, OpenItem>();
  readonly #declared: ReadonlyMap<string, Declared>;

  constructor(
    readonly context: AnswerContext,
    readonly warn: Warn,
  ) {
    this.#declared = declaredTools(context.request);
    const { begun } = context;
    if (!begun) return;
    this.#shell = { ...shellOf(context, begun.model, begun.created), id: begun.id };
    this.#sequence = begun.frames;
  }

  encode(event: AnswerEvent, out: OutFrame[]): void {
    if ("choice" in event && event.choice !== undefined && event.choice > 0)
      return this.warn("dropped_field", "choices");
    switch (event.type) {
      case "block_delta": {
        const item = this.#open.get(event.block);
        if (item && event.text !== "") this.#say(item, event.text, out);
        return;
      }
      case "message_start":
        return this.#start(event.model, event.created, out);
      case "block_start":
        return this.#begin(event.block, event.start, out);
      case "block_citation": {
        const item = this.#open.get(event.block);
        const annotation = item && encodeAnnotation(event.citation, this.warn);
        if (!annotation) return;
        this.#add(item, out);
        const annotation_index = item.annotations.push(annotation) - 1;
        return this.#event(
          "response.output_text.annotation.added",
          { ...this.#place(item), content_index: 0, annotation_index, annotation },
          out,
        );
      }
      case "block_data":
        return this.warn("dropped_block", "audio");
      case "block_end":
        return this.#end(event.block, event.reasoningSignature, out);
      case "finish":
        warnMembers(event.finish, answerSupport.choices.finish, "finish", this.warn);
        this.#finish = event.finish;
        return;
      case "usage":
        this.#usage = event.usage;
        return;
      case "extra":
        return warnExtra(event.value, this.warn);
      case "ping":
      case "error":
      case "done":
        return;
      default:
        event satisfies never;
    }
  }

  close(out: OutFrame[]): void {
    this.#start("", undefined, out);
    for (const block of [...this.#open.keys()]) this.#end(block, undefined, out);
    if (this.#kept > LIMIT) {
      const message = "the answer is too large to be repeated at its end";
      return this.fail({ status: 502, type: "upstream_error", code: "server_error", message, param: null }, out);
    }
    if (this.#usage) warnMembers(this.#usage, answerSupport.usage, "usage", this.warn);
    const outcome = outcomeOf(this.context, this.#finish, this.#output, this.#usage);
    this.#event(`response.${String(outcome.status)}`, { response: { ...this.#shell, ...outcome } }, out);
  }

  fail(error: RelayError, out: OutFrame[], usage?: Usage): void {
    this.#start("", undefined, out);
    const response = {
      ...this.#shell,
      status: "failed",
      output: this.#output,
      error: { code: error.code, message: openaiMessage(error) },
      ...(usage && { usage: encodeUsage(usage), service_tier: openaiTier(usage.served) ?? "default" }),
    };
    this.#event("response.failed", { response }, out);
  }

  #event(type: string, body: WireObject, out: OutFrame[]): void {
    out.push({ event: type, data: JSON.stringify({ type, sequence_number: this.#sequence++, ...body }) });
  }

  #start(model: string, created: number | undefined, out: OutFrame[]): void {
    if (this.#shell) return;
    this.#shell = shellOf(this.context, model, created);
    this.#event("response.created", { response: this.#shell }, out);
    this.#event("response.in_progress", { response: this.#shell }, out);
  }

  #place(item: OpenItem): WireObject {
    return { item_id: item.id, output_index: item.index };
  }

  #begin(block: number, start: BlockStart, out: OutFrame[]): void {
    this.#start("", undefined, out);
    if (start.kind === "whole") return this.#whole(start, out);
    if (start.kind === "audio") warnMembers(start, answerSupport.choices.starts.audio, "audio", this.warn);
    const kind: Kind =
      start.kind === "audio"
        ? "text"
        : start.kind !== "tool_call"
          ? start.kind
          : start.custom
            ? "free_call"
            : this.#declared.get(start.name)?.free
              ? "foreign_free_call"
              : "call";
    const call = start.kind === "tool_call" ? { id: start.id, ...this.#namesOf(start.name) } : { id: "", name: "" };
    const item: OpenItem = { kind, call, index: -1, id: "", kept: "", place: "", annotations: [] };
    this.#open.set(block, item);
    if (start.kind === "tool_call") this.#add(item, out);
  }

  /** What the caller calls a tool. */
  #namesOf(flat: string): { name: string; namespace?: string } {
    const { name = flat, namespace } = this.#declared.get(flat) ?? {};
    return { name, ...(namespace !== undefined && { namespace }) };
  }

  #whole(start: Extract<BlockStart, { kind: "whole" }>, out: OutFrame[]): void {
    const { block } = start;
    const index = this.#output.length;
    if (block.type === "image") warnMembers(block, answerSupport.choices.content.image, "image", this.warn);
    const image = block.type === "image" && block.source.kind === "data" ? block.source.data : undefined;
    const item =
      image !== undefined
        ? { type: "image_generation_call", id: `ig_${this.context.id}_${index}`, status: "completed", result: image }
        : block.type === "opaque" && block.from === "openai-responses"
          ? block.value
          : undefined;
    if (!item)
      return this.warn("dropped_block", block.type === "opaque" ? String(block.value.type ?? block.from) : block.type);
    this.#kept += image?.length ?? 0;
    this.#output.push(item);
    this.#event("response.output_item.added", { output_index: index, item }, out);
    this.#event("response.output_item.done", { output_index: index, item }, out);
  }

  /** The item as it stands. */
  #itemOf(item: OpenItem, status: string, reasoningSignature?: ReasoningSignature): WireObject {
    switch (item.kind) {
      case "text":
        return messageItem(
          item.id,
          { type: "output_text", text: item.kept, annotations: item.annotations, logprobs: [] },
          status,
        );
      case "refusal":
        return messageItem(item.id, { type: "refusal", refusal: item.kept }, status);
      case "reasoning":
        return itemOfThoughts(item.kept, reasoningSignature, item.id);
      default:
        return callItem(item.id, item.call, item.kept, item.kind !== "call", status);
    }
  }

  /** Announces an item, once. */
  #add(item: OpenItem, out: OutFrame[]): void {
    if (item.index >= 0) return;
    item.index = this.#output.length;
    item.id = `${prefixes[item.kind]}_${this.context.id}_${item.index}`;
    const empty = this.#itemOf(item, "in_progress");
    this.#output.push(empty);
    const shown = item.kind === "text" || item.kind === "refusal" ? { ...empty, content: [] } : empty;
    this.#event("response.output_item.added", { output_index: item.index, item: shown }, out);
    if (item.kind === "text" || item.kind === "refusal") {
      const part =
        item.kind === "text"
          ? { type: "output_text", text: "", annotations: [], logprobs: [] }
          : { type: "refusal", refusal: "" };
      this.#event("response.content_part.added", { ...this.#place(item), content_index: 0, part }, out);
    }
  }

  #keep(item: OpenItem, words: string): void {
    this.#kept += words.length;
    if (this.#kept <= LIMIT) item.kept += words;
  }

  #say(item: OpenItem, words: string, out: OutFrame[]): void {
    this.#add(item, out);
    if (item.kind === "reasoning" && item.kept === "") {
      this.#event(
        "response.reasoning_summary_part.added",
        { ...this.#place(item), summary_index: 0, part: { type: "summary_text", text: "" } },
        out,
      );
    }
    this.#keep(item, words);
    if (item.kind === "foreign_free_call") return;
    this.#piece(item, item.kind, words, out);
  }

  #piece(item: OpenItem, kind: Exclude<Kind, "foreign_free_call">, words: string, out: OutFrame[]): void {
    const { type, head, place } = pieces[kind];
    item.place ||= `,"item_id":${JSON.stringify(item.id)},"output_index":${item.index},${place}"delta":`;
    out.push({ event: type, data: `${head}${this.#sequence++}${item.place}${JSON.stringify(words)}}` });
  }

  #end(block: number, reasoningSignature: ReasoningSignature | undefined, out: OutFrame[]): void {
    const item = this.#open.get(block);
    this.#open.delete(block);
    if (!item || (item.index < 0 && !(item.kind === "reasoning" && reasoningSignature))) return;
    this.#add(item, out);
    if (item.kind === "call" && item.kept === "") this.#say(item, "{}", out);
    if (item.kind === "foreign_free_call") {
      item.kept = freeFormInput(item.kept);
      this.#piece(item, "free_call", item.kept, out);
    }
    const place = this.#place(item);
    switch (item.kind) {
      case "text": {
        const part = { type: "output_text", text: item.kept, annotations: item.annotations, logprobs: [] };
        this.#event("response.output_text.done", { ...place, content_index: 0, text: item.kept, logprobs: [] }, out);
        this.#event("response.content_part.done", { ...place, content_index: 0, part }, out);
        break;
      }
      case "refusal":
        this.#event("response.refusal.done", { ...place, content_index: 0, refusal: item.kept }, out);
        this.#event(
          "response.content_part.done",
          { ...place, content_index: 0, part: { type: "refusal", refusal: item.kept } },
          out,
        );
        break;
      case "reasoning":
        if (item.kept === "") break;
        this.#event("response.reasoning_summary_text.done", { ...place, summary_index: 0, text: item.kept }, out);
        this.#event(
          "response.reasoning_summary_part.done",
          { ...place, summary_index: 0, part: { type: "summary_text", text: item.kept } },
          out,
        );
        break;
      case "call":
        this.#event(
          "response.function_call_arguments.done",
          { ...place, name: item.call.name, arguments: item.kept },
          out,
        );
        break;
      default:
        this.#event("response.custom_tool_call_input.done", { ...place, input: item.kept }, out);
    }
    const whole = this.#itemOf(item, "completed", reasoningSignature);
    this.#output[item.index] = whole;
    this.#event("response.output_item.done", { output_index: item.index, item: whole }, out);
  }
}
