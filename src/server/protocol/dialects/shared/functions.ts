/** Tools as vendors declare them that have OpenAI's first functions: {name, description, parameters}. */
import type { ChatPrompt, FreeFormTool, ToolCallBlock, Warn, WireObject } from "../../chat-events";
import { compact, text } from "./json";

/** A tool that takes plain text has one text argument there. */
export const plainTextSchema: WireObject = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
};

/** What a tool is for, with the grammar of its text, which nothing else says where there are no such tools. */
export function describeFreeForm({ description, format }: FreeFormTool): string | undefined {
  if (format?.type !== "grammar") return description;
  // Chat has it in a member of its own.
  const { syntax, definition } = { ...format, ...(typeof format.grammar === "object" ? format.grammar : {}) };
  return `${description ?? ""}\n\nThe text matches this ${text(syntax)} grammar:\n${text(definition)}`.trimStart();
}

/** The arguments of a call as JSON text. */
export const callArguments = ({ input, custom }: ToolCallBlock): string =>
  custom ? JSON.stringify({ input }) : input.trim() === "" ? "{}" : input;

/** The functions a model may call: none where the caller forbids it, the allowed ones where the caller names them. */
export function functionsOf({ tools = [], tool_choice }: ChatPrompt, warn: Warn): WireObject[] {
  if (tool_choice?.mode === "none") return [];
  const allowed = tool_choice?.allowed;
  if (allowed) warn("changed_value", "tool_choice.allowed");
  return tools.flatMap((tool): WireObject[] => {
    if (tool.type === "server") return [];
    const { name } = tool;
    if (allowed && !allowed.includes(name)) return [];
    if (tool.type === "free_form") warn("changed_value", `custom tool ${name}`);
    const description = tool.type === "free_form" ? describeFreeForm(tool) : tool.description;
    const schema = tool.type === "free_form" ? plainTextSchema : tool.parameters;
    return [
      compact({ name, description: description ?? name, parameters: schema ?? { type: "object", properties: {} } }),
    ];
  });
}
