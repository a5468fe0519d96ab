/** OpenAI's error object as a value. */
import { inWords, type RelayError } from "../../relay-error";
import type { WireObject } from "../../chat-events";

/**
 * The message in OpenAI's words. Clients know an overflow by its code (openai/codex, codex-api/src/sse/responses.rs, in
 * a stream's response.failed) or by these words (litellm, exception_mapping_utils.py; opencode, provider/error.ts; read
 * November 2026).
 */
export const openaiMessage = (error: RelayError): string =>
  inWords(error, /this model's maximum context length is|exceeds the context window/i, ({ used, limit }) => {
    if (limit === undefined) return "This model's maximum context length is exceeded.";
    const resulted = used === undefined ? "" : ` However, your messages resulted in ${used} tokens.`;
    return `This model's maximum context length is ${limit} tokens.${resulted}`;
  });

export const toWire = (error: RelayError): WireObject => {
  const { type, param, code, more } = error;
  return { error: { message: openaiMessage(error), type, param, code, ...more } };
};
