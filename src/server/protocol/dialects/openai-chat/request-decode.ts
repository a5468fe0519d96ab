/**
 * A call of POST /v1/chat/completions as the neutral prompt.
 * Source: types of the `openai` SDK 7.55 (resources/chat/completions), OpenRouter docs (reasoning, cache_control),
 * Google AI docs (OpenAI compatibility: extra_content), read November 2026.
 */
import type {
  Block,
  CacheMark,
  ChatPrompt,
  Effort,
  FileBlock,
  FreeFormTool,
  FunctionTool,
  JsonSchemaFormat,
  Message,
  OutputFormat,
  Reasoning,
  Tool,
  ToolCallBlock,
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
import { SEARCH_OPTIONS } from "../shared/web-search";
import { splitId } from "../shared/reasoning-signature";
import { decodeCitations } from "./citations";
import { decodeReturnedThoughts } from "./thoughts";

const KEY = "openai-chat";

const knownTop = new Set([
  SEARCH_OPTIONS,
  "model",
  "messages",
  "tools",
  "tool_choice",
  "functions",
  "function_call",
  "parallel_tool_calls",
  "response_format",
  "temperature",
  "top_p",
  "top_k",
  "seed",
  "frequency_penalty",
  "presence_penalty",
  "n",
  "max_completion_tokens",
  "max_tokens",
  "stop",
  "reasoning_effort",
  "reasoning",
  "verbosity",
  "user",
  "safety_identifier",
  "metadata",
  "stream",
  "stream_options",
]);
const knownPart = new Set([
  "type",
  "text",
  "refusal",
  "image_url",
  "input_audio",
  "file",
  "cache_control",
  "prompt_cache_breakpoint",
]);
const knownMessage = new Set([
  "role",
  "content",
  "tool_calls",
  "function_call",
  "tool_call_id",
  "refusal",
  "reasoning_content",
  "reasoning",
  "reasoning_details",
  "annotations",
]);

/** The mark of a part: OpenAI's breakpoint or OpenRouter's cache_control. */
function cacheOf(part: WireObject): CacheMark | undefined {
  const mark = object(part.prompt_cache_breakpoint ?? part.cache_control);
  if (mark.type !== "ephemeral" && mark.mode !== "explicit") return undefined;
  const { ttl } = mark;
  const known = ttl === "5m" || ttl === "30m" || ttl === "1h" || ttl === "12h" ? ttl : undefined;
  const name = part.prompt_cache_breakpoint ? "prompt_cache_breakpoint" : "cache_control";
  return { ...(known && { ttl: known }), extra: { [KEY]: { [name]: mark } } };
}

function fileBlock(file: WireObject): FileBlock {
  const name = optionalText(file.filename);
  const id = optionalText(file.file_id);
  const source = id !== undefined ? ({ kind: "id", from: KEY, id } as const) : sourceOfUrl(text(file.file_data));
  return compact({ type: "file", source, name });
}

function partBlock(part: WireObject): Block {
  switch (part.type) {
    case "text":
    case "input_text":
    case "output_text":
      return { type: "text", text: text(part.text) };
    case "refusal":
      return { type: "refusal", text: text(part.refusal) };
    case "image_url": {
      const image = typeof part.image_url === "string" ? { url: part.image_url } : object(part.image_url);
      return compact({ type: "image", source: sourceOfUrl(text(image.url)), detail: optionalText(image.detail) });
    }
    case "input_audio": {
      const { data, format } = object(part.input_audio);
      return { type: "audio", source: { kind: "data", media_type: audioType(text(format)), data: text(data) } };
    }
    case "file":
      return fileBlock(object(part.file));
    default:
      return { type: "opaque", from: KEY, value: part };
  }
}

function decodePart(part: unknown, where: string): Block {
  if (typeof part === "string") return { type: "text", text: part };
  if (!isObject(part)) throw new RequestFault(where);
  const block = partBlock(part);
  if (block.type === "opaque") return block;
  return compact({ ...block, cache: cacheOf(part), extra: extraOf(KEY, part, knownPart) });
}

function decodeContent(content: unknown, where: string): Block[] {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) throw new RequestFault(where);
  return content.map((part, index) => decodePart(part, `${where}[${index}]`));
}

