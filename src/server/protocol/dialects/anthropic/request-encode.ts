/**
 * The neutral prompt as a body of POST /v1/messages (types of @anthropic-ai/sdk 1.11, MessageCreateParamsBase;
 * platform.claude.com/docs: thinking, effort, structured outputs, tool use; read November 2026).
 */
import type { Block, ChatPrompt, Message, Tool, Warn, WireObject } from "../../chat-events";
import { budgetOf, wantedEffort } from "../shared/effort";
import { compact, isObject, ownExtra } from "../shared/json";
import { describeFreeForm } from "../shared/functions";
import { annotatedSchema, jsonInWords } from "../shared/output-format";
import { takenOf } from "../shared/refused-members";
import { warnUnsupported } from "../shared/unsupported";
import { serverToolFor } from "../shared/web-search";
import { cacheMember, encodeBlocks } from "./content-encode";
import { modelFacts, type ModelFacts } from "./models";
import { closedSchema } from "./schema";
import { requestSupport } from "./support";

const KEY = "anthropic";
/** Anthropic's least budget of thought. */
export const LEAST_BUDGET = 1024;

const isSystem = (message: Message): boolean => message.role === "system" || message.role === "developer";

interface Turn {
  role: string;
  content: WireObject[];
  extra: WireObject;
}

/** Results of tools must come first in the turn that follows the calls. */
function resultsFirst(blocks: readonly Block[], warn: Warn): Block[] {
  const results = blocks.filter((block) => block.type === "tool_result");
  const rest = blocks.filter((block) => block.type !== "tool_result");
  if (results.length > 0 && blocks[results.length - 1]?.type !== "tool_result") warn("changed_order", "tool_result");
  return [...results, ...rest];
}

/** System messages at the front, and turns in which the roles alternate. */
function conversation(
  prompt: ChatPrompt,
  facts: ModelFacts,
  warn: Warn,
): { system: WireObject[]; messages: WireObject[] } {
  const { messages } = prompt;
  const found = messages.findIndex((message) => !isSystem(message));
  const start = found < 0 ? messages.length : found;
  const system = messages.slice(0, start).flatMap((message) => {
    ownExtra(KEY, message.extra, "messages", warn);
    return encodeBlocks(message.content, true, warn);
  });
  const turns: Turn[] = [];
  for (const message of messages.slice(start)) {
    const late = isSystem(message);
    const role = late ? (facts.midSystem ? "system" : "user") : message.role;
    if (late && role === "user") warn("changed_value", "system message in the middle");
    const blocks = role === "user" ? resultsFirst(message.content, warn) : message.content;
    const content = encodeBlocks(blocks, true, warn);
    const extra = ownExtra(KEY, message.extra, "messages", warn) ?? {};
    const last = turns.at(-1);
    // An empty turn is an error; turns of one role are one turn to Anthropic.
    if (content.length === 0) continue;
    if (last?.role === role && role !== "system") {
      last.content.push(...content);
      Object.assign(last.extra, extra);
    } else turns.push({ role, content, extra: { ...extra } });
  }
  return { system, messages: turns.map(({ role, content, extra }) => ({ role, content: plain(content), ...extra })) };
}

/** One plain text as a string. */
function plain(content: WireObject[]): unknown {
  const [only, second] = content;
  return only && !second && only.type === "text" && Object.keys(only).length === 2 ? only.text : content;
}

/** Most tools of one call whose input Anthropic enforces (structured outputs, complexity limits). */
const MOST_STRICT = 20;

function toolOf(tool: Tool, strictly: boolean, warn: Warn): WireObject | undefined {
  if (tool.type === "server") {
    return tool.from === KEY ? tool.value : serverToolFor(KEY, tool, warn);
  }
  if (tool.type === "free_form") {
    warn("changed_value", `custom tool ${tool.name}`);
    const input_schema = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };
    return compact({ name: tool.name, description: describeFreeForm(tool), input_schema });
  }
  const { name, description, parameters, strict } = tool;
  const schema = { type: "object", ...(parameters ?? { properties: {} }) };
  const closed = strict === true && strictly ? closedSchema(schema) : undefined;
  if (strict === true && !closed) warn("dropped_field", "tools.strict");
  if (closed?.changed) warn("changed_value", "tools.parameters");
  const own = compact({ name, description, input_schema: closed?.schema ?? schema, strict: closed && true });
  return { ...own, ...ownExtra(KEY, tool.extra, "tools", warn), ...cacheMember(tool.cache, warn) };
}

