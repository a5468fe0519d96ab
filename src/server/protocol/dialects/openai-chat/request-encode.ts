/**
 * The neutral prompt as a body of POST /v1/chat/completions.
 * Source: types of the `openai` SDK 7.55 (resources/chat/completions), read November 2026. Compatible vendors know
 * less: what OpenAI's own models refuse (max_tokens on reasoning models, top_k) depends on the model's name.
 */
import type {
  AudioBlock,
  Block,
  CacheMark,
  ChatPrompt,
  FileBlock,
  ImageBlock,
  Message,
  OutputFormat,
  ReasoningBlock,
  Tool,
  ToolChoice,
  ToolResultBlock,
  Warn,
  WireObject,
} from "../../chat-events";
import { compact, ownExtra } from "../shared/json";
import { audioFormat, base64Of, dataUrlOf } from "../shared/media";
import { effortFor, isOpenai, openaiFacts, userFor, withCommon } from "../shared/openai-models";
import { takenOf } from "../shared/refused-members";
import { strictFor } from "../shared/strict-schema";
import { SEARCH_OPTIONS } from "../shared/web-search";
import { encodeCitation } from "./citations";
import { warnUnsupported } from "../shared/unsupported";
import { requestSupport } from "./support";
import { callExtra, encodeReturnedThoughts } from "./thoughts";

const KEY = "openai-chat";

const baseName = (model: string): string => model.slice(model.lastIndexOf("/") + 1);
/** Reasoning models of OpenAI take max_completion_tokens only. */
export const newLimit = (model: string): boolean => /^(o\d|gpt-([5-9]|\d\d))/.test(baseName(model));
/** Most stop sequences that OpenAI takes. */
const MOST_STOPS = 4;

function cacheMember(cache: CacheMark | undefined, where: string, warn: Warn): WireObject | undefined {
  const own = cache?.extra?.[KEY];
  // OpenAI caches by itself; its own marks are for some models only.
  if (cache && !own) warn("dropped_field", `${where}.cache`);
  return own;
}

function imagePart({ source, detail }: ImageBlock, warn: Warn): WireObject | undefined {
  if (source.kind === "url" || source.kind === "data") {
    const url = source.kind === "url" ? source.url : dataUrlOf(source.media_type, source.data);
    return { type: "image_url", image_url: compact({ url, detail }) };
  }
  warn("dropped_block", `image by ${source.kind}`);
  return undefined;
}

function audioPart({ source }: AudioBlock, warn: Warn): WireObject | undefined {
  if (source.kind === "data") {
    return { type: "input_audio", input_audio: { data: source.data, format: audioFormat(source.media_type) } };
  }
  warn("dropped_block", `audio by ${source.kind}`);
  return undefined;
}

function filePart({ source, name }: FileBlock, warn: Warn): WireObject | undefined {
  if (source.kind === "id" && source.from === KEY) {
    return { type: "file", file: compact({ file_id: source.id, filename: name }) };
  }
  if (source.kind === "data" || source.kind === "text") {
    const { media_type = "text/plain" } = source;
    const data = source.kind === "data" ? source.data : base64Of(source.text);
    return { type: "file", file: { filename: name ?? "file", file_data: dataUrlOf(media_type, data) } };
  }
  warn("dropped_block", `file by ${source.kind}`);
  return undefined;
}

function bodyOf(block: Block, annotated: boolean, warn: Warn): WireObject | undefined {
  switch (block.type) {
    case "text":
      // Only what an assistant says is annotated.
      if (block.citations && !annotated) warn("dropped_field", "text.citations");
      return { type: "text", text: block.text };
    case "refusal":
      return { type: "refusal", refusal: block.text };
    case "image":
      return imagePart(block, warn);
    case "audio":
      return audioPart(block, warn);
    case "file":
      return filePart(block, warn);
    case "opaque":
      if (block.from === KEY) return block.value;
      warn("dropped_block", String(block.value.type ?? block.from));
      return undefined;
    default:
      // Thoughts, calls and results have places of their own.
      warn("dropped_block", block.type);
      return undefined;
  }
}

function partsOf(blocks: readonly Block[], where: string, warn: Warn, annotated = false): WireObject[] {
  const parts: WireObject[] = [];
  for (const block of blocks) {
    const part = bodyOf(block, annotated, warn);
    if (!part) continue;
    parts.push({ ...part, ...ownExtra(KEY, block.extra, where, warn), ...cacheMember(block.cache, where, warn) });
  }
  return parts;
}

