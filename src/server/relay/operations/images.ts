/** POST /v1/images/generations, /edits and /variations. */
import { fail } from "../../../shared/errors";
import type { ChatRequest } from "../../protocol/chat-events";
import { dataUrlOf, mediaTypeOfUrl } from "../../protocol/dialects/shared/media";
import type { JsonObject } from "../../lib/json-bytes";
import type { Part } from "../../lib/request-body/multipart";
import type { Form } from "../../lib/request-body/multipart-form";
import { imageTerms, imageUsage, type ImageRequest } from "./image-price";
import { type UntranslatedRules, type Operation, readCount, readFlag, readModelOr, readText } from "./operation";

/** The model of a body that names none. */
const DEFAULT_MODEL = "dall-e-2";
/** More images than any vendor makes in one call. */
const MAX_IMAGES = 128;

function request(model: { model: string; model_added?: true }, stream: boolean, ask: ImageRequest): ChatRequest {
  if (ask.n < 1 || ask.n > MAX_IMAGES) fail("invalid_request", { detail: "n" });
  const { terms, max_output } = imageTerms(model.model, ask);
  return { ...model, stream, include_usage: true, max_output, terms };
}

function read(body: JsonObject): ChatRequest {
  return request(readModelOr(body, DEFAULT_MODEL), readFlag(body, "stream"), {
    n: readCount(body, "n") ?? 1,
    size: readText(body, "size"),
    quality: readText(body, "quality"),
    partial_images: readCount(body, "partial_images") ?? 0,
    input_bytes: JSON.stringify(body.prompt ?? "").length,
    input_images: imagesIn(body.image) + imagesIn(body.images),
  });
}

const imagesIn = (value: unknown): number =>
  Array.isArray(value) ? value.length : value === undefined || value === null ? 0 : 1;

/** A form names the model, the image and, for edits, the prompt. */
function readForm(form: Form): ChatRequest {
  const images = form.files("image");
  const named = form.text("model");
  return request(
    named === undefined ? { model: DEFAULT_MODEL, model_added: true } : { model: named },
    form.text("stream") === "true",
    {
      n: form.count("n") ?? 1,
      size: form.text("size"),
      quality: form.text("quality"),
      partial_images: form.count("partial_images") ?? 0,
      input_bytes: Buffer.byteLength(form.text("prompt") ?? ""),
      input_images: images.length + form.parts("mask").length,
    },
  );
}

const numbers = new Set(["n", "seed", "output_compression", "partial_images"]);
const flags = new Set(["stream", "watermark", "prompt_extend"]);
const valueOf = (name: string, text: string): unknown =>
  numbers.has(name) ? Number(text) : flags.has(name) ? text === "true" : text;

/**
 * The form of an edit as OpenAI's JSON body (platform.openai.com/docs/api-reference/images/createEdit:
 * images[].image_url, mask.image_url).
 */
async function editInJson(form: Form): Promise<JsonObject> {
  const inside = async (part: Part): Promise<{ image_url: string }> => {
    const type = part.content_type.startsWith("image/")
      ? part.content_type
      : (mediaTypeOfUrl(part.filename ?? "") ?? "image/png");
    return { image_url: dataUrlOf(type, (await form.read(part)).toString("base64")) };
  };
  const [mask] = form.parts("mask");
  const fields = form.names().flatMap((name) => {
    const [part] = form.parts(name);
    return part?.filename === undefined && part?.value ? [[name, valueOf(name, part.value)] as const] : [];
  });
  return {
    ...Object.fromEntries(fields),
    images: await Promise.all(form.files("image").map(inside)),
    ...(mask && { mask: await inside(mask) }),
  };
}

function needsPrompt(prompt: unknown): void {
  if (typeof prompt !== "string" || prompt === "") fail("invalid_request", { detail: "prompt" });
}

const answers: Pick<UntranslatedRules, "plain" | "isAnswer" | "usageOf"> = {
  plain: "never",
  isAnswer: (body) => Array.isArray(body.data),
  usageOf: (body) => imageUsage(body.usage),
};

export const imageGenerations: Operation = {
  key: "images",
  streams: true,
  read(body) {
    needsPrompt(body.prompt);
    return read(body);
  },
  direct: { ...answers, json: true },
};

export const imageEdits: Operation = {
  key: "images",
  streams: true,
  read(body) {
    needsPrompt(body.prompt);
    if (body.image === undefined && body.images === undefined) fail("invalid_request", { detail: "image" });
    return read(body);
  },
  direct: {
    ...answers,
    json: true,
    path: ["/generations", "/edits"],
    inJson: editInJson,
    readForm(form) {
      needsPrompt(form.text("prompt"));
      return readForm(form);
    },
  },
};

export const imageVariations: Operation = {
  key: "images",
  streams: false,
  read,
  direct: { ...answers, json: false, path: ["/generations", "/variations"], readForm },
};