function toolChoice(
  { tool_choice, parallel_tools }: ChatPrompt,
  facts: ModelFacts,
  warn: Warn,
): WireObject | undefined {
  const single = parallel_tools === false ? { disable_parallel_tool_use: true } : {};
  if (!tool_choice) return parallel_tools === false ? { type: "auto", ...single } : undefined;
  const forces = tool_choice.mode === "required" || tool_choice.mode === "named";
  if (forces && !facts.forcedTools) {
    warn("changed_value", "tool_choice");
    return { type: "auto", ...single };
  }
  switch (tool_choice.mode) {
    case "none":
      return { type: "none" };
    case "auto":
      return { type: "auto", ...single };
    case "required":
      return { type: "any", ...single };
    case "named":
      return { type: "tool", name: tool_choice.name ?? "", ...single };
  }
}

/** The turn goes on after tool calls whose thoughts are lost: manual thinking would be an error. */
function thoughtsLost(messages: readonly WireObject[]): boolean {
  const last = messages.findLast((message) => message.role === "assistant");
  if (!last || !Array.isArray(last.content)) return false;
  const types = last.content.map((block: WireObject) => block.type);
  return types.includes("tool_use") && types[0] !== "thinking" && types[0] !== "redacted_thinking";
}

interface Thought {
  thinking?: WireObject;
  effort?: unknown;
  max_tokens: number;
}

function thoughtOf(
  prompt: ChatPrompt,
  facts: ModelFacts,
  messages: readonly WireObject[],
  forced: boolean,
  warn: Warn,
): Thought {
  const { reasoning } = prompt;
  const max_tokens = prompt.max_output ?? facts.maxTokens;
  if (!reasoning) return { max_tokens };
  const own = ownExtra(KEY, reasoning.extra, "reasoning", warn);
  if (own) {
    const { thinking, effort } = own;
    const manual = isObject(thinking) && thinking.type === "enabled";
    if (!manual || !thoughtsLost(messages)) return { ...own, max_tokens };
    warn("dropped_field", "reasoning after lost thoughts");
    return { effort, max_tokens };
  }
  const effort = wantedEffort(reasoning);
  const display =
    reasoning.show === false ? { display: "omitted" } : facts.thinking === "adaptive" ? { display: "summarized" } : {};
  if (effort === "none") {
    if (facts.off) return { thinking: { type: facts.off }, max_tokens };
    warn("changed_value", "reasoning none");
    return { effort: "low", max_tokens };
  }
  if (forced) {
    warn("dropped_field", "reasoning with a forced tool");
    return { max_tokens };
  }
  if (facts.thinking === "adaptive") {
    if (reasoning.effort === undefined && reasoning.budget !== undefined && reasoning.budget > 0)
      warn("changed_value", "reasoning.budget");
    const known = effort === "minimal" ? "low" : effort === "xhigh" && !facts.xhigh ? "high" : effort;
    if (known !== effort) warn("changed_value", `reasoning ${effort}`);
    return { thinking: { type: "adaptive", ...display }, effort: known, max_tokens };
  }
  if (thoughtsLost(messages)) {
    warn("dropped_field", "reasoning after lost thoughts");
    return { max_tokens };
  }
  const asked =
    reasoning.budget !== undefined && reasoning.budget > 0 ? reasoning.budget : budgetOf(effort ?? "medium");
  const budget_tokens = Math.max(LEAST_BUDGET, asked);
  if (budget_tokens !== reasoning.budget) warn("changed_value", "reasoning.effort");
  // The budget is part of the limit here, so the answer keeps what the caller gave it.
  const room = max_tokens > budget_tokens ? max_tokens : max_tokens + budget_tokens;
  if (room !== max_tokens) warn("changed_value", "max_tokens");
  return { thinking: { type: "enabled", budget_tokens, ...display }, max_tokens: room };
}

