/**
 * Neutral blocks as Anthropic's content blocks, of requests and of answers (types of @anthropic-ai/sdk 1.11,
 * ContentBlockParam; ids of tools: letters, digits, _ and -; read November 2026).
 */
import type {
  Block,
  CacheMark,
  FileBlock,
  ImageBlock,
  ReasoningBlock,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
  Warn,
  WireObject,
} from "../../chat-events";
import { compact, ownExtra, parseObject } from "../shared/json";
import { encodeSignature } from "../shared/reasoning-signature";
import { encodeCitation } from "./citations";

const KEY = "anthropic";

/** A cache mark in Anthropic's words: 5 minutes or an hour. */
export function cacheMember(cache: CacheMark | undefined, warn: Warn): WireObject {
  if (!cache) return {};
  const own = cache.extra?.[KEY];
  if (own) return own;
  if (cache.ttl === "30m" || cache.ttl === "12h") warn("changed_value", `cache.ttl ${cache.ttl}`);
  const ttl = cache.ttl === undefined || cache.ttl === "5m" ? undefined : "1h";
  return { cache_control: compact({ type: "ephemeral", ttl }) };
}

const pictures = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

function imageBody({ source }: ImageBlock, warn: Warn): WireObject | undefined {
  if (source.kind === "url") return { type: "image", source: { type: "url", url: source.url } };
  if (source.kind === "id" && source.from === KEY)
    return { type: "image", source: { type: "file", file_id: source.id } };
  if (source.kind === "data" && pictures.has(source.media_type)) {
    return { type: "image", source: { type: "base64", media_type: source.media_type, data: source.data } };
  }
  warn("dropped_block", `image ${source.media_type ?? source.kind}`);
  return undefined;
}

function documentSource({ source }: FileBlock): WireObject | undefined {
  switch (source.kind) {
    case "url":
      return { type: "url", url: source.url };
    case "id":
      return source.from === KEY ? { type: "file", file_id: source.id } : undefined;
    case "text":
      return { type: "text", media_type: "text/plain", data: source.text };
    case "data": {
      const { media_type, data } = source;
      if (media_type === "application/pdf") return { type: "base64", media_type, data };
      if (!media_type.startsWith("text/") && media_type !== "application/json") return undefined;
      return { type: "text", media_type: "text/plain", data: Buffer.from(data, "base64").toString("utf8") };
    }
  }
}

function documentBody(block: FileBlock, warn: Warn): WireObject | undefined {
  const source = documentSource(block);
  if (source) return compact({ type: "document", source, title: block.name });
  warn("dropped_block", `file ${block.source.media_type ?? block.source.kind}`);
  return undefined;
}

function textBody(block: TextBlock, upstream: boolean, warn: Warn): WireObject | undefined {
  // Anthropic refuses empty text, and a turn of nothing but blanks, which other models write before their calls.
  if (upstream ? block.text.trim() === "" : block.text === "") return undefined;
  const citations: WireObject[] = [];
  for (const citation of block.citations ?? []) {
    // Upstream takes back its own only.
    const foreign = upstream && citation.from !== KEY;
    if (foreign) warn("dropped_field", "citations");
    const raw = foreign ? undefined : encodeCitation(citation, warn);
    if (raw) citations.push(raw);
  }
  return { type: "text", text: block.text, ...(citations.length > 0 && { citations }) };
}

/** Upstream: Anthropic's own signatures only. To a caller: every one, wrapped where it is another's. */
export function thoughtsBody(
  { text: thinking, reasoningSignature }: ReasoningBlock,
  upstream: boolean,
  warn: Warn,
): WireObject | undefined {
  if (reasoningSignature?.from === KEY) {
    if (reasoningSignature.kind === "encrypted") return { type: "redacted_thinking", data: reasoningSignature.data };
    return { type: "thinking", thinking, signature: reasoningSignature.data };
  }
  if (upstream) {
    warn("dropped_reasoning", reasoningSignature?.from ?? "unsigned");
    return undefined;
  }
  if (thinking === "" && !reasoningSignature) return undefined;
  return { type: "thinking", thinking, signature: reasoningSignature ? encodeSignature(reasoningSignature) : "" };
}

/** An id that Anthropic accepts; the same for a call and its result. */
export const toolId = (id: string): string => (id === "" ? "call" : id.replace(/[^a-zA-Z0-9_-]/g, "_"));

function callBody(block: ToolCallBlock, warn: Warn): WireObject {
  const input = block.custom ? { input: block.input } : parseObject(block.input);
  if (!input) warn("malformed_json", `input of ${block.name}`);
  // What the model wrote stays readable for it.
  return { type: "tool_use", id: toolId(block.id), name: block.name, input: input ?? { malformed: block.input } };
}

function resultBody(block: ToolResultBlock, warn: Warn): WireObject {
  const content = encodeBlocks(block.content, true, warn);
  const [only, second] = content;
  const plain = only && !second && only.type === "text" && Object.keys(only).length === 2;
  return compact({
    type: "tool_result",
    tool_use_id: toolId(block.call_id),
    content: plain ? only.text : content.length > 0 ? content : undefined,
    is_error: block.error,
  });
}

function bodyOf(block: Block, upstream: boolean, warn: Warn): WireObject | undefined {
  switch (block.type) {
    case "text":
      return textBody(block, upstream, warn);
    case "refusal":
      return block.text === "" ? undefined : { type: "text", text: block.text };
    case "reasoning":
      return thoughtsBody(block, upstream, warn);
    // Answers hold neither (types of @anthropic-ai/sdk 1.11, ContentBlock): a client would reject all of the answer.
    case "image":
      return upstream ? imageBody(block, warn) : undefined;
    case "file":
      return upstream ? documentBody(block, warn) : undefined;
    case "tool_call":
      return callBody(block, warn);
    case "tool_result":
      return resultBody(block, warn);
    case "audio":
      return block.transcript ? { type: "text", text: block.transcript } : undefined;
    case "opaque":
      if (block.from === KEY) return block.value;
      warn("dropped_block", String(block.value.type ?? block.from));
      return undefined;
  }
}

/** `upstream`: for Anthropic itself; otherwise for a caller. */
export function encodeBlocks(blocks: readonly Block[], upstream: boolean, warn: Warn): WireObject[] {
  const encoded: WireObject[] = [];
  for (const block of blocks) {
    const body = bodyOf(block, upstream, warn);
    if (!body) continue;
    encoded.push({ ...body, ...ownExtra(KEY, block.extra, block.type, warn), ...cacheMember(block.cache, warn) });
  }
  return encoded;
}
