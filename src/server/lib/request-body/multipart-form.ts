/** A caller's form: its fields, its files, and its bytes for every attempt. */
import { AppError, fail } from "../../../shared/errors";
import { bodyChunks } from "./read-body";
import type { Bytes } from "../sse";
import { MultipartScanner, type Part } from "./multipart";
import { type Piece, SpoolFile } from "./spool-file";

/** Tokens assumed at most for one file of a form. */
const FILE_TOKENS = 8192;

export class Form {
  readonly #spool: SpoolFile;
  readonly #scanner: MultipartScanner;

  private constructor(spool: SpoolFile, scanner: MultipartScanner) {
    this.#spool = spool;
    this.#scanner = scanner;
  }

  /** Reads a request's body. Throws what bodyChunks throws, and invalid_request for an incomplete or invalid form. */
  static async read(request: Request, boundary: string, limit: number): Promise<Form> {
    const spool = new SpoolFile();
    const scanner = new MultipartScanner(boundary);
    try {
      for await (const chunk of bodyChunks(request, limit)) {
        scanner.push(chunk);
        await spool.add(chunk);
      }
      scanner.end();
      await spool.end();
    } catch (error) {
      spool.close();
      // An error without a code is the connection's: the caller disconnected while sending.
      if (!(error instanceof AppError)) fail("invalid_request", { detail: "multipart" }, error);
      throw error;
    }
    return new Form(spool, scanner);
  }

  get content_type(): string {
    return `multipart/form-data; boundary=${/^[\w'()+,./:=?-]+$/.test(this.#scanner.boundary) ? this.#scanner.boundary : `"${this.#scanner.boundary}"`}`;
  }

  /** The names of its parts, in order, with repetitions. */
  names(): string[] {
    return this.#scanner.parts.map(({ name }) => name);
  }

  /** The parts with a name, fields and files. */
  parts(name: string): Part[] {
    return this.#scanner.parts.filter((part) => part.name === name);
  }

  /**
   * A text field; "" and absent are undefined. A name that is repeated, or on a file, is refused: an upstream might
   * read the other one.
   */
  text(name: string): string | undefined {
    const [part, second] = this.parts(name);
    if (second || part?.filename !== undefined) fail("invalid_request", { detail: name });
    return part?.value || undefined;
  }

  /** The values of the text fields, with repetitions. */
  texts(): string[] {
    return this.#scanner.parts.flatMap((part) => (part.filename === undefined && part.value ? [part.value] : []));
  }

  /** A whole number above 0. */
  count(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!/^[1-9]\d{0,8}$/.test(text)) fail("invalid_request", { detail: name });
    return Number(text);
  }

  /** The files of a name; browsers and SDKs also write `name[]`. Throws invalid_request when there is none. */
  files(name: string): Part[] {
    const files = this.#scanner.parts.filter(
      (part) => part.filename !== undefined && (part.name === name || part.name.startsWith(`${name}[`)),
    );
    if (files.length === 0) fail("invalid_request", { detail: name });
    return files;
  }

  /** An upper bound of the tokens of its fields and files. */
  tokenBound(): number {
    return this.#scanner.parts.reduce(
      (sum, part) => sum + (part.filename === undefined ? part.end - part.start : FILE_TOKENS),
      0,
    );
  }

  /** Whether a field's text, a name or a file's name contains the phrase; case ignored. */
  quotes(phrase: string): boolean {
    const wanted = phrase.toLowerCase();
    return this.#scanner.parts.some(({ name, filename = "", value }) =>
      [name, filename, value].some((text) => text.toLowerCase().includes(wanted)),
    );
  }

  /** The bytes of a part. */
  read(part: Part): Promise<Bytes> {
    return this.#spool.read(part.start, part.end);
  }

  /** The form for an upstream: byte for byte, except for the field `model` where `model` is given. */
  body(model: string | undefined): ReturnType<SpoolFile["body"]> {
    const { size } = this.#spool;
    if (model === undefined) return this.#spool.body([[0, size]]);
    const [field] = this.parts("model");
    const { boundary, first } = this.#scanner;
    const pieces: Piece[] = field
      ? [[0, field.start], Buffer.from(model), [field.end, size]]
      : [
          [0, first],
          Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`),
          [first, size],
        ];
    return this.#spool.body(pieces);
  }

  /** Whether its bytes are in a file. */
  get inFile(): boolean {
    return this.#spool.inFile;
  }

  /** Frees the bytes. */
  close(): void {
    this.#spool.close();
  }
}
