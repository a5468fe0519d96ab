/**
 * What becomes of each member of a request and of an answer: OpenAI's chat (types of the `openai` SDK 7.55,
 * resources/chat/completions, and what compatible vendors add; read November 2026).
 */
import type { AnswerSupport, RequestSupport } from "../shared/support";

export const requestSupport: RequestSupport = {
  messages: {
    extra: "sent",
    content: {
      text: { citations: "sent", cache: "sent", extra: "sent" },
      refusal: { cache: "sent", extra: "sent" },
      reasoning: { reasoningSignature: "sent", cache: "unsupported", extra: "unsupported" },
      image: { detail: "sent", cache: "sent", extra: "sent" },
      audio: { transcript: "unsupported", cache: "sent", extra: "sent" },
      file: { name: "sent", cache: "sent", extra: "sent" },
      tool_call: { custom: "sent", cache: "unsupported", extra: "sent" },
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
  top_k: "sent",
  seed: "sent",
  frequency_penalty: "sent",
  presence_penalty: "sent",
  choices: "sent",
  max_output: "sent",
  stop: "sent",
  reasoning: { effort: "sent", budget: "sent", show: "sent", extra: "sent" },
  verbosity: "sent",
  user: "sent",
  metadata: "sent",
  cache: "unsupported",
  extra: "sent",
};

export const answerSupport: AnswerSupport = {
  choices: {
    several: "sent",
    extra: "sent",
    content: {
      text: { citations: "sent", cache: "unsupported", extra: "unsupported" },
      refusal: { cache: "unsupported", extra: "unsupported" },
      reasoning: { reasoningSignature: "sent", cache: "unsupported", extra: "unsupported" },
      image: { detail: "unsupported", cache: "unsupported", extra: "unsupported" },
      audio: { transcript: "sent", cache: "unsupported", extra: "sent" },
      file: "unsupported",
      tool_call: { custom: "sent", cache: "unsupported", extra: "sent" },
      opaque: "unsupported",
    },
    finish: { stop: "unsupported" },
    citation: { url: "sent", title: "sent", cited_text: "unsupported", start: "sent", end: "sent" },
    starts: {
      text: "sent",
      reasoning: "sent",
      refusal: "sent",
      audio: { id: "sent" },
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
    server_tools: "unsupported",
  },
  extra: "sent",
};
