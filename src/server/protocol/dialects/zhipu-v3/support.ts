/**
 * What becomes of each member of a request: Zhipu's API of generation 3 (open.bigmodel.cn, model-api; zhipuai 1.0.7;
 * read November 2026).
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
      file: "unsupported",
      tool_call: "unsupported",
      tool_result: {
        name: "unsupported",
        error: "unsupported",
        custom: "implied",
        cache: "unsupported",
        extra: "unsupported",
      },
      opaque: "unsupported",
    },
  },
  tools: { function: "unsupported", free_form: "unsupported", server: "unsupported" },
  tool_choice: "unsupported",
  parallel_tools: "unsupported",
  format: "unsupported",
  temperature: "sent",
  top_p: "sent",
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