const knownCall = new Set(["id", "type", "function", "custom", "index"]);

function toolCallBlock(call: WireObject): ToolCallBlock {
  const extra = extraOf(KEY, call, knownCall);
  if (call.type === FREE_FORM) {
    const { name, input } = object(call.custom);
    return compact({ type: "tool_call", id: text(call.id), name: text(name), input: text(input), custom: true, extra });
  }
  const { name, arguments: json } = object(call.function);
  const input = typeof json === "string" ? json : JSON.stringify(json ?? {});
  return compact({ type: "tool_call", id: text(call.id), name: text(name), input, extra });
}

/** Calls of the older dialect have no ids: the name stands for one. */
const functionCallId = (name: string): string => `call_${name}`;

function assistantContent(message: WireObject, where: string): Block[] {
  const calls = objects(message.tool_calls).map(toolCallBlock);
  if (isObject(message.function_call)) {
    const name = text(message.function_call.name);
    calls.push({ type: "tool_call", id: functionCallId(name), name, input: text(message.function_call.arguments) });
  }
  const returned = decodeReturnedThoughts(message, calls);
  const content = decodeContent(message.content, where);
  const first = content[0];
  const citations = decodeCitations(message.annotations);
  if (citations.length > 0 && first?.type === "text") content[0] = { ...first, citations };
  if (typeof message.refusal === "string" && message.refusal !== "") {
    content.push({ type: "refusal", text: message.refusal });
  }
  return [...returned.thoughts, ...content, ...returned.calls];
}

function decodeMessages(messages: unknown): Message[] {
  if (!Array.isArray(messages)) throw new RequestFault("messages");
  const decoded: Message[] = [];
  /** The results of consecutive tool messages are one turn of the user. */
  let results: Block[] | undefined;
  for (const [index, message] of messages.entries()) {
    const where = `messages[${index}]`;
    if (!isObject(message)) throw new RequestFault(where);
    const { role } = message;
    if (role === "tool" || role === "function") {
      if (!results) decoded.push({ role: "user", content: (results = []) });
      const own = text(message.tool_call_id);
      const call_id = role === "tool" ? splitId(own).id : functionCallId(text(message.name));
      const content = decodeContent(message.content, `${where}.content`);
      results.push(compact({ type: "tool_result", call_id, name: optionalText(message.name), content }));
      continue;
    }
    results = undefined;
    const extra = extraOf(KEY, message, knownMessage);
    if (role === "assistant") {
      decoded.push(compact({ role, content: assistantContent(message, `${where}.content`), extra }));
    } else if (role === "system" || role === "developer" || role === "user") {
      decoded.push(compact({ role, content: decodeContent(message.content, `${where}.content`), extra }));
    } else {
      throw new RequestFault(`${where}.role`);
    }
  }
  return decoded;
}

const knownFunction = new Set(["name", "description", "parameters", "strict"]);
const knownFreeForm = new Set(["name", "description", "format"]);

function functionTool(declared: WireObject, cache?: CacheMark): Tool {
  return compact<Complete<FunctionTool>>({
    type: "function",
    name: text(declared.name),
    description: optionalText(declared.description),
    parameters: isObject(declared.parameters) ? declared.parameters : undefined,
    strict: flag(declared.strict),
    cache,
    extra: extraOf(KEY, declared, knownFunction),
  });
}

function decodeTool(tool: WireObject): Tool {
  if (tool.type === "function" || (tool.type === undefined && isObject(tool.function))) {
    return functionTool(object(tool.function), cacheOf(tool));
  }
  if (tool.type === FREE_FORM) {
    const { name, description, format } = object(tool.custom);
    const form = isObject(format) ? format : undefined;
    return compact<Complete<FreeFormTool>>({
      type: "free_form",
      name: text(name),
      description: optionalText(description),
      format: form,
      extra: extraOf(KEY, object(tool.custom), knownFreeForm),
    });
  }
  return { type: "server", from: KEY, value: tool };
}

