/**
 * Tools that take plain text instead of JSON: OpenAI's word for them, in chat and in Responses, and what others get
 * instead.
 */
import type { Block, ChatPrompt, Warn } from "../../chat-events";
import { callArguments, describeFreeForm, plainTextSchema } from "./functions";

export const FREE_FORM = "custom";

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
        const { name, extra } = tool;
        const description = describeFreeForm(tool);
        return {
          type: "function" as const,
          name,
          ...(description !== undefined && { description }),
          parameters: plainTextSchema,
          ...(extra && { extra }),
        };
      }),
    }),
  };
}
