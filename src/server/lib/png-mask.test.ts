import { describe, expect, test } from "bun:test";
import { crc32, deflateSync, inflateSync } from "node:zlib";
import { whiteWhereClear } from "./png-mask";

const SIGNATURE = Buffer.from("89504e470d0a1a0a", "hex");

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32(Buffer.concat([Buffer.from(type), data])));
  return Buffer.concat([length, Buffer.from(type), data, crc]);
}

function header(width: number, height: number, colour: number, depth = 8, interlace = 0): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([depth, colour, 0, 0, interlace], 8);
  return data;
}

const paeth = (left: number, up: number, diagonal: number): number => {
  const estimate = left + up - diagonal;
  return [left, up, diagonal].reduce((best, one) =>
    Math.abs(estimate - one) < Math.abs(estimate - best) ? one : best,
  );
};

/** A PNG whose line y is written with filter y % 5, its data in two chunks. */
function png(alpha: readonly (readonly number[])[], colour: 4 | 6, ihdr?: Buffer): Buffer {
  const channels = colour === 6 ? 4 : 2;
  const width = alpha[0]?.length ?? 0;
  const rows = alpha.map((row) =>
    row.flatMap((value, x) => [
      ...Array.from({ length: channels - 1 }, (_, channel) => (x * 37 + channel * 91) & 255),
      value,
    ]),
  );
  const lines = rows.map((row, y) => {
    const filter = y % 5;
    const above = rows[y - 1] ?? [];
    return [
      filter,
      ...row.map((value, index) => {
        const [left, up, diagonal] = [row[index - channels] ?? 0, above[index] ?? 0, above[index - channels] ?? 0];
        return (value - ([0, left, up, (left + up) >> 1, paeth(left, up, diagonal)][filter] ?? 0)) & 255;
      }),
    ];
  });
  const data = deflateSync(Buffer.from(lines.flat()));
  const halves = [data.subarray(0, 9), data.subarray(9)].map((half) => chunk("IDAT", half));
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", ihdr ?? header(width, alpha.length, colour)),
    chunk("tEXt", Buffer.from("a\0b")),
    ...halves,
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** The pixels of a grey PNG without filters. */
function pixelsOf(bytes: Buffer): number[][] {
  expect(bytes.subarray(0, 8)).toEqual(SIGNATURE);
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  expect([...bytes.subarray(24, 29)]).toEqual([8, 0, 0, 0, 0]);
  const length = bytes.readUInt32BE(33);
  expect(bytes.toString("latin1", 37, 41)).toBe("IDAT");
  const data = inflateSync(bytes.subarray(41, 41 + length));
  expect(bytes.readUInt32BE(41 + length)).toBe(crc32(bytes.subarray(37, 41 + length)));
  return Array.from({ length: height }, (_, y) => [...data.subarray(y * (width + 1) + 1, (y + 1) * (width + 1))]);
}

const drawn = Array.from({ length: 11 }, (_, y) =>
  Array.from({ length: 7 }, (_, x) => ((x + y) % 3 === 0 ? 0 : ((x * 53 + y * 101) % 255) + 1)),
);

describe("a mask by transparency", () => {
  for (const colour of [4, 6] as const) {
    test(`of colour type ${colour} becomes white where it is wholly clear, whatever filters its lines have`, async () => {
      const mask = await whiteWhereClear(png(drawn, colour));
      expect(pixelsOf(mask ?? expect.unreachable())).toEqual(
        drawn.map((row) => row.map((value) => (value === 0 ? 255 : 0))),
      );
    });
  }

  test("is refused without alpha of 8 bits, interlaced, too large, cut or no PNG", async () => {
    const good = png(drawn, 6);
    const bad = [
      png(drawn, 6, header(7, 11, 2)),
      png(drawn, 6, header(7, 11, 6, 16)),
      png(drawn, 6, header(7, 11, 6, 8, 1)),
      png(drawn, 6, header(0, 11, 6)),
      png(drawn, 6, header(100_000, 100_000, 6)),
      png(drawn, 6, header(7, 12, 6)),
      png(drawn, 6, header(7, 10, 6)),
      ...Array.from({ length: good.length - 12 }, (_, length) => good.subarray(0, length)),
      Buffer.from("GIF89a, not a PNG at all"),
    ];
    expect(await Promise.all(bad.map(whiteWhereClear))).toEqual(bad.map(() => undefined));
  });
});
