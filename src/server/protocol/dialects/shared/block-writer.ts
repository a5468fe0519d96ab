/** Blocks of a stream for vendors that send bare pieces: a block lasts until a piece of another kind comes. */
import type { AnswerEvent, BlockStart, Citation, FileBlock, ImageBlock } from "../../chat-events";

type Spoken = "text" | "reasoning";

/** Writes the events of one choice. */
export class BlockWriter {
  #next = 0;
  #open: { kind: Spoken; block: number } | undefined;

  constructor(readonly choice = 0) {}

  /** A piece of text or of thoughts; an empty one says nothing. */
  say(kind: Spoken, text: string, out: AnswerEvent[]): void {
    if (text !== "") out.push({ type: "block_delta", choice: this.choice, block: this.#speak(kind, out), text });
  }

  /** Where the text has it from. */
  cite(citation: Citation, out: AnswerEvent[]): void {
    out.push({ type: "block_citation", choice: this.choice, block: this.#speak("text", out), citation });
  }

  /** Begins a tool call; its number, for `more` and `end`. */
  call(id: string, name: string, out: AnswerEvent[]): number {
    return this.#begin({ kind: "tool_call", id, name }, out);
  }

  /** A piece of a tool call's JSON. */
  more(block: number, text: string, out: AnswerEvent[]): void {
    if (text !== "") out.push({ type: "block_delta", choice: this.choice, block, text });
  }

  end(block: number, out: AnswerEvent[]): void {
    out.push({ type: "block_end", choice: this.choice, block });
  }

  /** A block that comes whole. */
  whole(block: ImageBlock | FileBlock, out: AnswerEvent[]): void {
    this.end(this.#begin({ kind: "whole", block }, out), out);
  }

  /** Ends the text or the thoughts that are open. */
  close(out: AnswerEvent[]): void {
    if (this.#open) this.end(this.#open.block, out);
    this.#open = undefined;
  }

  #begin(start: BlockStart, out: AnswerEvent[]): number {
    this.close(out);
    const block = this.#next++;
    out.push({ type: "block_start", choice: this.choice, block, start });
    return block;
  }

  #speak(kind: Spoken, out: AnswerEvent[]): number {
    if (this.#open?.kind !== kind) this.#open = { kind, block: this.#begin({ kind }, out) };
    return this.#open.block;
  }
}
