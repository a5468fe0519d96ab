/**
 * Thoughts as part of the text, between <think> tags: for callers whose programs read no other place
 * (the channel setting thinking_to_content). Wraps what a dialect reads; the caller's dialect writes it as
 * text.
 */
import type { StreamDecoder } from "./dialects/translation";
import type { AnswerEvent, Block, ChatAnswer } from "./chat-events";

const OPEN = "<think>\n";
const CLOSE = "\n</think>\n\n";

/** A whole answer; thoughts that may not be read are gone. */
export function thoughtsInText(answer: ChatAnswer): ChatAnswer {
  const asText = (block: Block): Block[] => {
    if (block.type !== "reasoning") return [block];
    return block.text === "" ? [] : [{ type: "text", text: OPEN + block.text + CLOSE }];
  };
  return {
    ...answer,
    choices: answer.choices.map((choice) => ({ ...choice, content: choice.content.flatMap(asText) })),
  };
}

/** The same for a stream: a block of thoughts becomes a block of text, as soon as it says something. */
export class ThoughtsInText implements StreamDecoder {
  readonly #inner: StreamDecoder;
  readonly #read: AnswerEvent[] = [];
  /** Blocks of thoughts that are open, by choice and number; true once they said something. */
  readonly #open = new Map<string, boolean>();

  constructor(inner: StreamDecoder) {
    this.#inner = inner;
  }

  decode(data: string, out: AnswerEvent[]): boolean {
    const isOurs = this.#inner.decode(data, this.#read);
    this.#pass(out);
    return isOurs;
  }

  end(out: AnswerEvent[]): void {
    this.#inner.end(this.#read);
    this.#pass(out);
  }

  #pass(out: AnswerEvent[]): void {
    for (const event of this.#read.splice(0)) this.#rewrite(event, out);
  }

  #rewrite(event: AnswerEvent, out: AnswerEvent[]): void {
    if (event.type === "block_start" && event.start.kind === "reasoning") {
      this.#open.set(`${event.choice} ${event.block}`, false);
      return;
    }
    const place = "block" in event ? `${event.choice} ${event.block}` : "";
    const said = place === "" ? undefined : this.#open.get(place);
    if (said === undefined || !("block" in event)) return void out.push(event);
    const { choice, block } = event;
    if (event.type === "block_delta") {
      if (!said) {
        this.#open.set(place, true);
        out.push({ type: "block_start", choice, block, start: { kind: "text" } });
      }
      out.push({ type: "block_delta", choice, block, text: said ? event.text : OPEN + event.text });
    } else if (event.type === "block_end") {
      this.#open.delete(place);
      // The signature is of thoughts, and text has none.
      if (said) out.push({ type: "block_delta", choice, block, text: CLOSE }, { type: "block_end", choice, block });
    }
  }
}
