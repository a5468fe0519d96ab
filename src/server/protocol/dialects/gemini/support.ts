/**
 * What becomes of each member of a request and of an answer: Google's generateContent (ai.google.dev/api/generate-
 * content; types of @google/genai 3.1; read November 2026).
 */
import type { AnswerSupport, RequestSupport } from "../shared/support";

export const requestSupport: RequestSupport = {
  messages: {
    extra: "unsupported",
    content: {
      text: { citations: "unsupported", cache: "unsupported", extra: "sent" },
      refusal: { cache: "unsupported", extra: "unsupported" },
      reasoning: { reasoningSignature: "sent", cache: "unsupported", extra: "unsupported" },
      image: { detail: "unsupported", cache: "unsupported", extra: "sent" },
      audio: { transcript: "unsupported", cache: "unsupported", extra: "sent" },
      file: { name: "sent", cache: "unsupported", extra: "sent" },
      tool_call: { custom: "sent", cache: "unsupported", extra: "sent" },
      tool_result: { name: "sent", error: "sent", custom: "implied", cache: "unsupported", extra: "unsupported" },
      opaque: { cache: "unsupported", extra: "unsupported" },
    },
  },
  tools: {
    function: { description: "sent", parameters: "sent", strict: "unsupported", cache: "unsupported", extra: "sent" },
    free_form: { description: "sent", format: "sent", extra: "unsupported" },
    server: "sent",
  },
  tool_choice: { name: "sent", allowed: "sent" },
  parallel_tools: "unsupported",
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
  verbosity: "unsupported",
  user: "unsupported",
  metadata: "unsupported",
  cache: "unsupported",
  extra: "sent",
};

export const answerSupport: AnswerSupport = {
  choices: {
    several: "sent",
    extra: "sent",
    content: {
      text: { citations: "sent", cache: "unsupported", extra: "sent" },
      refusal: { cache: "unsupported", extra: "sent" },
      reasoning: { reasoningSignature: "sent", cache: "unsupported", extra: "unsupported" },
      image: { detail: "unsupported", cache: "unsupported", extra: "sent" },
      audio: { transcript: "unsupported", cache: "unsupported", extra: "sent" },
      file: { name: "sent", cache: "unsupported", extra: "sent" },
      tool_call: { custom: "sent", cache: "unsupported", extra: "sent" },
      opaque: { cache: "unsupported", extra: "sent" },
    },
    finish: { stop: "unsupported" },
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
    server_tools: "unsupported",
  },
  extra: "sent",
};
