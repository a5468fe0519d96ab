/**
 * A search of the web that the vendor runs itself, as three vendors and OpenAI's chat call it
 * (platform.claude.com/docs, web search tool; types of the `openai` SDK 7.55, WebSearchTool and WebSearchOptions;
 * ai.google.dev/gemini-api/docs/google-search; November 2026). Each is read once here and written once, so that any
 * caller's search reaches any vendor who has one.
 */
import type { DialectKey, ServerTool, Warn, WireObject } from "../../chat-events";
import { compact, count, list, object, optionalText, text } from "./json";

interface WebSearch {
  readonly allowed?: readonly string[] | undefined;
  readonly blocked?: readonly string[] | undefined;
  /** Most searches of one call. */
  readonly most?: number | undefined;
  /** Roughly where the user is: city, region, country, timezone. */
  readonly place?: WireObject | undefined;
}

/** The name under which a chat call's `web_search_options` stand among its tools. */
export const SEARCH_OPTIONS = "web_search_options";

function strings(value: unknown): string[] | undefined {
  const found = list(value).filter((one) => typeof one === "string");
  return found.length > 0 ? found : undefined;
}

function placeIn(value: unknown): WireObject | undefined {
  const { city, region, country, timezone } = object(value);
  const place = compact({
    city: optionalText(city),
    region: optionalText(region),
    country: optionalText(country),
    timezone: optionalText(timezone),
  });
  return Object.keys(place).length > 0 ? place : undefined;
}

/** What each dialect's own tool says, when it is a search. */
const readers: Readonly<Record<DialectKey, (tool: WireObject) => WebSearch | undefined>> = {
  anthropic: (tool) =>
    /^web_search_\d{8}$/.test(text(tool.type))
      ? {
          allowed: strings(tool.allowed_domains),
          blocked: strings(tool.blocked_domains),
          most: count(tool.max_uses),
          place: placeIn(tool.user_location),
        }
      : undefined,
  "openai-responses": (tool) =>
    /^web_search(_preview)?(_\d{4}_\d{2}_\d{2})?$/.test(text(tool.type))
      ? { allowed: strings(object(tool.filters).allowed_domains), place: placeIn(tool.user_location) }
      : undefined,
  "openai-chat": (tool) =>
    tool.type === SEARCH_OPTIONS ? { place: placeIn(object(tool.user_location).approximate) } : undefined,
  gemini: (tool) =>
    Object.keys(tool).every((name) => name === "googleSearch" || name === "google_search") ? {} : undefined,
};

type Part = keyof WebSearch;
const parts: readonly Part[] = ["allowed", "blocked", "most", "place"];

/** What a vendor takes of a search, and how it is written. */
interface Writer {
  readonly says: readonly Part[];
  write(search: WebSearch): WireObject;
}

const located = (place: WireObject | undefined): WireObject | undefined => place && { type: "approximate", ...place };

const writers = {
  anthropic: {
    says: parts,
    // One of the two lists may be given.
    write: ({ allowed, blocked, most, place }) =>
      compact({
        type: "web_search_20250305",
        name: "web_search",
        max_uses: most,
        allowed_domains: allowed,
        blocked_domains: allowed ? undefined : blocked,
        user_location: located(place),
      }),
  },
  "openai-responses": {
    says: ["allowed", "place"],
    write: ({ allowed, place }) =>
      compact({ type: "web_search", filters: allowed && { allowed_domains: allowed }, user_location: located(place) }),
  },
  gemini: { says: [], write: () => ({ googleSearch: {} }) },
} as const satisfies Partial<Record<DialectKey, Writer>>;

/** Another dialect's tool as `to` has it; undefined, with a warning, where that vendor runs no such tool. */
export function serverToolFor(to: keyof typeof writers, tool: ServerTool, warn: Warn): WireObject | undefined {
  const search = readers[tool.from](tool.value);
  if (!search) {
    warn("dropped_tool", text(tool.value.type) || Object.keys(tool.value)[0] || tool.from);
    return undefined;
  }
  const { says, write }: Writer = writers[to];
  for (const part of parts)
    if (search[part] !== undefined && !says.includes(part)) warn("dropped_field", `web_search.${part}`);
  return write(search);
}
