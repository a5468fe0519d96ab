/**
 * Removes a channel's own secrets literally from everything that its upstream says besides answers: errors, reasons of
 * failed jobs, ids. An upstream, or a proxy before it, may repeat what it was sent. Patterns of keys are matched only
 * afterwards (protocol/upstream-failure.ts).
 */
import { splitKey } from "../../../shared/channel-types";
import { withHeaders } from "../../../shared/header-override";
import type { PoolChannel } from "../../contracts/channel";
import { type Bytes, firstFrameEnd, lastFrameEnd } from "../../lib/sse";

/** Replaces a secret. */
const MARK = "[key]";
/** Shorter values occur in ordinary text. */
const SHORTEST = 8;
/** A longer JSON member is an image or a video, not text. */
const LONGEST = 256 << 10;
/** Issued tokens remembered per channel, for calls that run at the same time. */
const MAX_ISSUED_TOKENS = 16;

/** Headers whose values are not secret. */
const PUBLIC_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "user-agent",
  "referer",
  "http-referer",
  "origin",
  "x-title",
  "anthropic-version",
  "anthropic-beta",
  "openai-beta",
]);
/** Members of a JSON credential that are not secret: the vendor's addresses, and its type. */
const PUBLIC_PART = /^(?:https?:\/\/\S*|service_account|googleapis\.com)$/;

interface Known {
  minted: readonly string[];
  /** The search forms of its secrets; undefined until first needed. */
  forms: readonly string[] | undefined;
}

const known = new WeakMap<PoolChannel, Known>();

/** Remembers a token that was issued for a channel, so that it is found when it is repeated. */
export function rememberToken(channel: PoolChannel, token: string): void {
  const minted = known.get(channel)?.minted ?? [];
  if (token.length < SHORTEST || minted.includes(token)) return;
  known.set(channel, { minted: [...minted, token].slice(-MAX_ISSUED_TOKENS), forms: undefined });
}

/** A header's value, the token after its scheme, and the content of a Basic one. */
function headerSecrets(value: string): string[] {
  const token = /^[\w-]+ +(\S+)$/.exec(value)?.[1];
  if (token === undefined) return [value];
  const account = /^basic /i.test(value) ? Buffer.from(token, "base64").toString() : "";
  return [value, token, account, account.slice(account.indexOf(":") + 1)];
}

