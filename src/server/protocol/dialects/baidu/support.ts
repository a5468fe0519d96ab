/**
 * What becomes of each member of a request: Baidu Wenxin, generation 1
 * (cloud.baidu.com/doc/WENXINWORKSHOP/s/clntwmv7t; read November 2026).
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
  format: {
    text: "sent",
    json: "sent",
    json_schema: { name: "unsupported", description: "unsupported", strict: "unsupported" },
  },
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
  user: "sent",
  metadata: "unsupported",
  cache: "unsupported",
  extra: "sent",
};
