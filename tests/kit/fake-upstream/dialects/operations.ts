/**
 * Endpoints other than chat: embeddings, images, speech, transcription, moderation, model lists, billing, rerank, token
 * counting. Sources, read November 2026: platform.openai.com/docs/api-reference (embeddings, images, audio,
 * moderations, models) and the types of the `openai` npm SDK 7.55; docs.cohere.com/reference/rerank and api.jina.ai
 * (rerank); platform.claude.com/docs (api/messages-count-tokens, api/models-list); ai.google.dev/api (tokens,
 * embeddings, models). The billing pair is OpenAI's former dashboard API, in the format its clients still read.
 */
import { type Json, list, object, text } from "../answer";
import type { Behaviour } from "../behaviours";
import type { Frame } from "./dialect";

/** A complete body, or the frames of a stream. */
export type Content = { contentType: string; body: Uint8Array } | { frames: Frame[] };

const json = (body: Json): Content => ({ contentType: "application/json", body: Buffer.from(JSON.stringify(body)) });
const plain = (body: string): Content => ({ contentType: "text/plain; charset=utf-8", body: Buffer.from(body) });
const event = (kind: Frame["kind"], body: Json): Frame => ({
  event: text(body.type),
  kind,
  data: JSON.stringify(body),
});

/** The smallest PNG (one transparent pixel), base64. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
/** An MPEG-1 layer 3 frame header and silence. */
const AUDIO = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(413)]);
const SPEECH_TYPES: Record<string, string> = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
};
const TRANSCRIPT = "Hello from the fake upstream.";

/** A vector of unit length that depends on the text alone. */
function vector(input: string, dimensions: number): number[] {
  const raw = Array.from({ length: dimensions }, (_, i) => Math.sin(input.length + i + 1));
  const norm = Math.hypot(...raw);
  return raw.map((value) => value / norm);
}

function inputs(input: unknown): string[] {
  if (typeof input === "string") return [input];
  const many = list(input);
  return typeof many[0] === "number"
    ? [many.join(" ")]
    : many.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
}

/** Embeddings: base64 (little-endian float32) if requested, as the official SDK does by default. */
export function embeddings(request: Json, model: string, behaviour: Behaviour): Content {
  const dimensions = typeof request.dimensions === "number" ? request.dimensions : 16;
  const data = inputs(request.input).map((one, index) => {
    const values = vector(one, dimensions);
    const packed = Buffer.from(new Float32Array(values).buffer).toString("base64");
    return { object: "embedding", index, embedding: request.encoding_format === "base64" ? packed : values };
  });
  const tokens = behaviour.usage.input;
  const usage = behaviour.usageMode === "none" ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
  return json({ object: "list", data, model, ...usage });
}

export function images(request: Json, behaviour: Behaviour): Content {
  const asked = Number(request.n ?? NaN);
  const count = Number.isInteger(asked) ? asked : behaviour.choices;
  const { input, output } = behaviour.usage;
  const usage = {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { text_tokens: input, image_tokens: 0 },
  };
  const created = Math.floor(Date.now() / 1000);
  if (request.stream === true || request.stream === "true") {
    const common = {
      b64_json: PIXEL,
      created_at: created,
      size: "1024x1024",
      quality: "low",
      background: "auto",
      output_format: "png",
    };
    return {
      frames: [
        event("content", { type: "image_generation.partial_image", partial_image_index: 0, ...common }),
        event("usage", { type: "image_generation.completed", ...common, usage }),
      ],
    };
  }
  const image = request.response_format === "url" ? { url: "http://127.0.0.1/fake.png" } : { b64_json: PIXEL };
  const data = Array.from({ length: count }, () => image);
  return json({ created, data, ...(behaviour.usageMode !== "none" && { usage }) });
}

export function speech(request: Json, behaviour: Behaviour): Content {
  if (request.stream_format === "sse") {
    const { input, output } = behaviour.usage;
    const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
    return {
      frames: [
        event("content", { type: "speech.audio.delta", audio: AUDIO.toString("base64") }),
        event("usage", { type: "speech.audio.done", usage }),
      ],
    };
  }
  return {
    contentType: SPEECH_TYPES[text(request.response_format)] ?? "audio/mpeg",
    body: Buffer.concat(Array(8).fill(AUDIO)),
  };
}

