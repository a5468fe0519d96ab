/**
 * Where a vendor accepts less than its dialect allows (shared/channel-types): values are brought into range or dropped,
 * and members that its models name differently are renamed.
 */
import type { ChannelType } from "../../../shared/channel-types";
import { newLimit } from "../../protocol/dialects/openai-chat/request-encode";
import type { Warning, WireObject } from "../../protocol/chat-events";
import { isObject, tryParse, withMembers } from "../../lib/json-bytes";
import type { Bytes } from "../../lib/sse";

const names = (body: Bytes, member: string): boolean => body.includes(`"${member}"`);

/** Models that take the role developer instead of system; the first two reasoning models knew neither. */
const usesDeveloperRole = (model: string): boolean => /^(?!o1-(?:mini|preview))o\d/.test(model);

/**
 * A body as OpenAI's reasoning models take it: the token limit has a newer name, and the system role is developer
 * (platform.openai.com/docs/api-reference/chat/create, November 2026). Any other body stays unchanged.
 */
function asReasoningBody(model: string, body: Bytes): Bytes {
  const limited = newLimit(model) && names(body, "max_tokens");
  const instructed = usesDeveloperRole(model) && body.includes('"system"');
  const parsed = limited || instructed ? tryParse(body) : undefined;
  if (!isObject(parsed)) return body;
  const { max_tokens, ...rest } = parsed;
  const isSystem = (message: unknown): message is WireObject => isObject(message) && message.role === "system";
  const messages: readonly unknown[] = instructed && Array.isArray(parsed.messages) ? parsed.messages : [];
  const renamed = messages.some(isSystem) && {
    messages: messages.map((message) => (isSystem(message) ? { ...message, role: "developer" } : message)),
  };
  if (max_tokens === undefined && !renamed) return body;
  const limit = max_tokens === undefined ? {} : { max_completion_tokens: rest.max_completion_tokens ?? max_tokens };
  return Buffer.from(JSON.stringify({ ...rest, ...limit, ...renamed }));
}

/**
 * A body in OpenAI's chat dialect as the vendor of `type` takes it for that model. Bodies that need no change are not
 * parsed.
 */
export function adaptBody(type: ChannelType, model: string, asked: Bytes): { body: Bytes; warnings: Warning[] } {
  const body = asReasoningBody(model, asked);
  const { max_top_p, refuses } = type;
  const refused = refuses?.models.test(model) ? refuses.members.filter((member) => names(body, member)) : [];
  if (refused.length === 0 && (max_top_p === undefined || !names(body, "top_p"))) return { body, warnings: [] };
  const parsed = tryParse(body);
  if (!isObject(parsed)) return { body, warnings: [] };
  const dropped = refused.filter((member) => parsed[member] !== undefined);
  if (dropped.length > 0) {
    const rest = Object.fromEntries(Object.entries(parsed).filter(([name]) => !dropped.includes(name)));
    return {
      body: Buffer.from(JSON.stringify(rest)),
      warnings: dropped.map((detail) => ({ code: "dropped_field", detail })),
    };
  }
  if (max_top_p === undefined || typeof parsed.top_p !== "number" || parsed.top_p <= max_top_p)
    return { body, warnings: [] };
  return { body: withMembers(body, { top_p: max_top_p }), warnings: [{ code: "changed_value", detail: "top_p" }] };
}
