/**
 * A call of POST /v1/messages as the neutral prompt (types of @anthropic-ai/sdk 1.11, MessageCreateParamsBase;
 * temperature, top_p and top_k of older models: API reference; read November 2026). count_tokens takes the same body.
 */
import type {
  ChatPrompt,
  Effort,
  FunctionTool,
  JsonSchemaFormat,
  Message,
  OutputFormat,
  Reasoning,
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
import { cacheOf, decodeContent } from "./content-decode";

const KEY = "anthropic";

const knownTop = new Set([
  "model",
  "messages",
  "system",
  "max_tokens",
  "metadata",
  "output_config",
  "stop_sequences",
  "stream",
  "temperature",
  "thinking",
  "tool_choice",
  "tools",
  "top_k",
  "top_p",
  "cache_control",
]);
const knownTool = new Set(["type", "name", "description", "input_schema", "strict", "cache_control"]);
const knownMessage = new Set(["role", "content"]);
const knownOutput = new Set(["effort", "format"]);

function decodeMessages(body: WireObject): Message[] {
  const { messages, system } = body;
  if (!Array.isArray(messages)) throw new RequestFault("messages");
  const first = decodeContent(system, "system");
  const decoded: Message[] = first.length > 0 ? [{ role: "system", content: first }] : [];
  for (const [index, message] of messages.entries()) {
    const where = `messages[${index}]`;
    if (!isObject(message)) throw new RequestFault(where);
    const { role } = message;
    if (role !== "user" && role !== "assistant" && role !== "system") throw new RequestFault(`${where}.role`);
    const content = decodeContent(message.content, `${where}.content`);
    decoded.push(compact({ role, content, extra: extraOf(KEY, message, knownMessage) }));
  }
  return decoded;
}

function decodeTool(tool: WireObject): Tool {
  if (tool.type !== undefined && tool.type !== null && tool.type !== FREE_FORM) {
    return { type: "server", from: KEY, value: tool };
  }
  return compact<Complete<FunctionTool>>({
    type: "function",
    name: text(tool.name),
    description: optionalText(tool.description),
    parameters: isObject(tool.input_schema) ? tool.input_schema : undefined,
    strict: flag(tool.strict),
    cache: cacheOf(tool),
    extra: extraOf(KEY, tool, knownTool),
  });
}

function decodeToolChoice(choice: WireObject): ToolChoice | undefined {
  switch (choice.type) {
    case "auto":
    case "none":
      return { mode: choice.type };
    case "any":
      return { mode: "required" };
    case "tool":
      return { mode: "named", name: text(choice.name) };
    default:
      return undefined;
  }
}

const isEffort = (value: unknown): value is Effort => efforts.some((effort) => effort === value);

function decodeReasoning(body: WireObject): Reasoning | undefined {
  const output = object(body.output_config);
  const thinking = object(body.thinking);
  const effort = isEffort(output.effort) ? output.effort : undefined;
  if (effort === undefined && thinking.type === undefined) return undefined;
  const extra = compact({ thinking: isObject(body.thinking) ? thinking : undefined, effort });
  const off = thinking.type === "disabled" || thinking.type === "between_tools";
  return compact<Complete<Reasoning>>({
    effort: off ? "none" : effort,
    budget:
      thinking.type === "enabled"
        ? count(thinking.budget_tokens)
        : thinking.type === "adaptive" && !effort
          ? -1
          : undefined,
    show: thinking.display === "omitted" ? false : undefined,
    extra: { [KEY]: extra },
  });
}

function decodeFormat(format: unknown): OutputFormat | undefined {
  if (!isObject(format) || format.type !== "json_schema") return undefined;
  return compact<Complete<JsonSchemaFormat>>({
    type: "json_schema",
    name: undefined,
    description: undefined,
    schema: object(format.schema),
    strict: undefined,
  });
}

/** Throws RequestFault. */
export function decodeRequest(body: WireObject): ChatPrompt {
  const output = object(body.output_config);
  const choice = object(body.tool_choice);
  const rest = unknownMembers(body, knownTop);
  const outputRest = unknownMembers(output, knownOutput);
  const top = outputRest ? { ...rest, output_config: outputRest } : rest;
  const tools = objects(body.tools).map(decodeTool);
  return compact<Complete<ChatPrompt>>({
    model: text(body.model),
    messages: decodeMessages(body),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: decodeToolChoice(choice),
    parallel_tools: choice.disable_parallel_tool_use === true ? false : undefined,
    format: decodeFormat(output.format),
    temperature: number(body.temperature),
    top_p: number(body.top_p),
    top_k: number(body.top_k),
    seed: undefined,
    frequency_penalty: undefined,
    presence_penalty: undefined,
    choices: undefined,
    max_output: count(body.max_tokens),
    stop: Array.isArray(body.stop_sequences)
      ? body.stop_sequences.filter((entry) => typeof entry === "string")
      : undefined,
    reasoning: decodeReasoning(body),
    verbosity: undefined,
    user: optionalText(object(body.metadata).user_id),
    // Anthropic's metadata is the user's name alone.
    metadata: undefined,
    cache: cacheOf(body),
    stream: flag(body.stream),
    // Anthropic's streams always end with usage.
    include_usage: body.stream === true ? true : undefined,
    extra: top && { [KEY]: top },
  });
}
