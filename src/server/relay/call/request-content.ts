/**
 * The content of a call, as its caller wrote it. While an upstream works, a large body is in a temporary file and not
 * in memory (bodies over 4 MB spool): its bytes are loaded for each attempt, and the request is sent from the file.
 */
import { EMPTY, type SpooledBody } from "../../lib/request-body/spooled-body";
import type { Bytes } from "../../lib/sse";

export class RequestContent {
  #bytes: Bytes;
  #file: SpooledBody | undefined;

  constructor(bytes: Bytes = EMPTY) {
    this.#bytes = bytes;
  }

  /** The content in memory: nothing while it is in its file, and nothing after `drop`. */
  get bytes(): Bytes {
    return this.#bytes;
  }

  /** The file of a large body. */
  get file(): SpooledBody | undefined {
    return this.#file;
  }

  /** The content, from memory or from its file, without waiting. */
  readNow(): Bytes {
    return this.#file?.readNow() ?? this.#bytes;
  }

  /** From now on the content is in `file` as well. */
  keepIn(file: SpooledBody): void {
    this.#file = file;
  }

  /** Loads it back into memory, to make a request from it. */
  async restore(file: SpooledBody): Promise<void> {
    if (this.#bytes.length === 0) this.#bytes = await file.read();
  }

  /** Removes it from memory: it is in its file, or will not be sent again. */
  drop(): void {
    this.#bytes = EMPTY;
  }
}
