/**
 * JSON as bytes: read without parsing everything, changed by splicing. A caller's text stays as it is, except for the
 * members that must change.
 */
import { asBuffer, type Bytes } from "./sse";

/** A JSON object of which only the outer shape is known. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Bytes as JSON, undefined when they are none. */
export function tryParse(bytes: Uint8Array): unknown {
  const buffer = asBuffer(bytes);
  try {
    return JSON.parse(buffer.toString("utf8", 0, buffer.length));
  } catch {
    return undefined;
  }
}

/** A member of the outermost object: its name and the range of its value, [start, end). */
export interface Member {
  key: string;
  start: number;
  end: number;
}

const escaped = Buffer.from("\\u00");
const QUOTE = 34;
const BACKSLASH = 92;

/** The index after a string's closing quote; `open` is the index of its opening one. */
function stringEnd(bytes: Bytes, open: number): number {
  for (let close = bytes.indexOf(QUOTE, open + 1); close >= 0; close = bytes.indexOf(QUOTE, close + 1)) {
    let slashes = 0;
    while (bytes[close - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return close + 1;
  }
  return bytes.length;
}

function valueEnd(bytes: Bytes, start: number): number {
  let depth = 0;
  for (let i = start; i < bytes.length; i++) {
    switch (bytes[i]) {
      case QUOTE:
        i = stringEnd(bytes, i) - 1;
        if (depth === 0) return i + 1;
        break;
      case 123: // {
      case 91: // [
        depth++;
        break;
      case 125: // }
      case 93: // ]
        // At depth 0 this is the end of the object around a number or a word.
        if (depth === 0) return i;
        if (--depth === 0) return i + 1;
        break;
      case 44: // ,
        if (depth === 0) return i;
        break;
    }
  }
  return bytes.length;
}

/** A member, and where the next one is looked for; -1 behind the last. */
interface MemberAt extends Member {
  next: number;
}

/** The member of an outermost object that begins at `from` or behind it. */
function memberFrom(bytes: Bytes, from: number): MemberAt | undefined {
  const open = from < 0 ? -1 : bytes.indexOf(QUOTE, from);
  if (open < 0) return undefined;
  const close = stringEnd(bytes, open);
  const written = bytes.toString("utf8", open + 1, close - 1);
  const key = written.includes("\\") ? String(JSON.parse(`"${written}"`)) : written;
  let start = bytes.indexOf(58, close) + 1;
  while (isSpace(bytes[start])) start++;
  let end = valueEnd(bytes, start);
  let next = end;
  while (isSpace(bytes[end - 1])) end--;
  while (isSpace(bytes[next])) next++;
  return { key, start, end, next: bytes[next] === 44 ? next : -1 };
}

const firstMember = (bytes: Bytes): MemberAt | undefined => memberFrom(bytes, bytes.indexOf(123) + 1);

/** The members of the outermost object of valid JSON, in order, without parsing their values. */
export function* topLevelMembers(bytes: Bytes): Generator<Member> {
  for (let at = firstMember(bytes); at; at = memberFrom(bytes, at.next)) yield at;
}

const isSpace = (byte: number | undefined): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;

/** A text in the place of the bytes [start, end). */
interface Splice {
  start: number;
  end: number;
  text: string;
}

/** The bytes with texts in place of some of them, in order: written once, because most calls get their model's name. */
function spliced(bytes: Bytes, splices: readonly Splice[]): Bytes {
  let size = bytes.length;
  for (const { start, end, text } of splices) size += Buffer.byteLength(text) - (end - start);
  const made = Buffer.allocUnsafeSlow(size);
  let read = 0;
  let written = 0;
  for (const { start, end, text } of splices) {
    written += bytes.copy(made, written, read, start);
    written += made.write(text, written);
    read = end;
  }
  bytes.copy(made, written, read);
  return made;
}

/** Names of members as bytes: few, all from this code. A search for a text would make bytes of it each time. */
const quotedNames = new Map<string, Bytes>();

function quoted(name: string): Bytes {
  let known = quotedNames.get(name);
  if (!known) quotedNames.set(name, (known = Buffer.from(`"${name}"`)));
  return known;
}

/**
 * The body with members of the outermost object set to new values: replaced where they are, else inserted at the front.
 * Every other byte stays. `bytes` is valid JSON.
 */
export function withMembers(bytes: Bytes, values: Readonly<Record<string, unknown>>): Bytes {
  const names = Object.keys(values);
  const splices: Splice[] = [];
  const found: string[] = [];
  const escapes = bytes.includes(escaped);
  const mayFollow = (from: number): boolean => escapes || names.some((name) => bytes.includes(quoted(name), from));
  let follows = false;
  for (let at = firstMember(bytes); at; at = memberFrom(bytes, at.next)) {
    const { key, start, end } = at;
    if (Object.hasOwn(values, key)) {
      found.push(key);
      splices.push({ start, end, text: JSON.stringify(values[key]) });
      follows = false;
    }
    // Without any of the names in the rest of the text there is nothing more to replace.
    follows ||= mayFollow(end);
    if (!follows) break;
  }
  const missing = names.filter((name) => !found.includes(name));
  if (missing.length > 0) {
    const start = bytes.indexOf(123) + 1;
    const added = missing.map((key) => `${JSON.stringify(key)}:${JSON.stringify(values[key])}`).join(",");
    let next = start;
    while (isSpace(bytes[next])) next++;
    splices.unshift({ start, end: start, text: added + (bytes[next] === 125 ? "" : ",") });
  }
  return spliced(bytes, splices);
}

/** Longer values are left out of an outline. */
const OUTLINE_VALUE_LIMIT = 16 * 1024;

/**
 * The outermost members of a large JSON object, long values as empty lists, objects or texts: enough for usage and
 * errors, at a fraction of a parse. undefined when the bytes are not one balanced object.
 */
export function outline(bytes: Bytes): JsonObject | undefined {
  let last = bytes.length - 1;
  while (isSpace(bytes[last])) last--;
  let first = 0;
  while (isSpace(bytes[first])) first++;
  if (bytes[first] !== 123 || bytes[last] !== 125) return undefined;
  const result: Record<string, unknown> = {};
  let end = first;
  try {
    for (const member of topLevelMembers(bytes)) {
      const { start } = member;
      end = member.end;
      const long = end - start > OUTLINE_VALUE_LIMIT;
      result[member.key] = long ? placeholder(bytes[start]) : JSON.parse(bytes.toString("utf8", start, end));
    }
  } catch {
    return undefined;
  }
  while (isSpace(bytes[end])) end++;
  return end === last ? result : undefined;
}

const placeholder = (first: number | undefined): unknown => (first === 91 ? [] : first === 123 ? {} : "");
