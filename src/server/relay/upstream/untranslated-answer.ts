/** Responses of operations that are no conversation: read whole where they are JSON or text, streamed otherwise. */
import type { Attempted } from "../call/call";
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

/** Larger responses are only scanned: pictures are megabytes of base64. */
const LARGE_ANSWER = 64 << 10;

/** A response read as a whole. */
export interface WholeAnswer {
  kind: "answer";
  content_type: string;
  body: Bytes;
  usage: Usage | undefined;
  /** Bytes of generated text, as far as its operation knows them. */
  content_bytes: number;
}

/** A streamed response whose first bytes have arrived. */
export interface StreamedAnswer {
  kind: "flow";
  content_type: string;
  /** Events contain usage and errors, which are forwarded without the channel's secrets; sound contains neither. */
  events: RedactedEvents | undefined;
  first: Uint8Array;
  scan: UsageScan;
  reader: ReadableStreamDefaultReader<Uint8Array>;
  abort(): void;
}

const SOUND = /^(?:audio\/[\w.+-]+|video\/(?:mp4|webm)|application\/octet-stream)$/;
const TEXT = /^(?:text\/(?:plain|vtt|srt)|application\/(?:x-subrip|octet-stream))$/;

/** The media type of a response, without parameters, in lower case. */
const mediaType = (response: Response): string =>
  (response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

/** Reads the response of a direct operation until it is known to be valid. Throws Failed for an invalid one. */
export async function openUntranslated(
  { call, channel, translation }: Attempted,
  response: Response,
  abort: () => void,
): Promise<WholeAnswer | StreamedAnswer> {
  const { operation, request } = call.asked;
  // A media type that contains a secret is not a media type.
  const type = redact(channel, mediaType(response));
  const { direct } = operation;
  if (!direct) throw new UpstreamError(failureOf("malformed", response.status));
  const events = type === "text/event-stream";
  if ((events && request.stream) || (direct.plain === "audio" && SOUND.test(type))) {
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
  const error = readChannelError(channel, operation, translation.upstream_model, parsed);
  if (error) throw new UpstreamError(classifyErrorIn200(redactOf(channel), error));
  // Text of any kind may be a transcript; a JSON object or an HTML page is not.
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
    // Before anything was sent, an error is a failure that another channel may recover from.
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
