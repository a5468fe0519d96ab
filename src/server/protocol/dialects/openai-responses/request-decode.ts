/**
 * A call of POST /v1/responses as the neutral prompt (types of the `openai` SDK 7.55, resources/responses; read
 * November 2026). previous_response_id, store and include are the relay's own business and not part of a prompt.
 */
import type {
  Block,
  CacheMark,
  ChatPrompt,
  Effort,
  FreeFormTool,
  FunctionTool,
  JsonSchemaFormat,
  Message,
  OutputFormat,
  Reasoning,
  Source,
  Tool,
  ToolChoice,
  WireObject,
} from "../../chat-events";
import { efforts } from "../../chat-events";
import { RequestFault } from "../shared/fault";
import { FREE_FORM } from "../shared/free-form";
import {
  type Complete,
  compact,
  count,
  extraOf,
  flag,
  isObject,
  number,
  object,
  objects,
  optionalText,
  text,
  unknownMembers,
} from "../shared/json";
import { audioType, sourceOfUrl } from "../shared/media";
import { decodeAnnotation, KEY, thoughtsOfItem } from "./items";

const knownTop = new Set([
  "model",
  "input",
  "instructions",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "text",
  "reasoning",
  "temperature",
  "top_p",
  "max_output_tokens",
  "user",
  "safety_identifier",
  "metadata",
  "stream",
  "stream_options",
  "store",
  "include",
  "previous_response_id",
]);
const knownPart = new Set([
  "type",
  "text",
  "refusal",
  "image_url",
  "file_id",
  "detail",
  "file_data",
  "file_url",
  "filename",
  "input_audio",
  "annotations",
  "logprobs",
  "prompt_cache_breakpoint",
]);
const knownCall = new Set(["type", "id", "call_id", "name", "arguments", "input", "status"]);
const knownOutput = new Set(["type", "id", "call_id", "output", "status"]);
const knownMessage = new Set(["type", "id", "role", "content", "status"]);

function cacheOf(part: WireObject): CacheMark | undefined {
  const mark = part.prompt_cache_breakpoint;
  if (!isObject(mark)) return undefined;
  const ttl = mark.ttl === "30m" || mark.ttl === "12h" ? mark.ttl : undefined;
  return { ...(ttl && { ttl }), extra: { [KEY]: { prompt_cache_breakpoint: mark } } };
}

function fileSource(part: WireObject): Source {
  const id = optionalText(part.file_id);
  if (id !== undefined) return { kind: "id", from: KEY, id };
  return sourceOfUrl(text(part.file_url) || text(part.file_data));
}

function partBlock(part: WireObject): Block {
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text": {
      const citations = objects(part.annotations).map(decodeAnnotation);
      return compact({ type: "text", text: text(part.text), citations: citations.length > 0 ? citations : undefined });
    }
    case "refusal":
      return { type: "refusal", text: text(part.refusal) };
    case "input_image": {
      const id = optionalText(part.file_id);
      const source: Source = id === undefined ? sourceOfUrl(text(part.image_url)) : { kind: "id", from: KEY, id };
      const detail = part.detail === "auto" ? undefined : optionalText(part.detail);
      return compact({ type: "image", source, detail });
    }
    case "input_file":
      return compact({ type: "file", source: fileSource(part), name: optionalText(part.filename) });
    case "input_audio": {
      const { data, format } = object(part.input_audio);
      return { type: "audio", source: { kind: "data", media_type: audioType(text(format)), data: text(data) } };
    }
    default:
      return { type: "opaque", from: KEY, value: part };
  }
}

/** Text, or a list of parts. */
export function decodeContent(content: unknown, where: string): Block[] {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw new RequestFault(where);
  return content.map((part, index) => {
    if (!isObject(part)) throw new RequestFault(`${where}[${index}]`);
    const block = partBlock(part);
    if (block.type === "opaque") return block;
    return compact({ ...block, cache: cacheOf(part), extra: extraOf(KEY, part, knownPart) });
  });
}

/** The message says whether an assistant spoke on the way or at last; models do worse when that is lost. */
function inPhase(blocks: Block[], phase: unknown): Block[] {
  if (typeof phase !== "string") return blocks;
  return blocks.map((block) => ({ ...block, extra: { ...block.extra, [KEY]: { ...block.extra?.[KEY], phase } } }));
}

/** An item of an assistant's turn; undefined when it is another's. */
function assistantBlocks(item: WireObject, where: string): Block[] | undefined {
  switch (item.type) {
    case "reasoning":
      return [thoughtsOfItem(item, true)];
    case "function_call": {
      const { call_id, name, arguments: input } = item;
      const extra = extraOf(KEY, item, knownCall);
      return [compact({ type: "tool_call", id: text(call_id), name: text(name), input: text(input), extra })];
    }
    case "custom_tool_call": {
      const { call_id, name, input } = item;
      const extra = extraOf(KEY, item, knownCall);
      return [
        compact({ type: "tool_call", id: text(call_id), name: text(name), input: text(input), custom: true, extra }),
      ];
    }
    case "message":
    case undefined:
      return item.role === "assistant"
        ? inPhase(decodeContent(item.content, `${where}.content`), item.phase)
        : undefined;
    default:
      return [{ type: "opaque", from: KEY, value: item }];
  }
}

function resultBlock(item: WireObject, where: string): Block | undefined {
  if (item.type !== "function_call_output" && item.type !== "custom_tool_call_output") return undefined;
  return compact({
    type: "tool_result" as const,
    call_id: text(item.call_id),
    content: decodeContent(item.output, `${where}.output`),
    custom: item.type === "custom_tool_call_output" || undefined,
    extra: extraOf(KEY, item, knownOutput),
  });
}