/** Transcription; `request` holds the text fields of the multipart form. */
export function transcription(request: Json, behaviour: Behaviour): Content {
  const { input, output } = behaviour.usage;
  const usage = {
    type: "tokens",
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_token_details: { text_tokens: 0, audio_tokens: input },
  };
  if (request.stream === "true") {
    const deltas = TRANSCRIPT.split(/(?= )/).map((delta) => event("content", { type: "transcript.text.delta", delta }));
    return { frames: [...deltas, event("usage", { type: "transcript.text.done", text: TRANSCRIPT, usage })] };
  }
  switch (request.response_format) {
    case "text":
      return plain(`${TRANSCRIPT}\n`);
    case "srt":
      return plain(`1\n00:00:00,000 --> 00:00:02,500\n${TRANSCRIPT}\n\n`);
    case "vtt":
      return plain(`WEBVTT\n\n00:00:00.000 --> 00:00:02.500\n${TRANSCRIPT}\n\n`);
    case "verbose_json": {
      const segment = {
        id: 0,
        seek: 0,
        start: 0,
        end: 2.5,
        text: TRANSCRIPT,
        tokens: [1, 2, 3],
        temperature: 0,
        avg_logprob: -0.1,
        compression_ratio: 1,
        no_speech_prob: 0,
      };
      const seconds = { type: "duration", seconds: 3 };
      return json({
        task: "transcribe",
        language: "english",
        duration: 2.5,
        text: TRANSCRIPT,
        segments: [segment],
        usage: seconds,
      });
    }
    default:
      return json({ text: TRANSCRIPT, ...(behaviour.usageMode !== "none" && { usage }) });
  }
}

const CATEGORIES = [
  "harassment",
  "harassment/threatening",
  "hate",
  "hate/threatening",
  "illicit",
  "illicit/violent",
  "self-harm",
  "self-harm/instructions",
  "self-harm/intent",
  "sexual",
  "sexual/minors",
  "violence",
  "violence/graphic",
];

/** Moderation: inputs with the word "violence" are flagged. */
export function moderations(request: Json, model: string, id: string): Content {
  const results = inputs(request.input).map((input) => {
    const flagged = input.includes("violence");
    const each = <T>(value: (name: string) => T) => Object.fromEntries(CATEGORIES.map((name) => [name, value(name)]));
    return {
      flagged,
      categories: each((name) => flagged && name === "violence"),
      category_scores: each((name) => (flagged && name === "violence" ? 0.98 : 0.0001)),
      category_applied_input_types: each(() => ["text"]),
    };
  });
  return json({ id: `modr-${id}`, model, results });
}

/** Rerank in the format that Cohere and Jina share; scores fall with the position, best first. */
export function rerank(request: Json, model: string, id: string, behaviour: Behaviour): Content {
  const documents = list(request.documents);
  const top = typeof request.top_n === "number" ? request.top_n : documents.length;
  const results = documents.slice(0, top).map((document, index) => ({
    index,
    relevance_score: 0.9 / (index + 1),
    ...(request.return_documents === true && {
      document: typeof document === "string" ? { text: document } : document,
    }),
  }));
  const { input } = behaviour.usage;
  const billed = {
    meta: { api_version: { version: "2" }, billed_units: { search_units: 1 }, tokens: { input_tokens: input } },
  };
  const usage =
    behaviour.usageMode === "none" ? {} : { ...billed, usage: { total_tokens: input, prompt_tokens: input } };
  return json({ id: `rerank-${id}`, model, results, ...usage });
}

export type ModelListStyle = "openai" | "anthropic" | "gemini";

export function models(names: readonly string[], style: ModelListStyle): Content {
  if (style === "anthropic") {
    const data = names.map((id) => ({ type: "model", id, display_name: id, created_at: "2026-01-01T00:00:00Z" }));
    return json({ data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null });
  }
  if (style === "gemini") {
    const supportedGenerationMethods = ["generateContent", "countTokens"];
    const limits = { inputTokenLimit: 1048576, outputTokenLimit: 65536, supportedGenerationMethods };
    return json({ models: names.map((id) => ({ name: `models/${id}`, version: "001", displayName: id, ...limits })) });
  }
  return json({ object: "list", data: names.map((id) => openaiModel(id)) });
}

const openaiModel = (id: string): Json => ({ id, object: "model", created: 1767225600, owned_by: "fake" });
export const model = (id: string): Content => json(openaiModel(id));

export const anthropicCountTokens = (behaviour: Behaviour): Content => json({ input_tokens: behaviour.usage.input });

export function geminiCountTokens(behaviour: Behaviour): Content {
  const tokens = behaviour.usage.input;
  return json({ totalTokens: tokens, promptTokensDetails: [{ modality: "TEXT", tokenCount: tokens }] });
}

export function geminiEmbedContent(request: Json): Content {
  const values = (one: Json): Json => {
    const size = typeof one.outputDimensionality === "number" ? one.outputDimensionality : 16;
    return {
      values: vector(
        list(object(one.content).parts)
          .map((part) => text(object(part).text))
          .join(""),
        size,
      ),
    };
  };
  const many = request.requests;
  return json(
    many === undefined ? { embedding: values(request) } : { embeddings: list(many).map((one) => values(object(one))) },
  );
}

/** 100 dollars granted, 12.34 used (total_usage is in cents). */
export const billingSubscription = (): Content =>
  json({
    object: "billing_subscription",
    has_payment_method: true,
    soft_limit_usd: 100,
    hard_limit_usd: 100,
    system_hard_limit_usd: 100,
    access_until: 0,
  });
export const billingUsage = (): Content => json({ object: "list", daily_costs: [], total_usage: 1234 });
