/**
 * Tools that take plain text instead of JSON: OpenAI's word for them, in chat and in Responses, and what others get
 * instead.
 */
import type { Block, ChatPrompt, Tool, Warn } from "../../chat-events";
import { callArguments, plainTextSchema } from "./functions";
import { text } from "./json";

export const FREE_FORM = "custom";

/** What a tool is for, with the grammar of its text, which nothing else tells where there are no such tools. */
export function describeFreeForm({ description, format }: Extract<Tool, { type: "free_form" }>): string | undefined {
  if (format?.type !== "grammar") return description;
  // Chat has it in a member of its own.
  const { syntax, definition } = { ...format, ...(typeof format.grammar === "object" ? format.grammar : {}) };
  return `${description ?? ""}\n\nThe text matches this ${text(syntax)} grammar:\n${text(definition)}`.trimStart();
}

/**
 * The prompt for a model without such tools: functions with one text argument, in the declarations and in what was
 * said.
 */
export function asFunctions(prompt: ChatPrompt, warn: Warn): ChatPrompt {
  const { tools } = prompt;
  const asFunction = (block: Block): Block => {
    if (block.type === "tool_call" && block.custom) return { ...block, input: callArguments(block), custom: false };
    return block.type === "tool_result" && block.custom ? { ...block, custom: false } : block;
  };
  return {
    ...prompt,
    messages: prompt.messages.map((message) => ({ ...message, content: message.content.map(asFunction) })),
    ...(tools && {
      tools: tools.map((tool) => {
        if (tool.type !== "free_form") return tool;
        warn("changed_value", `custom tool ${tool.name}`);
        const { name } = tool;
        const description = describeFreeForm(tool);
        return {
          type: "function" as const,
          name,
          ...(description !== undefined && { description }),
          parameters: plainTextSchema,
        };
      }),
    }),
  };
}
