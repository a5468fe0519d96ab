/**
 * What becomes of each member of a request: Cohere's v2 chat (docs.cohere.com/reference/chat; read November 2026).
 */
import type { RequestSupport } from "../shared/support";

export const requestSupport: RequestSupport = {
  messages: {
    extra: "unsupported",
    content: {
      text: { citations: "unsupported", cache: "unsupported", extra: "unsupported" },
      refusal: { cache: "unsupported", extra: "unsupported" },
      reasoning: { reasoningSignature: "unsupported", cache: "unsupported", extra: "unsupported" },
      image: { detail: "sent", cache: "unsupported", extra: "unsupported" },
      audio: "unsupported",
      file: { name: "unsupported", cache: "unsupported", extra: "unsupported" },
      tool_call: { custom: "sent", cache: "unsupported", extra: "unsupported" },
      tool_result: {
        name: "implied",
        error: "unsupported",
        custom: "implied",
        cache: "unsupported",
        extra: "unsupported",
      },
      opaque: "unsupported",
    },
  },
  tools: {
    function: { description: "sent", parameters: "sent", strict: "sent", cache: "unsupported", extra: "unsupported" },
    free_form: { description: "sent", format: "sent", extra: "unsupported" },
    server: "unsupported",
  },
  tool_choice: { name: "sent", allowed: "sent" },
  parallel_tools: "unsupported",
  format: {
    text: "sent",
    json: "sent",
    json_schema: { name: "unsupported", description: "unsupported", strict: "implied" },
  },
  temperature: "sent",
  top_p: "sent",
  top_k: "sent",
  seed: "sent",
  frequency_penalty: "sent",
  presence_penalty: "sent",
  choices: "unsupported",
  max_output: "sent",
  stop: "sent",
  reasoning: { effort: "sent", budget: "sent", show: "unsupported", extra: "unsupported" },
  verbosity: "unsupported",
  user: "unsupported",
  metadata: "unsupported",
  cache: "unsupported",
  extra: "sent",
};
