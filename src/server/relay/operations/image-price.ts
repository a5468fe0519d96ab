/** The price of generated images. */
import { printDecimal } from "../../../shared/decimal";
import { imageFactors } from "../../../shared/image-factors";
import { compilePrice, type CompiledPrice, type Usage } from "../../../shared/pricing";
import { readUsage } from "../../protocol/dialects/openai-chat/usage";
import { isObject } from "../../lib/json-bytes";
import type { Terms } from "../../protocol/call-terms";

/** The members of a request that decide the price of its images. */
export interface ImageRequest {
  n: number;
  size: string | undefined;
  quality: string | undefined;
  /** Partial images of a stream. */
  partial_images: number;
  /** Bytes of the prompt. */
  input_bytes: number;
  input_images: number;
}

/** Models that are billed by the tokens they report; all others have a price per picture. */
const BY_TOKENS = /^(?:gpt-image|chatgpt-image|gemini-)/;

/**
 * Output tokens of one image by quality: square, and the maximum of the other shapes
 * (platform.openai.com/docs/guides/image-generation, November 2026). An absent quality or size counts as the most
 * expensive one.
 */
const outputTokens: Readonly<Record<string, readonly [square: number, other: number]>> = {
  low: [272, 408],
  medium: [1056, 1584],
  high: [4160, 6240],
};
const MOST_EXPENSIVE = 6240;
/** Output tokens of one partial image. */
const PARTIAL_TOKENS = 100;
/** Most tokens of one input image. */
const INPUT_IMAGE_TOKENS = 8192;

/**
 * Most output tokens of one image of a Gemini model at the requested size (ai.google.dev/gemini-api/docs/pricing: 1290
 * up to 2.5, 1120 from 3 on; November 2026), and of the text and thoughts that may come with it.
 */
const GEMINI_TOKENS = 1290;
const GEMINI_TEXT_TOKENS = 2048;

function tokensOf(model: string, { n, size, quality, partial_images }: ImageRequest): number {
  if (model.startsWith("gemini-")) return n * GEMINI_TOKENS;
  const row = outputTokens[quality ?? ""];
  const one = row === undefined ? MOST_EXPENSIVE : size === "1024x1024" ? row[0] : row[1];
  return n * one + partial_images * PARTIAL_TOKENS;
}

/** USD of one image at model ratio 1. */
const USD_PER_RATIO = 0.0025;
const perPicture = new WeakMap<CompiledPrice, CompiledPrice>();

/** A ratio as the price of one image. */
function pricePerPicture(price: CompiledPrice): CompiledPrice {
  if (price.by === "call") return price;
  let known = perPicture.get(price);
  if (!known) {
    const ratio = price.why.model_ratio;
    const value = (ratio?.value ?? 0) * USD_PER_RATIO;
    const { group_ratio, user_group_ratio } = price.why;
    const why = { model_price: { ...ratio, value, source: ratio?.source ?? "default" }, group_ratio, user_group_ratio };
    const tables = { QuotaPerUnit: Number(printDecimal(price.quotaPerUnit)), "tool_price_setting.prices": {} };
    known = { ...compilePrice(price.model, price.group, why, tables), ...(price.rules && { rules: price.rules }) };
    perPicture.set(price, known);
  }
  return known;
}

/** The price terms of an image call, and the most output tokens that it may have. */
export function imageTerms(model: string, ask: ImageRequest): { terms: Terms; max_output: number } {
  const shown = { size: ask.size, quality: ask.quality };
  const times = { calls: ask.n, factors: imageFactors(model, shown) };
  if (!BY_TOKENS.test(model)) {
    return { terms: { times, shown, usage: {}, exact: true, priced: pricePerPicture }, max_output: 0 };
  }
  const image_out = tokensOf(model, ask);
  const max_output = image_out + (model.startsWith("gemini-") ? GEMINI_TEXT_TOKENS : 0);
  const input_bound = ask.input_bytes + ask.input_images * INPUT_IMAGE_TOKENS;
  const usage = { input: Math.ceil(ask.input_bytes / 3), image_in: ask.input_images * 1024, image_out };
  return {
    terms: { times, shown, kinds: { image: ask.input_images > 0, image_out: true }, input_bound, usage, exact: false },
    max_output,
  };
}

/** Usage of an image call: its output tokens are image tokens unless the details say that some are text. */
export function imageUsage(value: unknown): Usage | undefined {
  const usage = readUsage(value);
  if (!usage || !isObject(value)) return undefined;
  const details = isObject(value.output_tokens_details) ? value.output_tokens_details : {};
  const output = (usage.output ?? 0) + (usage.image_out ?? 0);
  const text =
    typeof details.text_tokens === "number" ? Math.min(output, Math.max(0, Math.trunc(details.text_tokens))) : 0;
  return { ...usage, output: text, image_out: output - text };
}
