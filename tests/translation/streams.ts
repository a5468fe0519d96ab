/** Streams for translation tests: splitting, reading, comparing. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AnswerEvent, DialectKey } from "../../src/server/protocol/chat-events";
import { type Bytes, firstFrameEnd, FrameSplitter, readFrame } from "../../src/server/lib/sse";
import { type UpstreamDialectKey, upstreamDialects } from "../../src/server/protocol/dialects/vendor-dialects";
import { StreamTranslator } from "../../src/server/protocol/translate";

export const FIXTURES = join(import.meta.dir, "fixtures");

export interface Fixture {
  dialect: UpstreamDialectKey;
  name: string;
  bytes: Bytes;
}

/** Every recorded stream, by file name. */
export const fixtures: Fixture[] = readdirSync(FIXTURES)
  .filter((file) => file.endsWith(".sse"))
  .sort()
  .map((file) => {
    const [dialect = "", name = ""] = file.split(".");
    // The name of a fixture begins with its dialect.
    return { dialect: dialect as UpstreamDialectKey, name, bytes: Buffer.from(readFileSync(join(FIXTURES, file))) };
  });

/** The data of every frame. */
export function* dataOf(bytes: Bytes): Generator<string> {
  for (let from = 0; from < bytes.length;) {
    const next = firstFrameEnd(bytes, from, bytes.length);
    const end = next < 0 ? bytes.length : next;
    const { data } = readFrame(bytes.subarray(from, end));
    if (data !== undefined && data !== "") yield data;
    from = end;
  }
}

/** The events of a stream, whole or in chunks. Throws if it is malformed. */
export function eventsOf(dialect: UpstreamDialectKey, stream: Uint8Array | readonly Uint8Array[]): AnswerEvent[] {
  const decoder = upstreamDialects[dialect].streamDecoder("req-1");
  const splitter = new FrameSplitter();
  const events: AnswerEvent[] = [];
  const read = (region: Bytes | undefined): void => {
    if (!region) return;
    for (const data of dataOf(region)) if (!decoder.decode(data, events)) throw new Error(`malformed: ${data}`);
  };
  for (const piece of stream instanceof Uint8Array ? [stream] : stream) read(splitter.push(piece));
  read(splitter.end());
  decoder.end(events);
  return events;
}

export const context = { id: "req-1", created: 1_763_700_000, include_usage: true };

/** Feeds chunks of a stream and returns everything that the caller gets. */
export function translatePieces(
  from: UpstreamDialectKey,
  to: DialectKey,
  pieces: Iterable<Uint8Array>,
): { text: string; translator: StreamTranslator } {
  const translator = new StreamTranslator(from, to, context);
  const splitter = new FrameSplitter();
  const out: Bytes[] = [];
  for (const piece of pieces) {
    const region = splitter.push(piece);
    if (region) out.push(translator.feed(region));
  }
  out.push(translator.feed(splitter.end()), translator.end());
  if (!translator.error) out.push(translator.close());
  return { text: Buffer.concat(out).toString("utf8"), translator };
}
