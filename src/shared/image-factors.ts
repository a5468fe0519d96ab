/** What a larger or finer image costs more, as rules: DALL-E's alone. */
import { factorOf, type FactorRule } from "./factor-rules";
import type { Circumstances } from "./price-rules";

const TALL = ["1024x1792", "1792x1024"];
const sizeRule = (size: string[], factor: number): FactorRule => ({ name: "size", when: { size }, then: { factor } });
const hdRule = (factor: number, size?: string[]): FactorRule => ({
  name: "quality",
  when: { quality: ["hd"], ...(size && { size }) },
  then: { factor },
});

/**
 * By the first part of a model's name (openai.com/api/pricing, "Image generation"): other vendors name one price for
 * all sizes, or the operator's rules do. The first rule of each list applies, and the lists multiply.
 */
const imageFactorRules: readonly { readonly models: string; readonly rules: readonly FactorRule[] }[] = [
  { models: "dall-e", rules: [sizeRule(["256x256"], 0.4), sizeRule(["512x512"], 0.45), sizeRule(TALL, 2)] },
  { models: "dall-e-3", rules: [hdRule(1.5, TALL), hdRule(2)] },
];

/** The lists of rules of a model; none for most. */
export const imageRules = (model: string): readonly (readonly FactorRule[])[] =>
  imageFactorRules.filter(({ models }) => model.startsWith(models)).map(({ rules }) => rules);

/** The multipliers of a image's price, by name; factors of 1 are left out. */
export function imageFactors(model: string, shown: Pick<Circumstances, "size" | "quality">): Record<string, number> {
  const factors: Record<string, number> = {};
  for (const rules of imageRules(model)) {
    const factor = factorOf(rules, shown);
    if (factor !== 1) factors[rules[0]?.name ?? ""] = factor;
  }
  return factors;
}
