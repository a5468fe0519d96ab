/** OpenAI's Chat Completions with the refusals that its clients meet. */
import { type Json, list, object, text } from "../../kit/fake-upstream/answer";
import { openaiChat } from "../../kit/fake-upstream/dialects/openai-chat";
import { CHAT_MODEL, openaiAnswers, RESPONSES_MODEL } from "./openai";
import type { Rule } from "./rule";
import type { Vendor } from "./vendor";

/** gpt-4.1 and its like do not reason, and take what these refuse. */
const reasons = (model: unknown): boolean => /^(gpt-[5-9]|o\d)/.test(text(model));
const messagesOf = (request: Json): Json[] => list(request.messages).map(object);
const callIds = (message: Json | undefined): string[] => list(message?.tool_calls).map((call) => text(object(call).id));
const partsText = (content: unknown): string =>
  typeof content === "string"
    ? content
    : list(content)
        .map((part) => text(object(part).text))
        .join("");

const rules: Rule[] = [
  {
    name: "every tool call is answered at once",
    source: { at: "https://github.com/aliasrobotics/cai/issues/111", date: "2025-05" },
    refuses: (request) => {
      const messages = messagesOf(request);
      for (const [at, message] of messages.entries()) {
        const asked = callIds(message);
        if (message.role !== "assistant" || asked.length === 0) continue;
        const after = messages.slice(at + 1);
        const end = after.findIndex(({ role }) => role !== "tool");
        const answered = (end < 0 ? after : after.slice(0, end)).map(({ tool_call_id }) => text(tool_call_id));
        const missing = asked.filter((id) => !answered.includes(id));
        if (missing.length > 0)
          return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${missing.join(", ")}`;
      }
      return undefined;
    },
  },
  {
    name: "a tool message answers a call",
    source: { at: "https://github.com/miurla/morphic/issues/136", date: "2024-05" },
    refuses: (request) => {
      const messages = messagesOf(request);
      for (const [at, message] of messages.entries()) {
        if (message.role !== "tool") continue;
        const before = messages.slice(0, at).findLast(({ role }) => role !== "tool");
        if (callIds(before).includes(text(message.tool_call_id))) continue;
        return `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`;
      }
      return undefined;
    },
  },
  {
    // Without an effort, too: https://github.com/BerriAI/litellm/pull/34569, 2026-07.
    name: "models from gpt-5.4 on take function tools on Responses alone",
    source: { at: "https://github.com/charmbracelet/crush/issues/2913", date: "2026-05" },
    refuses: ({ model, tools, reasoning_effort }) =>
      model === RESPONSES_MODEL && list(tools).length > 0 && reasoning_effort !== "none"
        ? `Function tools with reasoning_effort are not supported for ${RESPONSES_MODEL} in /v1/chat/completions. Please use /v1/responses instead.`
        : undefined,
  },
  {
    name: "reasoning models refuse max_tokens",
    source: { at: "https://github.com/fish2018/YPrompt/issues/26", date: "2025-12" },
    code: "unsupported_parameter",
    refuses: (request) =>
      reasons(request.model) && "max_tokens" in request && request.max_tokens !== null
        ? "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        : undefined,
  },
  {
    // gpt-5.1 does not reason unless it is asked to, and takes a temperature then:
    // https://developers.openai.com/api/docs/guides/latest-model, 2026-11.
    name: "a model that reasons refuses a temperature",
    source: { at: "https://github.com/johny-b/llmcomp/issues/69", date: "2026-04" },
    code: "unsupported_value",
    refuses: ({ model, temperature, reasoning_effort }) =>
      reasons(model) &&
      typeof temperature === "number" &&
      temperature !== 1 &&
      (model !== CHAT_MODEL || (typeof reasoning_effort === "string" && reasoning_effort !== "none"))
        ? `Unsupported value: 'temperature' does not support ${temperature} with this model. Only the default (1) value is supported.`
        : undefined,
  },
];

export const openaiChatVendor: Vendor = {
  ...openaiAnswers,
  dialect: openaiChat,
  rules,
  read: (request) => {
    const messages = messagesOf(request);
    return {
      tools: list(request.tools).map((tool) => text(object(object(tool).function).name)),
      calls: messages.flatMap(callIds).length,
      results: messages.filter(({ role }) => role === "tool").map(({ content }) => partsText(content)),
      thoughts: [],
      thinks: false,
      signs: false,
    };
  },
};
