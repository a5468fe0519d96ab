/** A response object as the neutral answer (types of the `openai` SDK 7.55, Response; read November 2026). */
import type { Block, ChatAnswer, FinishReason, Usage, WireObject } from "../../events";
import { readUsage } from "../openai-chat/usage";
import { compact, count, number, object, objects, text } from "../shared/json";
import { KEY, thoughtsOfItem } from "./items";
import { decodeContent } from "./request-decode";

/** The blocks of one output item. */
export function blocksOfItem(item: WireObject): Block[] {
  switch (item.type) {
    case "message":
      return decodeContent(item.content, "output.content").filter((block) => block.type !== "opaque");
    case "reasoning":
      return [thoughtsOfItem(item, false)];
    case "function_call":
      return [{ type: "tool_call", id: text(item.call_id), name: text(item.name), input: text(item.arguments) }];
    case "custom_tool_call":
      return [
        { type: "tool_call", id: text(item.call_id), name: text(item.name), input: text(item.input), custom: true },
      ];
    case "image_generation_call":
      if (text(item.result) === "") return [];
      return [
        {
          type: "image",
          source: { kind: "data", media_type: `image/${text(item.output_format) || "png"}`, data: text(item.result) },
        },
      ];
    default:
      return [{ type: "opaque", from: KEY, value: item }];
  }
}

/** Usage of a response: tokens, and searches where the vendor counts them. */
export function usageOf(response: WireObject): Usage | undefined {
  const usage = readUsage(response.usage);
  const searches = count(object(object(response.tool_usage).web_search).num_requests);
  return usage && searches ? { ...usage, server_tools: { web_search: searches } } : usage;
}

export function finishOf(response: WireObject, called: boolean): FinishReason {
  const reason = text(object(response.incomplete_details).reason);
  if (reason === "max_output_tokens") return { unified: "length", raw: reason };
  if (reason === "content_filter") return { unified: "content_filter", raw: reason };
  const raw = reason || text(response.status);
  if (raw !== "completed" && raw !== "") return { unified: "other", raw };
  return { unified: called ? "tool_calls" : "stop", raw };
}

/** undefined when the body is no answer: no response object, or one that failed. */
export function decodeAnswer(body: WireObject): ChatAnswer | undefined {
  if (!Array.isArray(body.output) || body.status === "failed") return undefined;
  const content = objects(body.output).flatMap(blocksOfItem);
  const called = content.some((block) => block.type === "tool_call");
  return compact({
    id: text(body.id),
    model: text(body.model),
    created: number(body.created_at),
    choices: [{ index: 0, content, finish: finishOf(body, called) }],
    usage: usageOf(body),
  });
}
