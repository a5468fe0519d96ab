/**
 * Anthropic's content blocks as neutral blocks, of requests and of answers (types of @anthropic-ai/sdk 1.11,
 * ContentBlockParam and ContentBlock; read November 2026).
 */
import type { Block, CacheMark, ReasoningBlock, Source, WireObject } from "../../chat-events";
import { RequestFault } from "../shared/fault";
import { compact, extraOf, flag, isObject, object, objects, optionalText, text } from "../shared/json";
import { signatureOfField } from "../shared/reasoning-signature";
import { decodeCitations } from "./citations";

const KEY = "anthropic";

const known = {
  text: new Set(["type", "text", "citations", "cache_control"]),
  image: new Set(["type", "source", "cache_control"]),
  document: new Set(["type", "source", "title", "cache_control"]),
  tool_use: new Set(["type", "id", "name", "input", "cache_control"]),
  tool_result: new Set(["type", "tool_use_id", "content", "is_error", "cache_control"]),
};

export function cacheOf(value: WireObject): CacheMark | undefined {
  const mark = value.cache_control;
  if (!isObject(mark)) return undefined;
  const ttl = mark.ttl === "1h" ? "1h" : mark.ttl === "5m" ? "5m" : undefined;
  return { ...(ttl && { ttl }), extra: { [KEY]: { cache_control: mark } } };
}

function sourceOf(source: WireObject, media: string | undefined): Source | undefined {
  switch (source.type) {
    case "base64":
      return { kind: "data", media_type: text(source.media_type), data: text(source.data) };
    case "url":
      return { kind: "url", url: text(source.url), ...(media !== undefined && { media_type: media }) };
    case "file":
      return { kind: "id", from: KEY, id: text(source.file_id) };
    case "text":
      return { kind: "text", text: text(source.data), media_type: text(source.media_type) || "text/plain" };
    default:
      return undefined;
  }
}

function thinkingBlock(block: WireObject): ReasoningBlock {
  if (block.type === "redacted_thinking") {
    return {
      type: "reasoning",
      text: "",
      reasoningSignature: signatureOfField({ from: KEY, kind: "encrypted", data: text(block.data) }),
    };
  }
  const data = text(block.signature);
  const reasoningSignature = data === "" ? undefined : signatureOfField({ from: KEY, kind: "signature", data });
  return { type: "reasoning", text: text(block.thinking), ...(reasoningSignature && { reasoningSignature }) };
}

/** `where` names the block in a fault. */
function decodeBlock(block: unknown, where: string): Block {
  if (!isObject(block)) throw new RequestFault(where);
  const cache = cacheOf(block);
  switch (block.type) {
    case "text": {
      const citations = decodeCitations(block.citations);
      const cited = citations.length > 0 ? citations : undefined;
      return compact({
        type: "text",
        text: text(block.text),
        citations: cited,
        cache,
        extra: extraOf(KEY, block, known.text),
      });
    }
    case "image": {
      const source = sourceOf(object(block.source), undefined);
      if (source) return compact({ type: "image", source, cache, extra: extraOf(KEY, block, known.image) });
      break;
    }
    case "document": {
      const name = optionalText(block.title);
      const source = sourceOf(object(block.source), "application/pdf");
      if (source) return compact({ type: "file", source, name, cache, extra: extraOf(KEY, block, known.document) });
      break;
    }
    case "thinking":
    case "redacted_thinking":
      return thinkingBlock(block);
    case "tool_use": {
      const input = JSON.stringify(block.input ?? {});
      const { id, name } = block;
      return compact({
        type: "tool_call",
        id: text(id),
        name: text(name),
        input,
        cache,
        extra: extraOf(KEY, block, known.tool_use),
      });
    }
    case "tool_result":
      return compact({
        type: "tool_result",
        call_id: text(block.tool_use_id),
        content: decodeContent(block.content, `${where}.content`),
        error: flag(block.is_error) || undefined,
        cache,
        extra: extraOf(KEY, block, known.tool_result),
      });
    default:
      if (typeof block.type !== "string") throw new RequestFault(`${where}.type`);
  }
  return { type: "opaque", from: KEY, value: block };
}

export function decodeContent(content: unknown, where: string): Block[] {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw new RequestFault(where);
  return content.map((block, index) => decodeBlock(block, `${where}[${index}]`));
}

/** The blocks of an answer: what is no block is left out. */
export const decodeAnswerContent = (content: unknown): Block[] =>
  objects(content).flatMap((block) => (typeof block.type === "string" ? [decodeAnswerBlock(block)] : []));

/** An answer's signatures are the upstream's own, whatever they look like. */
function decodeAnswerBlock(block: WireObject): Block {
  if (block.type === "thinking" || block.type === "redacted_thinking") return ownThoughts(block);
  return decodeBlock(block.caller ? withoutCaller(block) : block, "content");
}

/** `caller` says that the model itself made the call, which is what a call means everywhere. */
function withoutCaller({ caller, ...block }: WireObject): WireObject {
  return block.type === "tool_use" && object(caller).type === "direct" ? block : { ...block, caller };
}

function ownThoughts(block: WireObject): ReasoningBlock {
  const redacted = block.type === "redacted_thinking";
  const data = text(redacted ? block.data : block.signature);
  const reasoningSignature = { from: KEY, kind: redacted ? "encrypted" : "signature", data } as const;
  return { type: "reasoning", text: redacted ? "" : text(block.thinking), ...(data !== "" && { reasoningSignature }) };
}
