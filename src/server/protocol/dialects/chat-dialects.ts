/** Every dialect that can be translated, by its key. */
import type { DialectKey } from "../chat-events";
import { anthropicDialect } from "./anthropic/dialect";
import { geminiDialect } from "./gemini/dialect";
import { openaiChatDialect } from "./openai-chat/chat-dialect";
import { responsesDialect } from "./openai-responses/dialect";
import type { ChatDialect } from "./translation";

export const chatDialects: Readonly<Record<DialectKey, ChatDialect>> = {
  "openai-chat": openaiChatDialect,
  "openai-responses": responsesDialect,
  anthropic: anthropicDialect,
  gemini: geminiDialect,
};
