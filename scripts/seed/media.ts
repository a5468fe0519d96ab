/**
 * Results of the demo's jobs: small files inside their own addresses (RFC 2397), so that they are shown without any
 * other server. The same every time.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";

const address = (type: string, bytes: Uint8Array): string =>
  `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;

type Colour = readonly [red: number, green: number, blue: number];

/** Sky above, sky at the horizon, sun, land. */
const SCENES: readonly (readonly [Colour, Colour, Colour, Colour])[] = [
  [
    [38, 52, 110],
    [232, 150, 110],
    [255, 226, 160],
    [24, 28, 58],
  ],
  [
    [18, 66, 92],
    [150, 205, 196],
    [250, 250, 232],
    [16, 46, 52],
  ],
  [
    [84, 40, 108],
    [240, 130, 150],
    [255, 214, 200],
    [44, 20, 60],
  ],
  [
    [30, 34, 44],
    [118, 132, 158],
    [232, 236, 244],
    [16, 18, 24],
  ],
];
const SIDE = 96;

/** One part of a PNG: length, name, bytes, checksum (PNG specification, 5.3). */
function chunk(name: string, bytes: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), bytes]);
  const head = Buffer.alloc(4);
  const tail = Buffer.alloc(4);
  head.writeUInt32BE(bytes.length);
  tail.writeUInt32BE(crc32(named));
  return Buffer.concat([head, named, tail]);
}

/** A sun over hills, a different one for each number: the address of a PNG. */
export function picture(number: number): string {
  const scene = SCENES[number % SCENES.length];
  if (!scene) throw new RangeError("a picture's number is a whole one, not below 0");
  const [above, horizon, sun, land] = scene;
  const pixel = (x: number, y: number): Colour => {
    if (y > 66 + 7 * Math.sin((x + number * 31) / 13)) return land;
    if (Math.hypot(x - 30 - ((number * 17) % 40), y - 40) < 12) return sun;
    const share = y / SIDE;
    return [0, 1, 2].map((i) => Math.round((above[i] ?? 0) * (1 - share) + (horizon[i] ?? 0) * share)) as [
      number,
      number,
      number,
    ]; // as many as went in
  };
  // Each line begins with its filter: 0, none.
  const lines = Array.from({ length: SIDE }, (_, y) => [
    0,
    ...Array.from({ length: SIDE }, (_, x) => pixel(x, y)).flat(),
  ]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  header.set([8, 2], 8); // bits of a colour; red, green and blue
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return address(
    "image/png",
    Buffer.concat([
      signature,
      chunk("IHDR", header),
      chunk("IDAT", deflateSync(Buffer.from(lines.flat()), { level: 9 })),
      chunk("IEND", Buffer.alloc(0)),
    ]),
  );
}

const RATE = 4000;
const NOTES = [262, 330, 392, 523];

/** Four notes in a second: the address of a WAV of 8 bits (RIFF WAVE, format 1). */
export function song(): string {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + RATE, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(RATE, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(RATE, 40);
  const samples = Uint8Array.from({ length: RATE }, (_, i) => {
    const note = NOTES[Math.floor((i * NOTES.length) / RATE)] ?? 0;
    return 128 + Math.round(60 * Math.sin((2 * Math.PI * note * i) / RATE));
  });
  return address("audio/wav", Buffer.concat([header, samples]));
}

/** A second of a sun that rises: drawn on a canvas and recorded by Chromium. */
export const film = (): string => address("video/webm", readFileSync(join(import.meta.dir, "film.webm")));
