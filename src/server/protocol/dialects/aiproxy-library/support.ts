/**
 * What becomes of each member of a request: a knowledge base of AI Proxy (shapes of the vendor's public clients; read
 * November 2026).
 */
import type { RequestSupport } from "../shared/support";

export const requestSupport: RequestSupport = {
  messages: {
    extra: "unsupported",
    content: {
      text: { citations: "unsupported", cache: "unsupported", extra: "unsupported" },
      refusal: "unsupported",
      reasoning: "unsupported",
      image: "unsupported",
      audio: "unsupported",
      file: "unsupported",
      tool_call: "unsupported",
      tool_result: "unsupported",
      opaque: "unsupported",
    },
  },
  tools: "unsupported",
  tool_choice: "unsupported",
  parallel_tools: "unsupported",
  format: "unsupported",
  temperature: "unsupported",
  top_p: "unsupported",
  top_k: "unsupported",
  seed: "unsupported",
  frequency_penalty: "unsupported",
  presence_penalty: "unsupported",
  choices: "unsupported",
  max_output: "unsupported",
  stop: "unsupported",
  reasoning: "unsupported",
  verbosity: "unsupported",
  user: "unsupported",
  metadata: "unsupported",
  cache: "unsupported",
  extra: "unsupported",
};
