/** One request in each caller's dialect, and the channels that answer it in theirs. */
import type { DialectKey } from "../../src/server/protocol/chat-events";
import { KINDS, type Kind } from "./scenarios";

/** Channel types of a dialect (shared/channel-types.ts). */
export const CHANNELS = { "openai-chat": 1, anthropic: 14, gemini: 24 } as const satisfies Partial<
  Record<DialectKey, number>
>;
export type ChannelDialect = keyof typeof CHANNELS;
export const channelDialects = Object.keys(CHANNELS) as ChannelDialect[]; // its own keys

/** Content events a second of each stream while gaps are measured, and for how many seconds. */
export const EVENT_MS = 50;
const STEADY = `paced:2000:${EVENT_MS}`;
/** Long streams: 200 events a second. */
export const LONG_EVENT_MS = 5;
const LONG = `paced:40000:${LONG_EVENT_MS}`;

export const ANSWERS = {
  ...KINDS,
  steady: { model: STEADY, stream: true },
  long: { model: LONG, stream: true },
} as const;
export type Answer = Kind | "steady" | "long";

/** The callers' name of the model of an answer on the channel of a dialect. */
export const modelOf = (channel: ChannelDialect, answer: Answer): string => `${channel}.${answer}`;
/** Callers' names to the fake upstream's. */
export const mappingOf = (channel: ChannelDialect): Record<string, string> =>
  Object.fromEntries(Object.entries(ANSWERS).map(([answer, { model }]) => [modelOf(channel, answer as Answer), model]));

const filler = "The quick brown fox jumps over the lazy dog. ";

/** A call in a dialect, its body exactly `size` bytes. */
export function callIn(
  dialect: DialectKey,
  model: string,
  stream: boolean,
  size: number,
): { path: string; body: string } {
  const { path, bodyOf } = requestOf(dialect, model, stream);
  const room = size - JSON.stringify(bodyOf("")).length;
  return { path, body: JSON.stringify(bodyOf(filler.repeat(Math.ceil(room / filler.length)).slice(0, room))) };
}

function requestOf(
  dialect: DialectKey,
  model: string,
  stream: boolean,
): { path: string; bodyOf: (words: string) => object } {
  const messages = (content: string) => [{ role: "user", content }];
  switch (dialect) {
    case "openai-chat": {
      const usage = stream ? { stream, stream_options: { include_usage: true } } : {};
      return { path: "/v1/chat/completions", bodyOf: (words) => ({ model, ...usage, messages: messages(words) }) };
    }
    case "openai-responses":
      return { path: "/v1/responses", bodyOf: (input) => ({ model, stream, store: false, input }) };
    case "anthropic":
      return {
        path: "/v1/messages",
        bodyOf: (words) => ({ model, stream, max_tokens: 4096, messages: messages(words) }),
      };
    case "gemini": {
      const manner = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      return {
        path: `/v1beta/models/${encodeURIComponent(model)}:${manner}`,
        bodyOf: (words) => ({ contents: [{ role: "user", parts: [{ text: words }] }] }),
      };
    }
  }
}
