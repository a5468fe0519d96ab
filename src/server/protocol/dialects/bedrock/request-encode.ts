/**
 * The neutral prompt as a body of Converse and ConverseStream (docs.aws.amazon.com/bedrock/latest/APIReference,
 * API_runtime_Converse; types of @aws-sdk/client-bedrock-runtime 3.1163; read November 2026).
 */
import type {
  Block,
  CacheMark,
  ChatPrompt,
  FileBlock,
  ImageBlock,
  Message,
  ToolCallBlock,
  ToolResultBlock,
  Warn,
  WireObject,
} from "../../chat-events";
import { functionsOf } from "../shared/functions";
import { compact, parseObject } from "../shared/json";
import { base64Of } from "../shared/media";
import { alternate } from "../shared/turns";
import { takeExtra, textOfBlocks, warnUnsupported } from "../shared/unsupported";
import { requestSupport } from "./support";

/** Converse's own members that a caller may put into the body. */
const ownWords = new Set([
  "additionalModelRequestFields",
  "guardrailConfig",
  "performanceConfig",
  "requestMetadata",
  "serviceTier",
]);

const imageFormats: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};
const documentFormats: Readonly<Record<string, string>> = {
  "application/pdf": "pdf",
  "text/csv": "csv",
  "text/html": "html",
  "text/plain": "txt",
  "text/markdown": "md",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
};

const plainType = (media_type: string): string => (media_type.split(";")[0] ?? "").trim().toLowerCase();

function imageOf({ source }: ImageBlock, warn: Warn): WireObject[] {
  const format = source.kind === "data" ? imageFormats[plainType(source.media_type)] : undefined;
  if (source.kind === "data" && format !== undefined) return [{ image: { format, source: { bytes: source.data } } }];
  warn("dropped_block", `image by ${source.kind}`);
  return [];
}

/** A name may hold letters, digits, blanks, hyphens and brackets, and stands once in a call. */
const documentName = (name: string | undefined, place: number): string =>
  `${(name ?? "document")
    .replace(/\.\w+$/, "")
    .replace(/[^A-Za-z0-9 \-()[\]]+/g, "-")
    .slice(0, 180)} ${place}`;

function documentOf({ source, name }: FileBlock, place: number, warn: Warn): WireObject[] {
  const bytes = source.kind === "data" ? source.data : source.kind === "text" ? base64Of(source.text) : undefined;
  const format = documentFormats[plainType(source.media_type ?? (source.kind === "text" ? "text/plain" : ""))];
  if (bytes !== undefined && format !== undefined)
    return [{ document: { format, name: documentName(name, place), source: { bytes } } }];
  warn("dropped_block", `file by ${source.kind}`);
  return [];
}

function callOf({ id, name, input, custom }: ToolCallBlock, warn: Warn): WireObject {
  const parsed = custom ? { input } : parseObject(input);
  if (custom) warn("changed_value", `custom tool ${name}`);
  else if (!parsed) warn("malformed_json", `input of ${name}`);
  return { toolUse: { toolUseId: id, name, input: parsed ?? {} } };
}

function resultOf({ call_id, content, error }: ToolResultBlock, warn: Warn): WireObject {
  const images = content.flatMap((block) => (block.type === "image" ? imageOf(block, warn) : []));
  const text = textOfBlocks(
    content.filter(({ type }) => type !== "image"),
    warn,
  );
  const said = text === "" && images.length > 0 ? images : [{ text }, ...images];
  return { toolResult: compact({ toolUseId: call_id, content: said, status: error ? "error" : undefined }) };
}

/**
 * Models behind Converse that take cache points, in system and messages, for five minutes (userguide/prompt-caching;
 * November 2026). The others refuse a call that has one; Claude, who takes them too, is asked by InvokeModel.
 */
const CACHING = /(?:^|\.)nova-(?:micro|lite|pro|premier|2-lite)\b/;
/** Most cache points of one call. */
const MOST_POINTS = 4;

/** Puts the caller's marks down as cache points, as many as the model takes. */
class CachePoints {
  #left: number;

  constructor(
    model: string,
    readonly warn: Warn,
  ) {
    this.#left = CACHING.test(model) ? MOST_POINTS : 0;
  }

  /** What stands behind a text that carries `mark`. */
  behind(mark: CacheMark | undefined): WireObject[] {
    if (!mark) return [];
    if (this.#left === 0) {
      this.warn("dropped_field", "cache");
      return [];
    }
    this.#left--;
    if (mark.ttl !== undefined && mark.ttl !== "5m") this.warn("changed_value", `cache for ${mark.ttl}`);
    return [{ cachePoint: { type: "default" } }];
  }
}

function blockOf(block: Block, place: number, points: CachePoints, warn: Warn): WireObject[] {
  const isText = block.type === "text" || block.type === "refusal";
  if (isText && block.text.trim() !== "") return [{ text: block.text }, ...points.behind(block.cache)];
  switch (block.type) {
    case "text":
    case "refusal":
      // Empty texts are refused.
      if (block.cache) warn("dropped_field", "cache");
      return [];
    case "image":
      return imageOf(block, warn);
    case "file":
      return documentOf(block, place, warn);
    case "tool_call":
      return [callOf(block, warn)];
    case "tool_result":
      return [resultOf(block, warn)];
    case "reasoning":
    case "audio":
    case "opaque":
      return [];
  }
}

/** A document is refused without words beside it. */
function contentOf({ content }: Message, place: number, points: CachePoints, warn: Warn): WireObject[] {
  const blocks = content.flatMap((block, index) => blockOf(block, place * 100 + index, points, warn));
  const needsWords = blocks.some((block) => "document" in block) && !blocks.some((block) => "text" in block);
  return needsWords ? [{ text: "." }, ...blocks] : blocks;
}

function toolConfig(prompt: ChatPrompt, warn: Warn): WireObject | undefined {
  const { tool_choice } = prompt;
  const tools = functionsOf(prompt, warn).map(({ name, description, parameters }) => ({
    toolSpec: { name, description, inputSchema: { json: parameters } },
  }));
  if (tools.length === 0) return undefined;
  const choice =
    tool_choice?.mode === "named"
      ? { tool: { name: tool_choice.name ?? "" } }
      : tool_choice?.mode === "required"
        ? { any: {} }
        : undefined;
  return compact({ tools, toolChoice: choice });
}

/** The model's name is in the address. */
export function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  warnUnsupported(prompt, requestSupport, warn);
  const turns = alternate(prompt.messages, warn);
  const points = new CachePoints(prompt.model, warn);
  const system = turns
    .filter(({ role }) => role === "system")
    .flatMap(({ content }) => [
      { text: textOfBlocks(content, warn) },
      ...points.behind(content.findLast(({ cache }) => cache)?.cache),
    ]);
  const messages = turns
    .filter(({ role }) => role !== "system")
    .map((message, place) => ({ role: message.role, content: contentOf(message, place, points, warn) }))
    .filter(({ content }) => content.length > 0);
  const inferenceConfig = compact({
    maxTokens: prompt.max_output,
    temperature: prompt.temperature,
    topP: prompt.top_p,
    stopSequences: prompt.stop && prompt.stop.length > 0 ? prompt.stop : undefined,
  });
  return compact({
    messages,
    system: system.length > 0 ? system : undefined,
    inferenceConfig: Object.keys(inferenceConfig).length > 0 ? inferenceConfig : undefined,
    toolConfig: toolConfig(prompt, warn),
    ...takeExtra(prompt.extra, ownWords, "", warn),
  });
}
