/**
 * Embeddings and images of Google's models in OpenAI's format (ai.google.dev/api/embeddings and /api/models, method
 * predict; cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api and /text-embeddings-api; types of
 * @google/genai 3.1; November 2026).
 */
import { mediaPart } from "../../protocol/dialects/gemini/parts-encode";
import { RequestFault } from "../../protocol/dialects/shared/fault";
import { compact, list, number, object, objects, optionalText, text } from "../../protocol/dialects/shared/json";
import { sourceOfUrl } from "../../protocol/dialects/shared/media";
import { readUsage } from "../../protocol/dialects/gemini/usage";
import type { WireObject } from "../../protocol/chat-events";
import { picturesOf, refuseMask, refuseStream, whiteMaskOf } from "./pictures";
import type { DirectCodec } from "./provider";
import { safetyOf } from "./vendor-rules";

/** The texts of an embeddings call. Throws RequestFault for token ids: Google has its own tokenizer. */
function textsOf({ input }: WireObject): string[] {
  const inputs = Array.isArray(input) ? input : [input];
  const texts = inputs.filter((one) => typeof one === "string");
  if (texts.length === 0 || texts.length < inputs.length) throw new RequestFault("input");
  return texts;
}

function numbersOf(values: unknown): number[] {
  return list(values).filter((value) => typeof value === "number");
}

/** OpenAI's list of vectors; as base64 of little-endian floats if requested. */
function embeddingList(vectors: number[][], asked: WireObject, tokens: number | undefined): WireObject {
  const packed = asked.encoding_format === "base64";
  const data = vectors.map((vector, index) => {
    const embedding = packed ? Buffer.from(Float32Array.from(vector).buffer).toString("base64") : vector;
    return { object: "embedding", index, embedding };
  });
  const usage = tokens === undefined ? {} : { usage: { prompt_tokens: tokens, total_tokens: tokens } };
  return { object: "list", data, model: text(asked.model), ...usage };
}

/** Members that only Google's own callers set for each text, see operations/embed-content.ts. */
function hintsOf({ google }: WireObject, index: number): { taskType?: string; title?: string } {
  const { taskType, title } = object(list(google)[index]);
  return compact({ taskType: optionalText(taskType), title: optionalText(title) });
}

/** models.batchEmbedContents of the Gemini API. */
export const geminiEmbeddings: DirectCodec = {
  encode(body, { model }) {
    const outputDimensionality = number(body.dimensions);
    return {
      requests: textsOf(body).map((one, index) =>
        compact({
          model: `models/${model}`,
          content: { parts: [{ text: one }] },
          ...hintsOf(body, index),
          outputDimensionality,
        }),
      ),
    };
  },
  decode(answer, asked) {
    if (!Array.isArray(answer.embeddings)) return undefined;
    const vectors = objects(answer.embeddings).map(({ values }) => numbersOf(values));
    return embeddingList(vectors, asked, number(object(answer.usageMetadata).promptTokenCount));
  },
};

/** :predict of the embedding models on Vertex AI. */
export const vertexEmbeddings: DirectCodec = {
  encode(body) {
    const outputDimensionality = number(body.dimensions);
    const instances = textsOf(body).map((content, index) => {
      const { taskType, title } = hintsOf(body, index);
      return compact({ content, task_type: taskType, title });
    });
    return { instances, ...(outputDimensionality !== undefined && { parameters: { outputDimensionality } }) };
  },
  decode(answer, asked) {
    if (!Array.isArray(answer.predictions)) return undefined;
    const found = objects(answer.predictions).map(({ embeddings }) => object(embeddings));
    const counts = found.map(({ statistics }) => number(object(statistics).token_count));
    const tokens = counts.reduce<number | undefined>(
      (sum, one) => (sum === undefined || one === undefined ? undefined : sum + one),
      0,
    );
    return embeddingList(
      found.map(({ values }) => numbersOf(values)),
      asked,
      tokens,
    );
  },
};

/** Aspect ratios that every image model of Google supports. */
const ratios = { "1:1": 1, "3:4": 3 / 4, "4:3": 4 / 3, "9:16": 9 / 16, "16:9": 16 / 9 } as const;

/**
 * The aspect ratio nearest to a size such as 1024x1536, or an aspect ratio itself; undefined when the caller sets none.
 */
function aspectRatio(size: unknown): string | undefined {
  const said = optionalText(size);
  if (said === undefined || said === "" || said === "auto") return undefined;
  if (Object.hasOwn(ratios, said)) return said;
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(said) ?? [];
  const wanted = Number(width) / Number(height);
  if (!Number.isFinite(wanted) || wanted <= 0) throw new RequestFault("size");
  const distance = (ratio: number): number => Math.abs(Math.log(ratio / wanted));
  return Object.entries(ratios).toSorted(([, a], [, b]) => distance(a) - distance(b))[0]?.[0];
}

/** Models that generate images with :predict; the others use :generateContent. */
export const isImagen = (model: string): boolean => model.startsWith("imagen");

const filtered = (reason: string): WireObject => ({
  error: {
    code: 400,
    message: reason || "no picture was made",
    status: "FAILED_PRECONDITION",
    details: [{ reason: "content_policy_violation" }],
  },
});

