/**
 * Calls of other dialects for models that are not OpenAI's: vendors whose chat is like OpenAI's know less of it. Many
 * refuse tools of plain text, the role developer, and lists of texts where a string would do.
 */
import type { Block, ChatPrompt, Message, TextBlock, Warn } from "../../chat-events";
import { asFunctions } from "../shared/free-form";
import { isOpenai } from "../shared/openai-models";

const BETWEEN = "\n\n";

function joined(before: TextBlock, { text, ...more }: TextBlock): TextBlock {
  const { extra, ...rest } = { ...before, ...more };
  const extras = before.extra || more.extra ? { extra: { ...before.extra, ...extra } } : {};
  return { ...rest, ...extras, text: before.text + BETWEEN + text };
}

/** Texts that follow each other, as one. */
function joinTexts(blocks: readonly Block[]): Block[] {
  const out: Block[] = [];
  for (const block of blocks) {
    const last = out.at(-1);
    if (block.type === "text" && last?.type === "text") out[out.length - 1] = joined(last, block);
    else out.push(block.type === "tool_result" ? { ...block, content: joinTexts(block.content) } : block);
  }
  return out;
}

function plainMessage(message: Message): Message {
  // What an assistant said is joined without a gap, where it is written.
  if (message.role === "assistant") return message;
  return {
    ...message,
    role: message.role === "developer" ? "system" : message.role,
    content: joinTexts(message.content),
  };
}

/** The prompt as every vendor of the kind reads it. */
export const forLikeness = (prompt: ChatPrompt, warn: Warn): ChatPrompt =>
  asFunctions({ ...prompt, messages: prompt.messages.map(plainMessage) }, warn);

/** The same, unless the model is OpenAI's own. */
export const forModel = (prompt: ChatPrompt, warn: Warn): ChatPrompt =>
  isOpenai(prompt.model) ? prompt : forLikeness(prompt, warn);
