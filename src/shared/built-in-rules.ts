/**
 * The vendors' own rules for the built-in prices of model-prices.ts, each with its source and the day it was read. A
 * rule holds while the model's built-in price is in force and the option PriceRules has no entry for the model. What a
 * vendor asks at most for its ordinary service is the plain price, so that a model is never sold below its cost by a
 * rule that does not apply. Prices that rise with the length of the input are in model-prices.ts (longContextTiers),
 * the discount of batches is the option BatchRatio. What a channel's address decides (data residency of OpenAI and of
 * xAI, 10 % more) is the channel's cost, no rule of a request.
 */
import { asBuiltIn, type RatioTables } from "./price-rows";
import type { PriceRule, RuleConditions } from "./price-rules";

const WEEKDAYS = [1, 2, 3, 4, 5];
const china = (from: string, to: string, days: number[]) => ({ zone: "Asia/Shanghai", days, from, to });

/**
 * DeepSeek: half the price outside of Monday to Friday 9:00 to 12:00 and 14:00 to 18:00 in Beijing
 * (api-docs.deepseek.com/quick_start/pricing and its Chinese page, notes 1 and 2; read 23 November 2026). China's
 * public holidays are off-peak too: none is left on a working day of 2026, and those of 2027 are not published. Until
 * an operator adds their dates they cost the peak price, so that none is sold below its cost (priceNotes says so).
 */
const DEEPSEEK: readonly PriceRule[] = [
  {
    name: "DeepSeek off-peak",
    when: {
      hours: [
        china("00:00", "09:00", WEEKDAYS),
        china("12:00", "14:00", WEEKDAYS),
        china("18:00", "24:00", WEEKDAYS),
        china("00:00", "24:00", [6, 7]),
      ],
    },
    then: { factor: 0.5 },
  },
];

/** A rule of one factor. What makes a call cheaper holds where the answer says so (price-rules.ts). */
const times = (name: string, factor: number, when: RuleConditions): PriceRule => ({
  name,
  when,
  then: { factor },
  ...(factor < 1 && when.service_tier && { cheaper: true }),
});

/** As Google's page spells tiers now, and as it did until summer. */
const GEMINI_FAST = ["priority", "SERVICE_TIER_PRIORITY"];
const GEMINI_FLEX = ["flex", "SERVICE_TIER_FLEX"];

/**
 * OpenAI: fast mode, called priority processing until 30 July 2026; both words ask for it
 * (openai.com/api-fast-mode, developers.openai.com/api/docs/pricing; read 23 November 2026). Long inputs multiply it.
 */
const fast = (factor: number): PriceRule => times("OpenAI fast mode", factor, { service_tier: ["priority", "fast"] });
/**
 * OpenAI: half the price, as of batches (developers.openai.com/api/docs/guides/flex-processing; read the same day), of
 * the models for which a page names it: to GPT-5.6 LiteLLM's table (input_cost_per_token_flex), of GPT-6
 * github.com/JingbiaoMei/Tokdash/pull/71, github.com/amine123max/Codex-Manager (release 0.4.7) and
 * apidog.com/blog/gpt-6-1-terra-pricing; read 24 November 2026. None names it for GPT-6.2, GPT-6 Sol and Luna.
 */
const OPENAI_FLEX = times("OpenAI flex", 0.5, { service_tier: ["flex"] });
/**
 * OpenAI: of GPT-6 Astra (developers.openai.com/api/docs/guides/ultrafast-mode; read the same day) and GPT-6.1 Sol
 * (guides/fast-mode names it; 12 and 60 dollars at docs.venice.ai/models/gpt-6-1-sol-ultrafast, read 24 November 2026).
 */
const ULTRAFAST = times("OpenAI ultrafast mode", 6, { service_tier: ["ultrafast"] });

const promotion = { dates: [{ zone: "UTC", until: "2026-12-31" }] };

/**
 * Google: flex half, priority 1.8 times the price (ai.google.dev/gemini-api/docs/optimization and pricing; read 23
 * November 2026).
 */
const GEMINI: readonly PriceRule[] = [
  times("Gemini priority", 1.8, { service_tier: GEMINI_FAST }),
  times("Gemini flex", 0.5, { service_tier: GEMINI_FLEX }),
];
/**
 * Google: half the price through 31 December 2026, in all tiers (ai.google.dev/gemini-api/docs/pricing;
 * github.com/BerriAI/litellm/discussions/39357, github.com/Portkey-AI/models/pull/906; read 23 November 2026). Google
 * names no zone: UTC ends before Pacific time does.
 */
const GEMINI_FLASH: readonly PriceRule[] = [
  times("Gemini introductory priority", 0.9, { ...promotion, service_tier: GEMINI_FAST }),
  times("Gemini introductory flex", 0.25, { ...promotion, service_tier: GEMINI_FLEX }),
  ...GEMINI,
  times("Gemini introductory price", 0.5, promotion),
];

