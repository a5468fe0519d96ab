/**
 * Neutral events as chat.completion.chunk frames, ended by [DONE] (types of the `openai` SDK 7.55; API reference, chat
 * streaming; read November 2026).
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
import { object, parseObject } from "../shared/json";
import { dataUrlOf } from "../shared/media";
import { SignatureBundle } from "../shared/reasoning-signature";
import type { AnswerContext, OutFrame, StreamEncoder } from "../translation";
import { encodeCitation } from "./citations";
import { toWire } from "./error-body";
import { encodeFinish } from "./finish-reason";
import { openaiTier } from "../shared/service-tier";
import { warnMembers } from "../shared/unsupported";
import { answerSupport } from "./support";
import { foreignDetail } from "./thoughts";
import { encodeUsage } from "./usage-encode";

const KEY = "openai-chat";

/** Members of the whole answer that OpenAI's chunks have (types of the `openai` SDK 7.55, ChatCompletionChunk). */
const chunkMembers: ReadonlySet<string> = new Set(["system_fingerprint", "service_tier"]);

interface OpenBlock {
  readonly kind: Exclude<BlockStart["kind"], "whole">;
  /** The delta of a piece, up to and after its text. */
  readonly before: string;
  readonly after: string;
  said: boolean;
}

/** One choice of the answer. */
class ChoiceWriter {
  readonly head: string;
  readonly open = new Map<number, OpenBlock>();
  readonly bundle = new SignatureBundle();
  calls = 0;
  details = 0;
  /** What stands on the next call. */
  callExtra: WireObject = {};

  constructor(head: string, index: number) {
    this.head = `${head}"choices":[{"index":${index},"delta":`;
  }
}

const TAIL = ',"logprobs":null,"finish_reason":null}]}';

export class ChatStreamEncoder implements StreamEncoder {
  #head = "";
  readonly #choices: ChoiceWriter[] = [];
  #usage: Usage | undefined;
  /** Every frame names the tier. */
  #named = false;

  constructor(
    readonly context: AnswerContext,
    readonly warn: Warn,
  ) {}

  encode(event: AnswerEvent, out: OutFrame[]): void {
    switch (event.type) {
      case "block_delta": {
        const choice = this.#choice(event.choice, out);
        const open = choice.open.get(event.block);
        if (!open || event.text === "") return;
        open.said = true;
        if (open.kind === "reasoning") choice.bundle.add(event.text);
        out.push({ data: choice.head + open.before + JSON.stringify(event.text) + open.after + TAIL });
        return;
      }
      case "message_start":
        this.#start(event.id, event.model, event.created);
        return;
      case "block_start":
        return this.#begin(event.choice, event.block, event.start, out);
      case "block_data":
        return this.#delta(this.#choice(event.choice, out), { audio: { data: event.data } }, out);
      case "block_citation": {
        const annotation = encodeCitation(event.citation, this.warn);
        if (!annotation) return;
        return this.#delta(this.#choice(event.choice, out), { annotations: [annotation] }, out);
      }
      case "block_end":
        return this.#end(event.choice, event.block, event.reasoningSignature, out);
      case "finish":
        return this.#finish(this.#choice(event.choice, out), event.finish, out);
      case "usage":
        this.#usage = event.usage;
        return;
      case "extra":
        if (event.from !== KEY) this.warn("dropped_field", Object.keys(event.value).join(" "));
        else if (event.choice !== undefined) this.#frame(this.#choice(event.choice, out), {}, event.value, out);
        else this.#beside(event.value);
        return;
      case "ping":
      case "error":
      case "done":
        return;
      default:
        event satisfies never;
    }
  }

  close(out: OutFrame[]): void {
    this.#ready();
    this.#writeUsage(this.#usage, out);
    out.push({ data: "[DONE]" });
  }

  fail(error: RelayError, out: OutFrame[], usage?: Usage): void {
    this.#ready();
    this.#writeUsage(usage, out);
    out.push({ data: JSON.stringify({ ...toWire(error), ...(usage && { usage: encodeUsage(usage) }) }) });
  }

