/**
 * The server events of a realtime session that the relay reads: those with usage, session settings or errors. All
 * others pass unread. Shapes: OpenAI's API reference, "Realtime server events", as typed by its SDK (openai 7.55,
 * resources/realtime, November 2026); Azure OpenAI follows the same reference. Pure.
 */
import { readError } from "../../protocol/dialects/openai-chat/error";
import type { RelayError } from "../../protocol/relay-error";
import { tokensOfContent } from "../billing/token-estimate";
import type { Usage, WireError } from "../../protocol/chat-events";
import { isObject, type JsonObject, tryParse } from "../../lib/json-bytes";
import { transcriptions } from "../operations/transcription";
import { tokenCount } from "../../protocol/usage-check";

export type RealtimeEvent =
  /** The current session; `transcription_model` transcribes the caller's speech and is billed at its own price. */
  | { type: "session"; transcription_model: string | undefined }
  | { type: "response_created"; id: string }
  /** `failed`: the upstream reports a failure. `usage` undefined: it reports none. */
  | { type: "response_done"; id: string; usage: Usage | undefined; failed: boolean; error: WireError | undefined }
  | { type: "transcribed"; usage: Usage | undefined }
  | { type: "error"; error: WireError };

/** Whether a frame may be a relevant event. May be wrong towards yes: a text may quote such a name. */
const NOTABLE =
  /"(?:error|session\.(?:created|updated)|transcription_session\.(?:created|updated)|response\.(?:created|done)|conversation\.item\.input_audio_transcription\.completed)"/;

/** Generated content: the event's name is at the start of the frame. */
const DELTA = /^\s*\{\s*"type"\s*:\s*"response\.[a-z_.]*?(audio)?\.delta"/;

/** Base64 bytes per audio token: 50 ms of 16-bit mono at 24 kHz, the API's default format. */
const BASE64_PER_AUDIO_TOKEN = 3200;

const child = (object: JsonObject | undefined, name: string): JsonObject | undefined => {
  const value = object?.[name];
  return isObject(value) ? value : undefined;
};
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const tokens = (object: JsonObject | undefined, name: string): number => tokenCount(object?.[name]) ?? 0;

/**
 * The usage of response.done as disjoint buckets: cached tokens of each kind are subtracted from that kind. undefined
 * when there are no totals.
 */
function realtimeUsage(value: unknown): Usage | undefined {
  if (!isObject(value) || (typeof value.input_tokens !== "number" && typeof value.output_tokens !== "number"))
    return undefined;
  const total = tokens(value, "input_tokens");
  const out = tokens(value, "output_tokens");
  const inDetails = child(value, "input_token_details");
  const cachedDetails = child(inDetails, "cached_tokens_details");
  const cache_read = Math.min(total, tokens(inDetails, "cached_tokens"));
  const fresh = (kind: string): number => Math.max(0, tokens(inDetails, kind) - tokens(cachedDetails, kind));
  const audio_in = Math.min(total - cache_read, fresh("audio_tokens"));
  const image_in = Math.min(total - cache_read - audio_in, fresh("image_tokens"));
  const audio_out = Math.min(out, tokens(child(value, "output_token_details"), "audio_tokens"));
  return {
    input: total - cache_read - audio_in - image_in,
    output: out - audio_out,
    ...(cache_read > 0 && { cache_read }),
    ...(audio_in > 0 && { audio_in }),
    ...(image_in > 0 && { image_in }),
    ...(audio_out > 0 && { audio_out }),
  };
}

/** The session's transcription model, where the current API and its preview put it. */
function transcriptionModel(session: JsonObject | undefined): string | undefined {
  const input = child(child(session, "audio"), "input");
  const transcription = child(input, "transcription") ?? child(session, "input_audio_transcription");
  return text(transcription?.model) || undefined;
}

/** The event of a text frame; undefined for irrelevant events and for anything else. */
export function readEvent(frame: string): RealtimeEvent | undefined {
  if (!NOTABLE.test(frame)) return undefined;
  const event = tryParse(Buffer.from(frame));
  if (!isObject(event)) return undefined;
  const response = child(event, "response");
  switch (event.type) {
    case "error":
      return { type: "error", error: readError(event) ?? { message: "", type: "", code: "", param: null } };
    case "session.created":
    case "session.updated":
    case "transcription_session.created":
    case "transcription_session.updated":
      return { type: "session", transcription_model: transcriptionModel(child(event, "session")) };
    case "response.created":
      return { type: "response_created", id: text(response?.id) };
    case "response.done": {
      const failed = response?.status === "failed";
      const error = failed ? readError(response?.status_details) : undefined;
      return { type: "response_done", id: text(response?.id), usage: realtimeUsage(response?.usage), failed, error };
    }
    case "conversation.item.input_audio_transcription.completed":
      return { type: "transcribed", usage: transcriptions.direct?.usageOf({ usage: event.usage }) };
    default:
      return undefined;
  }
}

/**
 * What a frame adds to the estimate of a response that never reports its usage; undefined for frames without content.
 */
export function generatedBy(frame: string): { output: number; audio_out: number } | undefined {
  const delta = DELTA.exec(frame.slice(0, 100));
  if (!delta) return undefined;
  // One text delta is about one token.
  return delta[1] === undefined
    ? { output: 1, audio_out: 0 }
    : { output: 0, audio_out: frame.length / BASE64_PER_AUDIO_TOKEN };
}

/** Audio that the caller sends: the event's name is at the start of the frame. */
const SOUND = /^\s*\{\s*"type"\s*:\s*"input_audio_buffer\.append"/;
/** What the caller adds to a conversation. */
const ITEM = /"type"\s*:\s*"conversation\.item\.create"/;

/** What a caller's frame adds to the estimate of the input. */
export function saidBy(frame: string | Uint8Array): { input: number; audio_in: number } {
  if (typeof frame === "string" && SOUND.test(frame.slice(0, 100)))
    return { input: 0, audio_in: frame.length / BASE64_PER_AUDIO_TOKEN };
  return { input: typeof frame === "string" && ITEM.test(frame) ? tokensOfContent(frame.length) : 0, audio_in: 0 };
}

/** An error event sent by Weir itself. */
export function errorEvent({ message, type, param, code }: RelayError, requestId: string): string {
  return JSON.stringify({
    type: "error",
    event_id: `event_${requestId}`,
    error: { type, code, message, param, event_id: null },
  });
}
