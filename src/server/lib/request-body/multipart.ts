/**
 * Forms (multipart/form-data, RFC 7578), read as their bytes arrive: the place of each part, and the values of the text
 * fields. The bytes are sent on as the caller wrote them, so nothing here writes a form.
 */
import { fail } from "../../../shared/errors";
import { asBuffer, type Bytes } from "../sse";

/** One part. `start` and `end` are offsets of its content in the body. */
export interface Part {
  name: string;
  /** undefined for a text field. */
  filename: string | undefined;
  content_type: string;
  start: number;
  end: number;
  /** The text of a field; "" for a file. */
  value: string;
}

const MAX_PARTS = 200;
const MAX_HEADERS = 16 << 10;
/** All text fields of a form together. */
const MAX_FIELDS = 1 << 20;
const CRLF = Buffer.from("\r\n");
const HEADERS_END = Buffer.from("\r\n\r\n");

const bad = (detail = "multipart"): never => fail("invalid_request", { detail });

/** The boundary in a content type, undefined when it is no form. Throws invalid_request for a form without one. */
export function boundaryOf(contentType: string): string | undefined {
  if (!/^multipart\/form-data\b/i.test(contentType.trim())) return undefined;
  const [, quoted, token] = /;\s*boundary=(?:"([^"\r\n]{1,200})"|([^\s;",]{1,200}))/i.exec(contentType) ?? [];
  return quoted ?? token ?? bad("content-type");
}

/** Takes a body in pieces of any size. Throws invalid_request for what is no form. */
export class MultipartScanner {
  readonly boundary: string;
  readonly parts: Part[] = [];
  /** Offset of the first delimiter's dashes: text inserted there becomes the first part. */
  first = -1;
  readonly #delimiter: Bytes;
  #state: "between" | "headers" | "content" | "over" = "content";
  // The line break before the first delimiter may be missing, so one is added in front.
  #rest: Bytes = CRLF;
  #offset = -CRLF.length;
  /** The part that is being read; undefined before the first delimiter. */
  #part: Part | undefined;
  #text: Bytes[] = [];
  #textSize = 0;

  constructor(boundary: string) {
    this.boundary = boundary;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  push(chunk: Uint8Array): void {
    if (this.#state === "over") return;
    let bytes = this.#rest.length === 0 ? asBuffer(chunk) : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const used = this.#step(bytes);
      if (used === undefined) break;
      bytes = bytes.subarray(used);
      this.#offset += used;
    }
    this.#rest = bytes;
  }

  /** Throws when the form did not end. */
  end(): readonly Part[] {
    if (this.#state !== "over") bad();
    return this.parts;
  }

  /** Reads on; returns how many bytes are done, undefined when more are needed first. */
  #step(bytes: Bytes): number | undefined {
    switch (this.#state) {
      case "content":
        return this.#content(bytes);
      case "between": {
        if (bytes.length < 2) return undefined;
        if (bytes[0] === 45 && bytes[1] === 45) {
          this.#state = "over";
          return undefined;
        }
        const line = bytes.indexOf(CRLF);
        if (line < 0 && bytes.length < 256) return undefined;
        if (line < 0 || /[^ \t]/.test(bytes.toString("latin1", 0, line))) bad();
        this.#state = "headers";
        return line + 2;
      }
      case "headers": {
        const end = bytes.indexOf(HEADERS_END);
        if ((end < 0 ? bytes.length : end) > MAX_HEADERS) bad();
        if (end < 0) return undefined;
        this.#open(bytes.toString("utf8", 0, end), this.#offset + end + 4);
        // The last line break may belong to the delimiter of an empty part.
        return end + 2;
      }
      case "over":
        return undefined;
    }
  }

  #content(bytes: Bytes): number | undefined {
    const skip = this.#part ? Math.max(0, this.#part.start - this.#offset) : 0;
    const at = bytes.indexOf(this.#delimiter);
    // A possible beginning of a delimiter waits.
    const upTo = at < 0 ? bytes.length - this.#delimiter.length + 1 : at;
    if (this.#part && this.#part.filename === undefined && upTo > skip) {
      this.#textSize += upTo - skip;
      if (this.#textSize > MAX_FIELDS) bad(this.#part.name);
      // A copy: the chunk that it is in may be large.
      this.#text.push(Buffer.from(bytes.subarray(skip, upTo)));
    }
    if (at < 0) return upTo > 0 ? upTo : undefined;
    this.#close(this.#offset + at);
    this.#state = "between";
    return at + this.#delimiter.length;
  }

  #open(headers: string, start: number): void {
    if (this.parts.length >= MAX_PARTS) bad();
    const disposition = header(headers, "content-disposition");
    const name = parameter(disposition, "name");
    if (!/^form-data\b/i.test(disposition) || name === undefined) bad();
    const filename = parameter(disposition, "filename") ?? parameter(disposition, "filename*");
    this.#part = {
      name: name ?? "",
      filename,
      content_type: header(headers, "content-type"),
      start,
      end: start,
      value: "",
    };
    this.#state = "content";
  }

  #close(end: number): void {
    const part = this.#part;
    if (!part) {
      this.first = end + CRLF.length;
      return;
    }
    part.end = Math.max(part.start, end);
    part.value = Buffer.concat(this.#text).toString("utf8");
    this.#text = [];
    this.parts.push(part);
    this.#part = undefined;
  }
}

function header(headers: string, name: string): string {
  for (const line of headers.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0 && line.slice(0, colon).trim().toLowerCase() === name) return line.slice(colon + 1).trim();
  }
  return "";
}

/** A parameter of Content-Disposition: quoted (browsers escape quotes as %22, older writers as \") or a token. */
function parameter(disposition: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name.replace("*", "\\*")}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]*))`, "i").exec(
    disposition,
  );
  if (!found) return undefined;
  return found[1]?.replace(/\\(["\\])/g, "$1").replace(/%22/g, '"') ?? found[2] ?? "";
}
