/**
 * A caller's body, kept so that any attempt can send it again: in memory up to SPOOL_LIMIT, beyond it in a temporary
 * file. The file is unlinked as soon as it is open, so nothing is left of it however the process ends.
 */
import { randomUUID } from "node:crypto";
import { readSync } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asBuffer, type Bytes } from "../sse";

/** Bytes of one body that stay in memory. */
export const SPOOL_LIMIT = 4 << 20;
/** Bytes read from the file at a time. */
const PIECE = 256 << 10;

/** The bytes themselves, or a range [start, end) of the spool. */
export type Piece = Bytes | readonly [start: number, end: number];

export class SpoolFile {
  #parts: Bytes[] = [];
  #file: FileHandle | undefined;
  #written = 0;
  #size = 0;

  /** Bytes added so far. */
  get size(): number {
    return this.#size;
  }

  /** Whether it has outgrown memory. */
  get inFile(): boolean {
    return this.#file !== undefined;
  }

  /** Adds bytes at the end. One call at a time: await it before the next. */
  async add(chunk: Uint8Array): Promise<void> {
    this.#parts.push(asBuffer(chunk));
    this.#size += chunk.length;
    if (this.#size <= SPOOL_LIMIT) return;
    if (this.#size - this.#written >= PIECE || !this.#file) await this.#flush();
  }

  async #flush(): Promise<void> {
    const [first, second] = this.#parts;
    const bytes = first && !second ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#file ??= await nameless();
    for (let at = 0; at < bytes.length;) {
      const { bytesWritten } = await this.#file.write(bytes, at, bytes.length - at, this.#written);
      at += bytesWritten;
      this.#written += bytesWritten;
    }
  }

  /** Call once after the last `add`. */
  async end(): Promise<void> {
    if (this.#file) await this.#flush();
    else this.#parts = [Buffer.concat(this.#parts)];
  }

  /** A copy of a range. After `end`. */
  async read(start: number, end: number): Promise<Bytes> {
    const whole = this.#parts[0];
    if (!this.#file) return whole?.subarray(start, end) ?? Buffer.alloc(0);
    const bytes = Buffer.alloc(end - start);
    for (let at = 0; at < bytes.length;) {
      const { bytesRead } = await this.#file.read(bytes, at, bytes.length - at, start + at);
      if (bytesRead === 0) throw new Error("the spooled body is shorter than it was");
      at += bytesRead;
    }
    return bytes;
  }

  /** The same, synchronous. */
  readNow(start: number, end: number): Bytes {
    if (!this.#file) return this.#parts[0]?.subarray(start, end) ?? Buffer.alloc(0);
    const bytes = Buffer.alloc(end - start);
    for (let at = 0; at < bytes.length;) {
      const read = readSync(this.#file.fd, bytes, at, bytes.length - at, start + at);
      if (read === 0) throw new Error("the spooled body is shorter than it was");
      at += read;
    }
    return bytes;
  }

  /** The pieces one after the other as the body of a request, and how many bytes that is. After `end`. */
  body(pieces: readonly Piece[]): { body: Bytes | ReadableStream<Uint8Array>; length: number } {
    const length = pieces.reduce((sum, piece) => sum + sizeOf(piece), 0);
    if (!this.#file) {
      const whole = this.#parts[0] ?? Buffer.alloc(0);
      const parts = pieces.map((piece) => (isRange(piece) ? whole.subarray(piece[0], piece[1]) : piece));
      return { body: parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts), length };
    }
    const source = this.#stream(pieces);
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await source.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      },
      { highWaterMark: 0 },
    );
    return { body, length };
  }

  async *#stream(pieces: readonly Piece[]): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) {
      if (!isRange(piece)) {
        yield piece;
        continue;
      }
      for (let at = piece[0]; at < piece[1]; at += PIECE) yield await this.read(at, Math.min(piece[1], at + PIECE));
    }
  }

  /** Frees memory and file. May be called again. */
  close(): void {
    this.#parts = [];
    const file = this.#file;
    this.#file = undefined;
    file?.close().catch(() => undefined);
  }
}

const isRange = (piece: Piece): piece is readonly [start: number, end: number] => !Buffer.isBuffer(piece);
const sizeOf = (range: Piece): number => (isRange(range) ? range[1] - range[0] : range.length);

/** Unique per process: several may share the folder. A name lasts from `open` to `unlink`. */
export const SPOOL_NAME = `weir-body-${process.pid}-`;

async function nameless(): Promise<FileHandle> {
  const path = join(tmpdir(), SPOOL_NAME + randomUUID());
  const file = await open(path, "wx+", 0o600);
  await unlink(path);
  return file;
}
