/**
 * Neutral events as Anthropic's stream events: message_start, then for each block start, deltas and stop, then
 * message_delta with stop reason and usage, message_stop (platform.claude.com/docs, streaming, read November 2026).
 * A block begins with its first content, so that there are no empty ones.
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
import { warnExtra } from "../shared/service-tier";
import { warnMembers } from "../shared/unsupported";
import type { AnswerContext, OutFrame, StreamEncoder } from "../translation";
import { encodeCitation } from "./citations";
import { thoughtsBody, toolId } from "./content-encode";
import { writeError } from "./error";
import { encodeStop } from "./stop-reason";
import { answerSupport } from "./support";
import { encodeUsage } from "./usage";

interface OpenBlock {
  readonly kind: Exclude<BlockStart["kind"], "whole">;
  /** The number on the wire; -1 until it has begun. */
  index: number;
  /** A delta frame up to its text. */
  before: string;
  /** The call of a free-form tool: its text becomes the one argument. */
  readonly custom: boolean;
}

const deltas = {
  text: '{"type":"text_delta","text":',
  refusal: '{"type":"text_delta","text":',
  audio: '{"type":"text_delta","text":',
  reasoning: '{"type":"thinking_delta","thinking":',
  tool_call: '{"type":"input_json_delta","partial_json":',
} as const;

export class AnthropicStreamEncoder implements StreamEncoder {
  #started = false;
  #usage: Usage = {};
  #finish: FinishReason | undefined;
  #refused = false;
  #next = 0;
  readonly #open = new Map<number, OpenBlock>();

  constructor(
    readonly context: AnswerContext,
    readonly warn: Warn,
  ) {}

  encode(event: AnswerEvent, out: OutFrame[]): void {
    if ("choice" in event && event.choice !== undefined && event.choice > 0)
      return this.warn("dropped_field", "choices");
    switch (event.type) {
      case "block_delta": {
        const open = this.#open.get(event.block);
        if (!open || event.text === "") return;
        if (open.index < 0) this.#start(open, out);
        this.#say(open, open.custom ? JSON.stringify(event.text).slice(1, -1) : event.text, out);
        return;
      }
      case "message_start":
        return this.#ready(event.id, event.model, out);
      case "block_start":
        return this.#begin(event.block, event.start, out);
      case "block_citation": {
        const open = this.#open.get(event.block);
        const citation = open && encodeCitation(event.citation, this.warn);
        if (!citation) return;
        if (open.index < 0) this.#start(open, out);
        return this.#delta(open.index, { type: "citations_delta", citation }, out);
      }
      case "block_end":
        return this.#end(event.block, event.reasoningSignature, out);
      case "block_data":
        return this.warn("dropped_block", "audio");
      case "usage":
        this.#usage = event.usage;
        return;
      case "finish":
        warnMembers(event.finish, answerSupport.choices.finish, "finish", this.warn);
        this.#finish = event.finish;
        return;
      case "ping":
        this.#ready("", "", out);
        return void out.push({ event: "ping", data: '{"type":"ping"}' });
      case "extra":
        return warnExtra(event.value, this.warn);
      case "error":
      case "done":
        return;
      default:
        event satisfies never;
    }
  }

  close(out: OutFrame[]): void {
    warnMembers(this.#usage, answerSupport.usage, "usage", this.warn);
    this.#conclude(this.#usage, encodeStop(this.#finish, this.#refused), out);
    this.#frame({ type: "message_stop" }, out);
  }

  fail(error: RelayError, out: OutFrame[], usage?: Usage): void {
    if (usage)
      this.#conclude(
        usage,
        this.#finish ? encodeStop(this.#finish, this.#refused) : { stop_reason: null, stop_sequence: null },
        out,
      );
    this.#frame(writeError(error), out);
  }

  #conclude(usage: Usage, delta: WireObject, out: OutFrame[]): void {
    this.#ready("", "", out);
    for (const block of [...this.#open.keys()]) this.#end(block, undefined, out);
    this.#frame({ type: "message_delta", delta, usage: encodeUsage(usage) }, out);
  }

  #say(open: OpenBlock, words: string, out: OutFrame[]): void {
    out.push({ event: "content_block_delta", data: `${open.before}${JSON.stringify(words)}}}` });
  }

  #frame(body: WireObject, out: OutFrame[]): void {
    out.push({ event: String(body.type), data: JSON.stringify(body) });
  }

  #ready(id: string, model: string, out: OutFrame[]): void {
    if (this.#started) return;
    this.#started = true;
    const message = {
      id: id || this.context.id,
      type: "message",
      role: "assistant",
      model: this.context.model ?? model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: encodeUsage(this.#usage),
    };
    this.#frame({ type: "message_start", message }, out);
  }

  #delta(index: number, delta: WireObject, out: OutFrame[]): void {
    this.#frame({ type: "content_block_delta", index, delta }, out);
  }

  #begin(block: number, start: BlockStart, out: OutFrame[]): void {
    this.#ready("", "", out);
    if (start.kind === "whole") {
      const { block: whole } = start;
      if (whole.type === "opaque" && whole.from === "anthropic") this.#whole(whole.value, out);
      else this.warn("dropped_block", whole.type === "opaque" ? String(whole.value.type ?? whole.from) : whole.type);
      return;
    }
    if (start.kind === "refusal") this.#refused = true;
    else if (start.kind === "audio") warnMembers(start, answerSupport.choices.starts.audio, "audio", this.warn);
    const custom = start.kind === "tool_call" && start.custom === true;
    const open: OpenBlock = { kind: start.kind, index: -1, before: "", custom };
    this.#open.set(block, open);
    // A call is content without arguments too.
    if (start.kind === "tool_call") {
      this.#start(open, out, { type: "tool_use", id: toolId(start.id), name: start.name, input: {} });
      if (custom) this.#say(open, '{"input":"', out);
    }
  }

  #start(open: OpenBlock, out: OutFrame[], content_block?: WireObject): void {
    open.index = this.#next++;
    open.before = `{"type":"content_block_delta","index":${open.index},"delta":${deltas[open.kind]}`;
    const own =
      open.kind === "reasoning" ? { type: "thinking", thinking: "", signature: "" } : { type: "text", text: "" };
    this.#frame({ type: "content_block_start", index: open.index, content_block: content_block ?? own }, out);
  }

  #whole(content_block: WireObject, out: OutFrame[]): void {
    const index = this.#next++;
    this.#frame({ type: "content_block_start", index, content_block }, out);
    this.#frame({ type: "content_block_stop", index }, out);
  }

  #end(block: number, reasoningSignature: ReasoningSignature | undefined, out: OutFrame[]): void {
    const open = this.#open.get(block);
    this.#open.delete(block);
    if (!open) return;
    if (open.custom) this.#say(open, '"}', out);
    if (reasoningSignature && open.kind === "reasoning") {
      const body = thoughtsBody({ type: "reasoning", text: "", reasoningSignature }, false, this.warn);
      if (body?.type === "redacted_thinking" && open.index < 0) return this.#whole(body, out);
      if (open.index < 0) this.#start(open, out);
      this.#delta(open.index, { type: "signature_delta", signature: body?.signature ?? "" }, out);
    }
    if (open.index >= 0) this.#frame({ type: "content_block_stop", index: open.index }, out);
  }
}