const fastClaude = { member: { path: "speed", values: ["fast"] } };
/**
 * Anthropic: inference in the United States 1.1 times the price, on Opus 4.6 and newer models
 * (platform.claude.com/docs/en/about-claude/pricing, data residency; read 23 November 2026).
 */
const US_ONLY = times("Claude US-only inference", 1.1, { region: ["us"] });
/**
 * Anthropic: fast mode, twice the price at every length, and 1.1 times that in the United States
 * (platform.claude.com/docs/en/build-with-claude/fast-mode, read 23 November 2026; code.claude.com/docs/en/fast-mode
 * names the models, read 24 November 2026).
 */
const CLAUDE_FAST: readonly PriceRule[] = [
  times("Claude fast mode, US-only", 2.2, { region: ["us"], ...fastClaude }),
  times("Claude fast mode", 2, fastClaude),
  US_ONLY,
];

/**
 * Alibaba: answers with thoughts, which the request asks for, cost more for all output: 4 dollars for 1.2, 0.5 for 0.2
 * (models.dev, of alibabacloud.com/help/en/model-studio/model-pricing; read 24 November 2026). More
 * than the vendor asks, by less than a thousandth of a percent.
 */
const qwenThinking = (output: number): PriceRule => ({
  name: "Qwen thinking",
  when: { member: { path: "enable_thinking", values: ["true"] } },
  then: { input: 1, output },
});

/** xAI: twice the price (docs.x.ai/developers/advanced-api-usage/priority-processing; read 23 November 2026). */
const XAI: readonly PriceRule[] = [times("xAI priority", 2, { service_tier: ["priority"] })];

/** Models, separated by spaces, and their rules. */
const lines: readonly (readonly [models: string, rules: readonly PriceRule[]])[] = [
  ["gpt-6-astra gpt-6.1-sol", [ULTRAFAST, fast(2), OPENAI_FLEX]],
  [
    "gpt-6.1-terra gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna gpt-5.4 gpt-5.4-mini gpt-5.2 gpt-5.1 gpt-5",
    [fast(2), OPENAI_FLEX],
  ],
  // Fast mode of GPT-6.2 is on no page that could be read: as of every other GPT-6, which is never too cheap.
  ["gpt-6.2-astra gpt-6.2-sol gpt-6-sol gpt-6-luna gpt-5.3-codex gpt-5.1-codex gpt-5-codex", [fast(2)]],
  ["gpt-5.5", [fast(2.5), OPENAI_FLEX]],
  ["gpt-5-mini", [fast(1.8), OPENAI_FLEX]],
  ["gpt-5.1-codex-mini", [fast(1.8)]],
  ["gpt-5.5-pro gpt-5.4-pro gpt-5.4-nano gpt-5-nano", [OPENAI_FLEX]],
  ["gpt-4.1 gpt-4.1-mini gpt-4o-2024-05-13", [fast(1.75)]],
  ["gpt-4.1-nano", [fast(2)]],
  ["gpt-4o gpt-4o-2024-11-20 gpt-4o-2024-08-06", [fast(1.7)]],
  // 0.25 for 0.15, 1 for 0.6, and of o4-mini 2 for 1.1, 8 for 4.4: more than the vendor asks, by less than a thousandth
  // of a percent.
  ["gpt-4o-mini gpt-4o-mini-2024-07-18", [fast(1.66667)]],
  ["o3", [fast(1.75), OPENAI_FLEX]],
  ["o4-mini", [fast(1.81819), OPENAI_FLEX]],
  ["claude-fable-5-2 claude-opus-5-5 claude-opus-5 claude-opus-4-8", CLAUDE_FAST],
  [
    "claude-fable-5-1 claude-fable-5 claude-opus-4-7 claude-opus-4-6 claude-sonnet-5-5 claude-sonnet-5 claude-sonnet-4-6 claude-haiku-5-5",
    [US_ONLY],
  ],
  ["gemini-3.8-flash gemini-3.7-flash gemini-3.6-flash", GEMINI_FLASH],
  [
    "gemini-3.5-flash gemini-3.5-flash-lite gemini-3.1-pro-preview gemini-3-pro-preview gemini-3.1-flash-lite gemini-3-flash-preview gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite",
    GEMINI,
  ],
  ["deepseek-v4-pro deepseek-flash deepseek-v4-flash", DEEPSEEK],
  ["qwen-plus", [qwenThinking(3.33334)]],
  ["qwen-turbo", [qwenThinking(2.5)]],
  ["grok-4.6 grok-4.5 grok-4.3 grok-4.20", XAI],
];

const builtInRules: ReadonlyMap<string, readonly PriceRule[]> = new Map(
  lines.flatMap(([models, rules]) => models.split(" ").map((model) => [model, rules] as const)),
);

/** The vendor's rules of a model whose prices are the built-in ones; none for most. */
export const builtInRulesOf = (model: string, tables: RatioTables): readonly PriceRule[] => {
  const rules = builtInRules.get(model);
  return rules && asBuiltIn(tables, model) ? rules : [];
};
