/** `bun tests/translation/bench.ts`: microseconds of processor time an event of every pair, frames to frames, without I/O. */
import { type AnswerEvent, type DialectKey, dialectKeys } from "../../src/server/relay/events";
import { type Bytes, firstFrameEnd, writeFrame } from "../../src/server/relay/sse";
import { chatDialects } from "../../src/server/relay/dialects/chat-dialects";
import { StreamTranslator } from "../../src/server/relay/translate";

const EVENTS = 200;
const ROUNDS = 400;
const context = { id: "req-1", model: "m", created: 1_763_700_000, include_usage: true };

/** A stream of so many pieces of one kind, in a dialect. */
function streamOf(key: DialectKey, kind: "text" | "reasoning" | "tool_call"): Bytes {
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

function framesOf(stream: Bytes): Bytes[] {
  const frames: Bytes[] = [];
  for (let from = 0; from < stream.length;) {
    const end = firstFrameEnd(stream, from, stream.length);
    frames.push(stream.subarray(from, end));
    from = end;
  }
  return frames;
}

function measure(from: DialectKey, to: DialectKey, regions: readonly Bytes[]): number {
  let best = Infinity;
  for (let batch = 0; batch < 5; batch++) {
    const begin = process.cpuUsage().user;
    for (let round = 0; round < ROUNDS; round++) {
      const translator = new StreamTranslator(from, to, context);
      for (const region of regions) translator.feed(region);
    }
    best = Math.min(best, (process.cpuUsage().user - begin) / ROUNDS / EVENTS);
  }
  return best;
}

for (const from of dialectKeys) {
  for (const to of dialectKeys.filter((key) => key !== from)) {
    const row = (["text", "reasoning", "tool_call"] as const).map((kind) => {
      // Google sends calls whole: there are no pieces of them.
      if (kind === "tool_call" && from === "gemini") return "-";
      const stream = streamOf(from, kind);
      return `${measure(from, to, [stream]).toFixed(2)} (frame by frame ${measure(from, to, framesOf(stream)).toFixed(2)})`;
    });
    console.log(`${from} -> ${to}: text ${row[0]}, reasoning ${row[1]}, arguments ${row[2]}`);
  }
}
