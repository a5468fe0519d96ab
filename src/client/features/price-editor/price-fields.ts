/** The fields of the price form as texts, in dollars or in ratios, and what is wrong with them. */
import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { type PriceColumn, priceKeys, type PriceNumbers, toDollars, toRatios } from "../../../shared/price-rows";

export type Unit = "usd" | "ratio";
export type FieldTexts = Readonly<Record<PriceColumn, string>>;
export type FieldErrors = Partial<Record<PriceColumn | "name", MessageDescriptor>>;

/** What each field is called in dollars per 1M tokens and as a ratio. */
export const fieldNames: Readonly<
  Record<Exclude<PriceColumn, "ModelPrice">, Readonly<Record<Unit, MessageDescriptor>>>
> = {
  ModelRatio: { usd: msg`输入`, ratio: msg`模型倍率` },
  CompletionRatio: { usd: msg`输出`, ratio: msg`补全倍率` },
  CacheRatio: { usd: msg`缓存读取`, ratio: msg`缓存倍率` },
  CreateCacheRatio: { usd: msg`缓存写入（5 分钟）`, ratio: msg`缓存写入倍率` },
  CreateCache1hRatio: { usd: msg`缓存写入（1 小时）`, ratio: msg`缓存写入倍率（1 小时）` },
  ImageRatio: { usd: msg`图片输入`, ratio: msg`图片倍率` },
  ImageCompletionRatio: { usd: msg`图片输出`, ratio: msg`图片补全倍率` },
  AudioRatio: { usd: msg`音频输入`, ratio: msg`音频倍率` },
  AudioCompletionRatio: { usd: msg`音频输出`, ratio: msg`音频补全倍率` },
};

export const tokenFields = Object.keys(fieldNames) as Exclude<PriceColumn, "ModelPrice">[]; // its own keys

const printed = (value: number | undefined): string => (value === undefined ? "" : String(value));

export function textsOf(numbers: PriceNumbers, unit: Unit): FieldTexts {
  const shown = unit === "usd" ? toDollars(numbers) : numbers;
  // one text per column
  return Object.fromEntries(priceKeys.map((key) => [key, printed(shown[key])])) as Record<PriceColumn, string>;
}

/**
 * The numbers that the texts mean, or what is wrong. A fixed price is saved alone: it overrides every ratio (A-390,
 * A field that reads as it did at first keeps its stored number, so that nothing changes by opening and saving.
 */
export function numbersFrom(
  texts: FieldTexts,
  unit: Unit,
  stored: PriceNumbers,
): { numbers: PriceNumbers } | { errors: FieldErrors } {
  const errors: FieldErrors = {};
  const typed: Partial<Record<PriceColumn, number>> = {};
  const wanted = texts.ModelPrice.trim() === "" ? priceKeys : (["ModelPrice"] as const);
  for (const key of wanted) {
    const text = texts[key].trim();
    if (text === "") continue;
    if (!/^(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?$/i.test(text)) errors[key] = msg`请输入数字`;
    else if (Number(text) > 1e9) errors[key] = msg`数字过大`;
    else typed[key] = Number(text);
  }
  if (Object.keys(errors).length > 0) return { errors };
  if (Object.keys(typed).length === 0) return { errors: { ModelRatio: msg`请填写价格` } };
  if (typed.ModelPrice === undefined && typed.ModelRatio === undefined)
    return { errors: { ModelRatio: msg`请填写输入价格` } };
  const before = textsOf(stored, unit);
  if (wanted.every((key) => before[key] === texts[key].trim()) && stored.ModelPrice === typed.ModelPrice)
    return { numbers: stored };
  const numbers = unit === "ratio" ? typed : toRatios(typed);
  return numbers ? { numbers } : { errors: { ModelRatio: msg`输入价格为 0 时，其他价格也只能为 0` } };
}

/** The texts in the other unit; as they are where they mean nothing yet. */
export function inUnit(texts: FieldTexts, from: Unit, to: Unit, stored: PriceNumbers): FieldTexts {
  if (from === to) return texts;
  const read = numbersFrom({ ...texts, ModelPrice: "" }, from, stored);
  return "numbers" in read ? { ...textsOf(read.numbers, to), ModelPrice: texts.ModelPrice } : texts;
}

export const NEW = "new";
