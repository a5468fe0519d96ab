/** POST /v1/audio/speech: text in, audio out, passed through; billed by the characters of the text. */
import { fail } from "../../../shared/errors";
import { readUsage } from "../../protocol/dialects/openai-chat/usage";
import type { Usage } from "../../protocol/chat-events";
import { type Operation, readModelOr, readText } from "./operation";

const DEFAULT_MODEL = "tts-1";
/** Most audio tokens per character (slow Chinese speech), and a minimum for the shortest text. */
const AUDIO_TOKENS_PER_CHARACTER = 8;
const AUDIO_TOKENS_LEAST = 256;

/** Unicode characters, not UTF-16 units. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The output is audio. */
function speechUsage(value: unknown): Usage | undefined {
  const usage = readUsage(value);
  return usage && { ...usage, output: 0, audio_out: (usage.audio_out ?? 0) + (usage.output ?? 0) };
}

export const speech: Operation = {
  key: "speech",
  streams: true,
  read(body) {
    const model = readModelOr(body, DEFAULT_MODEL);
    const { input } = body;
    if (typeof input !== "string" || input === "") fail("invalid_request", { detail: "input" });
    const count = characters(input);
    // Only an event stream reports tokens; then they are billed.
    const stream = readText(body, "stream_format") === "sse";
    return {
      ...model,
      stream,
      include_usage: true,
      max_output: stream ? count * AUDIO_TOKENS_PER_CHARACTER + AUDIO_TOKENS_LEAST : 0,
      terms: { input_bound: count, kinds: { audio_out: stream }, usage: { input: count }, exact: true },
    };
  },
  direct: { json: true, plain: "audio", isAnswer: () => false, usageOf: (body) => speechUsage(body.usage) },
};
