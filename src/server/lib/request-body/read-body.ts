/**
 * Bodies of requests, read within bounds: bytes as sent, bytes as unpacked, and the size of what a parser would make of
 * them. All are checked while the body arrives, so that a refused one was never whole in memory.
 */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import { AppError, fail } from "../../../shared/errors";
import { JsonScan } from "./json-scan";

const KB = 1 << 10;
const MB = 1 << 20;

/** Most bytes of a body, packed and unpacked. Calls of the relay have WEIR_MAX_BODY_MB. */
export const BODY_LIMITS = {
  /** Routes without sign-in: set-up, sign-in, registration, reset, verification, public tRPC. */
  public: 64 * KB,
  /** Callbacks of payment gateways and of vendors of jobs. */
  callback: MB,
  /** Forms and settings of signed-in users. */
  api: 4 * MB,
} as const;

/** A body that unpacks to more than this many times its size is an attack: text has a ratio of 3 to 20. */
const MAX_RATIO = 100;
/** Unpacked bytes that may have any ratio: a short repetitive body is harmless. */
const RATIO_FREE = 2 * MB;
/** A declared length up to which a body is read in one piece. */
const ONE_PIECE = 256 * KB;
/** Bytes that are unpacked, and counted, at a time. */
const PIECE = 64 * KB;

type Bytes = Buffer<ArrayBuffer>;

const settings = { chunkSize: PIECE };
const inflaters = {
  gzip: () => createGunzip(settings),
  "x-gzip": () => createGunzip(settings),
  br: () => createBrotliDecompress(settings),
  deflate: () => createInflate(settings),
  // RFC 9659: a content coding's window has 8 MB at most.
  zstd: () => createZstdDecompress({ ...settings, params: { [constants.ZSTD_d_windowLogMax]: 23 } }),
} as const;

const isEncoding = (name: string): name is keyof typeof inflaters => Object.hasOwn(inflaters, name);

/** The refusal of a body of more than `limit` bytes. */
export const bodyTooLarge = (limit: number): AppError =>
  new AppError("body_too_large", {
    limit: limit < MB ? `${Math.floor(limit / KB)} KB` : `${Math.floor(limit / MB)} MB`,
  });

const encodingOf = (request: Request): string =>
  request.headers.get("content-encoding")?.trim().toLowerCase() || "identity";

/**
 * The bytes of a JSON body. Throws what bodyChunks throws, and body_too_complex for what would be too much to parse
 * (json-scan.ts).
 */
export function readBody(request: Request, limit: number): Promise<Bytes> {
  return read(request, limit, new JsonScan());
}

/** The same for a body that is no JSON. */
export function readBytes(request: Request, limit: number): Promise<Bytes> {
  return read(request, limit);
}

async function read(request: Request, limit: number, scan?: JsonScan): Promise<Bytes> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) <= Math.min(limit, ONE_PIECE) && !request.headers.has("content-encoding")) {
    const bytes = Buffer.from(await request.arrayBuffer());
    scan?.push(bytes);
    return bytes;
  }
  // One growing buffer: a caller may send a byte at a time, and each would be an object.
  let bytes = Buffer.allocUnsafeSlow(Math.min(Number(declared ?? 0) || PIECE, limit + 1));
  let size = 0;
  let scanned = 0;
  for await (const part of bodyChunks(request, limit)) {
    if (size + part.length > bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(size + part.length, 2 * bytes.length));
      bytes.copy(grown, 0, 0, size);
      bytes = grown;
    }
    bytes.set(part, size);
    size += part.length;
    if (size - scanned < PIECE) continue;
    scan?.push(bytes.subarray(scanned, size));
    scanned = size;
  }
  scan?.push(bytes.subarray(scanned, size));
  return bytes.subarray(0, size);
}

/**
 * A body as it arrives, unpacked according to Content-Encoding. Throws body_too_large beyond `limit` bytes, before and
 * after unpacking, body_unpacks_too_far, and invalid_request for an encoding that is unknown or does not match. Ending
 * the iteration ends the unpacking.
 */
export async function* bodyChunks(request: Request, limit: number): AsyncGenerator<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw bodyTooLarge(limit);
  if (!request.body) return;
  const encoding = encodingOf(request);
  const sent = upTo(request.body, limit);
  if (encoding === "identity") yield* sent;
  else yield* upTo(unpacked(sent, encoding), limit);
}

async function* upTo(chunks: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw bodyTooLarge(limit);
    yield chunk;
  }
}

async function* unpacked(sent: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<Uint8Array> {
  if (!isEncoding(encoding)) fail("invalid_request", { detail: "content-encoding" });
  const inflater = inflaters[encoding]();
  // Its error reaches the reader through the inflater.
  pipeline(Readable.from(sent), inflater).catch(() => undefined);
  let size = 0;
  try {
    for await (const chunk of inflater as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > RATIO_FREE && size > MAX_RATIO * inflater.bytesWritten)
        fail("body_unpacks_too_far", { ratio: MAX_RATIO });
      yield chunk;
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    fail("invalid_request", { detail: "content-encoding" }, error);
  }
}
