/**
 * chat.completion.chunk frames as neutral events (types of the `openai` SDK 7.55; DeepSeek's reasoning_content;
 * OpenRouter's reasoning, reasoning_details and images; read November 2026).
 */
import type { AnswerEvent, BlockStart, ReasoningSignature, WireObject } from "../../chat-events";
import { FREE_FORM } from "../shared/free-form";
import { dataObject, isObject, list, number, object, objects, text, unknownMembers } from "../shared/json";
import { audioType, sourceOfUrl } from "../shared/media";
import type { StreamDecoder } from "../translation";
import { callSignature } from "./answer-decode";
import { CallTracker, type TrackedCall } from "./call-tracker";
import { decodeCitation, searchAnnotations } from "./citations";
import { readError } from "./error";
import { decodeFinish } from "./finish-reason";
import { plainSignature, signatureOfDetail, thinkingIn } from "./thoughts";
import { usageOf } from "./usage";

const KEY = "openai-chat";

const knownChunk = new Set([
  "id",
  "object",
  "created",
  "model",
  "choices",
  "usage",
  "obfuscation",
  "error",
  "citations",
  "search_results",
]);

type Spoken = "text" | "reasoning" | "refusal" | "audio";

/** One choice of the answer: which blocks are open. */
class ChoiceReader {
  #next = 0;
  #open: { kind: Spoken; block: number } | undefined;
  /** The entry of reasoning_details that is being read. */
  #detail: Record<string, unknown> | undefined;
  readonly #calls = new CallTracker();
  #finished = false;

  constructor(
    readonly index: number,
    readonly fallbackId: string,
  ) {}

  read(choice: WireObject, out: AnswerEvent[]): void {
    const delta = isObject(choice.delta) ? choice.delta : object(choice.message);
    const { content } = delta;
    this.#readThoughts(delta, out);
    if (typeof content === "string") {
      if (content !== "") this.#say("text", content, out);
    } else if (content) {
      for (const part of objects(content)) {
        const thought = thinkingIn(part);
        if (thought !== "") this.#say("reasoning", thought, out);
        if (text(part.text) !== "") this.#say("text", text(part.text), out);
      }
    }
    if (typeof delta.refusal === "string" && delta.refusal !== "") this.#say("refusal", delta.refusal, out);
    if (delta.annotations) this.cite(delta.annotations, out);
    if (isObject(delta.audio)) this.#speak(delta.audio, out);
    for (const image of objects(delta.images)) {
      const source = sourceOfUrl(text(object(image.image_url).url));
      const block = this.#begin({ kind: "whole", block: { type: "image", source } }, out);
      out.push({ type: "block_end", choice: this.index, block });
    }
    if (delta.tool_calls) for (const call of list(delta.tool_calls)) if (isObject(call)) this.#readCall(call, out);
    if (isObject(delta.function_call)) this.#readCall({ index: 0, function: delta.function_call }, out);
    if (choice.logprobs) {
      out.push({ type: "extra", choice: this.index, from: KEY, value: { logprobs: choice.logprobs } });
    }
    const raw = choice.finish_reason;
    if (typeof raw === "string" && raw !== "") this.finish(raw, out);
  }

