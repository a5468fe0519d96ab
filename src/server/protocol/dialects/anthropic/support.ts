/**
 * What becomes of each member of a request and of an answer: Anthropic's Messages API (types of @anthropic-ai/sdk
 * 1.11, MessageCreateParamsBase and Message; read November 2026).
 */
import type { AnswerSupport, RequestSupport } from "../shared/support";

export const requestSupport: RequestSupport = {
  messages: {
    extra: "sent",
    content: {
      text: { citations: "sent", cache: "sent", extra: "sent" },
      refusal: { cache: "sent", extra: "unsupported" },
      reasoning: { reasoningSignature: "sent", cache: "unsupported", extra: "unsupported" },
      image: { detail: "unsupported", cache: "sent", extra: "sent" },
      audio: "unsupported",
      file: { name: "sent", cache: "sent", extra: "sent" },
      tool_call: { custom: "sent", cache: "sent", extra: "sent" },
      tool_result: { name: "implied", error: "sent", custom: "implied", cache: "sent", extra: "sent" },
      opaque: { cache: "unsupported", extra: "unsupported" },
    },
  },
  tools: {
    function: { description: "sent", parameters: "sent", strict: "sent", cache: "sent", extra: "sent" },
    free_form: { description: "sent", format: "sent", extra: "unsupported" },
    server: "sent",
  },
  tool_choice: { name: "sent", allowed: "sent" },
  parallel_tools: "sent",
  format: { text: "sent", json: "sent", json_schema: { name: "sent", description: "sent", strict: "sent" } },
  temperature: "sent",
  top_p: "sent",
  top_k: "sent",
  seed: "unsupported",
  frequency_penalty: "unsupported",
  presence_penalty: "unsupported",
  choices: "unsupported",
  max_output: "sent",
  stop: "sent",
  reasoning: { effort: "sent", budget: "sent", show: "sent", extra: "sent" },
  verbosity: "unsupported",
  user: "sent",
  metadata: "unsupported",
  cache: { ttl: "sent", extra: "sent" },
  extra: "sent",
};

export const answerSupport: AnswerSupport = {
  choices: {
    several: "unsupported",
    extra: "unsupported",
    content: {
      text: { citations: "sent", cache: "sent", extra: "sent" },
      refusal: { cache: "sent", extra: "sent" },
      reasoning: { reasoningSignature: "sent", cache: "sent", extra: "sent" },
      image: "unsupported",
      audio: "unsupported",
      file: "unsupported",
      tool_call: { custom: "sent", cache: "sent", extra: "sent" },
      opaque: { cache: "sent", extra: "sent" },
    },
    finish: { stop: "sent" },
    citation: { url: "sent", title: "sent", cited_text: "sent", start: "unsupported", end: "unsupported" },
    starts: {
      text: "sent",
      reasoning: "sent",
      refusal: "sent",
      audio: { id: "unsupported" },
      tool_call: { custom: "sent" },
      whole: "sent",
    },
  },
  usage: {
    input: "sent",
    cache_read: "sent",
    cache_write_5m: "sent",
    cache_write_1h: "sent",
    audio_in: "sent",
    image_in: "sent",
    output: "sent",
    reasoning: "sent",
    audio_out: "sent",
    image_out: "sent",
    server_tools: "sent",
  },
  extra: "sent",
};
