/**
 * What becomes of each member of a request: bots of Coze (docs.coze.cn/developer_guides/chat_v3; read November 2026).
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
      audio: { transcript: "unsupported", cache: "unsupported", extra: "unsupported" },
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
  user: "sent",
  metadata: "unsupported",
  cache: "unsupported",
  extra: "sent",
};
