/**
 * What becomes of each member of a request: Mistral's chat (docs.mistral.ai/api, chat completions; read November
 * 2026).
 */
import type { RequestSupport } from "../shared/support";

export const requestSupport: RequestSupport = {
  messages: {
    extra: "sent",
    content: {
      text: { citations: "unsupported", cache: "sent", extra: "sent" },
      refusal: { cache: "sent", extra: "sent" },
      reasoning: "unsupported",
      image: { detail: "sent", cache: "sent", extra: "sent" },
      audio: { transcript: "unsupported", cache: "sent", extra: "sent" },
      file: { name: "sent", cache: "sent", extra: "sent" },
      tool_call: { custom: "sent", cache: "unsupported", extra: "unsupported" },
      tool_result: { name: "implied", error: "unsupported", custom: "implied", cache: "unsupported", extra: "sent" },
      opaque: { cache: "unsupported", extra: "sent" },
    },
  },
  tools: {
    function: { description: "sent", parameters: "sent", strict: "sent", cache: "sent", extra: "sent" },
    free_form: { description: "sent", format: "sent", extra: "sent" },
    server: "sent",
  },
  tool_choice: { name: "sent", allowed: "sent" },
  parallel_tools: "sent",
  format: { text: "sent", json: "sent", json_schema: { name: "sent", description: "sent", strict: "sent" } },
  temperature: "sent",
  top_p: "sent",
  top_k: "unsupported",
  seed: "sent",
  frequency_penalty: "sent",
  presence_penalty: "sent",
  choices: "sent",
  max_output: "sent",
  stop: "sent",
  reasoning: { effort: "sent", budget: "sent", show: "unsupported", extra: "unsupported" },
  verbosity: "unsupported",
  user: "unsupported",
  metadata: "sent",
  cache: "unsupported",
  extra: "sent",
};
