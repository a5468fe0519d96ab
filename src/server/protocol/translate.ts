/**
 * From the caller's dialect to the channel's and back, through the neutral language: requests, whole answers, streams,
 * errors. Values in, values out; a stream keeps which blocks are open and nothing that was said (the exceptions are the
 * dialects that repeat it: Responses, and Gemini's whole arguments).
 */
import { chatDialects } from "./dialects/chat-dialects";
import { type UpstreamDialectKey, upstreamDialects } from "./dialects/vendor-dialects";
import { refuseLostMedia } from "./dialects/shared/lost-media";
import { withServed } from "./dialects/shared/service-tier";
import { wholeTurns } from "./dialects/shared/turns";
import { Warnings } from "./dialects/shared/warnings";
import type { AnswerContext, OutFrame, RequestAddress, StreamDecoder, StreamEncoder } from "./dialects/translation";
import type { RelayError } from "./relay-error";
import type {
  AnswerEvent,
  ChatAnswer,
  ChatPrompt,
  DialectKey,
  FinishReason,
  Usage,
  Warning,
  WireError,
  WireObject,
} from "./chat-events";
import { type Bytes, firstFrameEnd, frameData, readFrame, writeFrame } from "../lib/sse";
import { UsageTally } from "./usage-tally";
import { tellable } from "./usage-check";

export interface TranslatedRequest {
  /** The neutral prompt, with the upstream's model name. */
  prompt: ChatPrompt;
  body: WireObject;
  warnings: Warning[];
}

/**
 * A caller's request for a channel of another dialect. `model` is the upstream's name; usage is always asked for;
 * `edit` is what the channel changes in the prompt. Throws RequestFault where the body is not a call of `from`, and
 * LostMedia where the user's media would get lost.
 */
export function translateRequest(
  from: DialectKey,
  to: UpstreamDialectKey,
  body: WireObject,
  model: string,
  address?: RequestAddress,
  edit: (prompt: ChatPrompt) => ChatPrompt = (prompt) => prompt,
): TranslatedRequest {
  const warnings = new Warnings();
  const { decodeRequest, forOthers } = chatDialects[from];
  const decoded = decodeRequest(body, address);
  const others = from !== to && forOthers ? forOthers(decoded, warnings.warn) : decoded;
  const asked = from === to ? others : { ...others, messages: wholeTurns(others.messages, warnings.warn) };
  const prompt = edit({ ...asked, model, ...(decoded.stream && { include_usage: true }) });
  const { encodeRequest, fromOthers } = upstreamDialects[to];
  // A caller of the same dialect knows which vendor it speaks to, and reads the answer as it comes.
  const adapted = from !== to && fromOthers ? fromOthers(prompt, warnings.warn) : prompt;
  const written = encodeRequest(adapted, warnings.warn);
  if (from !== to) refuseLostMedia(decoded, warnings.list);
  return { prompt, body: written, warnings: warnings.list };
}

/** The error of an answer that its vendor calls unusable. */
export const failedAnswer = ({ raw }: FinishReason): WireError => ({
  message: `The model's answer is of no use (${raw})`,
  type: "upstream_error",
  code: raw,
  param: null,
});

/** How a field begins that holds another vendor's signature, and Anthropic's thoughts without one. */
const marks = ['"w1.', "-w1-", '"dzEu', '"signature":""', '"signature": ""'].map((mark) => Buffer.from(mark));

/**
 * May a request carry what another vendor signed? Then it needs `translateRequest` even for a channel of its own
 * dialect, which would refuse the strange signature or id. Cheap; may err towards yes.
 */
export const carriesSignatures = (body: Bytes): boolean => marks.some((mark) => body.includes(mark));

export interface TranslatedAnswer {
  body: WireObject;
  usage: Usage | undefined;
  finish: FinishReason | undefined;
  /** Bytes of generated text, for an estimate when no usage came. */
  contentBytes: number;
  warnings: Warning[];
}

/** A channel's whole answer (`from`) for the caller (`to`). undefined when it is no answer of `from`. */
export function translateAnswer(
  from: UpstreamDialectKey,
  to: DialectKey,
  body: WireObject,
  context: AnswerContext,
  edit: (answer: ChatAnswer) => ChatAnswer = (answer) => answer,
): TranslatedAnswer | undefined {
  const decoded = upstreamDialects[from].decodeAnswer(body, context.id);
  if (!decoded) return undefined;
  const edited = edit(decoded);
  const answer = edited.usage ? { ...edited, usage: withServed(edited.usage, context.served) } : edited;
  const warnings = new Warnings();
  let contentBytes = 0;
  for (const { content } of answer.choices) {
    for (const block of content) {
      if ("text" in block) contentBytes += Buffer.byteLength(block.text);
      else if (block.type === "tool_call") contentBytes += Buffer.byteLength(block.input);
    }
  }
  return {
    body: chatDialects[to].encodeAnswer(
      answer.usage ? { ...answer, usage: tellable(answer.usage) } : answer,
      context,
      warnings.warn,
    ),
    usage: answer.usage,
    finish: answer.choices[0]?.finish,
    contentBytes,
    warnings: warnings.list,
  };
}