/** The credentials in an address, and the values of its query. */
function addressSecrets(address: string | undefined): string[] {
  if (address === undefined || !URL.canParse(address)) return [];
  const { username, password, searchParams } = new URL(address);
  const [name, word] = [username, password].map(decoded);
  return [
    username,
    password,
    name ?? "",
    word ?? "",
    password === "" ? "" : `${name}:${word}`,
    ...searchParams.values(),
  ];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `id.secret`, which most types treat as one word. */
function halves(key: string): string[] {
  const pieces = key.split(".");
  return pieces.length === 2 && pieces.every((piece) => piece.length >= 2 * SHORTEST) ? pieces : [];
}

/** All secrets of a channel. */
function secretsOf(channel: PoolChannel, minted: readonly string[]): Set<string> {
  const { key, type, headers, setting, base_url, organization } = channel;
  const sent = Object.entries(withHeaders({}, headers, key)).filter(([name]) => !PUBLIC_HEADERS.has(name));
  const parts = [...Object.values(splitKey(type.id, key) ?? {}), ...key.split("|"), ...halves(key)].filter(
    (part) => !PUBLIC_PART.test(part),
  );
  // A private key has many lines, and one of them identifies it.
  const lines = parts.flatMap((part) => part.split(/\r?\n|\\n/)).filter((line) => !line.startsWith("-----"));
  const all = [
    key,
    organization,
    ...parts,
    ...lines,
    ...sent.flatMap(([, value]) => headerSecrets(value)),
    ...minted.flatMap(headerSecrets),
    setting.proxy ?? "",
    ...addressSecrets(setting.proxy),
    ...addressSecrets(base_url),
  ];
  return new Set(all.map((secret) => secret.trim()).filter((secret) => secret.length >= SHORTEST));
}

/**
 * The parts of a longer text's base64 that depend on the secret alone, for each offset at which the secret may begin.
 */
function insideBase64(secret: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const length = before + Buffer.byteLength(secret);
    const text = Buffer.from("\0".repeat(before) + secret).toString("base64");
    const core = text.slice(Math.ceil((before * 8) / 6), Math.floor((length * 8) / 6));
    return core.length < SHORTEST ? [] : [core, core.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/** All forms in which a channel's secrets are searched for, longest first. */
function formsFor(channel: PoolChannel): readonly string[] {
  const before = known.get(channel);
  if (before?.forms) return before.forms;
  const minted = before?.minted ?? [];
  const all = [...secretsOf(channel, minted)].flatMap((secret) => [
    secret,
    Buffer.from(secret).toString("latin1"),
    ...insideBase64(secret),
  ]);
  const forms = [...new Set(all)].toSorted((a, b) => b.length - a.length);
  known.set(channel, { minted, forms });
  return forms;
}

/** An unescaped text, and the position of each of its characters in the original (and where the last ends). */
interface Plain {
  text: string;
  starts: readonly number[];
}

/** One escaped character: in JSON, in a URL, in HTML. */
const ESCAPED =
  /\\(?:u([0-9a-f]{4})|([nrt"'/\\]))|%([0-9a-f]{2})|&#(?:x([0-9a-f]{1,6})|(\d{1,7}));|&(amp|lt|gt|quot);/gi;
const LETTERS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", amp: "&", lt: "<", gt: ">", quot: '"' };

function unescaped({ text, starts }: Plain): Plain {
  let said = "";
  const begins: number[] = [];
  let from = 0;
  const copy = (to: number): void => {
    said += text.slice(from, to);
    for (let i = from; i < to; i++) begins.push(starts[i] ?? 0);
  };
  for (const match of text.matchAll(ESCAPED)) {
    const [whole, unit, letter, byte, hex, decimal, name] = match;
    copy(match.index);
    const code = unit ?? byte ?? hex;
    const number = code === undefined ? Number(decimal) : Number.parseInt(code, 16);
    said +=
      letter !== undefined
        ? (LETTERS[letter] ?? letter)
        : name !== undefined
          ? (LETTERS[name] ?? "")
          : String.fromCharCode(number);
    begins.push(starts[match.index] ?? 0);
    from = match.index + whole.length;
  }
  copy(text.length);
  begins.push(starts[text.length] ?? 0);
  return { text: said, starts: begins };
}

/** Start and end of a match. */
type Part = readonly [from: number, to: number];

/** The positions of the forms. */
const partsOf = ({ text, starts }: Plain, forms: readonly string[]): Part[] =>
  forms.flatMap((form) => {
    const parts: Part[] = [];
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length))
      parts.push([starts[at] ?? 0, starts[at + form.length] ?? 0]);
    return parts;
  });

function without(text: string, parts: readonly Part[]): string {
  let said = "";
  let from = 0;
  for (const [begins, ends] of parts.toSorted(([a], [b]) => a - b)) {
    if (begins >= from) said += text.slice(from, begins) + MARK;
    from = Math.max(from, ends);
  }
  return said + text.slice(from);
}

/** JSON inside JSON inside an event. */
const MOST_ESCAPES = 3;
const MAY_BE_ESCAPED = /[\\%&]/;

/** A text without the channel's secrets, unescaped and escaped up to three times. */
export function redact(channel: PoolChannel, text: string): string {
  if (text.length < SHORTEST) return text;
  const forms = formsFor(channel);
  let said = text;
  for (const form of forms) if (said.includes(form)) said = said.replaceAll(form, MARK);
  if (!MAY_BE_ESCAPED.test(said)) return said;
  const found: Part[] = [];
  let plain: Plain = { text: said, starts: Array.from({ length: said.length + 1 }, (_, i) => i) };
  for (let times = 0; times < MOST_ESCAPES; times++) {
    plain = unescaped(plain);
    found.push(...partsOf(plain, forms));
  }
  return found.length === 0 ? said : without(said, found);
}

/** The same as a function of the text, for code that does not know the channel. */
export const redactOf =
  (channel: PoolChannel) =>
  (text: string): string =>
    redact(channel, text);

/** A JSON value without the channel's secrets, also in the names of members. */
export function redactJson<T>(channel: PoolChannel, value: T): T;
export function redactJson(channel: PoolChannel, value: unknown): unknown {
  if (typeof value === "string") return value.length > LONGEST ? value : redact(channel, value);
  if (Array.isArray(value)) return value.map((item: unknown) => redactJson(channel, item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [redact(channel, name), redactJson(channel, member)]),
  );
}

/** A thrown value without the channel's secrets, for the log. */
export function redactError(channel: PoolChannel, error: unknown): Error {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  return Object.assign(new Error(redact(channel, message)), { name, stack: redact(channel, stack ?? "") });
}

const ERROR_NAME = Buffer.from('error"');
/** An error in JSON: a member `error`, or an event of that type. `"error": null` is none. */
const MAY_CONTAIN_ERROR = /"[a-z_]*error"\s*:\s*[{["]|"type"\s*:\s*"error"/;

const BETWEEN_EVENTS = /((?:\r?\n){2})/;

/** JSON or events that pass through: without the channel's secrets if they contain an error, unchanged otherwise. */
export function redactErrors(channel: PoolChannel, bytes: Bytes): Bytes {
  if (!bytes.includes(ERROR_NAME)) return bytes;
  // Byte for byte: a chunk that ends inside a character is not changed.
  const text = bytes.toString("latin1");
  if (!MAY_CONTAIN_ERROR.test(text)) return bytes;
  // Events without an error stay unchanged, also when both arrive together.
  const said = text
    .split(BETWEEN_EVENTS)
    .map((event) => redactEvent(channel, event))
    .join("");
  return said === text ? bytes : Buffer.from(said, "latin1");
}

/** The same for one event as text. */
export const redactEvent = (channel: PoolChannel, event: string): string =>
  event.includes('error"') && MAY_CONTAIN_ERROR.test(event) ? redact(channel, event) : event;

/** A longer event is an image. */
const LONGEST_EVENT = 64 << 10;
/** A blank line may be split between any two of its bytes. */
const BLANK_LINE = 4;

/**
 * Events that pass through, split anywhere: those with an error are sent without the channel's secrets. Memory is
 * constant.
 */
export class RedactedEvents {
  readonly #channel: PoolChannel;
  #held: Bytes = Buffer.alloc(0);
  /** Inside an event that is too long to be buffered. */
  #long = false;

  constructor(channel: PoolChannel) {
    this.#channel = channel;
  }

  /** Complete events, and long ones in chunks; the rest is buffered until more arrives. */
  push(chunk: Uint8Array): Bytes {
    const all: Bytes = Buffer.concat([this.#held, chunk]);
    const begins = this.#long ? firstFrameEnd(all, 0, all.length) : 0;
    if (begins < 0) return this.#keep(all, Math.max(0, all.length - BLANK_LINE), all.length);
    const ends = Math.max(begins, lastFrameEnd(all, begins, all.length));
    this.#long = all.length - ends > LONGEST_EVENT;
    const goes = this.#long ? all.length - BLANK_LINE : ends;
    return this.#keep(all, goes, begins);
  }

  /** The rest when the body has ended. */
  end(): Bytes {
    return redactErrors(this.#channel, this.#keep(this.#held, this.#held.length, this.#held.length));
  }

  #keep(all: Bytes, goes: number, untouched: number): Bytes {
    this.#held = Buffer.from(all.subarray(goes));
    const before = all.subarray(0, Math.min(untouched, goes));
    const said = redactErrors(this.#channel, all.subarray(before.length, goes));
    return before.length === 0 ? said : Buffer.concat([before, said]);
  }
}

/** A body of events that passes through. */
export function redactedBody(channel: PoolChannel, body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const stream = new RedactedEvents(channel);
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        const said = stream.push(chunk);
        if (said.length > 0) controller.enqueue(said);
      },
      flush: (controller) => {
        const said = stream.end();
        if (said.length > 0) controller.enqueue(said);
      },
    }),
  );
}
