/**
 * Usage buckets as OpenAI's object: totals that contain their parts (types of the `openai` SDK 7.55, CompletionUsage).
 */
import type { Usage, WireObject } from "../../chat-events";

const sum = (...counts: (number | undefined)[]): number =>
  counts.reduce<number>((total, next) => total + (next ?? 0), 0);

export function encodeUsage(usage: Usage): WireObject {
  const { cache_read, audio_in, image_in, reasoning, audio_out, image_out } = usage;
  const hour = usage.cache_write_1h ?? 0;
  const written = sum(usage.cache_write_5m, hour);
  const prompt_tokens = sum(usage.input, cache_read, written, audio_in, image_in);
  const completion_tokens = sum(usage.output, reasoning, audio_out, image_out);
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: {
      cached_tokens: cache_read ?? 0,
      audio_tokens: audio_in ?? 0,
      ...(written > 0 && { cache_write_tokens: written }),
      // Qwen's member: which of them last an hour (Model Studio, context cache).
      ...(hour > 0 && {
        cache_creation: { ephemeral_5m_input_tokens: usage.cache_write_5m ?? 0, ephemeral_1h_input_tokens: hour },
      }),
      ...(image_in !== undefined && { image_tokens: image_in }),
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning ?? 0,
      audio_tokens: audio_out ?? 0,
      ...(image_out !== undefined && { image_tokens: image_out }),
    },
  };
}
