/**
 * A whole answer without what only its vendor writes (setting.force_format); streams are rewritten frame by frame
 * already.
 */
import type { ChatAnswer, Extra } from "./chat-events";

/**
 * Members beyond the neutral language that belong to OpenAI's own chat answers
 * (platform.openai.com/docs/api-reference/chat/object).
 */
const OWN = new Set(["system_fingerprint", "service_tier", "logprobs"]);

function own(extra: Extra | undefined): Extra | undefined {
  const kept = Object.entries(extra?.["openai-chat"] ?? {}).filter(([name]) => OWN.has(name));
  return kept.length > 0 ? { "openai-chat": Object.fromEntries(kept) } : undefined;
}

export const standardForm = (answer: ChatAnswer): ChatAnswer => ({
  ...answer,
  extra: own(answer.extra),
  choices: answer.choices.map((choice) => ({ ...choice, extra: own(choice.extra) })),
});
