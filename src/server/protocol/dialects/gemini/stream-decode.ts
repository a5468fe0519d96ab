/**
 * Google's stream: each frame is a GenerateContentResponse with the next parts; calls come whole; there is no last word
 * (ai.google.dev/api/generate-content, streamGenerateContent; types of @google/genai 3.1; read November 2026).
 */
import type { AnswerEvent, Block, BlockStart, Usage, WireObject } from "../../chat-events";
import { dataObject, isObject, number, object, objects, text } from "../shared/json";
import type { StreamDecoder } from "../translation";
import { decodeGrounding } from "./citations";
import { readError } from "./error";
import { decodeFinish } from "./finish-reason";
import { PartialCalls } from "./partial-calls";
import { CallIds, decodeParts } from "./parts-decode";
import { readUsage, searchesOf, withSearches } from "./usage";

/** What most frames carry: one part of nothing but text or thought. */
function plainPart(parts: unknown): { text: string; thought?: unknown } | undefined {
  const part: unknown = Array.isArray(parts) && parts.length === 1 ? parts[0] : undefined;
  if (!isObject(part)) return undefined;
  for (const name in part) if (name !== "text" && name !== "thought") return undefined;
  const { text: words, thought } = part;
  return typeof words === "string" && words !== "" ? { text: words, thought } : undefined;
}

class CandidateReader {
  #next = 0;
  #open: { kind: "text" | "reasoning"; block: number } | undefined;
  #called = false;
  #finished = false;
  readonly #ids: CallIds;
  readonly #partial = new PartialCalls();

  constructor(
    readonly index: number,
    id: string,
  ) {
    this.#ids = new CallIds(`${id}_${index}`);
  }

  read(candidate: WireObject, out: AnswerEvent[]): void {
    const parts = this.#partial.join(object(candidate.content).parts);
    const said = plainPart(parts);
    if (said) this.#say(said.thought === true ? "reasoning" : "text", said.text, out);
    else if (parts !== undefined) for (const block of decodeParts(parts, this.#ids, false)) this.#take(block, out);
    for (const citation of decodeGrounding(candidate.groundingMetadata)) {
      out.push({ type: "block_citation", choice: this.index, block: this.#speak("text", out), citation });
    }
    const raw = text(candidate.finishReason);
    if (raw === "" || raw === "FINISH_REASON_UNSPECIFIED" || this.#finished) return;
    this.#finished = true;
    for (const block of decodeParts(this.#partial.end(), this.#ids, false)) this.#take(block, out);
    this.close(out);
    out.push({ type: "finish", choice: this.index, finish: decodeFinish(raw, this.#called) });
  }

  close(out: AnswerEvent[]): void {
    if (this.#open) out.push({ type: "block_end", choice: this.index, block: this.#open.block });
    this.#open = undefined;
  }

  #begin(start: BlockStart, out: AnswerEvent[]): number {
    this.close(out);
    const block = this.#next++;
    out.push({ type: "block_start", choice: this.index, block, start });
    return block;
  }

  /** The open block of a kind. */
  #speak(kind: "text" | "reasoning", out: AnswerEvent[]): number {
    if (this.#open?.kind !== kind) this.#open = { kind, block: this.#begin({ kind }, out) };
    return this.#open.block;
  }

  #say(kind: "text" | "reasoning", words: string, out: AnswerEvent[]): void {
    out.push({ type: "block_delta", choice: this.index, block: this.#speak(kind, out), text: words });
  }

  #take(block: Block, out: AnswerEvent[]): void {
    const choice = this.index;
    switch (block.type) {
      case "text":
        return this.#say("text", block.text, out);
      case "reasoning":
        if (block.text !== "") this.#say("reasoning", block.text, out);
        if (block.reasoningSignature) {
          // A signature ends the thought it belongs to; that of a text or a call is a thought of its own.
          const at = block.text !== "" ? this.#speak("reasoning", out) : this.#begin({ kind: "reasoning" }, out);
          this.#open = undefined;
          out.push({ type: "block_end", choice, block: at, reasoningSignature: block.reasoningSignature });
        }
        return;
      case "tool_call": {
        this.#called = true;
        const at = this.#begin({ kind: "tool_call", id: block.id, name: block.name }, out);
        if (block.input !== "{}") out.push({ type: "block_delta", choice, block: at, text: block.input });
        out.push({ type: "block_end", choice, block: at });
        return;
      }
      case "audio": {
        if (block.source.kind !== "data") return;
        const at = this.#begin({ kind: "audio", media_type: block.source.media_type }, out);
        out.push({ type: "block_data", choice, block: at, data: block.source.data });
        out.push({ type: "block_end", choice, block: at });
        return;
      }
      case "image":
      case "file":
      case "opaque": {
        const at = this.#begin({ kind: "whole", block }, out);
        out.push({ type: "block_end", choice, block: at });
      }
    }
  }
}

export class GeminiStreamDecoder implements StreamDecoder {
  readonly #candidates: CandidateReader[] = [];
  #started = false;
  #id: string;
  #usage: Usage | undefined;
  /** Queries of the grounding, which may come in another frame than the usage. */
  #searches = 0;

  constructor(id: string) {
    this.#id = id;
  }

  decode(data: string, out: AnswerEvent[]): boolean {
    const chunk = dataObject(data);
    if (!chunk) return false;
    const error = chunk.error === undefined ? undefined : readError(chunk);
    if (error) {
      const spent = isObject(chunk.usageMetadata) ? readUsage(chunk.usageMetadata) : undefined;
      if (spent) out.push({ type: "usage", usage: withSearches(spent, this.#searches) });
      out.push({ type: "error", error });
      return true;
    }
    if (!this.#started) {
      this.#started = true;
      this.#id = text(chunk.responseId) || this.#id;
      out.push({ type: "message_start", id: this.#id, model: text(chunk.modelVersion) });
    }
    const candidates = objects(chunk.candidates);
    for (const [position, candidate] of candidates.entries()) {
      this.#candidate(number(candidate.index) ?? position).read(candidate, out);
    }
    const blocked = text(object(chunk.promptFeedback).blockReason);
    if (blocked !== "" && candidates.length === 0) {
      out.push({ type: "finish", choice: 0, finish: { unified: "content_filter", raw: blocked } });
    }
    const usage = isObject(chunk.usageMetadata) ? readUsage(chunk.usageMetadata) : undefined;
    const searches = searchesOf(candidates);
    this.#usage = usage ?? this.#usage;
    this.#searches = Math.max(this.#searches, searches);
    if (this.#usage && (usage || searches > 0))
      out.push({ type: "usage", usage: withSearches(this.#usage, this.#searches) });
    return true;
  }

  end(out: AnswerEvent[]): void {
    for (const candidate of this.#candidates) candidate?.close(out);
  }

  #candidate(index: number): CandidateReader {
    return (this.#candidates[index] ??= new CandidateReader(index, this.#id));
  }
}
