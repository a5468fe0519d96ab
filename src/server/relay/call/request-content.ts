/**
 * What a call says, as its caller wrote it. While an upstream is waited for, a large body is in a temporary file and
 * not in memory (bodies over 4 MB spool): its bytes come back for each attempt, and what is sent flows from the file.
 */
import { EMPTY, type SpooledBody } from "../../lib/request-body/spooled-body";
import type { Bytes } from "../../lib/sse";

export class RequestContent {
  #bytes: Bytes;
  #file: SpooledBody | undefined;

  constructor(bytes: Bytes = EMPTY) {
    this.#bytes = bytes;
  }

  /** What is in memory: nothing while it is in its file, and nothing after `drop`. */
  get bytes(): Bytes {
    return this.#bytes;
  }

  /** The file of a large body. */
  get file(): SpooledBody | undefined {
    return this.#file;
  }

  /** Wherever it is, without waiting. */
  readNow(): Bytes {
    return this.#file?.readNow() ?? this.#bytes;
  }

  /** From now on it is in `file` as well. */
  keepIn(file: SpooledBody): void {
    this.#file = file;
  }

  /** Brings it back into memory: a request is made of it. */
  async restore(file: SpooledBody): Promise<void> {
    if (this.#bytes.length === 0) this.#bytes = await file.read();
  }

  /** Out of memory: it is in its file, or will not be sent again. */
  drop(): void {
    this.#bytes = EMPTY;
  }
}
