/**
 * A large request body (architecture: bodies over 4 MB spool): while an upstream is waited for, it is in a temporary
 * file and not in memory. Its bytes come back for each attempt, and what is sent flows from the file.
 */
import type { Bytes } from "../sse";
import { SpoolFile } from "./spool-file";

/** A range [start, end) of the file. */
export type ByteRange = readonly [start: number, end: number];

/** A request whose body can leave memory: empty bytes then, and a range of the file. */
export interface Sendable {
  body: Bytes;
  place?: ByteRange | undefined;
}

export const EMPTY: Bytes = Buffer.alloc(0);

export class SpooledBody {
  readonly #spool = new SpoolFile();
  /** Where bytes are that are in the file already, for as long as somebody has them. */
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

  /** The same at once, for whoever cannot wait. */
  readNow(): Bytes {
    return this.#spool.readNow(0, this.#end);
  }

  /** What a request sends, from the file. Its bytes leave memory, if nobody else has them. */
  async send(outgoing: Sendable): Promise<ReturnType<SpoolFile["body"]>> {
    // Sent a second time there are no bytes left.
    if (outgoing.body.length > 0) {
      outgoing.place = await this.#write(outgoing.body);
      outgoing.body = EMPTY;
    }
    return this.#spool.body([outgoing.place ?? [0, 0]]);
  }

  /** Lets the file go. May be called again. */
  close(): void {
    this.#spool.close();
  }
}
