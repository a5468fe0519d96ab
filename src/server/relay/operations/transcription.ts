/** POST /v1/audio/transcriptions and /translations: a form with an audio file; billed by its duration. */
import { fail } from "../../../shared/errors";
import { readUsage } from "../../protocol/dialects/openai-chat/usage";
import type { ChatRequest, Usage } from "../../protocol/chat-events";
import { isObject } from "../../lib/json-bytes";
import { secondsOf } from "./audio-duration";
import type { Form } from "../../lib/request-body/multipart-form";
import type { UntranslatedRules, Operation } from "./operation";

const DEFAULT_MODEL = "whisper-1";
/** Tokens billed per minute of audio; started seconds count whole. */
const TOKENS_PER_MINUTE = 1000;
/** Most text tokens per second of speech, for the hold. */
const TEXT_TOKENS_PER_SECOND = 8;

export const durationTokens = (seconds: number): number => Math.round((Math.ceil(seconds) / 60) * TOKENS_PER_MINUTE);

async function readForm(form: Form): Promise<ChatRequest> {
  const [file, second] = form.files("file");
  if (!file || second) fail("invalid_request", { detail: "file" });
  const named = form.text("model");
  const { seconds, exact } = await secondsOf(await form.read(file), file.filename ?? "", file.content_type);
  const input = durationTokens(seconds);
  return {
    ...(named === undefined ? { model: DEFAULT_MODEL, model_added: true as const } : { model: named }),
    stream: form.text("stream") === "true",
    include_usage: true,
    max_output: Math.ceil(seconds) * TEXT_TOKENS_PER_SECOND,
    terms: {
      input_bound: input + Buffer.byteLength(form.text("prompt") ?? ""),
      kinds: { audio: true },
      usage: { input },
      exact,
    },
  };
}

/** `{type: "duration", seconds}` or tokens; transcriptions name the input details in the singular. */
function usageOf(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  if (typeof value.seconds === "number" && Number.isFinite(value.seconds))
    return { input: durationTokens(Math.max(0, value.seconds)) };
  return readUsage({ ...value, input_tokens_details: value.input_token_details ?? value.input_tokens_details });
}

const rules: UntranslatedRules = {
  json: false,
  plain: "text",
  readForm,
  isAnswer: (body) => typeof body.text === "string" || Array.isArray(body.segments),
  usageOf: (body) => usageOf(body.usage),
  // When the duration is billed, the text is free.
  contentBytes: ({ text, usage }) =>
    typeof text === "string" && isObject(usage) && typeof usage.seconds !== "number" ? Buffer.byteLength(text) : 0,
};

/** Non-form bodies are refused before this. */
const read = (): never => fail("invalid_request", { detail: "content-type" });

export const transcriptions: Operation = { key: "transcription", streams: true, read, direct: rules };

export const translations: Operation = {
  key: "transcription",
  streams: false,
  read,
  direct: { ...rules, path: ["/transcriptions", "/translations"] },
};
