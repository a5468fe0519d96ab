/**
 * Coding plans: subscriptions of a vendor at separate addresses, one for each language. An operator types the plan's
 * name in place of the address. Sources: docs.bigmodel.cn and docs.z.ai (coding plan), kimi.com/coding/docs,
 * volcengine.com/docs/82379 (coding plan); read November 2026.
 */
import type { Dialect, Operation } from "./definition";

interface CodingPlan {
  /** The root of OpenAI's API: before /chat/completions and /models. */
  readonly openai: string;
  /** The root of Anthropic's API: before /v1/messages. */
  readonly anthropic: string;
}

export const codingPlans: Readonly<Record<string, CodingPlan>> = {
  "glm-coding-plan": {
    openai: "https://open.bigmodel.cn/api/coding/paas/v4",
    anthropic: "https://open.bigmodel.cn/api/anthropic",
  },
  "glm-coding-plan-international": {
    openai: "https://api.z.ai/api/coding/paas/v4",
    anthropic: "https://api.z.ai/api/anthropic",
  },
  "kimi-coding-plan": { openai: "https://api.kimi.com/coding/v1", anthropic: "https://api.kimi.com/coding" },
  "doubao-coding-plan": {
    openai: "https://ark.cn-beijing.volces.com/api/coding/v3",
    anthropic: "https://ark.cn-beijing.volces.com/api/coding",
  },
};

/** Whether an address is the name of a plan. */
export const isCodingPlan = (base_url: string): boolean => Object.hasOwn(codingPlans, base_url);

/**
 * The whole address of an operation in a plan; undefined where the plan does not have it: plans are for conversations.
 * `dialect` is that of the channel's conversations.
 */
export function planAddress(base_url: string, dialect: Dialect, operation: Operation): string | undefined {
  const plan = codingPlans[base_url];
  if (operation === "messages" || (operation === "chat" && dialect === "anthropic"))
    return plan && `${plan.anthropic}/v1/messages`;
  return plan && operation === "chat" ? `${plan.openai}/chat/completions` : undefined;
}

/** Where a plan lists its models. */
export const planModels = (base_url: string): string | undefined => {
  const plan = codingPlans[base_url];
  return plan && `${plan.openai}/models`;
};
