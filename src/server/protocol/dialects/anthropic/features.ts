/**
 * What Anthropic's Messages API can say (types of @anthropic-ai/sdk 1.11, platform.claude.com/docs, read November
 * 2026).
 */
import type { FeatureRecord } from "../features";

export const anthropicFeatures: FeatureRecord = {
  text: true,
  system_prompt: true,
  mid_system: { partly: "models from Claude 5 on; a user message before" },
  images: { partly: "JPEG, PNG, GIF and WebP" },
  image_urls: true,
  audio_in: { no: "there is no audio block" },
  audio_out: { no: "answers are text; a transcript is sent as text" },
  image_out: { no: "models write no images" },
  files: { partly: "PDF and plain text documents" },
  file_urls: { partly: "addresses of PDF documents" },
  tools: true,
  custom_tools: { partly: "as a tool with one text argument; there are no free-form tools" },
  parallel_tools: true,
  streamed_arguments: true,
  tool_results_with_images: true,
  tool_errors: true,
  tool_choice: true,
  allowed_tools: { partly: "by sending those tools only" },
  strict_tools: { partly: "models with structured outputs" },
  web_search: true,
  server_tools: { partly: "Anthropic's own callers; what they run belongs to one vendor" },
  json_output: { partly: "in words; there is no JSON mode" },
  json_schema: { partly: "models with structured outputs; in words before" },
  reasoning_effort: { partly: "models from 4.6 on; as a budget before" },
  reasoning_budget: { partly: "models before 4.7; as an effort from then on" },
  reasoning_text: true,
  reasoning_seals: true,
  refusals: { partly: "as text with stop reason refusal" },
  citations: true,
  cache_marks: { partly: "5 minutes and 1 hour" },
  stop_sequences: { partly: "not of white space alone" },
  sampling: {
    partly:
      "models before 4.7, temperature up to 1, not both temperature and top_p; while thinking only temperature 1, or top_p from 0.95 on",
  },
  top_k: { partly: "models before 4.7, not while thinking" },
  penalties: { no: "there are no penalties" },
  seed: { no: "there is no seed" },
  choices: { no: "one answer a call" },
  logprobs: { no: "log probabilities are not offered" },
  user_name: true,
  usage: true,
  cache_usage: true,
  reasoning_usage: true,
  errors_in_stream: true,
};
