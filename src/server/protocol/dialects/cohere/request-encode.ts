/**
 * The neutral prompt as a body of POST /v2/chat (docs.cohere.com/reference/chat; docs: reasoning,
 * tool-use-usage-patterns; types of the vendor's Python SDK 5.x, client_v2; read November 2026).
 */
import type {
  Block,
  ChatPrompt,
  ImageBlock,
  Message,
  OutputFormat,
  Tool,
  ToolChoice,
  ToolResultBlock,
  Warn,
  WireObject,
} from "../../chat-events";
import { budgetOf } from "../shared/effort";
import { describeFreeForm, plainTextSchema } from "../shared/functions";
import { compact, parseObject } from "../shared/json";
import { dataUrlOf } from "../shared/media";
import { takeExtra, textOfBlocks, warnUnsupported } from "../shared/unsupported";
import { requestSupport } from "./support";

/** The vendor's own members that a caller may put into the body. */
const ownWords = new Set(["documents", "citation_options", "safety_mode", "thinking", "strict_tools", "priority"]);

/** Most stop sequences. */
const MAX_STOPS = 5;

function imagePart({ source, detail }: ImageBlock, warn: Warn): WireObject | undefined {
  if (source.kind !== "url" && source.kind !== "data") {
    warn("dropped_block", `image by ${source.kind}`);
    return undefined;
  }
  const url = source.kind === "url" ? source.url : dataUrlOf(source.media_type, source.data);
  return { type: "image_url", image_url: compact({ url, detail }) };
}

/** Text alone as a string, with pictures as parts. */
function userContent(blocks: readonly Block[], warn: Warn): string | WireObject[] {
  if (!blocks.some(({ type }) => type === "image")) return textOfBlocks(blocks, warn);
  return blocks.flatMap((block): WireObject[] => {
    if (block.type === "image") return [imagePart(block, warn) ?? []].flat();
    const text = textOfBlocks([block], warn);
    return text === "" ? [] : [{ type: "text", text }];
  });
}

/** A result is a document of its own, so that the answer can cite it; an object stays one. */
function toolMessage(result: ToolResultBlock, warn: Warn): WireObject {
  return { role: "tool", tool_call_id: result.call_id, content: textOfBlocks(result.content, warn) };
}

function userMessages(message: Message, warn: Warn): WireObject[] {
  const results = message.content.filter((block) => block.type === "tool_result");
  const rest = message.content.filter((block) => block.type !== "tool_result");
  const messages = results.map((result) => toolMessage(result, warn));
  if (rest.length > 0 || results.length === 0) messages.push({ role: "user", content: userContent(rest, warn) });
  return messages;
}

/** What is said before calls is their plan; thoughts without a signature may be this vendor's. */
function assistantMessage({ content }: Message, warn: Warn): WireObject {
  const thoughts: string[] = [];
  const said: Block[] = [];
  const calls: WireObject[] = [];
  for (const block of content) {
    if (block.type === "reasoning") {
      // A plain detail carries nothing but the mark that the text came without a signature.
      if (block.text !== "" && (!block.reasoningSignature || block.reasoningSignature.data === ""))
        thoughts.push(block.text);
      else warn("dropped_reasoning", block.reasoningSignature?.from ?? "unsigned");
    } else if (block.type === "tool_call") {
      const { id, name, input } = block;
      if (block.custom) warn("changed_value", `custom tool ${name}`);
      else if (!parseObject(input)) warn("malformed_json", `input of ${name}`);
      const json = block.custom ? JSON.stringify({ input }) : input.trim() || "{}";
      calls.push({ id, type: "function", function: { name, arguments: json } });
    } else said.push(block);
  }
  const words = textOfBlocks(said, warn);
  const thinking = thoughts.map((text) => ({ type: "thinking", thinking: text }));
  if (calls.length > 0) {
    return compact({
      role: "assistant",
      content: thinking.length > 0 ? thinking : undefined,
      tool_plan: words === "" ? undefined : words,
      tool_calls: calls,
    });
  }
  const content_parts = thinking.length > 0 ? [...thinking, { type: "text", text: words }] : words;
  return { role: "assistant", content: content_parts };
}

