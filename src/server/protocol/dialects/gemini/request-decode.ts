/**
 * A call of generateContent as the neutral prompt; model and streaming stand in its address (ai.google.dev/api/
 * generate-content; types of @google/genai 3.1, GenerationConfig and Tool; read November 2026).
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
import {
  type Complete,
  compact,
  count,
  isObject,
  list,
  number,
  object,
  objects,
  optionalText,
  text,
  unknownMembers,
} from "../shared/json";
import type { RequestAddress } from "../translation";
import { bothSpellings, member } from "./members";
import { CallIds, decodeParts } from "./parts-decode";
import { fromGeminiSchema } from "./schema";

const KEY = "gemini";

const knownTop = bothSpellings("model", "contents", "systemInstruction", "tools", "toolConfig", "generationConfig");
const knownConfig = bothSpellings(
  "temperature",
  "topP",
  "topK",
  "maxOutputTokens",
  "candidateCount",
  "stopSequences",
  "seed",
  "presencePenalty",
  "frequencyPenalty",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "thinkingConfig",
);

function decodeMessages(body: WireObject): Message[] {
  const { contents } = body;
  if (!Array.isArray(contents)) throw new RequestFault("contents");
  const ids = new CallIds("g");
  const system = member(body, "systemInstruction");
  const said = decodeParts(typeof system === "string" ? [{ text: system }] : object(system).parts, ids, true);
  const messages: Message[] = said.length > 0 ? [{ role: "system", content: said }] : [];
  for (const [index, content] of contents.entries()) {
    if (!isObject(content)) throw new RequestFault(`contents[${index}]`);
    const role = content.role === "model" ? "assistant" : "user";
    messages.push({ role, content: decodeParts(content.parts, ids, role === "assistant") });
  }
  return messages;
}

function schemaOf(declared: WireObject, json: string, own: string): WireObject | undefined {
  const schema = member(declared, json);
  if (isObject(schema)) return schema;
  const subset = member(declared, own);
  return isObject(subset) ? fromGeminiSchema(subset) : undefined;
}

const knownDeclaration = bothSpellings("name", "description", "parameters", "parametersJsonSchema");

function decodeTools(tool: WireObject): Tool[] {
  const declared = member(tool, "functionDeclarations");
  const { functionDeclarations: _a, function_declarations: _b, ...rest } = tool;
  const functions = objects(declared).map((entry): Tool => {
    const extra = unknownMembers(entry, knownDeclaration);
    return compact<Complete<FunctionTool>>({
      type: "function",
      name: text(entry.name),
      description: optionalText(entry.description),
      parameters: schemaOf(entry, "parametersJsonSchema", "parameters"),
      strict: undefined,
      cache: undefined,
      extra: extra && { [KEY]: extra },
    });
  });
  return Object.keys(rest).length > 0 ? [...functions, { type: "server", from: KEY, value: rest }] : functions;
}

function decodeToolChoice(config: WireObject): ToolChoice | undefined {
  const names = list(member(config, "allowedFunctionNames")).filter((name) => typeof name === "string");
  const allowed = names.length > 0 ? { allowed: names } : {};
  const [only, second] = names;
  switch (config.mode) {
    case "ANY":
      return only !== undefined && second === undefined
        ? { mode: "named", name: only }
        : { mode: "required", ...allowed };
    case "NONE":
      return { mode: "none" };
    case "AUTO":
    case "VALIDATED":
      return { mode: "auto", ...allowed };
    default:
      return undefined;
  }
}

function decodeFormat(config: WireObject): OutputFormat | undefined {
  const schema = schemaOf(config, "responseJsonSchema", "responseSchema");
  if (schema)
    return compact<Complete<JsonSchemaFormat>>({
      type: "json_schema",
      name: undefined,
      description: undefined,
      schema,
      strict: undefined,
    });
  return member(config, "responseMimeType") === "application/json" ? { type: "json" } : undefined;
}

const isEffort = (value: string): value is Effort => efforts.some((effort) => effort === value);

function decodeReasoning(thinking: unknown): Reasoning | undefined {
  if (!isObject(thinking)) return undefined;
  const level = text(member(thinking, "thinkingLevel")).toLowerCase();
  const effort = isEffort(level) ? level : undefined;
  return compact<Complete<Reasoning>>({
    effort,
    budget: effort ? undefined : number(member(thinking, "thinkingBudget")),
    show: member(thinking, "includeThoughts") === true ? undefined : false,
    extra: { [KEY]: { thinkingConfig: thinking } },
  });
}

/** Throws RequestFault. */
export function decodeRequest(body: WireObject, address: RequestAddress = {}): ChatPrompt {
  const config = object(member(body, "generationConfig"));
  const tools = objects(body.tools).flatMap(decodeTools);
  const toolConfig = object(member(body, "toolConfig"));
  const { functionCallingConfig: _a, function_calling_config: _b, ...otherConfig } = toolConfig;
  const rest = unknownMembers(config, knownConfig);
  const top = {
    ...unknownMembers(body, knownTop),
    ...(rest && { generationConfig: rest }),
    ...(Object.keys(otherConfig).length > 0 && { toolConfig: otherConfig }),
  };
  const stop = list(member(config, "stopSequences")).filter((entry) => typeof entry === "string");
  return compact<Complete<ChatPrompt>>({
    model: address.model ?? text(body.model).replace(/^models\//, ""),
    messages: decodeMessages(body),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: decodeToolChoice(object(member(toolConfig, "functionCallingConfig"))),
    parallel_tools: undefined,
    format: decodeFormat(config),
    temperature: number(config.temperature),
    top_p: number(member(config, "topP")),
    top_k: number(member(config, "topK")),
    seed: number(config.seed),
    presence_penalty: number(member(config, "presencePenalty")),
    frequency_penalty: number(member(config, "frequencyPenalty")),
    choices: count(member(config, "candidateCount")),
    max_output: count(member(config, "maxOutputTokens")),
    stop: stop.length > 0 ? stop : undefined,
    reasoning: decodeReasoning(member(config, "thinkingConfig")),
    verbosity: undefined,
    user: undefined,
    metadata: undefined,
    cache: undefined,
    stream: address.stream,
    include_usage: address.stream ? true : undefined,
    extra: Object.keys(top).length > 0 ? { [KEY]: top } : undefined,
  });
}
