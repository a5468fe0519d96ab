/**
 * Blocks of a call that only Anthropic has and whose words others can read: results of a search that the caller
 * made, a document in pieces, a tool that was found (types of @anthropic-ai/sdk 1.11, SearchResultBlockParam,
 * ContentBlockSource, ToolReferenceBlockParam; read November 2026).
 */
import type { Block, ChatPrompt, OpaqueBlock, Warn } from "../../chat-events";
import { object, text } from "../shared/json";
import { decodeContent } from "./content-decode";

const said = (...lines: string[]): Block => ({ type: "text", text: lines.filter((line) => line !== "").join("\n") });

function readableBlocks(block: OpaqueBlock, warn: Warn): Block[] {
  const words = wordsOf(block);
  if (words)
    for (const name of ["citations", "cache_control"])
      if (block.value[name]) warn("dropped_field", `${text(block.value.type)}.${name}`);
  return words ?? [block];
}

/** undefined for a block that has none. */
function wordsOf({ value }: OpaqueBlock): Block[] | undefined {
  const title = text(value.title);
  switch (value.type) {
    case "tool_reference":
      return [said(`Tool found: ${text(value.tool_name)}`)];
    case "search_result":
      return [said(title, text(value.source)), ...decodeContent(value.content, "search_result.content")];
    case "document": {
      const { type, content } = object(value.source);
      if (type === "content")
        return [...(title === "" ? [] : [said(title)]), ...decodeContent(content, "document.source.content")];
    }
  }
  return undefined;
}

function plainBlocks(block: Block, warn: Warn): Block[] {
  if (block.type === "tool_result")
    return [{ ...block, content: block.content.flatMap((inner) => plainBlocks(inner, warn)) }];
  return block.type === "opaque" ? readableBlocks(block, warn) : [block];
}

/** The prompt for a channel of another dialect. */
export const inWords = (prompt: ChatPrompt, warn: Warn): ChatPrompt => ({
  ...prompt,
  messages: prompt.messages.map((message) => ({
    ...message,
    content: message.content.flatMap((block) => plainBlocks(block, warn)),
  })),
});
