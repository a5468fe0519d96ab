/** Recorded streams: their events, however the network splits them. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dialectKeys } from "../../src/server/protocol/chat-events";
import { eventsOf, FIXTURES, fixtures, translatePieces } from "./streams";

/** A small seeded random generator (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function cutAtRandom(bytes: Uint8Array, seed: number): Uint8Array[] {
  const chance = seeded(seed);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + Math.floor(chance() * chance() * 400);
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}

for (const { dialect, name, bytes } of fixtures) {
  describe(`${dialect} ${name}`, () => {
    test("has the neutral events beside it", () => {
      const file = join(FIXTURES, `${dialect}.${name}.events.json`);
      const lines = eventsOf(dialect, bytes).map((event) => JSON.stringify(event));
      if (process.env.WRITE_FIXTURES || !existsSync(file)) writeFileSync(file, `[\n${lines.join(",\n")}\n]\n`);
      expect(lines.map((line): unknown => JSON.parse(line))).toEqual(JSON.parse(readFileSync(file, "utf8")));
    });

    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    const whole = JSON.stringify(eventsOf(dialect, bytes));

    test("is the same split in two at every byte, byte by byte, and in 200 random splits", () => {
      const cuttings = [single, ...Array.from({ length: 200 }, (_, seed) => cutAtRandom(bytes, seed + 1))];
      for (let at = 1; at < bytes.length; at++) cuttings.push([bytes.subarray(0, at), bytes.subarray(at)]);
      for (const pieces of cuttings) {
        const events = JSON.stringify(eventsOf(dialect, pieces));
        if (events !== whole) expect(events).toBe(whole);
      }
      expect(cuttings.length).toBe(bytes.length + 200);
    });

    for (const to of dialectKeys) {
      test(`is the same for a ${to} caller wherever it is split`, () => {
        const { text, translator } = translatePieces(dialect, to, [bytes]);
        expect(translator.malformed).toBe(false);
        // The caller's dialect formats the error of a stream that failed before its content.
        if (!translator.error) expect(text.length).toBeGreaterThan(0);
        expect(translatePieces(dialect, to, single).text).toBe(text);
        for (let seed = 1; seed <= 20; seed++) {
          expect(translatePieces(dialect, to, cutAtRandom(bytes, seed)).text).toBe(text);
        }
      });
    }
  });
}
