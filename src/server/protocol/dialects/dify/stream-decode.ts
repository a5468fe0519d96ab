/**
 * An application's events as neutral ones (docs.dify.ai, API reference: ChunkChatEvent, ChunkWorkflowEvent; read
 * November
 * 2026). Unknown events are passed over. What an agent thinks comes as its message, too: agent_thought is not repeated.
 */
import type { AnswerEvent, WireObject } from "../../chat-events";
import { BlockWriter } from "../shared/block-writer";
import { dataObject, number, object, text } from "../shared/json";
import { sourceOfUrl } from "../shared/media";
import type { StreamDecoder } from "../translation";
import { conversationOf, outputText, readError, readUsage, stopped } from "./answer";

export class DifyStreamDecoder implements StreamDecoder {
  readonly #blocks = new BlockWriter();
  readonly #id: string;
  #started = false;
  #said = false;

  constructor(id: string) {
    this.#id = id;
  }

  decode(data: string, out: AnswerEvent[]): boolean {
    const event = dataObject(data);
    if (!event) return false;
    const inner = object(event.data);
    switch (event.event) {
      case "message":
      case "agent_message":
      // Moderation takes back what was said; the new words can only follow.
      case "message_replace":
        this.#start(event, out);
        this.#say(text(event.answer), out);
        return true;
      case "text_chunk":
        this.#start(event, out);
        this.#say(text(inner.text), out);
        return true;
      case "message_file":
        this.#start(event, out);
        if (event.type === "image" && text(event.url) !== "") {
          this.#blocks.whole({ type: "image", source: sourceOfUrl(text(event.url)) }, out);
        }
        return true;
      case "message_end":
        this.#start(event, out);
        this.#finish(event.metadata, undefined, out);
        return true;
      case "workflow_finished":
        return this.#finishRun(event, inner, out);
      case "error": {
        const error = readError(event);
        out.push({ type: "error", error: error ?? { message: "", type: "", code: text(event.code), param: null } });
        return true;
      }
      default: {
        // An error of the gate before the application has no event.
        const error = event.event === undefined ? readError(event) : undefined;
        if (error) out.push({ type: "error", error });
        return event.event !== undefined || error !== undefined;
      }
    }
  }

  end(out: AnswerEvent[]): void {
    this.#blocks.close(out);
  }

  /** Inside a conversation the end of a run is one step; message_end follows, or an error. */
  #finishRun(event: WireObject, run: WireObject, out: AnswerEvent[]): boolean {
    const error = readError(event);
    if (error) out.push({ type: "error", error });
    else if (!conversationOf(event)) {
      this.#start(event, out);
      if (!this.#said) this.#say(outputText(run.outputs), out);
      this.#finish(undefined, run.total_tokens, out);
    }
    return true;
  }

  #start(event: WireObject, out: AnswerEvent[]): void {
    if (this.#started) return;
    this.#started = true;
    const id = text(event.message_id) || text(event.workflow_run_id) || this.#id;
    const created = number(event.created_at);
    out.push({ type: "message_start", id, model: "", ...(created !== undefined && { created }) });
    const conversation = conversationOf(event);
    if (conversation) out.push({ type: "extra", from: "openai-chat", value: conversation });
  }

  #say(words: string, out: AnswerEvent[]): void {
    this.#said ||= words !== "";
    this.#blocks.say("text", words, out);
  }

  #finish(metadata: unknown, total: unknown, out: AnswerEvent[]): void {
    this.#blocks.close(out);
    const usage = readUsage(object(metadata).usage, total);
    if (usage) out.push({ type: "usage", usage });
    out.push({ type: "finish", choice: 0, finish: stopped }, { type: "done" });
  }
}
