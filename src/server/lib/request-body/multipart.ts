/**
 * Forms (multipart/form-data, RFC 7578), read as their bytes arrive: the place of each part, and the values of the text
 * fields. The bytes are sent on as the caller wrote them, so nothing here writes a form; and what a more lenient reader
 * than this one would read otherwise is refused, because a vendor might have one, and what it reads is what it charges.
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
/** What some readers take for the end of a line, besides CRLF, and other control characters. */
const ODD_CHARACTERS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/;
/** Content-Transfer-Encodings that change nothing (RFC 2045, 6.2); some readers undo others. */
const PLAIN_ENCODINGS = ["", "7bit", "8bit", "binary"];

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
  /** Two dashes and the boundary: nowhere but at the start of a line after CRLF (RFC 2046, 5.1.1). */
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
    this.#delimiter = Buffer.from(`--${boundary}`);
  }

  push(chunk: Uint8Array): void {
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
          return 2;
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
        // The last line break may be the one before the delimiter of an empty part.
        return end + 2;
      }
      case "over": {
        if (bytes.includes(this.#delimiter)) bad();
        const done = bytes.length - this.#delimiter.length + 1;
        return done > 0 ? done : undefined;
      }
    }
  }

  #content(bytes: Bytes): number | undefined {
    const skip = this.#part ? Math.max(0, this.#part.start - this.#offset) : 0;
    const found = bytes.indexOf(this.#delimiter);
    const at = found - CRLF.length;
    if (found >= 0 && !(at >= 0 && bytes[at] === 13 && bytes[at + 1] === 10)) bad();
    // A possible beginning of a delimiter waits, with the line break before it.
    const upTo = found < 0 ? bytes.length - CRLF.length - this.#delimiter.length + 1 : at;
    if (this.#part && this.#part.filename === undefined && upTo > skip) {
      this.#textSize += upTo - skip;
      if (this.#textSize > MAX_FIELDS) bad(this.#part.name);
      // A copy: the chunk that it is in may be large.
      this.#text.push(Buffer.from(bytes.subarray(skip, upTo)));
    }
    if (found < 0) return upTo > 0 ? upTo : undefined;
    this.#close(this.#offset + at);
    this.#state = "between";
    return found + this.#delimiter.length;
  }

  #open(text: string, start: number): void {
    if (this.parts.length >= MAX_PARTS) bad();
    const headers = headersIn(text);
    const parameters = dispositionOf(headers.get("content-disposition") ?? "");
    const name = parameters.get("name") ?? bad();
    if (!PLAIN_ENCODINGS.includes((headers.get("content-transfer-encoding") ?? "").toLowerCase())) bad(name);
    this.#part = {
      name,
      filename: parameters.get("filename") ?? parameters.get("filename*"),
      content_type: headers.get("content-type") ?? "",
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

/** A part's headers by their names in small letters; none twice, none folded. */
function headersIn(text: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    const [, name = "", value = ""] = /^([^\s:]+)[ \t]*:(.*)$/.exec(line) ?? bad();
    const known = name.toLowerCase();
    if (ODD_CHARACTERS.test(line) || headers.has(known)) bad();
    headers.set(known, value.trim());
  }
  return headers;
}

const PARAMETER = /\s*;\s*([^\s;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/y;

/**
 * The parameters of a form's Content-Disposition: quoted (browsers escape quotes as %22, older writers as \") or
 * tokens. Read as a whole, so that none can stand in the value of another, and none twice.
 */
function dispositionOf(header: string): Map<string, string> {
  const parameters = new Map<string, string>();
  const text = header.replace(/;$/, "").trimEnd();
  // Where \" is no escape, a value ends there, and what follows is the next parameter.
  if (!/^form-data(?=[\s;]|$)/i.test(text) || /\\"\s*;/.test(text)) bad();
  for (let at = "form-data".length; at < text.length;) {
    PARAMETER.lastIndex = at;
    const [whole, name = "", quoted, token = ""] = PARAMETER.exec(text) ?? bad();
    const known = name.toLowerCase();
    // A field's name has no second form (RFC 7578, 4.2).
    if (parameters.has(known) || known === "name*") bad();
    parameters.set(known, quoted?.replace(/\\(["\\])/g, "$1").replace(/%22/g, '"') ?? token);
    at += whole.length;
  }
  return parameters;
}