const isPlainText = (part: WireObject): boolean => part.type === "text" && Object.keys(part).length === 2;

/** Text alone as a string, which every compatible vendor understands. */
function contentOf(parts: readonly WireObject[], join: boolean): string | readonly WireObject[] {
  if (parts.length === 0) return "";
  if (parts.length === 1 || join) {
    if (parts.every(isPlainText)) return parts.map((part) => String(part.text)).join("");
  }
  return parts;
}

/** A tool message holds text only: other things follow in a message of the user. */
function toolMessage(result: ToolResultBlock, later: WireObject[], warn: Warn): WireObject {
  const texts = result.content.filter((block) => block.type === "text");
  const others = result.content.filter((block) => block.type !== "text");
  if (others.length > 0) {
    warn("changed_order", "tool_result");
    const parts = partsOf(others, "tool_result", warn);
    if (parts.length > 0) later.push({ type: "text", text: `Result of tool call ${result.call_id}:` }, ...parts);
  }
  return {
    role: "tool",
    tool_call_id: result.call_id,
    content: contentOf(partsOf(texts, "tool_result", warn), false),
    ...ownExtra(KEY, result.extra, "tool_result", warn),
  };
}

function userMessages(message: Message, warn: Warn): WireObject[] {
  const results: WireObject[] = [];
  const later: WireObject[] = [];
  const rest: Block[] = [];
  for (const block of message.content) {
    if (block.type === "tool_result") {
      if (rest.length > 0) warn("changed_order", "tool_result");
      results.push(toolMessage(block, later, warn));
    } else {
      rest.push(block);
    }
  }
  const parts = [...later, ...partsOf(rest, "messages.content", warn)];
  if (parts.length === 0 && results.length > 0) return results;
  const extra = ownExtra(KEY, message.extra, "messages", warn);
  return [...results, { role: "user", content: contentOf(parts, false), ...extra }];
}

