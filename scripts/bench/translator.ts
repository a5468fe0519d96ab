/**
 * The translator alone: processor time per event of every pair, frames to frames, without I/O. A busy machine matters
 * less here.
 */
import { chatDialects } from "../../src/server/protocol/dialects/chat-dialects";
import { type AnswerEvent, type DialectKey, dialectKeys } from "../../src/server/protocol/chat-events";
import { type Bytes, wholeFrames, writeFrame } from "../../src/server/lib/sse";
import { StreamTranslator } from "../../src/server/protocol/translate";

const EVENTS = 200;
const BATCHES = 5;
const context = { id: "req-1", model: "m", created: 1_763_700_000, include_usage: true };
export const PIECES = ["text", "reasoning", "tool_call"] as const;
type Piece = (typeof PIECES)[number];

export interface TranslatorRow {
  from: DialectKey;
  to: DialectKey;
  /** Microseconds per event, with many frames a write and with one; undefined where the vendor sends no such pieces. */
  cost: Record<Piece, { together: number; single: number } | undefined>;
}

/** A stream of so many pieces of one kind, in a dialect. */
function streamOf(key: DialectKey, kind: Piece): Bytes {
  const encoder = chatDialects[key].streamEncoder(context, () => undefined);
  const frames: { data: string; event?: string }[] = [];
  const start = kind === "tool_call" ? ({ kind, id: "c1", name: "f" } as const) : { kind };
  const events: AnswerEvent[] = [
    { type: "message_start", id: "a", model: "m" },
    { type: "block_start", choice: 0, block: 0, start },
  ];
  for (let i = 0; i < EVENTS; i++)
    events.push({ type: "block_delta", choice: 0, block: 0, text: kind === "tool_call" ? `"k${i}":` : ` word${i}` });
  for (const event of events) encoder.encode(event, frames);
  return Buffer.concat(frames.map(({ data, event }) => writeFrame(data, event)));
}

/** The best of a few batches: other load on the machine only adds. */
function measure(from: DialectKey, to: DialectKey, regions: readonly Bytes[], rounds: number): number {
  let best = Infinity;
  for (let batch = 0; batch < BATCHES; batch++) {
    const begin = process.cpuUsage().user;
    for (let round = 0; round < rounds; round++) {
      const translator = new StreamTranslator(from, to, context);
      for (const region of regions) translator.feed(region);
    }
    best = Math.min(best, (process.cpuUsage().user - begin) / rounds / EVENTS);
  }
  return best;
}

/** `rounds`: streams of 200 events a batch. `wanted`: which pairs. */
export function measureTranslator(
  rounds: number,
  wanted: (from: DialectKey, to: DialectKey) => boolean,
): TranslatorRow[] {
  return dialectKeys.flatMap((from) =>
    dialectKeys
      .filter((to) => to !== from && wanted(from, to))
      .map((to) => {
        const costOf = (kind: Piece): { together: number; single: number } | undefined => {
          // Google sends tool calls whole, without pieces.
          if (kind === "tool_call" && from === "gemini") return undefined;
          const stream = streamOf(from, kind);
          return {
            together: measure(from, to, [stream], rounds),
            single: measure(from, to, [...wholeFrames(stream)], rounds),
          };
        };
        return {
          from,
          to,
          cost: { text: costOf("text"), reasoning: costOf("reasoning"), tool_call: costOf("tool_call") },
        };
      }),
  );
}
