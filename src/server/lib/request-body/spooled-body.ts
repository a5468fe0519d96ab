/**
 * A large request body: while the relay waits for an upstream, it is in a temporary file instead of memory. Its bytes
 * come back for each attempt, and are sent as a stream from the file.
 */
import type { Bytes } from "../sse";
import { SpoolFile } from "./spool-file";

/** A range [start, end) of the file. */
export type ByteRange = readonly [start: number, end: number];

/** A request whose body can leave memory: then it has empty bytes and a range of the file. */
export interface Sendable {
  body: Bytes;
  place?: ByteRange | undefined;
}

export const EMPTY: Bytes = Buffer.alloc(0);

export class SpooledBody {
  readonly #spool = new SpoolFile();
  /** The range of bytes that are in the file already, for as long as they are referenced. */
  readonly #places = new WeakMap<Bytes, ByteRange>();
  #end = 0;

  /** Writes the caller's body to its file. */
  static async of(bytes: Bytes): Promise<SpooledBody> {
    const spooled = new SpooledBody();
    try {
      await spooled.#write(bytes);
    } catch (error) {
      spooled.close();
      throw error;
    }
    spooled.#end = bytes.length;
    return spooled;
  }

  async #write(bytes: Bytes): Promise<ByteRange> {
    const known = this.#places.get(bytes);
    if (known) return known;
    const start = this.#spool.size;
    await this.#spool.add(bytes);
    await this.#spool.end();
    const place: ByteRange = [start, this.#spool.size];
    this.#places.set(bytes, place);
    return place;
  }

  /** The caller's body again. */
  async read(): Promise<Bytes> {
    const bytes = await this.#spool.read(0, this.#end);
    this.#places.set(bytes, [0, this.#end]);
    return bytes;
  }

  /** The same, synchronous. */
  readNow(): Bytes {
    return this.#spool.readNow(0, this.#end);
  }

  /** The body of a request, streamed from the file. Its bytes leave memory, if nothing else refers to them. */
  async send(outgoing: Sendable): Promise<ReturnType<SpoolFile["body"]>> {
    // When it is sent a second time there are no bytes left.
    if (outgoing.body.length > 0) {
      outgoing.place = await this.#write(outgoing.body);
      outgoing.body = EMPTY;
    }
    return this.#spool.body([outgoing.place ?? [0, 0]]);
  }

  /** Frees the file. May be called again. */
  close(): void {
    this.#spool.close();
  }
}
