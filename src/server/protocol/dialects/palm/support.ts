/**
 * What becomes of each member of a request: Google's generateMessage (ai.google.dev/api/palm; read November 2026).
 */
import type { RequestSupport } from "../shared/support";

export const requestSupport: RequestSupport = {
  messages: {
    extra: "unsupported",
    content: {
      text: { citations: "unsupported", cache: "unsupported", extra: "unsupported" },
      refusal: { cache: "unsupported", extra: "unsupported" },
      reasoning: "unsupported",
      image: "unsupported",
      audio: "unsupported",
      file: { name: "unsupported", cache: "unsupported", extra: "unsupported" },
      tool_call: "unsupported",
      tool_result: "unsupported",
      opaque: "unsupported",
    },
  },
  tools: "unsupported",
  tool_choice: "unsupported",
  parallel_tools: "unsupported",
  format: "unsupported",
  temperature: "sent",
  top_p: "sent",
  top_k: "sent",
  seed: "unsupported",
  frequency_penalty: "unsupported",
  presence_penalty: "unsupported",
  choices: "sent",
  max_output: "unsupported",
  stop: "unsupported",
  reasoning: "unsupported",
  verbosity: "unsupported",
  user: "unsupported",
  metadata: "unsupported",
  cache: "unsupported",
  extra: "unsupported",
};
