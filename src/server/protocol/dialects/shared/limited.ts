/** What a chat cannot do whose vendor offers an application, not a model: everything that `able` does not name. */
import type { FeatureRecord } from "../features";

/** `limit` names the vendor's own limit, for people. */
export function limitedTo(limit: string, able: Partial<FeatureRecord>): FeatureRecord {
  const no = { no: limit };
  const nothing: FeatureRecord = {
    text: no,
    system_prompt: no,
    mid_system: no,
    images: no,
    image_urls: no,
    audio_in: no,
    audio_out: no,
    image_out: no,
    files: no,
    file_urls: no,
    tools: no,
    custom_tools: no,
    parallel_tools: no,
    streamed_arguments: no,
    tool_results_with_images: no,
    tool_errors: no,
    tool_choice: no,
    allowed_tools: no,
    strict_tools: no,
    web_search: no,
    server_tools: no,
    json_output: no,
    json_schema: no,
    reasoning_effort: no,
    reasoning_budget: no,
    reasoning_text: no,
    reasoning_seals: no,
    refusals: no,
    citations: no,
    cache_marks: no,
    stop_sequences: no,
    sampling: no,
    top_k: no,
    penalties: no,
    seed: no,
    choices: no,
    logprobs: no,
    user_name: no,
    usage: no,
    cache_usage: no,
    reasoning_usage: no,
    errors_in_stream: no,
  };
  return { ...nothing, ...able };
}
