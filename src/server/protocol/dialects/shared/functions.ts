/** Tools as vendors declare them that have OpenAI's first functions: {name, description, parameters}. */
import type { ChatPrompt, ToolCallBlock, Warn, WireObject } from "../../chat-events";
import { compact } from "./json";

/** A tool that takes plain text has one text argument there. */
export const plainTextSchema: WireObject = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
};

/** The arguments of a call as JSON text. */
export const callArguments = ({ input, custom }: ToolCallBlock): string =>
  custom ? JSON.stringify({ input }) : input.trim() === "" ? "{}" : input;

/** The functions a model may call: none where the caller forbids it, the allowed ones where he names them. */
export function functionsOf({ tools = [], tool_choice }: ChatPrompt, warn: Warn): WireObject[] {
  if (tool_choice?.mode === "none") return [];
  const allowed = tool_choice?.allowed;
  if (allowed) warn("changed_value", "tool_choice.allowed");
  return tools.flatMap((tool): WireObject[] => {
    if (tool.type === "server") {
      warn("dropped_tool", String(tool.value.type ?? tool.from));
      return [];
    }
    const { name, description } = tool;
    if (allowed && !allowed.includes(name)) return [];
    if (tool.type === "free_form") warn("changed_value", `custom tool ${name}`);
    else if (tool.strict === true) warn("dropped_field", "tools.strict");
    const schema = tool.type === "free_form" ? plainTextSchema : tool.parameters;
    return [
      compact({ name, description: description ?? name, parameters: schema ?? { type: "object", properties: {} } }),
    ];
  });
}
