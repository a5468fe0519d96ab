/**
 * Whether a request lets its vendor work out of sight: tools that the vendor runs itself, searches, agents, containers
 * of code, background. Such work can cost many times what the answer shows.
 */
import { isObject, type JsonObject } from "../lib/json-bytes";

/** Members that ask for it, in any dialect, whatever they say but no. */
const members = [
  "web_search_options",
  "plugins",
  "search_parameters",
  "enable_search",
  "mcp_servers",
  "container",
  "connectors",
  "background",
  "context_management",
  "agents",
] as const;
/** Tools that the caller runs. */
const callers: ReadonlySet<unknown> = new Set([undefined, "function", "custom"]);

const isOff = (value: unknown): boolean =>
  value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0);

/** A tool that the vendor runs. Google's stand in objects of their own beside `functionDeclarations`. */
function isVendors(tool: unknown): boolean {
  if (!isObject(tool)) return false;
  if (!callers.has(tool.type)) return true;
  if (tool.type !== undefined || tool.name !== undefined || tool.function !== undefined) return false;
  return Object.keys(tool).some((name) => name !== "functionDeclarations" && name !== "function_declarations");
}

/** Whether a request's body, in any dialect, asks for such work. */
export const allowsHiddenTurns = (body: JsonObject): boolean =>
  members.some((name) => !isOff(body[name])) || (Array.isArray(body.tools) && body.tools.some(isVendors));