function assistantMessage(message: Message, warn: Warn): WireObject {
  const thoughts: ReasoningBlock[] = [];
  /** Thoughts since the last call: they may be the signature of the next. */
  let before: ReasoningBlock[] = [];
  const said: Block[] = [];
  const calls: WireObject[] = [];
  for (const block of message.content) {
    if (block.type === "reasoning") {
      thoughts.push(block);
      before.push(block);
    } else if (block.type === "tool_call") {
      const { id, name, input } = block;
      const own = block.custom
        ? { type: "custom", custom: { name, input } }
        : { type: "function", function: { name, arguments: input === "" ? "{}" : input } };
      calls.push({ id, ...own, ...ownExtra(KEY, block.extra, "tool_call", warn), ...callExtra(before) });
      before = [];
    } else {
      if (calls.length > 0) warn("changed_order", "tool_call");
      said.push(block);
    }
  }
  const annotations = said.flatMap((block) =>
    block.type === "text" ? (block.citations ?? []).flatMap((citation) => encodeCitation(citation, warn) ?? []) : [],
  );
  const parts = partsOf(said, "messages.content", warn, true);
  const content = contentOf(parts, true);
  return {
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    ...encodeReturnedThoughts(thoughts, calls.length > 0, warn),
    ...(annotations.length > 0 && { annotations }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...ownExtra(KEY, message.extra, "messages", warn),
  };
}

function messagesOf(message: Message, warn: Warn): WireObject[] {
  if (message.role === "user") return userMessages(message, warn);
  if (message.role === "assistant") return [assistantMessage(message, warn)];
  const content = contentOf(partsOf(message.content, "system", warn), false);
  return [{ role: message.role, content, ...ownExtra(KEY, message.extra, "messages", warn) }];
}

function toolOf(tool: Tool, warn: Warn): WireObject | undefined {
  if (tool.type === "server") {
    if (tool.from === KEY) return tool.value.type === SEARCH_OPTIONS ? undefined : tool.value;
    warn("dropped_tool", String(tool.value.type ?? tool.value.name ?? tool.from));
    return undefined;
  }
  if (tool.type === "free_form") {
    const { name, description, format } = tool;
    const extra = ownExtra(KEY, tool.extra, "tools", warn);
    return { type: "custom", custom: { ...compact({ name, description, format }), ...extra } };
  }
  const { name, description, parameters } = tool;
  const strict = strictFor(tool, warn);
  const extra = ownExtra(KEY, tool.extra, "tools", warn);
  const declared = { ...compact({ name, description, parameters, strict }), ...extra };
  return { type: "function", function: declared, ...cacheMember(tool.cache, "tools", warn) };
}

function toolChoiceOf(choice: ToolChoice, tools: readonly Tool[]): unknown {
  const named = (name: string): WireObject => {
    const custom = tools.some((tool) => tool.type === "free_form" && tool.name === name);
    return custom ? { type: "custom", custom: { name } } : { type: "function", function: { name } };
  };
  if (choice.mode === "named") return named(choice.name ?? "");
  if (!choice.allowed || choice.mode === "none") return choice.mode;
  return { type: "allowed_tools", allowed_tools: { mode: choice.mode, tools: choice.allowed.map(named) } };
}

function formatOf(format: OutputFormat): WireObject {
  if (format.type === "text") return { type: "text" };
  if (format.type === "json") return { type: "json_object" };
  const { name = "response", description, schema, strict } = format;
  return { type: "json_schema", json_schema: compact({ name, description, schema, strict }) };
}

function reasoningMembers(prompt: ChatPrompt, functions: boolean, warn: Warn): WireObject {
  const { reasoning, model } = prompt;
  const own = ownExtra(KEY, reasoning?.extra, "reasoning", warn);
  if (own) return own;
  // OpenAI's own models show no thoughts here.
  if (reasoning?.show === false && !isOpenai(model)) warn("dropped_field", "reasoning.show");
  const effort = effortFor(prompt, warn);
  if (functions && openaiFacts(model).eitherFunctionsOrThoughts) {
    if (effort !== undefined && effort !== "none") warn("dropped_field", "reasoning beside functions");
    return { reasoning_effort: "none" };
  }
  return effort === undefined ? {} : { reasoning_effort: effort };
}

/** Members for thoughts, as far as the model takes them. */
function thoughtsOf(prompt: ChatPrompt, functions: boolean, warn: Warn): WireObject {
  const { reasoning_effort, ...rest } = reasoningMembers(prompt, functions, warn);
  return { ...rest, ...takenOf(["xai"], prompt.model, { reasoning_effort }, true, warn) };
}

/** Sampling, penalties and stop sequences, as far as the model takes them with that effort. */
function samplingOf(prompt: ChatPrompt, effort: unknown, warn: Warn): WireObject {
  const { model, temperature, top_p, frequency_penalty, presence_penalty, stop } = prompt;
  const call = { temperature, top_p, frequency_penalty, presence_penalty, stop };
  const taken = takenOf(["openai", "xai", "deepseek"], model, call, effort !== "none", warn);
  if (!isOpenai(model) || taken.stop === undefined || taken.stop.length <= MOST_STOPS) return taken;
  warn("changed_value", "stop");
  return { ...taken, stop: taken.stop.slice(0, MOST_STOPS) };
}

/** What the caller's own call says of a search stands beside its tools. */
function searchOptions(tools: readonly Tool[]): WireObject | undefined {
  const found = tools.find((tool) => tool.type === "server" && tool.from === KEY && tool.value.type === SEARCH_OPTIONS);
  if (found?.type !== "server") return undefined;
  const { type: _, ...options } = found.value;
  return options;
}

export function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  const { model, tools = [], max_output, top_k } = prompt;
  warnUnsupported(prompt, requestSupport, warn);
  const dropTopK = top_k !== undefined && isOpenai(model);
  if (dropTopK) warn("dropped_field", "top_k");
  const declared = tools.flatMap((tool) => toolOf(tool, warn) ?? []);
  const thoughts = thoughtsOf(prompt, declared.length > 0, warn);
  return compact({
    model,
    messages: prompt.messages.flatMap((message) => messagesOf(message, warn)),
    tools: declared.length > 0 ? declared : undefined,
    tool_choice: prompt.tool_choice && declared.length > 0 ? toolChoiceOf(prompt.tool_choice, tools) : undefined,
    web_search_options: searchOptions(tools),
    parallel_tool_calls: declared.length > 0 ? prompt.parallel_tools : undefined,
    response_format: prompt.format && formatOf(prompt.format),
    ...samplingOf(prompt, thoughts.reasoning_effort, warn),
    top_k: dropTopK ? undefined : top_k,
    seed: prompt.seed,
    n: prompt.choices,
    ...(newLimit(model) ? { max_completion_tokens: max_output } : { max_tokens: max_output }),
    ...thoughts,
    verbosity: prompt.verbosity,
    user: userFor(prompt.user, warn),
    metadata: prompt.metadata,
    stream: prompt.stream,
    stream_options: prompt.stream && prompt.include_usage ? { include_usage: true } : undefined,
    ...ownExtra(KEY, withCommon(prompt, KEY).extra, "", warn),
  });
}
