/**
 * The neutral prompt as a body of POST /v1/responses, without memory on the vendor's side: store is false and encrypted
 * reasoning is asked for (types of the `openai` SDK 7.55, resources/responses; read November 2026).
 */
import type {
  Block,
  ChatPrompt,
  Message,
  OutputFormat,
  ReasoningBlock,
  Source,
  Tool,
  ToolChoice,
  ToolResultBlock,
  Warn,
  WireObject,
} from "../../chat-events";
import { serverToolFor } from "../shared/web-search";
import { FREE_FORM } from "../shared/free-form";
import { compact, isObject, ownExtra } from "../shared/json";
import { audioFormat, base64Of, dataUrlOf } from "../shared/media";
import { effortFor, openaiFacts, userFor, withCommon } from "../shared/openai-models";
import { takenOf } from "../shared/refused-members";
import { strictFor } from "../shared/strict-schema";
import { warnUnsupported } from "../shared/unsupported";
import { encodeAnnotation, KEY } from "./items";
import { requestSupport } from "./support";

/** Uploads are one account's, whichever of OpenAI's dialects names them. */
const isOwnUpload = (source: Source): boolean =>
  source.kind === "id" && (source.from === KEY || source.from === "openai-chat");

/** The least limit that OpenAI takes. */
const LEAST_OUTPUT = 16;

function cacheMember(block: Block, warn: Warn): WireObject | undefined {
  const own = block.cache?.extra?.[KEY];
  if (block.cache && !own) warn("dropped_field", `${block.type}.cache`);
  return own;
}

function imagePart(source: Source, detail: string | undefined): WireObject | undefined {
  const shown = { type: "input_image", detail: detail ?? "auto" };
  if (source.kind === "url") return { ...shown, image_url: source.url };
  if (source.kind === "data") return { ...shown, image_url: dataUrlOf(source.media_type, source.data) };
  return source.kind === "id" && isOwnUpload(source) ? { ...shown, file_id: source.id } : undefined;
}

function filePart(source: Source, name: string | undefined): WireObject | undefined {
  switch (source.kind) {
    case "url":
      return compact({ type: "input_file", file_url: source.url, filename: name });
    case "data":
      return { type: "input_file", filename: name ?? "file", file_data: dataUrlOf(source.media_type, source.data) };
    case "text":
      return {
        type: "input_file",
        filename: name ?? "file.txt",
        file_data: dataUrlOf(source.media_type ?? "text/plain", base64Of(source.text)),
      };
    case "id":
      return isOwnUpload(source) ? { type: "input_file", file_id: source.id } : undefined;
  }
}

function partOf(block: Block): WireObject | undefined {
  switch (block.type) {
    case "text":
      return { type: "input_text", text: block.text };
    case "image":
      return imagePart(block.source, block.detail);
    case "file":
      return filePart(block.source, block.name);
    case "audio": {
      const { source } = block;
      if (source.kind !== "data") return undefined;
      return { type: "input_audio", input_audio: { data: source.data, format: audioFormat(source.media_type) } };
    }
    case "opaque":
      return block.from === KEY ? block.value : undefined;
    default:
      return undefined;
  }
}

function partsOf(blocks: readonly Block[], warn: Warn): WireObject[] {
  return blocks.flatMap((block) => {
    const part = partOf(block);
    if (block.type === "text" && block.citations) warn("dropped_field", "text.citations");
    if (!part) warn("dropped_block", block.type === "opaque" ? String(block.value.type ?? block.from) : block.type);
    return part ? [{ ...part, ...ownExtra(KEY, block.extra, block.type, warn), ...cacheMember(block, warn) }] : [];
  });
}

/** One plain text as a string. */
function plain(parts: readonly WireObject[]): unknown {
  const [only, second] = parts;
  return only && !second && only.type === "input_text" && Object.keys(only).length === 2 ? only.text : parts;
}

