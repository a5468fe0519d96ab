/** A streamed answer, collected into a complete one. */
import type {
  AnswerEvent,
  Block,
  FinishReason,
  ReasoningSignature,
  Usage,
} from "../../src/server/protocol/chat-events";

export interface Collected {
  content: Block[];
  finish?: FinishReason;
  usage?: Usage;
}

/** The first choice of a stream. Throws on pieces of blocks that are not open. */
export function collect(events: readonly AnswerEvent[]): Collected {
  const open = new Map<number, { kind: string; id: string; name: string; text: string }>();
  const blocks = new Map<number, Block>();
  const result: Collected = { content: [] };
  for (const event of events) {
    if (event.type === "block_start" && event.choice === 0) {
      const { start } = event;
      if (start.kind === "whole") blocks.set(event.block, start.block);
      else
        open.set(event.block, {
          kind: start.kind,
          id: "id" in start ? (start.id ?? "") : "",
          name: "name" in start ? start.name : "",
          text: "",
        });
    } else if (event.type === "block_delta" && event.choice === 0) {
      const block = open.get(event.block);
      if (!block) throw new Error(`a piece of block ${event.block}, which is not open`);
      block.text += event.text;
    } else if (event.type === "block_end" && event.choice === 0) {
      const block = open.get(event.block);
      open.delete(event.block);
      if (block) blocks.set(event.block, whole(block, event.reasoningSignature));
    } else if (event.type === "finish") result.finish ??= event.finish;
    else if (event.type === "usage") result.usage = event.usage;
  }
  if (open.size > 0) throw new Error("a block was never closed");
  result.content = [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block);
  return result;
}

function whole(
  { kind, id, name, text }: { kind: string; id: string; name: string; text: string },
  reasoningSignature?: ReasoningSignature,
): Block {
  if (kind === "tool_call") return { type: "tool_call", id, name, input: text };
  if (kind === "reasoning") return { type: "reasoning", text, ...(reasoningSignature && { reasoningSignature }) };
  return { type: kind === "refusal" ? "refusal" : "text", text };
}
