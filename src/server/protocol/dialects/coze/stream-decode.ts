/** A bot's events as neutral ones (see answer.ts for their shape). Unknown events are passed over. */
import type { AnswerEvent, WireObject } from "../../chat-events";
import { BlockWriter } from "../shared/block-writer";
import { dataObject, number, object, text } from "../shared/json";
import type { StreamDecoder } from "../translation";
import { COMPLETED, errorIn, errorOf, finishOf, isAnswer, readUsage } from "./answer";

export class CozeStreamDecoder implements StreamDecoder {
  readonly #blocks = new BlockWriter();
  readonly #id: string;
  #started = false;

  constructor(id: string) {
    this.#id = id;
  }

  decode(data: string, out: AnswerEvent[]): boolean {
    const event = dataObject(data);
    if (!event) return false;
    const error = errorIn(event) ?? (event.event === undefined ? errorOf(event) : undefined);
    if (error) {
      const spent = readUsage(object(event.data).usage);
      if (spent) out.push({ type: "usage", usage: spent });
      out.push({ type: "error", error });
      return true;
    }
    const inner = object(event.data);
    switch (event.event) {
      case "conversation.chat.created":
        this.#start(inner, out);
        return true;
      case "conversation.message.delta":
        if (!isAnswer(inner)) return true;
        this.#start({ ...inner, id: inner.chat_id }, out);
        this.#blocks.say("reasoning", text(inner.reasoning_content), out);
        this.#blocks.say("text", text(inner.content), out);
        return true;
      case "conversation.chat.requires_action":
      case COMPLETED: {
        this.#start(inner, out);
        this.#blocks.close(out);
        const usage = readUsage(inner.usage);
        if (usage) out.push({ type: "usage", usage });
        out.push({ type: "finish", choice: 0, finish: finishOf(event.event) }, { type: "done" });
        return true;
      }
      default:
        return event.event !== undefined;
    }
  }

  end(out: AnswerEvent[]): void {
    this.#blocks.close(out);
  }

  #start(chat: WireObject, out: AnswerEvent[]): void {
    if (this.#started) return;
    this.#started = true;
    const created = number(chat.created_at);
    out.push({
      type: "message_start",
      id: text(chat.id) || this.#id,
      model: "",
      ...(created !== undefined && { created }),
    });
  }
}
