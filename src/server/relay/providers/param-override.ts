/** The operator's changes to a channel's calls: its system prompt, members of the body, headers. */
import { withHeaders } from "../../../shared/header-override";
import type { Block, ChatPrompt, Message } from "../../protocol/chat-events";
import { isObject, type JsonObject, tryParse } from "../../lib/json-bytes";
import type { Outgoing, Provider } from "./provider";
import type { PoolChannel } from "../../contracts/channel";

const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";

/**
 * The conversation with the channel's system prompt: added if the call has none, put before the call's own if
 * system_prompt_override is set. The same object when there is nothing to add.
 */
export function withSystemPrompt(prompt: ChatPrompt, { setting }: Pick<PoolChannel, "setting">): ChatPrompt {
  const { system_prompt: text, system_prompt_override: before } = setting;
  if (text === undefined) return prompt;
  const { messages } = prompt;
  const own = messages.find(isSystem);
  if (!own) return { ...prompt, messages: [{ role: "system", content: [{ type: "text", text }] }, ...messages] };
  if (before !== true) return prompt;
  const [first, ...rest] = own.content;
  const content: Block[] =
    first?.type === "text"
      ? [{ ...first, text: `${text}\n\n${first.text}` }, ...rest]
      : [{ type: "text", text }, ...own.content];
  return { ...prompt, messages: messages.map((message) => (message === own ? { ...own, content } : message)) };
}

/** The same for a body of OpenAI's Responses API that is not translated: a background response. */
export function withInstructions(body: JsonObject, { setting }: Pick<PoolChannel, "setting">): JsonObject {
  const { system_prompt: text, system_prompt_override: before } = setting;
  const own = typeof body.instructions === "string" ? body.instructions : "";
  const brings =
    own !== "" ||
    (Array.isArray(body.input) &&
      body.input.some((item) => isObject(item) && (item.role === "system" || item.role === "developer")));
  if (text === undefined || (brings && before !== true)) return body;
  return { ...body, instructions: own === "" ? text : `${text}\n\n${own}` };
}

/**
 * A request with the channel's param_override and header_override applied; forms keep their body. Signing happens
 * later.
 */
export function applyOverrides(outgoing: Outgoing): Outgoing {
  const { channel, body, form, headers, as_is } = outgoing;
  const { headers: rules } = channel;
  const override = as_is ? undefined : channel.override;
  if (!override && !rules) return outgoing;
  const parsed = override && !form ? tryParse(body) : undefined;
  const made = override && isObject(parsed) ? override(parsed) : undefined;
  if (made) outgoing.overridden?.(made);
  const changed = made ? Buffer.from(JSON.stringify(made)) : body;
  return { ...outgoing, body: changed, headers: withHeaders(headers, rules, channel.key) };
}

/** The headers of a channel's calls: its provider's, overridden by header_override. */
export const headersOf = (provider: Provider, channel: PoolChannel): Record<string, string> =>
  withHeaders(provider.headers(channel), channel.headers, channel.key);
