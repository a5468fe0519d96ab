/**
 * What Converse answers, whole (docs.aws.amazon.com/bedrock/latest/APIReference, API_runtime_Converse; read November
 * 2026).
 */
import type { Block, ChatAnswer, FinishReason, Usage, WireObject } from "../../chat-events";
import { tokenCount, unlessZero } from "../../usage-check";
import { compact, isObject, object, objects, text } from "../shared/json";

const finishes: Readonly<Record<string, FinishReason["unified"]>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  guardrail_intervened: "content_filter",
  content_filtered: "content_filter",
};

export const decodeFinish = (raw: string): FinishReason => ({ unified: finishes[raw] ?? "other", raw });

/** Counts that stand beside each other: what was cached is not among the input tokens (userguide/prompt-caching). */
export function readUsage(usage: unknown): Usage | undefined {
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens } = object(usage);
  const input = tokenCount(inputTokens);
  const output = tokenCount(outputTokens);
  if (input === undefined && output === undefined) return undefined;
  return compact({
    input,
    output,
    cache_read: unlessZero(tokenCount(cacheReadInputTokens)),
    cache_write_5m: unlessZero(tokenCount(cacheWriteInputTokens)),
  });
}

function blockOf(block: WireObject): Block[] {
  if (typeof block.text === "string") return block.text === "" ? [] : [{ type: "text", text: block.text }];
  if (isObject(block.toolUse)) {
    const { toolUseId, name, input } = block.toolUse;
    return [{ type: "tool_call", id: text(toolUseId), name: text(name), input: JSON.stringify(input ?? {}) }];
  }
  if (isObject(block.reasoningContent)) {
    const thoughts = text(object(block.reasoningContent.reasoningText).text);
    return thoughts === "" ? [] : [{ type: "reasoning", text: thoughts }];
  }
  if (isObject(block.image)) {
    const { format, source } = block.image;
    const data = text(object(source).bytes);
    return data === ""
      ? []
      : [{ type: "image", source: { kind: "data", media_type: `image/${text(format) || "png"}`, data } }];
  }
  return [];
}

/** undefined when the body is no answer. */
export function decodeAnswer(body: WireObject, id: string): ChatAnswer | undefined {
  const { message } = object(body.output);
  if (!isObject(message)) return undefined;
  const raw = text(body.stopReason);
  const content = objects(message.content).flatMap(blockOf);
  const choice = compact({ index: 0, content, finish: raw === "" ? undefined : decodeFinish(raw) });
  return compact({ id, model: "", choices: [choice], usage: readUsage(body.usage) });
}
