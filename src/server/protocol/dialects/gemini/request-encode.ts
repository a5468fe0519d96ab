/**
 * The neutral prompt as a body of generateContent (ai.google.dev/api/generate-content; docs: thinking,
 * function-calling, structured-output; types of @google/genai 3.1; read November 2026).
 */
import type { ChatPrompt, Tool, ToolChoice, Warn, WireObject } from "../../chat-events";
import { budgetOf, wantedEffort } from "../shared/effort";
import { compact, isObject, ownExtra } from "../shared/json";
import { annotatedSchema, jsonInWords } from "../shared/output-format";
import { takenOf } from "../shared/refused-members";
import { warnUnsupported } from "../shared/unsupported";
import { describeFreeForm } from "../shared/functions";
import { serverToolFor } from "../shared/web-search";
import { geminiFacts, type GeminiFacts } from "./models";
import { encodeParts } from "./parts-encode";
import { toGeminiSchema } from "./schema";
import { requestSupport } from "./support";

const KEY = "gemini";

function schemaFor(schema: WireObject, where: string, warn: Warn): WireObject {
  const { schema: clean, changed } = toGeminiSchema(schema);
  if (changed) warn("changed_value", where);
  return clean;
}

function conversation(
  prompt: ChatPrompt,
  facts: GeminiFacts,
  warn: Warn,
): { system: WireObject[]; contents: WireObject[] } {
  const names = new Map<string, string>();
  for (const { content } of prompt.messages) {
    for (const block of content) if (block.type === "tool_call") names.set(block.id, block.name);
  }
  const context = { warn, facts, names };
  const system: WireObject[] = [];
  const turns: { role: string; parts: WireObject[] }[] = [];
  for (const { role, content } of prompt.messages) {
    const parts = encodeParts(content, context);
    if (parts.length === 0) continue;
    if (role !== "user" && role !== "assistant" && turns.length === 0) {
      system.push(...parts);
      continue;
    }
    if (role !== "user" && role !== "assistant") warn("changed_value", "system message in the middle");
    const own = role === "assistant" ? "model" : "user";
    const last = turns.at(-1);
    if (last?.role === own) last.parts.push(...parts);
    else turns.push({ role: own, parts });
  }
  return { system, contents: turns };
}

function toolsOf(tools: readonly Tool[], warn: Warn): WireObject[] {
  const functionDeclarations: WireObject[] = [];
  const others: WireObject[] = [];
  for (const tool of tools) {
    if (tool.type === "server") {
      // Beside functions most models refuse a search.
      const alone = tools.every(({ type }) => type === "server");
      const own =
        tool.from === KEY
          ? tool.value
          : alone
            ? serverToolFor(KEY, tool, warn)
            : void warn("dropped_tool", String(tool.value.type ?? tool.from));
      if (own) others.push(own);
    } else if (tool.type === "free_form") {
      warn("changed_value", `custom tool ${tool.name}`);
      const parameters = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };
      functionDeclarations.push(compact({ name: tool.name, description: describeFreeForm(tool), parameters }));
    } else {
      const { name, description, parameters } = tool;
      const schema = parameters && schemaFor(parameters, "tools.parameters", warn);
      // An object without properties is an error.
      const empty = !schema || !isObject(schema.properties) || Object.keys(schema.properties).length === 0;
      functionDeclarations.push({
        ...compact({ name, description, parameters: empty ? undefined : schema }),
        ...ownExtra(KEY, tool.extra, "tools", warn),
      });
    }
  }
  return functionDeclarations.length > 0 ? [{ functionDeclarations }, ...others] : others;
}

function callingConfig(choice: ToolChoice): WireObject {
  const allowedFunctionNames = choice.mode === "named" ? [choice.name ?? ""] : choice.allowed;
  const modes = {
    auto: allowedFunctionNames ? "VALIDATED" : "AUTO",
    none: "NONE",
    required: "ANY",
    named: "ANY",
  } as const;
  return compact({
    mode: modes[choice.mode],
    allowedFunctionNames: choice.mode === "none" ? undefined : allowedFunctionNames,
  });
}

