/**
 * What becomes of each member of a request: Tencent Hunyuan (types of tencentcloud-sdk-nodejs, hunyuan v20230901; read
 * November 2026).
 */
import type { RequestSupport } from "../shared/support";

export const requestSupport: RequestSupport = {
  messages: {
    extra: "unsupported",
    content: {
      text: { citations: "unsupported", cache: "unsupported", extra: "unsupported" },
      refusal: { cache: "unsupported", extra: "unsupported" },
      reasoning: "unsupported",
      image: { detail: "unsupported", cache: "unsupported", extra: "unsupported" },
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
  tool_choice: { name: "sent", allowed: "unsupported" },
  parallel_tools: "unsupported",
  format: "unsupported",
  temperature: "sent",
  top_p: "sent",
  top_k: "unsupported",
  seed: "sent",
  frequency_penalty: "unsupported",
  presence_penalty: "unsupported",
  choices: "unsupported",
  max_output: "unsupported",
  stop: "sent",
  reasoning: "unsupported",
  verbosity: "unsupported",
  user: "unsupported",
  metadata: "unsupported",
  cache: "unsupported",
  extra: "sent",
};
