/** Anthropic's Messages with the refusals that its clients meet. */
import { type Json, list, object, text } from "../../kit/fake-upstream/answer";
import { anthropic } from "../../kit/fake-upstream/dialects/anthropic";
import type { ErrorAnswer } from "../../kit/fake-upstream/dialects/dialect";
import type { Rule } from "./rule";
import { membersNamed, type Vendor } from "./vendor";

const messagesOf = (request: Json): Json[] => list(request.messages).map(object);
const blocksOf = (message: Json | undefined): Json[] => list(message?.content).map(object);
const ofType = (blocks: Json[], type: string): Json[] => blocks.filter((block) => block.type === type);
const thinkingOf = (request: Json): string => text(object(request.thinking).type);
const thinks = (request: Json): boolean => thinkingOf(request) === "enabled" || thinkingOf(request) === "adaptive";

const PAGE = "https://platform.claude.com/docs/en/build-with-claude/extended-thinking";

/** How often a member is there, anywhere. */
const count = (value: unknown, name: string): number => {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + count(item, name), 0);
  if (typeof value !== "object" || value === null) return 0;
  return Object.entries(value).reduce(
    (sum, [key, member]) => sum + (key === name && member !== null ? 1 : count(member, name)),
    0,
  );
};

const rules: Rule[] = [
  {
    name: "max_tokens is there",
    source: { at: "https://platform.claude.com/docs/en/api/messages", date: "2026-11" },
    refuses: ({ max_tokens }) => (typeof max_tokens === "number" ? undefined : "max_tokens: Field required"),
  },
  {
    name: "every tool_use has its tool_result in the next message",
    source: { at: "https://github.com/anthropics/claude-code/issues/8210", date: "2025-09" },
    refuses: (request) => {
      const messages = messagesOf(request);
      for (const [at, message] of messages.entries()) {
        const asked = ofType(blocksOf(message), "tool_use").map(({ id }) => text(id));
        const answered = ofType(blocksOf(messages[at + 1]), "tool_result").map(({ tool_use_id }) => text(tool_use_id));
        const missing = asked.filter((id) => !answered.includes(id));
        if (missing.length > 0)
          return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
      }
      return undefined;
    },
  },
  {
    name: "signatures come back as they were given",
    source: { at: "https://github.com/anthropics/anthropic-sdk-python/issues/1598", date: "2026-08" },
    refuses: (request, { issued }) => {
      for (const [at, message] of messagesOf(request).entries())
        for (const [block, { type, signature }] of blocksOf(message).entries())
          if (type === "thinking" && !issued.has(text(signature)))
            return `messages.${at}.content.${block}: Invalid \`signature\` in \`thinking\` block`;
      return undefined;
    },
  },
  {
    name: "with a thinking budget, the turn of a tool call begins with its thoughts",
    source: { at: "https://github.com/anomalyco/opencode/issues/3077", date: "2025-10" },
    refuses: (request) => {
      if (thinkingOf(request) !== "enabled") return undefined;
      const messages = messagesOf(request);
      const at = messages.findLastIndex((message) => ofType(blocksOf(message), "tool_use").length > 0);
      const first = text(blocksOf(messages[at])[0]?.type);
      return at < 0 || first === "thinking" || first === "redacted_thinking"
        ? undefined
        : `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`;
    },
  },
  {
    name: "with thoughts, the temperature is 1",
    source: { at: "https://github.com/mnfst/modelparams.dev/issues/214", date: "2026-08" },
    refuses: (request) =>
      thinks(request) && typeof request.temperature === "number" && request.temperature !== 1
        ? `\`temperature\` may only be set to 1 when thinking is enabled or in adaptive mode. Please consult our documentation at ${PAGE}`
        : undefined,
  },
  {
    // The page says it of thinking in general; no recorded answer of adaptive mode is known.
    name: "with a thinking budget, there is no top_k",
    source: { at: PAGE, date: "2026-11" },
    refuses: (request) =>
      thinkingOf(request) === "enabled" && typeof request.top_k === "number"
        ? `\`top_k\` must be unset when thinking is enabled. Please consult our documentation at ${PAGE}`
        : undefined,
  },
  {
    name: "with adaptive thinking, there is no top_k",
    source: undefined,
    refuses: (request) =>
      thinkingOf(request) === "adaptive" && typeof request.top_k === "number"
        ? "`top_k` must be unset when thinking is enabled or in adaptive mode."
        : undefined,
  },
  {
    name: "the last message is the user's",
    source: { at: "https://github.com/anomalyco/opencode/issues/13768", date: "2026-02" },
    refuses: (request) =>
      messagesOf(request).at(-1)?.role === "assistant"
        ? "This model does not support assistant message prefill. The conversation must end with a user message."
        : undefined,
  },
  {
    name: "four cache marks at most",
    source: { at: "https://github.com/continuedev/continue/pull/6937", date: "2025-08" },
    refuses: (request) => {
      const marks = count(request, "cache_control");
      return marks > 4 ? `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.` : undefined;
    },
  },
];

const answer = (status: number, type: string, message: string): ErrorAnswer => ({
  status,
  body: { type: "error", error: { type, message }, request_id: "req_fake" },
});

/** platform.claude.com/docs/en/api/errors, and answers that public issues of its clients quote, 2026-11. */
export const anthropicVendor: Vendor = {
  dialect: anthropic,
  rules,
  read: (request) => {
    const blocks = messagesOf(request).flatMap(blocksOf);
    return {
      tools: list(request.tools).map((tool) => text(object(tool).name)),
      calls: ofType(blocks, "tool_use").length,
      results: ofType(blocks, "tool_result").map(({ content }) =>
        typeof content === "string" ? content : membersNamed(content, "text").join(""),
      ),
      thoughts: ofType(blocks, "thinking").map(({ signature }) => text(signature)),
      thinks: thinks(request),
      signs: thinks(request),
    };
  },
  tooLong: answer(400, "invalid_request_error", "prompt is too long: 212345 tokens > 200000 maximum"),
  unknownModel: (model) => answer(404, "not_found_error", `model: ${model}`),
  overloaded: anthropic.error("overloaded"),
  refusal: (_, message) => answer(400, "invalid_request_error", message),
};