const CR = 13;
const BLANK_LINE = "\n\n";

/**
 * What sse.ts writes around data and an event's name, learnt once: frames are then joined as text and encoded together.
 */
const [beforeData = "", afterData = ""] = writeFrame("\u0000").toString("utf8").split("\u0000");
const [beforeEvent = "", betweenEventAndData = ""] = writeFrame("\u0000", "\u0001")
  .toString("utf8")
  .split(/[\u0000\u0001]/);

function bytesOf(frames: readonly OutFrame[]): Bytes {
  let text = "";
  for (const { data, event } of frames) {
    text += event === undefined ? beforeData : beforeEvent + event + betweenEventAndData;
    text += data + afterData;
  }
  return Buffer.from(text, "utf8");
}

/**
 * A channel's stream for the caller, frame by frame. Reads like the meter: usage, finish, errors and content bytes are
 * known as they pass. The caller's last words are not among what `feed` answers: they are `close` or `fail`.
 */
export class StreamTranslator {
  readonly #decoder: StreamDecoder;
  readonly #encoder: StreamEncoder;
  readonly #warnings = new Warnings();
  readonly #events: AnswerEvent[] = [];
  readonly #frames: OutFrame[] = [];

  readonly tally = new UsageTally();
  finish: FinishReason | undefined;
  /** The upstream's last word came; nothing after it counts. */
  done = false;
  /** The upstream's error event; nothing after it counts. */
  error: WireError | undefined;
  /** A frame was not what the upstream's dialect writes; nothing after it counts. */
  malformed = false;

  /** `decoder` reads `from`, where something is done to what it reads. */
  constructor(
    from: UpstreamDialectKey,
    to: DialectKey,
    readonly context: AnswerContext,
    decoder: StreamDecoder = upstreamDialects[from].streamDecoder(context.id),
  ) {
    this.#decoder = decoder;
    this.#encoder = chatDialects[to].streamEncoder(context, this.#warnings.warn);
  }

  get usage(): Usage | undefined {
    return this.tally.usage;
  }

  get finished(): boolean {
    return this.finish !== undefined;
  }

  /** True when nothing more is to be read. */
  get over(): boolean {
    return this.done || this.malformed || this.error !== undefined;
  }

  get warnings(): Warning[] {
    return this.#warnings.list;
  }

  /** Takes whole frames; answers the caller's frames, possibly none. */
  feed(region: Bytes): Bytes {
    if (region.includes(CR)) this.#feedLines(region);
    else this.#feedText(region.toString("utf8", 0, region.length));
    return this.#flush();
  }

  /** Most streams have no CR: then a blank line is two LF, and the whole region is made into text at once. */
  #feedText(text: string): void {
    for (let from = 0; from < text.length && !this.over;) {
      const blank = text.indexOf(BLANK_LINE, from);
      const end = blank < 0 ? text.length : blank + BLANK_LINE.length;
      const data = frameData(text, from, end);
      if (data !== undefined) this.feedData(data);
      from = end;
    }
  }

  #feedLines(region: Bytes): void {
    for (let from = 0; from < region.length && !this.over;) {
      const next = firstFrameEnd(region, from, region.length);
      const end = next < 0 ? region.length : next;
      const { data } = readFrame(region.subarray(from, end));
      if (data !== undefined) this.feedData(data);
      from = end;
    }
  }

  /** One frame's data; its frames for the caller wait for the next `feed`. */
  feedData(data: string): void {
    if (!this.#decoder.decode(data, this.#events)) {
      this.malformed = true;
      return;
    }
    this.#pass();
  }

  /** The upstream's body has ended: the frames that were still to come. */
  end(): Bytes {
    if (!this.over) {
      this.#decoder.end(this.#events);
      this.#pass();
    }
    return this.#flush();
  }

  /** The last frames of a complete answer. */
  close(): Bytes {
    this.#encoder.close(this.#frames);
    return this.#flush();
  }

  /** The last frames of an answer that failed. */
  fail(error: RelayError): Bytes {
    const { usage, contentBytes, countedBytes } = this.tally;
    // A count that leaves out what came after it would be a wrong one.
    const counted = this.error && usage && countedBytes === contentBytes ? tellable(usage) : undefined;
    this.#encoder.fail(error, this.#frames, counted);
    return this.#flush();
  }

  #pass(): void {
    const events = this.#events;
    for (const event of events) {
      switch (event.type) {
        case "block_delta":
          this.tally.contentBytes += Buffer.byteLength(event.text);
          break;
        case "usage":
          this.tally.add(event.usage);
          this.#encoder.encode(
            { type: "usage", usage: withServed(tellable(event.usage), this.context.served) },
            this.#frames,
          );
          continue;
        case "finish":
          this.finish = event.finish;
          if (this.error || event.finish.unified !== "failed") break;
          this.error = failedAnswer(event.finish);
          continue;
        case "error":
          this.error = event.error;
          break;
        case "done":
          this.done = true;
          break;
      }
      this.#encoder.encode(event, this.#frames);
    }
    events.length = 0;
  }

  #flush(): Bytes {
    const bytes = bytesOf(this.#frames);
    this.#frames.length = 0;
    return bytes;
  }
}