/** JSON output; in words, among the system's, where the model does not take it beside its tools. */
function formatMembers({ format }: ChatPrompt, besideTools: boolean, system: WireObject[], warn: Warn): WireObject {
  if (!format || format.type === "text") return {};
  if (!besideTools) {
    warn("changed_value", "response_format");
    system.push({ text: jsonInWords(format, warn) });
    return {};
  }
  if (format.type === "json") return { responseMimeType: "application/json" };
  return {
    responseMimeType: "application/json",
    responseSchema: schemaFor(annotatedSchema(format, warn), "response_format", warn),
  };
}

function thinkingConfig(prompt: ChatPrompt, facts: GeminiFacts, warn: Warn): WireObject | undefined {
  const { reasoning } = prompt;
  if (!reasoning) return undefined;
  const own = ownExtra(KEY, reasoning.extra, "reasoning", warn)?.thinkingConfig;
  if (isObject(own)) return own;
  const includeThoughts = reasoning.show !== false;
  const effort = wantedEffort(reasoning);
  if (facts.thinking === "none") {
    if (effort !== "none") warn("dropped_field", "reasoning");
    return undefined;
  }
  if (effort === undefined) return { includeThoughts };
  if (facts.thinking === "budget") {
    const asked = reasoning.budget ?? budgetOf(effort);
    const thinkingBudget = Math.min(facts.most, Math.max(facts.least.budget, asked > 0 ? facts.least.some : 0, asked));
    if (thinkingBudget !== reasoning.budget) warn("changed_value", "reasoning.effort");
    return { includeThoughts: includeThoughts && thinkingBudget > 0, thinkingBudget };
  }
  const level =
    effort === "none" || effort === "minimal"
      ? facts.least.level
      : effort === "xhigh" || effort === "max"
        ? "high"
        : effort;
  if (level !== reasoning.effort) warn("changed_value", "reasoning");
  return { includeThoughts, thinkingLevel: level.toUpperCase() };
}

function penalties({ model, presence_penalty, frequency_penalty }: ChatPrompt, warn: Warn): WireObject {
  const taken = takenOf(["google"], model, { presence_penalty, frequency_penalty }, true, warn);
  return { presencePenalty: taken.presence_penalty, frequencyPenalty: taken.frequency_penalty };
}

export function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  warnUnsupported(prompt, requestSupport, warn);
  const facts = geminiFacts(prompt.model);
  const { system, contents } = conversation(prompt, facts, warn);
  const tools = toolsOf(prompt.tools ?? [], warn);
  const rest = ownExtra(KEY, prompt.extra, "", warn) ?? {};
  const generationConfig = compact({
    temperature: prompt.temperature,
    topP: prompt.top_p,
    topK: prompt.top_k,
    maxOutputTokens: prompt.max_output,
    candidateCount: prompt.choices,
    stopSequences: prompt.stop,
    seed: prompt.seed,
    ...penalties(prompt, warn),
    ...formatMembers(prompt, facts.formatBesideTools || tools.length === 0, system, warn),
    thinkingConfig: thinkingConfig(prompt, facts, warn),
    ...(isObject(rest.generationConfig) ? rest.generationConfig : {}),
  });
  const declares = tools.some((tool) => "functionDeclarations" in tool);
  const toolConfig = {
    ...(prompt.tool_choice && declares ? { functionCallingConfig: callingConfig(prompt.tool_choice) } : {}),
    ...(isObject(rest.toolConfig) ? rest.toolConfig : {}),
  };
  return compact({
    ...rest,
    contents,
    systemInstruction: system.length > 0 ? { parts: system } : undefined,
    tools: tools.length > 0 ? tools : undefined,
    toolConfig: Object.keys(toolConfig).length > 0 ? toolConfig : undefined,
    generationConfig: Object.keys(generationConfig).length > 0 ? generationConfig : undefined,
  });
}