/** The model answered in words instead: they say what is missing. */
const undrawn = (words: string): WireObject => ({
  error: {
    code: 400,
    message: `no picture was made: ${words}`,
    status: "INVALID_ARGUMENT",
    details: [{ reason: "invalid_request_error" }],
  },
});

/** The models of Imagen that edit, such as imagen-3.0-capability-001; the others would generate a new image. */
const edits = (model: string): boolean => model.includes("-capability");

/** The body for an Imagen model: generate, or edit one image, all of it or the masked part. */
function imagenInstance(
  model: string,
  prompt: string,
  [picture, second]: readonly string[],
  mask: string | undefined,
): { instance: WireObject; edit?: { editMode: string } } {
  if (picture === undefined) return { instance: { prompt } };
  if (!edits(model)) throw new RequestFault("image", "this model makes pictures from words alone");
  if (second !== undefined) throw new RequestFault("image", "Imagen edits one picture");
  const source = sourceOfUrl(picture);
  if (source.kind !== "data") throw new RequestFault("image", "Imagen takes pictures inside the call, not by address");
  const raw = {
    referenceType: "REFERENCE_TYPE_RAW",
    referenceId: 1,
    referenceImage: { bytesBase64Encoded: source.data },
  };
  if (mask === undefined)
    return { instance: { prompt, referenceImages: [raw] }, edit: { editMode: "EDIT_MODE_DEFAULT" } };
  const marked = {
    referenceType: "REFERENCE_TYPE_MASK",
    referenceId: 2,
    referenceImage: { bytesBase64Encoded: mask },
    maskImageConfig: { maskMode: "MASK_MODE_USER_PROVIDED" },
  };
  return { instance: { prompt, referenceImages: [raw, marked] }, edit: { editMode: "EDIT_MODE_INPAINT_INSERTION" } };
}

/**
 * Imagen, and Gemini models that generate and edit (ai.google.dev/gemini-api/docs/image-generation;
 * cloud.google.com/vertex-ai/generative-ai/docs/model-reference/imagen-api-edit; November 2026). Always base64: Google
 * returns no URLs.
 */
export const googleImages: DirectCodec = {
  edits: true,
  async encode(body, { model, rules }) {
    refuseStream(body, "Google");
    const prompt = text(body.prompt);
    const pictures = picturesOf(body);
    const ratio = aspectRatio(body.size);
    const n = number(body.n) ?? 1;
    if (isImagen(model)) {
      const { instance, edit } = imagenInstance(model, prompt, pictures, await whiteMaskOf(body));
      return {
        instances: [instance],
        parameters: { ...edit, sampleCount: n, ...(ratio !== undefined && { aspectRatio: ratio }) },
      };
    }
    refuseMask(body);
    if (n !== 1) throw new RequestFault("n", "Gemini makes one picture a call");
    const generationConfig = {
      responseModalities: ["TEXT", "IMAGE"],
      ...(ratio !== undefined && { imageConfig: { aspectRatio: ratio } }),
    };
    const parts = [{ text: prompt }, ...pictures.map((picture) => mediaPart(sourceOfUrl(picture), "image/jpeg"))];
    // Imagen's thresholds have other names.
    return { contents: [{ role: "user", parts }], generationConfig, ...safetyOf(rules) };
  },
  decode(answer, _, { now }) {
    const created = Math.floor(now() / 1000);
    if (Array.isArray(answer.predictions)) {
      const made = objects(answer.predictions);
      const data = made
        .map(({ bytesBase64Encoded }) => ({ b64_json: text(bytesBase64Encoded) }))
        .filter(({ b64_json }) => b64_json !== "");
      return data.length > 0 ? { created, data } : filtered(text(made[0]?.raiFilteredReason));
    }
    const [candidate] = objects(answer.candidates);
    if (!candidate) return undefined;
    const parts = objects(object(candidate.content).parts);
    const data = parts
      .map(({ inlineData }) => ({ b64_json: text(object(inlineData).data) }))
      .filter(({ b64_json }) => b64_json !== "");
    if (data.length === 0) {
      const words = parts.map((part) => text(part.text)).join("");
      const reason = text(candidate.finishMessage) || text(candidate.finishReason);
      return candidate.finishReason === "STOP" && words !== "" ? undrawn(words) : filtered(reason);
    }
    const {
      input = 0,
      output = 0,
      image_out = 0,
      reasoning = 0,
      image_in = 0,
      cache_read = 0,
    } = readUsage(object(answer.usageMetadata)) ?? {};
    const input_tokens = input + image_in + cache_read;
    const output_tokens = output + image_out + reasoning;
    const words =
      image_out > 0 ? { output_tokens_details: { image_tokens: image_out, text_tokens: output + reasoning } } : {};
    const usage = {
      input_tokens,
      output_tokens,
      total_tokens: input_tokens + output_tokens,
      input_tokens_details: { text_tokens: input, image_tokens: image_in, cached_tokens: cache_read },
      ...words,
    };
    return { created, data, ...(input_tokens + output_tokens > 0 && { usage }) };
  },
};
