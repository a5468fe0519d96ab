/**
 * Masks of pictures: from transparency, by which some APIs mark an area, to white on black, by which others do (PNG,
 * third edition, W3C 2025).
 */
import { crc32, deflate, inflate } from "node:zlib";
import { promisify } from "node:util";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** More pixels than any vendor's pictures have, and quick to process. */
const MAX_PIXELS = 16 << 20;
/** Colour types with an alpha channel, and their bytes a pixel at depth 8; alpha is the last of them. */
const channelsOf: Readonly<Record<number, number>> = { 4: 2, 6: 4 };

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

function* chunksOf(png: Buffer): Generator<Chunk> {
  for (let at = SIGNATURE.length; at + 12 <= png.length;) {
    const length = png.readUInt32BE(at);
    const data = at + 8;
    if (data + length + 4 > png.length) return;
    yield { type: png.toString("latin1", at + 4, data), data: png.subarray(data, data + length) };
    at = data + length + 4;
  }
}

/** What a filter adds to a byte, of its neighbours to the left, above and diagonally (section 9.2). */
function predicted(filter: number, left: number, up: number, diagonal: number): number {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) >> 1;
    case 4: {
      const [byLeft, byUp, byDiagonal] = [
        Math.abs(up - diagonal),
        Math.abs(left - diagonal),
        Math.abs(left + up - 2 * diagonal),
      ];
      return byLeft <= byUp && byLeft <= byDiagonal ? left : byUp <= byDiagonal ? up : diagonal;
    }
    default:
      return 0;
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/**
 * A grey PNG of the same size, white where the given one is wholly transparent and black elsewhere. undefined for what
 * is no PNG with an alpha channel of 8 bits, is interlaced, too large, or broken.
 */
export async function whiteWhereClear(png: Buffer): Promise<Buffer | undefined> {
  if (!png.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return undefined;
  const chunks = [...chunksOf(png)];
  const [header] = chunks;
  if (header?.type !== "IHDR" || header.data.length !== 13) return undefined;
  const [width, height] = [header.data.readUInt32BE(0), header.data.readUInt32BE(4)];
  const [depth, colour, , , interlace] = header.data.subarray(8);
  const channels = channelsOf[colour ?? -1];
  if (
    channels === undefined ||
    depth !== 8 ||
    interlace !== 0 ||
    width === 0 ||
    height === 0 ||
    width * height > MAX_PIXELS
  )
    return undefined;
  const line = 1 + width * channels;
  let pixels: Buffer;
  try {
    const packed = Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map(({ data }) => data));
    pixels = await promisify(inflate)(packed, { maxOutputLength: line * height });
  } catch {
    return undefined;
  }
  if (pixels.length !== line * height) return undefined;

  // A filter looks at bytes of the same channel only, so that alpha can be read alone.
  const mask = Buffer.alloc((1 + width) * height);
  let above: Uint8Array = new Uint8Array(width);
  let alpha: Uint8Array = new Uint8Array(width);
  for (let y = 0; y < height; y++) {
    const from = y * line;
    const filter = pixels[from] ?? 0;
    for (let x = 0; x < width; x++) {
      const raw = pixels[from + (x + 1) * channels] ?? 0;
      const value = raw + predicted(filter, alpha[x - 1] ?? 0, above[x] ?? 0, above[x - 1] ?? 0);
      alpha[x] = value;
      if ((value & 255) === 0) mask[y * (1 + width) + 1 + x] = 255;
    }
    [above, alpha] = [alpha, above];
  }
  const grey = Buffer.from(header.data);
  grey[9] = 0;
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", grey),
    chunk("IDAT", await promisify(deflate)(mask)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
