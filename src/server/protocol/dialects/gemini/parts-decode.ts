/**
 * Parts of Google's contents as neutral blocks (ai.google.dev/api/caching, Part; docs/thought-signatures: on calls, on
 * the last part, on thoughts; types of @google/genai 3.1; read November 2026).
 */
import type { Block, ReasoningBlock, Source, WireObject } from "../../chat-events";
import { compact, extraOf, isObject, object, objects, optionalText, text } from "../shared/json";
import { beginsTurn, restoreThoughts } from "../shared/reasoning-signature";
import { bothSpellings, member } from "./members";
import { carriedBy } from "./signature-field";

const KEY = "gemini";

const knownPart = bothSpellings(
  "text",
  "thought",
  "thoughtSignature",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
);

/** Gives ids to calls that have none, and finds the call that a result without one answers. */
export class CallIds {
  #count = 0;
  readonly #waiting: { id: string; name: string }[] = [];

  constructor(readonly prefix: string) {}

  call(id: string, name: string): string {
    const own = id || `call_${this.prefix}_${this.#count}`;
    this.#count++;
    this.#waiting.push({ id: own, name });
    return own;
  }

  result(id: string, name: string): string {
    const at = this.#waiting.findIndex((call) => (id === "" ? call.name === name : call.id === id));
    const [found] = at < 0 ? [] : this.#waiting.splice(at, 1);
    return found?.id ?? (id || `call_${name}`);
  }
}

function mediaBlock(media_type: string, source: Source, name: string | undefined): Block {
  if (media_type.startsWith("image/")) return { type: "image", source };
  if (media_type.startsWith("audio/")) return { type: "audio", source };
  return compact({ type: "file", source, name });
}

function inlineBlock(data: WireObject): Block {
  const media_type = text(member(data, "mimeType"));
  return mediaBlock(
    media_type,
    { kind: "data", media_type, data: text(data.data) },
    optionalText(member(data, "displayName")),
  );
}

function fileBlock(data: WireObject): Block {
  const url = text(member(data, "fileUri"));
  const type = optionalText(member(data, "mimeType"));
  const upload = url.startsWith("gs://") || url.startsWith("https://generativelanguage.googleapis.com/");
  const source: Source = upload
    ? compact({ kind: "id" as const, from: KEY, id: url, media_type: type })
    : compact({ kind: "url" as const, url, media_type: type });
  return mediaBlock(type ?? "", source, optionalText(member(data, "displayName")));
}

/** The words of a result: {result|output: text}, {error: text}, else the object as JSON. */
function resultOf(response: WireObject): { words: string; error?: true } {
  const [only, second] = Object.keys(response);
  const value = only === undefined ? undefined : response[only];
  if (second === undefined && typeof value === "string") {
    if (only === "result" || only === "output" || only === "content") return { words: value };
    if (only === "error") return { words: value, error: true };
  }
  return { words: JSON.stringify(response) };
}

function responseBlock(response: WireObject, ids: CallIds): Block {
  const name = text(response.name);
  const { words, error } = resultOf(object(response.response));
  const media = objects(response.parts).flatMap((part) => {
    const data = member(part, "inlineData");
    return isObject(data) ? [inlineBlock(data)] : [];
  });
  return compact({
    type: "tool_result",
    call_id: ids.result(text(response.id), name),
    name,
    content: [...(words === "" ? [] : [{ type: "text", text: words } as const]), ...media],
    error,
  });
}

function signedBlock(signature: string, kind: "call" | "text"): ReasoningBlock {
  return { type: "reasoning", text: "", reasoningSignature: { from: KEY, kind, data: signature } };
}

/** `returned`: a caller gives back what it got, so signatures may be those of others. */
export function decodeParts(parts: unknown, ids: CallIds, returned: boolean): Block[] {
  const blocks: Block[] = [];
  /** What is carried for others, to be put in the place of the thoughts without a signature. */
  let foreign = false;
  const all = objects(parts);
  const said = (): string => all.flatMap((part) => (part.thought === true ? [text(part.text)] : [])).join("");
  for (const part of all) {
    const signature = text(member(part, "thoughtSignature"));
    const carried = returned && signature !== "" ? carriedBy(signature) : undefined;
    if (carried) {
      const thoughts = restoreThoughts(carried, said());
      // What came before the first call came before the text too.
      const early = foreign ? [] : thoughts.filter(beginsTurn);
      foreign = true;
      blocks.unshift(...early);
      blocks.push(...thoughts.filter((block) => !early.includes(block)));
    }
    const own = carried ? "" : signature;
    const extra = extraOf(KEY, part, knownPart);
    const call = member(part, "functionCall");
    const response = member(part, "functionResponse");
    const inline = member(part, "inlineData");
    const file = member(part, "fileData");
    if (part.thought === true) {
      const reasoningSignature = own === "" ? undefined : ({ from: KEY, kind: "signature", data: own } as const);
      blocks.push(
        reasoningSignature
          ? { type: "reasoning", text: text(part.text), reasoningSignature }
          : { type: "reasoning", text: text(part.text) },
      );
    } else if (isObject(call)) {
      if (own !== "") blocks.push(signedBlock(own, "call"));
      const name = text(call.name);
      const input = JSON.stringify(call.args ?? {});
      blocks.push(compact({ type: "tool_call", id: ids.call(text(call.id), name), name, input, extra }));
    } else if (isObject(response)) {
      blocks.push(responseBlock(response, ids));
    } else if (isObject(inline) || isObject(file)) {
      const block = isObject(inline) ? inlineBlock(inline) : fileBlock(object(file));
      blocks.push(extra ? { ...block, extra } : block);
      if (own !== "") blocks.push(signedBlock(own, "text"));
    } else if (typeof part.text === "string") {
      // Most pieces of a stream: nothing is made that would be taken away again.
      if (part.text !== "")
        blocks.push(extra ? { type: "text", text: part.text, extra } : { type: "text", text: part.text });
      if (own !== "") blocks.push(signedBlock(own, "text"));
    } else {
      blocks.push({ type: "opaque", from: KEY, value: part });
    }
  }
  return foreign
    ? blocks.filter((block) => block.type !== "reasoning" || block.reasoningSignature !== undefined)
    : blocks;
}
