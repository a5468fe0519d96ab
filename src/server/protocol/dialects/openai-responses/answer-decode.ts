/** A response object as the neutral answer (types of the `openai` SDK 7.55, Response; read November 2026). */
import type { Block, ChatAnswer, FinishReason, Usage, WireObject } from "../../chat-events";
import { tokenCount } from "../../usage-check";
import { usageOf as countsOf } from "../openai-chat/usage";
import { compact, isObject, number, object, objects, optionalText, text } from "../shared/json";
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

/**
 * Containers that code or shell commands ran in, each as often as it has gigabytes: the price of one is proportional to
 * its memory, 1 GB unless the call says more (developers.openai.com/api/docs/pricing#built-in-tools; types of the
 * `openai` SDK 7.55, CodeInterpreterContainerAuto and ContainerAuto; November 2026).
 */
function containersOf(response: WireObject): number {
  const items = objects(response.output);
  const code = items
    .filter(({ type }) => type === "code_interpreter_call")
    .map(({ container_id }) => text(container_id));
  // Commands may also run at the caller's own machine.
  const shell = items
    .filter(({ type }) => type === "shell_call")
    .flatMap(({ environment }) => optionalText(object(environment).container_id) ?? []);
  const sizes = objects(response.tools).map(
    ({ container, environment }) => text(object(container).memory_limit) || text(object(environment).memory_limit),
  );
  const gigabytes = Math.max(1, ...sizes.map((size) => Number(/^(\d{1,3})g$/.exec(size)?.[1] ?? 1)));
  return new Set([...code, ...shell]).size * gigabytes;
}

/**
 * Calls of the vendor's tools by the names that prices have: searches of the web and of files, and containers of code
 * (developers.openai.com/api/docs/pricing#built-in-tools; only the action `search` of a web search is charged; November
 * 2026).
 */
function toolsUsed(response: WireObject): Record<string, number> {
  const items = objects(response.output);
  const calls = (type: string): WireObject[] => items.filter((item) => item.type === type);
  const searched = calls("web_search_call").filter(
    ({ action }) => !isObject(action) || action.type === undefined || action.type === "search",
  );
  const search = objects(response.tools).some(({ type }) => text(type).startsWith("web_search_preview"))
    ? "web_search_preview"
    : "web_search";
  const used = {
    [search]: tokenCount(object(object(response.tool_usage).web_search).num_requests) ?? searched.length,
    file_search: calls("file_search_call").length,
    code_interpreter: containersOf(response),
  };
  return Object.fromEntries(Object.entries(used).filter(([, times]) => times > 0));
}

/**
 * Tokens of pictures that the vendor's tool drew: another model's, which the totals leave out; they count as pictures
 * of this one.
 */
function withDrawings(usage: Usage, response: WireObject): Usage {
  const drawn = object(object(response.tool_usage).image_gen);
  const [input = 0, output = 0] = [tokenCount(drawn.input_tokens), tokenCount(drawn.output_tokens)];
  return {
    ...usage,
    ...(input !== 0 && { image_in: (usage.image_in ?? 0) + input }),
    ...(output !== 0 && { image_out: (usage.image_out ?? 0) + output }),
  };
}

/**
 * Usage of a response: tokens, and calls of the vendor's tools; what the vendor itself counts goes before what its
 * items show.
 */
export function usageOf(response: WireObject): Usage | undefined {
  const read = countsOf(response);
  const usage = read && withDrawings(read, response);
  if (usage?.server_tools) return usage;
  const server_tools = toolsUsed(response);
  return usage && Object.keys(server_tools).length > 0 ? { ...usage, server_tools } : usage;
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
