/**
 * What a chat dialect can say, one entry a feature: the compiler demands all of them of every dialect, so the generated
 * table (caller's dialect x channel's dialect x feature) has no empty cell. A feature travels when both say yes.
 */
export const features = [
  "text",
  "system_prompt",
  "mid_system",
  "images",
  "image_urls",
  "audio_in",
  "audio_out",
  "image_out",
  "files",
  "file_urls",
  "tools",
  "custom_tools",
  "parallel_tools",
  "streamed_arguments",
  "tool_results_with_images",
  "tool_errors",
  "tool_choice",
  "allowed_tools",
  "strict_tools",
  // Tools that the vendor runs itself: a search of the web, and everything else.
  "web_search",
  "server_tools",
  "json_output",
  "json_schema",
  "reasoning_effort",
  "reasoning_budget",
  "reasoning_text",
  "reasoning_seals",
  "refusals",
  "citations",
  "cache_marks",
  "stop_sequences",
  "sampling",
  "top_k",
  "penalties",
  "seed",
  "choices",
  "logprobs",
  "user_name",
  "usage",
  "cache_usage",
  "reasoning_usage",
  "errors_in_stream",
] as const;
export type Feature = (typeof features)[number];

/** Yes, yes with a condition, or no with the vendor's own limit; words are for people, in English. */
export type Ability = true | { readonly partly: string } | { readonly no: string };

export type FeatureRecord = Readonly<Record<Feature, Ability>>;
