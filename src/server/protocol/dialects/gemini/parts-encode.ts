/** Neutral blocks as parts of Google's contents (types of @google/genai 3.1, Part; read November 2026). */
import type { Block, FileBlock, Source, ToolCallBlock, ToolResultBlock, Warn, WireObject } from "../../chat-events";
import { compact, ownExtra, parseObject } from "../shared/json";
import { base64Of, mediaTypeOfUrl } from "../shared/media";
import { SignatureBundle } from "../shared/reasoning-signature";
import { type GeminiFacts, UNSIGNED_CALL } from "./models";
import { signatureOf } from "./signature-field";

const KEY = "gemini";

/** undefined when the source is another vendor's upload. `fallback`: the type where nothing says it. */
export function mediaPart(source: Source, fallback: string, name?: string): WireObject | undefined {
  switch (source.kind) {
    case "data":
      return { inlineData: { mimeType: source.media_type, data: source.data } };
    case "text":
      return { inlineData: { mimeType: source.media_type ?? "text/plain", data: base64Of(source.text) } };
    case "url":
      return {
        fileData: compact({
          fileUri: source.url,
          mimeType: source.media_type ?? mediaTypeOfUrl(source.url) ?? fallback,
          displayName: name,
        }),
      };
    case "id":
      return source.from === KEY
        ? { fileData: compact({ fileUri: source.id, mimeType: source.media_type, displayName: name }) }
        : undefined;
  }
}

/** Text that is a JSON object as that object, other text under `result`, errors under `error`. */
function responseOf(result: ToolResultBlock, words: string): WireObject {
  if (result.error) return { error: words };
  const parsed = words.trimStart().startsWith("{") ? parseObject(words) : undefined;
  // An object of one text would be read as that text.
  return parsed && JSON.stringify(parsed) === words && Object.keys(parsed).length !== 1 ? parsed : { result: words };
}

export interface PartsContext {
  readonly warn: Warn;
  /** Upstream: the facts of its model. undefined: for a caller. */
  readonly facts?: GeminiFacts;
  /** Names of calls by their ids. */
  readonly names: ReadonlyMap<string, string>;
}

function callPart({ id, name, input }: Pick<ToolCallBlock, "id" | "name" | "input">, warn: Warn): WireObject {
  const args = parseObject(input);
  if (!args) warn("malformed_json", `input of ${name}`);
  return { functionCall: { id, name, args: args ?? { malformed: input } } };
}

function resultParts(result: ToolResultBlock, { warn, facts, names }: PartsContext): WireObject[] {
  const texts: string[] = [];
  const media: WireObject[] = [];
  for (const block of result.content) {
    if (block.type === "text") texts.push(block.text);
    else {
      const part =
        block.type === "image" || block.type === "file" || block.type === "audio"
          ? mediaPart(block.source, "application/octet-stream")
          : undefined;
      if (part) media.push(part);
      else warn("dropped_block", `${block.type} in a tool result`);
    }
  }
  const inside = facts?.resultImages === true && media.length > 0;
  const functionResponse = compact({
    id: result.call_id,
    name: result.name ?? names.get(result.call_id) ?? "unknown",
    response: responseOf(result, texts.join("")),
    parts: inside ? media : undefined,
  });
  if (media.length > 0 && !inside) warn("changed_order", "tool_result");
  return inside ? [{ functionResponse }] : [{ functionResponse }, ...media];
}

/** Bytes have no name: Blob.displayName is for Vertex AI alone. */
export function filePart({ source, name }: FileBlock, warn: Warn): WireObject | undefined {
  if (name !== undefined && source.kind !== "url" && source.kind !== "id") warn("dropped_field", "file.name");
  return mediaPart(source, "application/pdf", name);
}

function plainPart(block: Block, warn: Warn): WireObject | undefined {
  switch (block.type) {
    case "text":
      return block.text === "" ? undefined : { text: block.text };
    case "refusal":
      return block.text === "" ? undefined : { text: block.text };
    case "image":
      return mediaPart(block.source, "image/jpeg");
    case "audio":
      return mediaPart(block.source, "audio/wav");
    case "file":
      return filePart(block, warn);
    case "opaque":
      return block.from === KEY ? block.value : undefined;
    default:
      return undefined;
  }
}

/**
 * A turn's parts. Google's signatures go where they came from; to a caller, those of others go in the next call's or at
 * the end.
 */
export function encodeParts(blocks: readonly Block[], context: PartsContext): WireObject[] {
  const { warn, facts } = context;
  const parts: WireObject[] = [];
  const bundle = new SignatureBundle();
  let onCall: string | undefined;
  let calls = 0;
  for (const block of blocks) {
    if (block.type === "reasoning") {
      const { reasoningSignature, text } = block;
      const own = reasoningSignature?.from === KEY ? reasoningSignature : undefined;
      if (own?.kind === "call") onCall = own.data;
      else if (own?.kind === "text") {
        const last = parts.at(-1);
        if (last && last.functionCall === undefined) parts[parts.length - 1] = { ...last, thoughtSignature: own.data };
        else parts.push({ text: "", thoughtSignature: own.data });
      } else if (own) parts.push({ text, thought: true, thoughtSignature: own.data });
      else if (facts) warn("dropped_reasoning", reasoningSignature?.from ?? "unsigned");
      else {
        if (text !== "") parts.push({ text, thought: true });
        bundle.add(text);
        bundle.end(reasoningSignature);
      }
    } else if (block.type === "tool_call") {
      if (block.custom) warn("changed_value", `custom tool ${block.name}`);
      const unsigned = facts?.signedCalls && calls === 0 ? UNSIGNED_CALL : undefined;
      const thoughtSignature = onCall ?? (facts ? unsigned : signatureOf(bundle));
      const input = block.custom ? JSON.stringify({ input: block.input }) : block.input;
      parts.push({
        ...callPart({ ...block, input }, warn),
        ...(thoughtSignature !== undefined && { thoughtSignature }),
        ...ownExtra(KEY, block.extra, "tool_call", warn),
      });
      onCall = undefined;
      calls++;
    } else if (block.type === "tool_result") {
      parts.push(...resultParts(block, context));
    } else {
      const part = plainPart(block, warn);
      if (part) parts.push({ ...part, ...ownExtra(KEY, block.extra, block.type, warn) });
      else if (!("text" in block))
        warn("dropped_block", block.type === "opaque" ? String(block.value.type ?? block.from) : block.type);
    }
  }
  const rest = signatureOf(bundle);
  if (rest !== undefined) parts.push({ text: "", thoughtSignature: rest });
  return parts;
}