function messagesOf(message: Message, warn: Warn): WireObject[] {
  if (message.role === "user") return userMessages(message, warn);
  if (message.role === "assistant") return [assistantMessage(message, warn)];
  return [{ role: "system", content: textOfBlocks(message.content, warn) }];
}

/** The tools that a choice leaves over: it takes no name, so the others are not shown to it. */
function allowedTools(tools: readonly Tool[], choice: ToolChoice | undefined): readonly Tool[] {
  const names = choice?.mode === "named" ? [choice.name ?? ""] : choice?.allowed;
  return names ? tools.filter((tool) => tool.type !== "server" && names.includes(tool.name)) : tools;
}

function toolOf(tool: Tool, warn: Warn): WireObject | undefined {
  if (tool.type === "server") return undefined;
  if (tool.type === "free_form") {
    warn("changed_value", `custom tool ${tool.name}`);
    const declared = { name: tool.name, description: describeFreeForm(tool), parameters: plainTextSchema };
    return { type: "function", function: compact(declared) };
  }
  const { name, description, parameters = { type: "object", properties: {} } } = tool;
  return { type: "function", function: compact({ name, description, parameters }) };
}

const toolChoices = { auto: undefined, none: "NONE", required: "REQUIRED", named: "REQUIRED" } as const;

function toolMembers(prompt: ChatPrompt, warn: Warn): WireObject {
  const { tools = [], tool_choice } = prompt;
  const shown = allowedTools(tools, tool_choice);
  const declared = shown.flatMap((tool) => toolOf(tool, warn) ?? []);
  if (declared.length === 0) return {};
  const strict = shown.every((tool) => tool.type === "function" && tool.strict === true);
  if (!strict && shown.some((tool) => tool.type === "function" && tool.strict === true))
    warn("dropped_field", "tools.strict");
  return compact({
    tools: declared,
    tool_choice: tool_choice && toolChoices[tool_choice.mode],
    strict_tools: strict || undefined,
  });
}

function formatOf(format: OutputFormat | undefined): WireObject | undefined {
  if (!format || format.type === "text") return undefined;
  return compact({ type: "json_object", json_schema: format.type === "json_schema" ? format.schema : undefined });
}

/** Reasoning models think unless the call says not to; a budget is a number of tokens above zero. */
function thinkingOf({ reasoning }: ChatPrompt, warn: Warn): WireObject | undefined {
  if (!reasoning) return undefined;
  const budget = reasoning.budget ?? (reasoning.effort && budgetOf(reasoning.effort));
  if (budget === undefined) return undefined;
  if (budget === 0) return { type: "disabled" };
  if (reasoning.budget === undefined) warn("changed_value", "reasoning.effort");
  return compact({ type: "enabled", token_budget: budget > 0 ? budget : undefined });
}

/** A number brought into the vendor's range. */
function within(value: number | undefined, least: number, most: number, name: string, warn: Warn): number | undefined {
  if (value === undefined) return undefined;
  const kept = Math.min(most, Math.max(least, value));
  if (kept !== value) warn("changed_value", name);
  return kept;
}

export function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  warnUnsupported(prompt, requestSupport, warn);
  if (prompt.stop && prompt.stop.length > MAX_STOPS) warn("changed_value", "stop");
  return compact({
    model: prompt.model,
    messages: prompt.messages.flatMap((message) => messagesOf(message, warn)),
    ...toolMembers(prompt, warn),
    response_format: formatOf(prompt.format),
    temperature: prompt.temperature,
    p: within(prompt.top_p, 0.01, 0.99, "top_p", warn),
    k: within(prompt.top_k, 0, 500, "top_k", warn),
    seed: prompt.seed,
    frequency_penalty: within(prompt.frequency_penalty, 0, 1, "frequency_penalty", warn),
    presence_penalty: within(prompt.presence_penalty, 0, 1, "presence_penalty", warn),
    max_tokens: prompt.max_output,
    stop_sequences: prompt.stop?.slice(0, MAX_STOPS),
    thinking: thinkingOf(prompt, warn),
    stream: prompt.stream ? true : undefined,
    ...takeExtra(prompt.extra, ownWords, "", warn),
  });
}
