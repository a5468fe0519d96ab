/**
 * Neutral events as frames of streamGenerateContent (alt=sse). Calls are sent whole, so their arguments are kept until
 * they end, at most 16 MB of them (ai.google.dev/api/generate-content; read November 2026).
 */
import type { RelayError } from "../../relay-error";
import type {
  AnswerEvent,
  BlockStart,
  Citation,
  FinishReason,
  ReasoningSignature,
  Usage,
  Warn,
  WireObject,
} from "../../chat-events";
import { compact, parseObject } from "../shared/json";
import { SignatureBundle } from "../shared/reasoning-signature";
import { warnExtra } from "../shared/service-tier";
import { warnMembers } from "../shared/unsupported";
import type { AnswerContext, OutFrame, StreamEncoder } from "../translation";
import { encodeGrounding } from "./citations";
import { writeError } from "./error";
import { encodeFinish } from "./finish-reason";
import { filePart, mediaPart } from "./parts-encode";
import { signatureOf } from "./signature-field";
import { answerSupport } from "./support";
import { encodeUsage } from "./usage";

/** Most characters of arguments that are kept. */
const LIMIT = 16 * 1024 * 1024;

interface OpenBlock {
  readonly start: Exclude<BlockStart, { kind: "whole" }>;
  kept: string[];
  length: number;
}

class CandidateWriter {
  readonly open = new Map<number, OpenBlock>();
  readonly bundle = new SignatureBundle();
  /** Google's own signature for the next call. */
  onCall: string | undefined;
  finish: FinishReason | undefined;
  refused = false;
  malformed = false;
  citations: Citation[] = [];

  constructor(readonly index: number) {}
}

export class GeminiStreamEncoder implements StreamEncoder {
  #usage: Usage | undefined;
  #id: string;
  #model: string;
  readonly #candidates: CandidateWriter[] = [];
  #tail: string | undefined;

  constructor(
    context: AnswerContext,
    readonly warn: Warn,
  ) {
    this.#id = context.id;
    this.#model = context.model ?? "";
  }

