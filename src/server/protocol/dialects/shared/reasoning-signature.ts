/**
 * Reasoning signatures of one vendor inside fields of another dialect. A caller's program gives ids, signatures and
 * encrypted content back as they came, so a signature travels there and needs no memory on our side.
 *
 * Two carriers: a text for a signature field (`encodeSignature`), and the tail of a tool call's id, because ids are
 * what every program gives back (`withBundle`). The alphabet of a tail is that of Anthropic's ids: letters, digits, _
 * and -.
 */
import type { DialectKey, ReasoningBlock, ReasoningSignature } from "../../chat-events";

const MARK = "w1.";
const ID_MARK = "-w1-";

const letters = { "openai-chat": "o", "openai-responses": "r", anthropic: "a", gemini: "g" } as const satisfies Record<
  DialectKey,
  string
>;
const authors = new Map<string, DialectKey>(
  (Object.entries(letters) as [DialectKey, string][]).map(([key, letter]) => [letter, key]), // keys of the record above
);
const kinds = { signature: "s", encrypted: "e", text: "t", call: "c", detail: "d" } as const satisfies Record<
  ReasoningSignature["kind"],
  string
>;
const kindOf = new Map<string, ReasoningSignature["kind"]>(
  (Object.entries(kinds) as [ReasoningSignature["kind"], string][]).map(([kind, letter]) => [letter, kind]), // as above
);

const pack = (text: string): string => Buffer.from(text, "utf8").toString("base64url");

/** undefined when the text is not exactly what `pack` writes. */
function unpack(text: string): string | undefined {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length === 0 || bytes.toString("base64url") !== text) return undefined;
  const unpacked = bytes.toString("utf8");
  return Buffer.byteLength(unpacked) === bytes.length ? unpacked : undefined;
}

type Entry = readonly [head: string, data: string, id: string, text: string | number];

const entryOf = (reasoningSignature: ReasoningSignature, text: string | number): Entry => [
  letters[reasoningSignature.from] + kinds[reasoningSignature.kind],
  reasoningSignature.data,
  reasoningSignature.id ?? "",
  text,
];

function carriedOfEntry(entry: unknown): Carried | undefined {
  if (!Array.isArray(entry)) return undefined;
  const [head, data, id, text]: unknown[] = entry;
  if (typeof head !== "string" || typeof data !== "string" || typeof id !== "string") return undefined;
  if (typeof text !== "string" && typeof text !== "number") return undefined;
  const from = authors.get(head.slice(0, 1));
  const kind = kindOf.get(head.slice(1));
  return from && kind && { reasoningSignature: { from, kind, data, ...(id !== "" && { id }) }, text };
}

/**
 * A signature as the text of a signature field. `text`: the signed text where the field cannot stand beside it, or its
 * length.
 */
export const encodeSignature = (reasoningSignature: ReasoningSignature, text: string | number = 0): string =>
  MARK + pack(JSON.stringify(entryOf(reasoningSignature, text)));

/** Reads a text of `encodeSignature`; undefined when it is another one. */
export function decodeSignature(value: string): Carried | undefined {
  if (!value.startsWith(MARK)) return undefined;
  const json = unpack(value.slice(MARK.length));
  if (json === undefined) return undefined;
  try {
    return carriedOfEntry(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/** The signature in a dialect's own field: ours to unwrap, else the dialect's own. */
export function signatureOfField(own: ReasoningSignature): ReasoningSignature {
  return decodeSignature(own.data)?.reasoningSignature ?? own;
}

/** Most characters of thoughts that travel in an id; longer ones must come back by themselves. */
const TEXT_LIMIT = 16_384;

/** Collects the signed thoughts before a tool call, for its id. */
export class SignatureBundle {
  readonly #entries: Entry[] = [];
  #text = "";
  #length = 0;

  /** A piece of the thoughts that are being streamed. */
  add(text: string): void {
    this.#length += text.length;
    if (this.#length <= TEXT_LIMIT) this.#text += text;
  }

  /** The thoughts end. Without a signature they need not come back. */
  end(reasoningSignature: ReasoningSignature | undefined): void {
    if (reasoningSignature)
      this.#entries.push(entryOf(reasoningSignature, this.#length <= TEXT_LIMIT ? this.#text : this.#length));
    this.#text = "";
    this.#length = 0;
  }

  /** Characters of the thoughts so far. */
  get length(): number {
    return this.#length;
  }

  /** What was collected as the text of a signature field; undefined when there was nothing. */
  takeField(): string | undefined {
    return this.#entries.length === 0 ? undefined : MARK + pack(JSON.stringify(this.#entries.splice(0)));
  }

  /** The id with what was collected since the last call; the id alone when there was nothing. */
  take(id: string): string {
    return this.#entries.length === 0 ? id : id + ID_MARK + pack(JSON.stringify(this.#entries.splice(0)));
  }
}

/** The id of whole blocks. */
export function withBundle(id: string, blocks: readonly ReasoningBlock[]): string {
  const bundle = new SignatureBundle();
  for (const block of blocks) {
    bundle.add(block.text);
    bundle.end(block.reasoningSignature);
  }
  return bundle.take(id);
}

export interface Carried {
  readonly reasoningSignature: ReasoningSignature;
  /** The signed text, or its length where the text travels beside it. */
  readonly text: string | number;
}

function readEntries(json: string | undefined): Carried[] | undefined {
  if (json === undefined || !json.startsWith("[[")) return undefined;
  try {
    const entries: unknown = JSON.parse(json);
    if (!Array.isArray(entries)) return undefined;
    const carried = entries.map(carriedOfEntry);
    return carried.every((one) => one !== undefined) ? carried : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a field of `takeField`; undefined when it is another one. */
export const readField = (value: string): Carried[] | undefined =>
  value.startsWith(MARK) ? readEntries(unpack(value.slice(MARK.length))) : undefined;

/** The carried signatures with their texts: spelled out, or the next so many characters of what was said. */
export function restoreThoughts(carried: readonly Carried[], whole: string): ReasoningBlock[] {
  const blocks: ReasoningBlock[] = [];
  let at = 0;
  for (const { reasoningSignature, text: words } of carried) {
    const length = typeof words === "number" ? words : words.length;
    const own = typeof words === "string" ? words : whole.slice(at, at + length);
    at += length;
    // Half of what was signed is worth nothing: the author refuses it.
    if (own.length === length) blocks.push({ type: "reasoning", text: own, reasoningSignature });
  }
  return blocks;
}

/** Thoughts begin a turn; the signature of a call or a text stays beside it. */
export const beginsTurn = ({ reasoningSignature }: ReasoningBlock): boolean =>
  reasoningSignature?.kind !== "call" && reasoningSignature?.kind !== "text";

/**
 * Splits an id of `withBundle`: the vendor's own id, and the signed thoughts. A number is the length of a lost text.
 */
export function splitId(id: string): { id: string; carried: Carried[] } {
  for (let at = id.indexOf(ID_MARK); at >= 0; at = id.indexOf(ID_MARK, at + 1)) {
    const carried = readEntries(unpack(id.slice(at + ID_MARK.length)));
    // Otherwise not ours: the next mark may be.
    if (carried) return { id: id.slice(0, at), carried };
  }
  return { id, carried: [] };
}
