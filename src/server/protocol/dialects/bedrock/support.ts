/**
 * What becomes of each member of a request: Converse (docs.aws.amazon.com/bedrock/latest/APIReference,
 * API_runtime_Converse; read November 2026).
 */
import type { RequestSupport } from "../shared/support";

export const requestSupport: RequestSupport = {
  messages: {
    extra: "unsupported",
    content: {
      text: { citations: "unsupported", cache: "sent", extra: "unsupported" },
      refusal: { cache: "sent", extra: "unsupported" },
      reasoning: "unsupported",
      image: { detail: "unsupported", cache: "unsupported", extra: "unsupported" },
      audio: "unsupported",
      file: { name: "sent", cache: "unsupported", extra: "unsupported" },
      tool_call: { custom: "sent", cache: "unsupported", extra: "unsupported" },
      tool_result: { name: "implied", error: "sent", custom: "implied", cache: "unsupported", extra: "unsupported" },
      opaque: "unsupported",
    },
  },
  tools: {
    function: {
      description: "sent",
      parameters: "sent",
      strict: "unsupported",
      cache: "unsupported",
      extra: "unsupported",
    },
    free_form: { description: "sent", format: "sent", extra: "unsupported" },
    server: "unsupported",
  },
  tool_choice: { name: "sent", allowed: "sent" },
  parallel_tools: "unsupported",
  format: "unsupported",
  temperature: "sent",
  top_p: "sent",
  top_k: "unsupported",
  seed: "unsupported",
  frequency_penalty: "unsupported",
  presence_penalty: "unsupported",
  choices: "unsupported",
  max_output: "sent",
  stop: "sent",
  reasoning: "unsupported",
  verbosity: "unsupported",
  user: "unsupported",
  metadata: "unsupported",
  cache: "unsupported",
  extra: "sent",
};
