/**
 * Answers of operations that are no conversation: read whole where they are JSON or text, passed through where they
 * flow.
 */
import type { Call } from "../call/call";
import { openaiChat } from "../../protocol/dialects/openai-chat/dialect";
import { UpstreamError } from "../../protocol/upstream-error";
import { classifyErrorIn200, failureOf } from "../../protocol/upstream-failure";
import { isObject, outline, tryParse } from "../../lib/json-bytes";
import { redact, redactErrors, RedactedEvents, redactOf } from "../providers/redact";
import { readChannelError } from "../providers/dispatch";
import type { PoolChannel } from "../../contracts/channel";
import type { Bytes } from "../../lib/sse";
import type { Usage } from "../../protocol/chat-events";
import { UsageScan } from "./usage-scan";

/** Answers beyond this are read in outline: pictures are megabytes of base64. */
const LARGE_ANSWER = 64 << 10;

/** An answer that has come whole. */
export interface WholeAnswer {
  kind: "answer";
  content_type: string;
  body: Bytes;
  usage: Usage | undefined;
  /** Bytes of generated text, as far as its operation knows them. */
  content_bytes: number;
}

/** An answer whose first bytes have come. */
export interface StreamedAnswer {
  kind: "flow";
  content_type: string;
  /** Events carry usage and errors, which go on without the channel's secrets; sound carries neither. */
  events: RedactedEvents | undefined;
  first: Uint8Array;
  scan: UsageScan;
  reader: ReadableStreamDefaultReader<Uint8Array>;
  abort(): void;
}

const SOUND = /^(?:audio\/[\w.+-]+|video\/(?:mp4|webm)|application\/octet-stream)$/;
const TEXT = /^(?:text\/(?:plain|vtt|srt)|application\/(?:x-subrip|octet-stream))$/;

/** The media type of an answer, without parameters, small letters. */
const mediaType = (response: Response): string =>
  (response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

/** Reads the answer of a direct operation until it is known to be one. Throws Failed for what is none. */
export async function openUntranslated(
  call: Call,
  channel: PoolChannel,
  response: Response,
  abort: () => void,
): Promise<WholeAnswer | StreamedAnswer> {
  // A name that is a secret is no kind of anything.
  const type = redact(channel, mediaType(response));
  const { direct } = call.operation;
  if (!direct) throw new UpstreamError(failureOf("malformed", response.status));
  const events = type === "text/event-stream";
  if ((events && call.request.stream) || (direct.plain === "audio" && SOUND.test(type))) {
    return openFlow(channel, response, type, events, abort);
  }
  const body = Buffer.from(await response.arrayBuffer());
  const parsed = body.length > LARGE_ANSWER ? outline(body) : tryParse(body);
  if (isObject(parsed) && direct.isAnswer(parsed)) {
    return {
      kind: "answer",
      content_type: "application/json",
      body: redactErrors(channel, body),
      usage: direct.usageOf(parsed),
      content_bytes: direct.contentBytes?.(parsed) ?? 0,
    };
  }
  const error = readChannelError(channel, call.operation, call.upstream_model, parsed);
  if (error) throw new UpstreamError(classifyErrorIn200(redactOf(channel), error));
  // Text of any kind may be a transcript; an object or a page is none.
  if (direct.plain === "text" && !isObject(parsed) && TEXT.test(type)) {
    return {
      kind: "answer",
      content_type: type === "text/plain" ? "text/plain; charset=utf-8" : type,
      body,
      usage: undefined,
      content_bytes: body.length,
    };
  }
  throw new UpstreamError(failureOf("malformed", response.status));
}

async function openFlow(
  channel: PoolChannel,
  response: Response,
  type: string,
  events: boolean,
  abort: () => void,
): Promise<StreamedAnswer> {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = response.body?.getReader();
  const scan = new UsageScan();
  for (;;) {
    const piece = await reader?.read();
    if (!reader || !piece || piece.done) throw new UpstreamError(failureOf("malformed", response.status));
    if (piece.value.length === 0) continue;
    if (events) scan.push(piece.value);
    // Before anything was sent, an error is a failure that another channel may make good.
    const error = scan.error === undefined ? undefined : openaiChat.readError({ error: scan.error });
    if (error) throw new UpstreamError(classifyErrorIn200(redactOf(channel), error));
    const content_type = events ? "text/event-stream; charset=utf-8" : type;
    return {
      kind: "flow",
      content_type,
      events: events ? new RedactedEvents(channel) : undefined,
      first: piece.value,
      scan,
      reader,
      abort,
    };
  }
}