  encode(event: AnswerEvent, out: OutFrame[]): void {
    switch (event.type) {
      case "message_start":
        this.#id = event.id || this.#id;
        this.#model ||= event.model;
        return;
      case "block_delta": {
        const candidate = this.#candidate(event.choice);
        const open = candidate.open.get(event.block);
        if (open) this.#say(candidate, open, event.text, out);
        return;
      }
      case "block_start":
        return this.#begin(this.#candidate(event.choice), event.block, event.start, out);
      case "block_data": {
        const candidate = this.#candidate(event.choice);
        const start = candidate.open.get(event.block)?.start;
        const mimeType = start?.kind === "audio" ? start.media_type : "audio/wav";
        return this.#part(candidate, { inlineData: { mimeType, data: event.data } }, out);
      }
      case "block_citation":
        this.#candidate(event.choice).citations.push(event.citation);
        return;
      case "block_end":
        return this.#end(this.#candidate(event.choice), event.block, event.reasoningSignature, out);
      case "finish":
        warnMembers(event.finish, answerSupport.choices.finish, "finish", this.warn);
        this.#candidate(event.choice).finish = event.finish;
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
    const candidates = this.#candidates.filter((candidate) => candidate !== undefined);
    for (const candidate of candidates)
      for (const block of [...candidate.open.keys()]) this.#end(candidate, block, undefined, out);
    const last = candidates.map((candidate) => {
      const { index, bundle, finish, refused, malformed, citations } = candidate;
      const raw = malformed ? "MALFORMED_FUNCTION_CALL" : encodeFinish(finish ?? { unified: "stop", raw: "" }, refused);
      const parts = [compact({ text: "", thoughtSignature: signatureOf(bundle) })];
      return compact({
        content: { parts, role: "model" },
        finishReason: raw,
        index,
        groundingMetadata: encodeGrounding(citations, this.warn),
      });
    });
    if (this.#usage) warnMembers(this.#usage, answerSupport.usage, "usage", this.warn);
    const usageMetadata = this.#usage && encodeUsage(this.#usage);
    out.push({
      data: JSON.stringify(
        compact({ candidates: last, usageMetadata, modelVersion: this.#model, responseId: this.#id }),
      ),
    });
  }

  fail(error: RelayError, out: OutFrame[], usage?: Usage): void {
    if (usage)
      out.push({
        data: JSON.stringify(
          compact({ usageMetadata: encodeUsage(usage), modelVersion: this.#model, responseId: this.#id }),
        ),
      });
    out.push({ data: JSON.stringify(writeError(error)) });
  }

  #candidate(index: number): CandidateWriter {
    return (this.#candidates[index] ??= new CandidateWriter(index));
  }

  #say(candidate: CandidateWriter, open: OpenBlock, words: string, out: OutFrame[]): void {
    if (words === "") return;
    switch (open.start.kind) {
      case "tool_call":
        open.length += words.length;
        if (open.length <= LIMIT) open.kept.push(words);
        else open.kept = [];
        return;
      case "reasoning":
        candidate.bundle.add(words);
        return this.#frame(candidate, `{"text":${JSON.stringify(words)},"thought":true}`, out);
      default:
        return this.#frame(candidate, `{"text":${JSON.stringify(words)}}`, out);
    }
  }

  #part(candidate: CandidateWriter, part: WireObject, out: OutFrame[]): void {
    this.#frame(candidate, JSON.stringify(part), out);
  }

  #frame(candidate: CandidateWriter, part: string, out: OutFrame[]): void {
    this.#tail ??= `}],"modelVersion":${JSON.stringify(this.#model)},"responseId":${JSON.stringify(this.#id)}}`;
    out.push({
      data: `{"candidates":[{"content":{"parts":[${part}],"role":"model"},"index":${candidate.index}${this.#tail}`,
    });
  }

  #begin(candidate: CandidateWriter, block: number, start: BlockStart, out: OutFrame[]): void {
    if (start.kind === "refusal") candidate.refused = true;
    else if (start.kind === "audio") warnMembers(start, answerSupport.choices.starts.audio, "audio", this.warn);
    if (start.kind !== "whole") {
      candidate.open.set(block, { start, kept: [], length: 0 });
      return;
    }
    const { block: whole } = start;
    if (whole.type === "opaque") {
      if (whole.from === "gemini") this.#part(candidate, whole.value, out);
      else this.warn("dropped_block", String(whole.value.type ?? whole.from));
      return;
    }
    warnMembers(whole, answerSupport.choices.content[whole.type], whole.type, this.warn);
    const part = whole.type === "file" ? filePart(whole, this.warn) : mediaPart(whole.source, "image/png");
    if (part) this.#part(candidate, part, out);
    else this.warn("dropped_block", whole.type);
  }

  #end(
    candidate: CandidateWriter,
    block: number,
    reasoningSignature: ReasoningSignature | undefined,
    out: OutFrame[],
  ): void {
    const open = candidate.open.get(block);
    candidate.open.delete(block);
    if (!open) return;
    const { start } = open;
    if (start.kind === "tool_call") return this.#call(candidate, start, open, out);
    if (start.kind !== "reasoning") return;
    const own = reasoningSignature?.from === "gemini" ? reasoningSignature.data : undefined;
    candidate.bundle.end(own === undefined ? reasoningSignature : undefined);
    if (own === undefined || !reasoningSignature) return;
    if (reasoningSignature.kind === "call") candidate.onCall = own;
    else
      this.#part(
        candidate,
        compact({ text: "", thought: reasoningSignature.kind === "signature" || undefined, thoughtSignature: own }),
        out,
      );
  }

  #call(
    candidate: CandidateWriter,
    start: { id: string; name: string; custom?: boolean },
    open: OpenBlock,
    out: OutFrame[],
  ): void {
    const words = open.kept.join("");
    const args = start.custom ? { input: words } : open.length > LIMIT ? undefined : parseObject(words);
    if (!args) {
      candidate.malformed = true;
      this.warn("malformed_json", `input of ${start.name}`);
    }
    const thoughtSignature = candidate.onCall ?? signatureOf(candidate.bundle);
    candidate.onCall = undefined;
    const functionCall = { id: start.id, name: start.name, args: args ?? {} };
    this.#part(candidate, compact({ functionCall, thoughtSignature }), out);
  }
}