  /** The tier as a member at a frame's end; empty where all frames name it, and where it is not known. */
  #tier(): string {
    const tier = this.#named ? undefined : openaiTier(this.#usage?.served);
    return tier === undefined ? "" : `,"service_tier":${JSON.stringify(tier)}`;
  }

  #writeUsage(usage: Usage | undefined, out: OutFrame[]): void {
    if (!this.context.include_usage || !usage) return;
    warnMembers(usage, answerSupport.usage, "usage", this.warn);
    out.push({ data: `${this.#head}"choices":[],"usage":${JSON.stringify(encodeUsage(usage))}${this.#tier()}}` });
  }

  #start(id: string, model: string, created?: number): void {
    const shown = {
      id: id || this.context.id,
      object: "chat.completion.chunk",
      created: created ?? this.context.created,
      model: this.context.model ?? model,
    };
    this.#head = `${JSON.stringify(shown).slice(0, -1)},`;
  }

  /** Chunks have a few members of their own; once the first is out, more of them come too late. */
  #beside(value: WireObject): void {
    this.#ready();
    for (const [name, member] of Object.entries(value)) {
      if (name === "service_tier") this.#named ||= this.#choices.length === 0;
      if (chunkMembers.has(name) && this.#choices.length === 0) this.#head += `"${name}":${JSON.stringify(member)},`;
      else this.warn("dropped_field", name);
    }
  }

  #ready(): void {
    if (this.#head === "") this.#start(this.context.id, "");
  }

  #choice(index: number, out: OutFrame[]): ChoiceWriter {
    const known = this.#choices[index];
    if (known) return known;
    this.#ready();
    const choice = new ChoiceWriter(this.#head, index);
    this.#choices[index] = choice;
    this.#delta(choice, { role: "assistant", content: "" }, out);
    return choice;
  }

  #delta(choice: ChoiceWriter, delta: WireObject, out: OutFrame[]): void {
    out.push({ data: choice.head + JSON.stringify(delta) + TAIL });
  }

  /** A frame with members beside the delta. */
  #frame(choice: ChoiceWriter, delta: WireObject, beside: WireObject, out: OutFrame[]): void {
    const members = JSON.stringify({ finish_reason: null, ...beside }).slice(1, -1);
    out.push({ data: `${choice.head}${JSON.stringify(delta)},${members}}]}` });
  }

  #begin(index: number, block: number, start: BlockStart, out: OutFrame[]): void {
    const choice = this.#choice(index, out);
    const opened = (before: string, after: string): void => {
      if (start.kind !== "whole") choice.open.set(block, { kind: start.kind, before, after, said: false });
    };
    switch (start.kind) {
      case "text":
        return opened('{"content":', "}");
      case "reasoning":
        return opened('{"reasoning_content":', "}");
      case "refusal":
        return opened('{"refusal":', "}");
      case "audio":
        if (start.id !== undefined) this.#delta(choice, { audio: { id: start.id } }, out);
        return opened('{"audio":{"transcript":', "}}");
      case "tool_call": {
        const number = choice.calls++;
        const [type, field] = start.custom ? ["custom", "input"] : ["function", "arguments"];
        const id = choice.bundle.take(start.id);
        const call = { index: number, id, type, [type]: { name: start.name, [field]: "" }, ...choice.callExtra };
        choice.callExtra = {};
        this.#delta(choice, { tool_calls: [call] }, out);
        return opened(`{"tool_calls":[{"index":${number},"${type}":{"${field}":`, "}}]}");
      }
      case "whole": {
        const { block: whole } = start;
        if (whole.type === "image" && (whole.source.kind === "data" || whole.source.kind === "url")) {
          const { source } = whole;
          warnMembers(whole, answerSupport.choices.content.image, "image", this.warn);
          const url = source.kind === "url" ? source.url : dataUrlOf(source.media_type, source.data);
          return this.#delta(choice, { images: [{ type: "image_url", image_url: { url } }] }, out);
        }
        this.warn("dropped_block", whole.type === "opaque" ? String(whole.value.type ?? whole.from) : whole.type);
      }
    }
  }

  #end(index: number, block: number, reasoningSignature: ReasoningSignature | undefined, out: OutFrame[]): void {
    const choice = this.#choice(index, out);
    const open = choice.open.get(block);
    choice.open.delete(block);
    if (open?.kind === "tool_call" && !open.said && open.before.includes("arguments")) {
      out.push({ data: `${choice.head}${open.before}"{}"${open.after}${TAIL}` });
    }
    if (open?.kind !== "reasoning") return;
    const foreign = reasoningSignature && reasoningSignature.from !== KEY ? reasoningSignature : undefined;
    if (foreign) {
      const detail = { ...foreignDetail(foreign, choice.bundle.length), index: choice.details++ };
      this.#delta(choice, { reasoning_details: [detail] }, out);
    } else if (reasoningSignature?.kind === "call") {
      choice.callExtra = object(parseObject(reasoningSignature.data));
    } else if (reasoningSignature && reasoningSignature.data !== "") {
      // The text went before; what is left of the entry follows.
      this.#delta(choice, { reasoning_details: [object(parseObject(reasoningSignature.data))] }, out);
    }
    choice.bundle.end(foreign);
  }

  #finish(choice: ChoiceWriter, finish: FinishReason, out: OutFrame[]): void {
    warnMembers(finish, answerSupport.choices.finish, "finish", this.warn);
    out.push({
      data: `${choice.head}{},"logprobs":null,"finish_reason":"${encodeFinish(finish)}"}]${this.#tier()}}`,
    });
  }
}
