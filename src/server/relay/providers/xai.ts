/**
 * xAI: OpenAI's format. A model with the suffix -search searches the web, which xAI supports in its Responses API only
 * (docs.x.ai/developers/tools; search_parameters of the chat API answer 410 since 2026). Its images have no size or
 * style, and a quality only where that is a price tier (docs.x.ai/developers/rest-api-reference/inference/images); read
 * November 2026.
 */
import { withoutSearch } from "../../../shared/thinking-suffix";
import { isObject } from "../../lib/json-bytes";
import { bodyOf, withBody } from "./changed-body";
import { ordinary } from "./ordinary";
import type { Outgoing, Provider } from "./provider";

const searches = (model: string): boolean => withoutSearch(model) !== undefined;

// X is not searched by default: its calls come back as custom_tool_call, which callers of other dialects would take for
// their own tools.
const WEB_SEARCH = { type: "web_search" } as const;
const isSearch = (tool: unknown): boolean =>
  isObject(tool) && (tool.type === WEB_SEARCH.type || tool.type === "x_search");

function searching(outgoing: Outgoing, model: string): Outgoing {
  const body = bodyOf(outgoing);
  const own: readonly unknown[] = Array.isArray(body.tools) ? body.tools : [];
  return { ...withBody(outgoing, { ...body, model, tools: own.some(isSearch) ? own : [...own, WEB_SEARCH] }), model };
}

const hasQuality = (model: string): boolean => model.startsWith("grok-imagine-image-2");

function images(outgoing: Outgoing): Outgoing {
  const { size: _, style: __, quality, ...rest } = bodyOf(outgoing);
  return withBody(outgoing, quality !== undefined && hasQuality(outgoing.model) ? { ...rest, quality } : rest);
}

export const xai: Provider = {
  ...ordinary,
  dialect: (_, model) => (searches(model) ? "openai-responses" : undefined),
  url: (channel, operation, model) =>
    ordinary.url(channel, operation === "chat" && searches(model) ? "responses" : operation, model),
  prepare(outgoing) {
    const { operation, model, as_is, form } = outgoing;
    if (as_is || form) return outgoing;
    const searched = operation === "chat" ? withoutSearch(model) : undefined;
    if (searched !== undefined) return searching(outgoing, searched);
    return operation === "images" ? images(outgoing) : outgoing;
  },
};