const thinks = ({ thinking }: Thought): boolean => thinking?.type === "enabled" || thinking?.type === "adaptive";

function sampling(prompt: ChatPrompt, thought: Thought, warn: Warn): WireObject {
  const call = { temperature: prompt.temperature, top_p: prompt.top_p, top_k: prompt.top_k };
  const { temperature, top_p, top_k } = takenOf(["anthropic"], prompt.model, call, thinks(thought), warn);
  if (temperature === undefined) return compact({ top_p, top_k });
  if (temperature > 1) warn("changed_value", "temperature");
  // Newer models take one of the two.
  if (top_p !== undefined) warn("dropped_field", "top_p");
  return compact({ temperature: Math.min(1, temperature), top_k });
}

/** JSON output: by schema where the model knows it and the schema fits, else in words. */
function formatOf(prompt: ChatPrompt, facts: ModelFacts, system: WireObject[], warn: Warn): WireObject | undefined {
  const { format } = prompt;
  if (!format || format.type === "text") return undefined;
  const closed =
    format.type === "json_schema" && facts.structured ? closedSchema(annotatedSchema(format, warn)) : undefined;
  if (!closed || closed.changed) warn("changed_value", "response_format");
  if (closed) return { type: "json_schema", schema: closed.schema };
  system.push({ type: "text", text: jsonInWords(format, warn) });
  return undefined;
}

export function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  warnUnsupported(prompt, requestSupport, warn);
  const facts = modelFacts(prompt.model);
  const { system, messages } = conversation(prompt, facts, warn);
  const allowed = prompt.tool_choice?.allowed;
  if (allowed) warn("changed_value", "tool_choice.allowed");
  const wanted = (prompt.tools ?? []).filter(
    (tool) => !allowed || tool.type === "server" || allowed.includes(tool.name),
  );
  const strictly =
    facts.structured && wanted.filter((tool) => tool.type === "function" && tool.strict === true).length <= MOST_STRICT;
  const tools = wanted.flatMap((tool) => toolOf(tool, strictly, warn) ?? []);
  const choice = tools.length > 0 ? toolChoice(prompt, facts, warn) : undefined;
  const thought = thoughtOf(prompt, facts, messages, choice?.type === "any" || choice?.type === "tool", warn);
  const format = formatOf(prompt, facts, system, warn);
  const stop = prompt.stop?.filter((sequence) => sequence.trim() !== "");
  // A sequence of blanks is refused.
  if (stop && stop.length < (prompt.stop?.length ?? 0)) warn("changed_value", "stop");
  const { output_config, ...rest } = ownExtra(KEY, prompt.extra, "", warn) ?? {};
  const output = compact({
    effort: thought.effort,
    format,
    ...(typeof output_config === "object" ? output_config : {}),
  });
  return compact({
    model: prompt.model,
    max_tokens: thought.max_tokens,
    system: system.length > 0 ? plain(system) : undefined,
    messages,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: choice,
    thinking: thought.thinking,
    output_config: Object.keys(output).length > 0 ? output : undefined,
    ...sampling(prompt, thought, warn),
    stop_sequences: stop && stop.length > 0 ? stop : undefined,
    metadata: prompt.user === undefined ? undefined : { user_id: prompt.user },
    ...cacheMember(prompt.cache, warn),
    stream: prompt.stream,
    ...rest,
  });
}

const counted = ["model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "cache_control"];

/** The body of POST /v1/messages/count_tokens: the parts of a call that are counted. */
export function encodeCountTokens(prompt: ChatPrompt, warn: Warn): WireObject {
  const body = encodeRequest(prompt, warn);
  return Object.fromEntries(counted.flatMap((key) => (body[key] === undefined ? [] : [[key, body[key]]])));
}