function resultItem(block: ToolResultBlock, custom: ReadonlySet<string>, warn: Warn): WireObject {
  const parts = partsOf(block.content, warn);
  const free = block.custom === true || custom.has(block.call_id);
  return {
    type: free ? "custom_tool_call_output" : "function_call_output",
    call_id: block.call_id,
    output: parts.length === 0 ? "" : plain(parts),
    ...ownExtra(KEY, block.extra, "tool_result", warn),
  };
}

function thoughtsItem({ text, reasoningSignature }: ReasoningBlock, warn: Warn): WireObject | undefined {
  if (reasoningSignature?.from !== KEY) {
    warn("dropped_reasoning", reasoningSignature?.from ?? "unsigned");
    return undefined;
  }
  const summary = text === "" ? [] : [{ type: "summary_text", text }];
  return compact({ type: "reasoning", id: reasoningSignature.id, summary, encrypted_content: reasoningSignature.data });
}

function assistantItems(message: Message, warn: Warn): WireObject[] {
  const items: WireObject[] = [];
  let said: WireObject[] = [];
  let phase: unknown;
  const flush = (): void => {
    if (said.length > 0) items.push(compact({ type: "message", role: "assistant", phase, content: said }));
    said = [];
  };
  for (const block of message.content) {
    if (block.type === "text" || block.type === "refusal") {
      const own = ownExtra(KEY, block.extra, block.type, warn);
      const { phase: now, ...rest } = own ?? {};
      if (now !== phase) flush();
      phase = now;
      if (block.type === "refusal") said.push({ type: "refusal", refusal: block.text, ...rest });
      else
        said.push({
          type: "output_text",
          text: block.text,
          annotations: (block.citations ?? []).flatMap((citation) => encodeAnnotation(citation, warn) ?? []),
          ...rest,
        });
      // What an assistant said takes no marks.
      if (block.type === "text" && block.cache) warn("dropped_field", "text.cache");
      continue;
    }
    flush();
    if (block.type === "reasoning") {
      const item = thoughtsItem(block, warn);
      if (item) items.push(item);
    } else if (block.type === "tool_call") {
      const { id, name, input } = block;
      const extra = ownExtra(KEY, block.extra, "tool_call", warn);
      if (block.custom) items.push({ type: "custom_tool_call", call_id: id, name, input, ...extra });
      else items.push({ type: "function_call", call_id: id, name, arguments: input === "" ? "{}" : input, ...extra });
    } else if (block.type === "opaque" && block.from === KEY) {
      items.push(block.value);
    } else {
      warn("dropped_block", block.type === "opaque" ? String(block.value.type ?? block.from) : block.type);
    }
  }
  flush();
  ownExtra(KEY, message.extra, "messages", warn);
  return items;
}

function userItems(message: Message, custom: ReadonlySet<string>, warn: Warn): WireObject[] {
  const results: WireObject[] = [];
  const rest: Block[] = [];
  for (const block of message.content) {
    if (block.type === "tool_result") {
      if (rest.length > 0) warn("changed_order", "tool_result");
      results.push(resultItem(block, custom, warn));
    } else rest.push(block);
  }
  if (rest.length === 0 && results.length > 0) return results;
  const extra = ownExtra(KEY, message.extra, "messages", warn);
  return [...results, { type: "message", role: message.role, content: plain(partsOf(rest, warn)), ...extra }];
}

/** The first message of the system as instructions, when it is text alone. */
function instructionsOf(message: Message | undefined): string | undefined {
  if (message?.role !== "system" || message.extra) return undefined;
  const texts = message.content.map((block) =>
    block.type === "text" && !block.extra && !block.cache ? block.text : undefined,
  );
  return texts.includes(undefined) || texts.length === 0 ? undefined : texts.join("");
}

