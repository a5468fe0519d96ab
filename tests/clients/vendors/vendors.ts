/** The four strict vendors. */
import { anthropicVendor } from "./anthropic";
import { geminiVendor } from "./gemini";
import { openaiChatVendor } from "./openai-chat";
import { openaiResponsesVendor } from "./openai-responses";
import type { Vendor } from "./vendor";

export const VENDORS = {
  "OpenAI, chat": openaiChatVendor,
  "OpenAI, Responses": openaiResponsesVendor,
  Anthropic: anthropicVendor,
  Gemini: geminiVendor,
} as const satisfies Record<string, Vendor>;
