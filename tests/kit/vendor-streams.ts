/** Recorded streams of vendors with their own dialects, split in every way that a network may split them. */
import { expect } from "bun:test";
import type { AnswerEvent } from "../../src/server/protocol/chat-events";
import type { StreamDecoder } from "../../src/server/protocol/dialects/translation";
import { type Bytes, FrameSplitter } from "../../src/server/lib/sse";
import { dataOf } from "../translation/streams";

/** The events of a stream that arrives in these chunks. Throws if it is malformed. */
export function eventsOf(decoder: StreamDecoder, pieces: readonly Uint8Array[]): AnswerEvent[] {
  const splitter = new FrameSplitter();
  const events: AnswerEvent[] = [];
  const read = (region: Bytes | undefined): void => {
    if (!region) return;
    for (const data of dataOf(region)) if (!decoder.decode(data, events)) throw new Error(`malformed: ${data}`);
  };
  for (const piece of pieces) read(splitter.push(piece));
  read(splitter.end());
  decoder.end(events);
  return events;
}

/** Checks that every split in two and byte by byte have the same events, and returns them. */
export function sameWhereverCut(make: () => StreamDecoder, sse: Uint8Array): AnswerEvent[] {
  const events = eventsOf(make(), [sse]);
  const whole = JSON.stringify(events);
  for (let at = 1; at < sse.length; at++) {
    const cut = JSON.stringify(eventsOf(make(), [sse.subarray(0, at), sse.subarray(at)]));
    if (cut !== whole) expect(cut).toBe(whole);
  }
  const single = Array.from(sse, (_, at) => sse.subarray(at, at + 1));
  expect(JSON.stringify(eventsOf(make(), single))).toBe(whole);
  return events;
}