const nameOf = (choice: WireObject): string => text(object(choice.function).name) || text(object(choice.custom).name);

function decodeToolChoice(choice: unknown, legacy: unknown): ToolChoice | undefined {
  if (choice === "auto" || choice === "none" || choice === "required") return { mode: choice };
  if (legacy === "auto" || legacy === "none") return { mode: legacy };
  if (isObject(legacy)) return { mode: "named", name: text(legacy.name) };
  if (!isObject(choice)) return undefined;
  if (choice.type !== "allowed_tools") return { mode: "named", name: nameOf(choice) };
  const { mode, tools } = object(choice.allowed_tools);
  return { mode: mode === "required" ? "required" : "auto", allowed: objects(tools).map(nameOf) };
}

function decodeFormat(format: unknown): OutputFormat | undefined {
  if (!isObject(format)) return undefined;
  if (format.type === "text") return { type: "text" };
  if (format.type === "json_object") return { type: "json" };
  if (format.type !== "json_schema") return undefined;
  const { name, description, schema, strict } = object(format.json_schema);
  return compact<Complete<JsonSchemaFormat>>({
    type: "json_schema",
    name: optionalText(name),
    description: optionalText(description),
    schema: object(schema),
    strict: flag(strict),
  });
}

const isEffort = (value: unknown): value is Effort => efforts.some((effort) => effort === value);

function decodeReasoning(body: WireObject): Reasoning | undefined {
  const own = object(body.reasoning);
  const effort = isEffort(body.reasoning_effort)
    ? body.reasoning_effort
    : isEffort(own.effort)
      ? own.effort
      : undefined;
  const off = own.enabled === false ? 0 : undefined;
  const budget = effort === undefined ? (number(own.max_tokens) ?? off) : undefined;
  const show = own.exclude === true ? false : undefined;
  const extra = isObject(body.reasoning) ? { [KEY]: { reasoning: own } } : undefined;
  const reasoning: Reasoning = compact<Complete<Reasoning>>({ effort, budget, show, extra });
  return Object.keys(reasoning).length > 0 ? reasoning : undefined;
}

function decodeStop(stop: unknown): string[] | undefined {
  if (typeof stop === "string") return [stop];
  return Array.isArray(stop) ? stop.filter((entry) => typeof entry === "string") : undefined;
}

/** Throws RequestFault. */
export function decodeRequest(body: WireObject): ChatPrompt {
  const tools = [...objects(body.tools).map(decodeTool), ...objects(body.functions).map((tool) => functionTool(tool))];
  if (isObject(body.web_search_options))
    tools.push({ type: "server", from: KEY, value: { ...body.web_search_options, type: SEARCH_OPTIONS } });
  const top = unknownMembers(body, knownTop);
  return compact<Complete<ChatPrompt>>({
    model: text(body.model),
    messages: decodeMessages(body.messages),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: decodeToolChoice(body.tool_choice, body.function_call),
    parallel_tools: flag(body.parallel_tool_calls),
    format: decodeFormat(body.response_format),
    temperature: number(body.temperature),
    top_p: number(body.top_p),
    top_k: number(body.top_k),
    seed: number(body.seed),
    frequency_penalty: number(body.frequency_penalty),
    presence_penalty: number(body.presence_penalty),
    choices: count(body.n),
    max_output: count(body.max_completion_tokens) ?? count(body.max_tokens),
    stop: decodeStop(body.stop),
    reasoning: decodeReasoning(body),
    verbosity: optionalText(body.verbosity),
    user: optionalText(body.user) ?? optionalText(body.safety_identifier),
    metadata: isObject(body.metadata) ? body.metadata : undefined,
    // Marks stand on parts here.
    cache: undefined,
    stream: flag(body.stream),
    include_usage: flag(object(body.stream_options).include_usage),
    extra: top && { [KEY]: top },
  });
}
