/**
 * How much to think: some dialects name an effort, others a number of tokens. The figures are the middle of what
 * vendors document for their words (Google's OpenAI compatibility page maps low, medium and high to 1,024, 8,192 and
 * 24,576).
 */
import type { Effort, Reasoning } from "../../chat-events";

const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 65_536,
};

/** The tokens that an effort stands for. */
export const budgetOf = (effort: Effort): number => budgets[effort];

/** The word for a number of tokens; undefined when it is up to the model. Never above high: few models know more. */
function effortOf(budget: number): Effort | undefined {
  if (budget < 0) return undefined;
  if (budget === 0) return "none";
  if (budget <= 4096) return "low";
  return budget <= 16_384 ? "medium" : "high";
}

/** The effort that a call asks for, from either way of saying it. */
export const wantedEffort = (reasoning: Reasoning | undefined): Effort | undefined =>
  reasoning?.effort ?? (reasoning?.budget === undefined ? undefined : effortOf(reasoning.budget));