  /** The choice is complete; only its first end counts. */
  finish(raw: string, out: AnswerEvent[]): void {
    if (this.#finished) return;
    this.#finished = true;
    this.close(out);
    out.push({ type: "finish", choice: this.index, finish: decodeFinish(raw, this.#calls.count > 0) });
  }

  /** Ends every open block. */
  close(out: AnswerEvent[]): void {
    this.#endSpoken(out);
    for (const call of this.#calls.open) this.#endCall(call, out);
  }

  #begin(start: BlockStart, out: AnswerEvent[]): number {
    this.#endSpoken(out);
    const block = this.#next++;
    out.push({ type: "block_start", choice: this.index, block, start });
    return block;
  }

  #endSpoken(out: AnswerEvent[]): void {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    const reasoningSignature: ReasoningSignature | undefined =
      open.kind !== "reasoning" ? undefined : this.#detail ? signatureOfDetail(this.#detail) : plainSignature;
    this.#detail = undefined;
    out.push({
      type: "block_end",
      choice: this.index,
      block: open.block,
      ...(reasoningSignature && { reasoningSignature }),
    });
  }

  #endCall(call: TrackedCall, out: AnswerEvent[]): void {
    call.open = false;
    out.push({ type: "block_end", choice: this.index, block: call.block });
  }

  #say(kind: "text" | "reasoning" | "refusal", words: string, out: AnswerEvent[]): void {
    if (this.#open?.kind !== kind) this.#open = { kind, block: this.#begin({ kind }, out) };
    out.push({ type: "block_delta", choice: this.index, block: this.#open.block, text: words });
  }

  #readThoughts(delta: WireObject, out: AnswerEvent[]): void {
    if (Array.isArray(delta.reasoning_details) && delta.reasoning_details.length > 0) {
      for (const detail of objects(delta.reasoning_details)) this.#readDetail(detail, out);
      return;
    }
    const words = delta.reasoning_content ?? delta.reasoning;
    if (typeof words === "string" && words !== "") this.#say("reasoning", words, out);
  }

  #readDetail(detail: WireObject, out: AnswerEvent[]): void {
    const words = text(detail.text) || text(detail.summary);
    const same =
      this.#detail !== undefined &&
      this.#detail.type === detail.type &&
      (this.#detail.index ?? 0) === (detail.index ?? 0);
    // Only text so far: this entry says what it is worth.
    if (words === "" && this.#open?.kind === "reasoning" && !this.#detail) {
      this.#detail = { ...detail };
      return;
    }
    if (!same || this.#open?.kind !== "reasoning") {
      this.#open = { kind: "reasoning", block: this.#begin({ kind: "reasoning" }, out) };
      this.#detail = {};
    }
    for (const [key, value] of Object.entries(detail)) {
      if (value !== null && value !== undefined && this.#detail) this.#detail[key] = value;
    }
    if (words !== "") this.#say("reasoning", words, out);
  }

  cite(annotations: unknown, out: AnswerEvent[]): void {
    for (const annotation of objects(annotations)) {
      if (this.#open?.kind !== "text") this.#open = { kind: "text", block: this.#begin({ kind: "text" }, out) };
      const citation = decodeCitation(annotation);
      out.push({ type: "block_citation", choice: this.index, block: this.#open.block, citation });
    }
  }

  #speak(audio: WireObject, out: AnswerEvent[]): void {
    if (this.#open?.kind !== "audio") {
      const id = text(audio.id);
      const start = { kind: "audio", media_type: audioType(""), ...(id !== "" && { id }) } as const;
      this.#open = { kind: "audio", block: this.#begin(start, out) };
    }
    const { block } = this.#open;
    const words = text(audio.transcript);
    if (words !== "") out.push({ type: "block_delta", choice: this.index, block, text: words });
    const data = text(audio.data);
    if (data !== "") out.push({ type: "block_data", choice: this.index, block, data });
  }

  #readCall(call: WireObject, out: AnswerEvent[]): void {
    const custom = call.type === FREE_FORM || isObject(call.custom);
    const details = object(custom ? call.custom : call.function);
    const [id, name] = [text(call.id), text(details.name)];
    const index = number(call.index);
    let tracked = this.#calls.find(index, id, name);
    if (!tracked) {
      this.#endSpoken(out);
      for (const open of this.#calls.open) if (open.progress.whole) this.#endCall(open, out);
      const reasoningSignature = callSignature(call)?.reasoningSignature;
      if (reasoningSignature) {
        const block = this.#begin({ kind: "reasoning" }, out);
        out.push({ type: "block_end", choice: this.index, block, reasoningSignature });
      }
      const own = id || `call_${this.fallbackId}_${this.index}_${this.#calls.count}`;
      const block = this.#begin({ kind: "tool_call", id: own, name, ...(custom && { custom }) }, out);
      tracked = this.#calls.add(index, block, own, custom);
    }
    const words = custom ? details.input : details.arguments;
    // Some vendors send the arguments as an object.
    const piece = typeof words === "string" ? words : isObject(words) ? JSON.stringify(words) : "";
    if (piece === "" || !tracked.open) return;
    if (!tracked.custom) tracked.progress.push(piece);
    out.push({ type: "block_delta", choice: this.index, block: tracked.block, text: piece });
  }
}

export class ChatStreamDecoder implements StreamDecoder {
  readonly #choices: ChoiceReader[] = [];
  #started = false;

  constructor(readonly id: string) {}

  decode(data: string, out: AnswerEvent[]): boolean {
    if (data.length < 12 && data.trim() === "[DONE]") {
      // The last word is an end even where no reason was named.
      for (const choice of this.#choices) choice?.finish("", out);
      out.push({ type: "done" });
      return true;
    }
    const chunk = dataObject(data);
    if (!chunk) return false;
    this.read(chunk, out);
    return true;
  }

  /** Adds the events of one chunk; for vendors whose chunks are these by other names. */
  read(chunk: WireObject, out: AnswerEvent[]): void {
    if (
      (chunk.error !== undefined && chunk.error !== null) ||
      (!Array.isArray(chunk.choices) && isObject(chunk.base_resp))
    ) {
      const error = readError(chunk);
      if (error) {
        this.#count(chunk, out);
        out.push({ type: "error", error });
        return;
      }
    }
    const { choices } = chunk;
    const some = Array.isArray(choices) && choices.length > 0;
    if (!this.#started && (some || text(chunk.id) !== "")) this.#start(chunk, out);
    if (some) {
      // The last chunk has them all.
      if (isObject(choices[0]) && choices[0].finish_reason) this.#choice(0).cite(searchAnnotations(chunk), out);
      for (const choice of choices) if (isObject(choice)) this.#choice(number(choice.index) ?? 0).read(choice, out);
    }
    this.#count(chunk, out);
  }

  #count(chunk: WireObject, out: AnswerEvent[]): void {
    const usage = chunk.usage ? usageOf(chunk) : undefined;
    if (usage) out.push({ type: "usage", usage });
  }

  end(out: AnswerEvent[]): void {
    for (const choice of this.#choices) choice?.close(out);
  }

  #start(chunk: WireObject, out: AnswerEvent[]): void {
    this.#started = true;
    const created = number(chunk.created);
    out.push({
      type: "message_start",
      id: text(chunk.id) || this.id,
      model: text(chunk.model),
      ...(created !== undefined && { created }),
    });
    const value = unknownMembers(chunk, knownChunk);
    if (value) out.push({ type: "extra", from: KEY, value });
  }

  #choice(index: number): ChoiceReader {
    return (this.#choices[index] ??= new ChoiceReader(index, this.id));
  }
}