function toolOf(tool: Tool, warn: Warn): WireObject | undefined {
  switch (tool.type) {
    case "server":
      return tool.from === KEY ? tool.value : serverToolFor(KEY, tool, warn);
    case "free_form": {
      const { name, description, format } = tool;
      const extra = ownExtra(KEY, tool.extra, "tools", warn);
      return { ...compact({ type: FREE_FORM, name, description, format }), ...extra };
    }
    case "function": {
      const { name, description, parameters, strict } = tool;
      const declared = compact({
        type: "function",
        name,
        description,
        parameters: parameters ?? { type: "object", properties: {} },
        strict: strict === "if_possible" ? undefined : (strictFor(tool, warn) ?? false),
      });
      return { ...declared, ...ownExtra(KEY, tool.extra, "tools", warn) };
    }
  }
}

function toolChoiceOf(choice: ToolChoice, tools: readonly Tool[]): unknown {
  const named = (name: string): WireObject => {
    const free = tools.some((tool) => tool.type === "free_form" && tool.name === name);
    return { type: free ? FREE_FORM : "function", name };
  };
  if (choice.mode === "named") return named(choice.name ?? "");
  if (!choice.allowed || choice.mode === "none") return choice.mode;
  return { type: "allowed_tools", mode: choice.mode, tools: choice.allowed.map(named) };
}

function formatOf(format: OutputFormat): WireObject {
  if (format.type === "text") return { type: "text" };
  if (format.type === "json") return { type: "json_object" };
  const { name = "response", description, schema, strict } = format;
  return compact({ type: "json_schema", name, description, schema, strict: strict ?? false });
}

function reasoningOf(prompt: ChatPrompt, warn: Warn): WireObject | undefined {
  const { reasoning } = prompt;
  if (!reasoning) return undefined;
  const own = ownExtra(KEY, reasoning.extra, "reasoning", warn)?.reasoning;
  if (isObject(own)) return own;
  const effort = effortFor(prompt, warn);
  if (openaiFacts(prompt.model).thinks === false) return undefined;
  return compact({ effort, summary: reasoning.show === false || effort === "none" ? undefined : "auto" });
}

export function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  const { tools = [], temperature, top_p } = prompt;
  const [first, ...others] = prompt.messages;
  const instructions = instructionsOf(first);
  const messages = instructions === undefined ? prompt.messages : others;
  const custom = new Set(
    prompt.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_call" && block.custom ? [block.id] : [])),
    ),
  );
  warnUnsupported(prompt, requestSupport, warn);
  if (prompt.max_output !== undefined && prompt.max_output < LEAST_OUTPUT) warn("changed_value", "max_output");
  const declared = tools.flatMap((tool) => toolOf(tool, warn) ?? []);
  const reasoning = reasoningOf(prompt, warn);
  const words = compact({ format: prompt.format && formatOf(prompt.format), verbosity: prompt.verbosity });
  return compact({
    model: prompt.model,
    instructions,
    input: messages.flatMap((message) =>
      message.role === "assistant" ? assistantItems(message, warn) : userItems(message, custom, warn),
    ),
    tools: declared.length > 0 ? declared : undefined,
    tool_choice: prompt.tool_choice && declared.length > 0 ? toolChoiceOf(prompt.tool_choice, tools) : undefined,
    parallel_tool_calls: declared.length > 0 ? prompt.parallel_tools : undefined,
    text: Object.keys(words).length > 0 ? words : undefined,
    reasoning,
    ...takenOf(["openai", "xai"], prompt.model, { temperature, top_p }, reasoning?.effort !== "none", warn),
    max_output_tokens: prompt.max_output === undefined ? undefined : Math.max(LEAST_OUTPUT, prompt.max_output),
    user: userFor(prompt.user, warn),
    metadata: prompt.metadata,
    stream: prompt.stream,
    store: false,
    include: openaiFacts(prompt.model).thinks === false ? undefined : ["reasoning.encrypted_content"],
    ...ownExtra(KEY, withCommon(prompt, KEY).extra, "", warn),
  });
}