function decodeMessages(body: WireObject): Message[] {
  const messages: Message[] = [];
  const instructions = text(body.instructions);
  if (instructions !== "") messages.push({ role: "system", content: [{ type: "text", text: instructions }] });
  const { input } = body;
  if (typeof input === "string") return [...messages, { role: "user", content: [{ type: "text", text: input }] }];
  if (input === undefined || input === null) return messages;
  if (!Array.isArray(input)) throw new RequestFault("input");
  /** The turn that items are being added to: the assistant's, or the results of its calls. */
  let turn: { kind: "assistant" | "results"; content: Block[] } | undefined;
  const add = (kind: "assistant" | "results", blocks: readonly Block[]): void => {
    if (turn?.kind !== kind) {
      turn = { kind, content: [] };
      messages.push({ role: kind === "assistant" ? "assistant" : "user", content: turn.content });
    }
    turn.content.push(...blocks);
  };
  for (const [index, item] of input.entries()) {
    const where = `input[${index}]`;
    if (!isObject(item)) throw new RequestFault(where);
    const result = resultBlock(item, where);
    if (result) {
      add("results", [result]);
      continue;
    }
    const blocks = assistantBlocks(item, where);
    if (blocks) {
      add("assistant", blocks);
      continue;
    }
    turn = undefined;
    const { role } = item;
    if (role !== "user" && role !== "system" && role !== "developer") throw new RequestFault(`${where}.role`);
    const content = decodeContent(item.content, `${where}.content`);
    messages.push(compact({ role, content, extra: extraOf(KEY, item, knownMessage) }));
  }
  return messages;
}

const knownTool = new Set(["type", "name", "description", "parameters", "strict"]);
const knownFreeForm = new Set(["type", "name", "description", "format"]);

/** One entry of `tools`. */
export function decodeTool(tool: WireObject): Tool {
  if (tool.type === "function") {
    return compact<Complete<FunctionTool>>({
      type: "function",
      name: text(tool.name),
      description: optionalText(tool.description),
      parameters: isObject(tool.parameters) ? tool.parameters : undefined,
      strict: flag(tool.strict) ?? "if_possible",
      cache: undefined,
      extra: extraOf(KEY, tool, knownTool),
    });
  }
  if (tool.type === FREE_FORM) {
    const { name, description, format } = tool;
    const form = isObject(format) ? format : undefined;
    return compact<Complete<FreeFormTool>>({
      type: "free_form",
      name: text(name),
      description: optionalText(description),
      format: form,
      extra: extraOf(KEY, tool, knownFreeForm),
    });
  }
  return { type: "server", from: KEY, value: tool };
}

function decodeToolChoice(choice: unknown): ToolChoice | undefined {
  if (choice === "auto" || choice === "none" || choice === "required") return { mode: choice };
  if (!isObject(choice)) return undefined;
  if (choice.type === "allowed_tools") {
    const allowed = objects(choice.tools).map((tool) => text(tool.name));
    return { mode: choice.mode === "required" ? "required" : "auto", allowed };
  }
  return typeof choice.name === "string" ? { mode: "named", name: choice.name } : undefined;
}

function decodeFormat(format: unknown): OutputFormat | undefined {
  if (!isObject(format)) return undefined;
  if (format.type === "text") return { type: "text" };
  if (format.type === "json_object") return { type: "json" };
  if (format.type !== "json_schema") return undefined;
  const { name, description, schema, strict } = format;
  return compact<Complete<JsonSchemaFormat>>({
    type: "json_schema",
    name: optionalText(name),
    description: optionalText(description),
    schema: object(schema),
    strict: flag(strict),
  });
}

const isEffort = (value: unknown): value is Effort => efforts.some((effort) => effort === value);

function decodeReasoning(reasoning: unknown): Reasoning | undefined {
  if (!isObject(reasoning)) return undefined;
  const summary = text(reasoning.summary) || text(reasoning.generate_summary);
  return compact<Complete<Reasoning>>({
    effort: isEffort(reasoning.effort) ? reasoning.effort : undefined,
    budget: isEffort(reasoning.effort) ? undefined : -1,
    show: summary === "" ? false : undefined,
    extra: { [KEY]: { reasoning } },
  });
}

/** Throws RequestFault. */
export function decodeRequest(body: WireObject): ChatPrompt {
  const words = object(body.text);
  const tools = objects(body.tools).map(decodeTool);
  const top = unknownMembers(body, knownTop);
  return compact<Complete<ChatPrompt>>({
    model: text(body.model),
    messages: decodeMessages(body),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: decodeToolChoice(body.tool_choice),
    parallel_tools: flag(body.parallel_tool_calls),
    format: decodeFormat(words.format),
    verbosity: optionalText(words.verbosity),
    temperature: number(body.temperature),
    top_p: number(body.top_p),
    top_k: undefined,
    seed: undefined,
    frequency_penalty: undefined,
    presence_penalty: undefined,
    choices: undefined,
    stop: undefined,
    max_output: count(body.max_output_tokens),
    reasoning: decodeReasoning(body.reasoning),
    user: optionalText(body.user) ?? optionalText(body.safety_identifier),
    metadata: isObject(body.metadata) ? body.metadata : undefined,
    // Marks stand on parts here.
    cache: undefined,
    stream: flag(body.stream),
    include_usage: body.stream === true ? true : undefined,
    extra: top && { [KEY]: top },
  });
}
