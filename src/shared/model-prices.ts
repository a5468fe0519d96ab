/**
 * The built-in price table, from the vendors' public price pages (November 2026). It only supplies the defaults of the
 * price options; an operator's table replaces it. Where a vendor has several prices for one model this is the standard
 * one (not that of batches), and where the price depends on the hour the highest, which rules lower
 * (built-in-rules.ts). Long contexts are in a table below. A model that is missing here has no price, and calls of it
 * are refused until the operator sets one.
 */
import type { ContextTiers } from "./long-context";
import type { Text } from "./text";
import { videoPrices } from "./video-tariffs";

/** Prices in USD per 1M tokens; undefined: the vendor has none. */
export interface ModelPriceRow {
  readonly model: string;
  readonly vendor: string;
  readonly input: number;
  readonly output?: number;
  readonly cache_read?: number;
  /** Cache write that lives five minutes. */
  readonly cache_write?: number;
  readonly image_in?: number;
  readonly image_out?: number;
  readonly audio_in?: number;
  readonly audio_out?: number;
}

type Extras = Omit<ModelPriceRow, "model" | "vendor" | "input" | "output">;
/** `[names separated by spaces, input, output?, others?]`: one line per price, several names where they share it. */
type Line = readonly [names: string, input: number, output?: number, others?: Extras];

const cached = (cache_read: number, more: Extras = {}): Extras => ({ cache_read, ...more });
/** Anthropic's scheme: reading costs a tenth, writing five quarters of the input. */
const claude = (input: number): Extras => ({
  cache_read: Number((input / 10).toFixed(4)),
  cache_write: Number((input * 1.25).toFixed(4)),
});

const lines: Readonly<Record<string, readonly Line[]>> = {
  openai: [
    ["gpt-6.2-astra", 8, 40, cached(0.4, { cache_write: 10 })],
    ["gpt-6.2-sol gpt-6.1-sol", 2, 10, cached(0.1, { cache_write: 2.5 })],
    // apidog.com/blog/gpt-6-1-terra-pricing and docs.litellm.ai/blog/gpt-6-1-terra, of OpenAI's page; 24 November 2026.
    ["gpt-6.1-terra", 1, 5, cached(0.05, { cache_write: 1.25 })],
    ["gpt-6-astra", 10, 50, cached(1, { cache_write: 12.5 })],
    ["gpt-6-sol", 2, 10, cached(0.2, { cache_write: 2.5 })],
    ["gpt-6-luna", 0.1, 0.5, cached(0.01, { cache_write: 0.125 })],
    ["gpt-5.6-sol", 4, 20, cached(0.4, { cache_write: 5 })],
    ["gpt-5.6-terra", 2, 12, cached(0.2, { cache_write: 2.5 })],
    ["gpt-5.6-luna", 0.2, 1.2, cached(0.02, { cache_write: 0.25 })],
    ["gpt-5.5", 5, 30, cached(0.5)],
    ["gpt-5.5-pro gpt-5.4-pro", 30, 180],
    ["gpt-5.4", 2.5, 15, cached(0.25)],
    ["gpt-5.4-mini", 0.75, 4.5, cached(0.075)],
    ["gpt-5.4-nano", 0.2, 1.25, cached(0.02)],
    ["gpt-5.3-codex gpt-5.2", 1.75, 14, cached(0.175)],
    ["gpt-5.2-pro", 21, 168],
    ["gpt-5.1 gpt-5.1-codex gpt-5 gpt-5-codex", 1.25, 10, cached(0.125)],
    ["gpt-5.1-codex-mini gpt-5-mini", 0.25, 2, cached(0.025)],
    ["gpt-5-nano", 0.05, 0.4, cached(0.005)],
    ["gpt-5-pro", 15, 120],
    ["gpt-4.1", 2, 8, cached(0.5)],
    ["gpt-4.1-mini", 0.4, 1.6, cached(0.1)],
    ["gpt-4.1-nano", 0.1, 0.4, cached(0.025)],
    ["gpt-4o gpt-4o-2024-11-20 gpt-4o-2024-08-06", 2.5, 10, cached(1.25)],
    ["gpt-4o-2024-05-13 chatgpt-4o-latest", 5, 15],
    ["gpt-4o-mini gpt-4o-mini-2024-07-18", 0.15, 0.6, cached(0.075)],
    ["gpt-4o-search-preview", 2.5, 10],
    ["o1", 15, 60, cached(7.5)],
    ["o1-pro", 150, 600],
    ["o3", 2, 8, cached(0.5)],
    ["o3-pro", 20, 80],
    ["o3-mini", 1.1, 4.4, cached(0.55)],
    ["o4-mini", 1.1, 4.4, cached(0.275)],
    ["gpt-4-turbo gpt-4-turbo-2024-04-09", 10, 30],
    ["gpt-4 gpt-4-0613", 30, 60],
    ["gpt-4-32k", 60, 120],
    ["gpt-3.5-turbo gpt-3.5-turbo-0125", 0.5, 1.5],
    ["gpt-3.5-turbo-1106", 1, 2],
    ["gpt-3.5-turbo-instruct", 1.5, 2],
    ["gpt-4o-audio-preview", 2.5, 10, { audio_in: 40, audio_out: 80 }],
    ["gpt-4o-mini-audio-preview", 0.15, 0.6, { audio_in: 10, audio_out: 20 }],
    ["gpt-audio", 2.5, 10, { audio_in: 32, audio_out: 64 }],
    ["gpt-audio-mini", 0.6, 2.4, { audio_in: 10, audio_out: 20 }],
    ["gpt-realtime", 4, 16, cached(0.4, { audio_in: 32, audio_out: 64, image_in: 5 })],
    ["gpt-realtime-mini", 0.6, 2.4, cached(0.06, { audio_in: 10, audio_out: 20, image_in: 0.8 })],
    ["gpt-4o-realtime-preview", 5, 20, cached(2.5, { audio_in: 40, audio_out: 80 })],
    ["gpt-4o-mini-realtime-preview", 0.6, 2.4, cached(0.3, { audio_in: 10, audio_out: 20 })],
    ["gpt-4o-transcribe", 2.5, 10, { audio_in: 6 }],
    ["gpt-4o-mini-transcribe", 1.25, 5, { audio_in: 3 }],
    ["gpt-4o-mini-tts", 0.6, 12],
    // By characters, and by 1000 tokens a minute.
    ["tts-1", 15],
    ["tts-1-hd", 30],
    ["whisper-1", 6],
    ["gpt-image-1.5", 5, 10, cached(1.25, { image_in: 8, image_out: 32 })],
    ["gpt-image-1", 5, 40, cached(1.25, { image_in: 10 })],
    ["gpt-image-1-mini", 2, 8, cached(0.2, { image_in: 2.5 })],
    ["text-embedding-3-small", 0.02],
    ["text-embedding-3-large", 0.13],
    ["text-embedding-ada-002", 0.1],
    ["omni-moderation-latest text-moderation-latest", 0],
  ],
  anthropic: [
    // Since 9 November 2026: github.com/archid21/rightsize, release 0.10.2, and docs.laozhang.ai, of Anthropic's page.
    ["claude-fable-5-2", 8, 40, { cache_read: 0.2, cache_write: 10 }],
    ["claude-fable-5-1", 10, 50, { cache_read: 0.25, cache_write: 12.5 }],
    ["claude-fable-5", 10, 50, claude(10)],
    ["claude-opus-5-5", 4, 20, { cache_read: 0.2, cache_write: 5 }],
    ["claude-opus-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6", 5, 25, claude(5)],
    ["claude-opus-4-5 claude-opus-4-5-20251101", 5, 25, claude(5)],
    ["claude-opus-4-1 claude-opus-4-1-20250805 claude-opus-4-20250514", 15, 75, claude(15)],
    ["claude-3-opus-20240229", 15, 75, claude(15)],
    // Reading is a twentieth since 7 October 2026.
    ["claude-sonnet-5-5", 2, 10, { cache_read: 0.1, cache_write: 2.5 }],
    ["claude-sonnet-5", 2, 10, claude(2)],
    ["claude-sonnet-4-6 claude-sonnet-4-5 claude-sonnet-4-5-20250929 claude-sonnet-4-20250514", 3, 15, claude(3)],
    ["claude-3-7-sonnet-20250219 claude-3-5-sonnet-20241022 claude-3-5-sonnet-20240620", 3, 15, claude(3)],
    ["claude-haiku-5-5", 0.1, 0.5, claude(0.1)],
    ["claude-haiku-4-5 claude-haiku-4-5-20251001", 1, 5, claude(1)],
    ["claude-3-5-haiku-20241022", 0.8, 4, claude(0.8)],
    ["claude-3-haiku-20240307", 0.25, 1.25, { cache_read: 0.03, cache_write: 0.3 }],
  ],
  google: [
    // The price that stays; a built-in rule halves it until 31 December 2026.
    ["gemini-3.8-flash gemini-3.7-flash gemini-3.6-flash", 1.5, 7.5, cached(0.15)],
    ["gemini-3.5-flash", 1.5, 9, cached(0.15)],
    ["gemini-3.5-flash-lite", 0.3, 2.5, cached(0.03)],
    ["gemini-3.1-pro-preview gemini-3-pro-preview", 2, 12, cached(0.2)],
    ["gemini-3.1-flash-lite", 0.25, 1.5, cached(0.025, { audio_in: 0.5 })],
    ["gemini-3.1-flash-image-preview", 0.5, 3, { image_out: 60 }],
    ["gemini-3-pro-image-preview", 2, 12, { image_out: 120 }],
    ["gemini-3-flash-preview", 0.5, 3, cached(0.05, { audio_in: 1 })],
    ["gemini-2.5-pro", 1.25, 10, cached(0.125)],
    ["gemini-2.5-flash", 0.3, 2.5, cached(0.03, { audio_in: 1 })],
    ["gemini-2.5-flash-lite", 0.1, 0.4, cached(0.01, { audio_in: 0.3 })],
    ["gemini-2.5-flash-image", 0.3, 2.5, { image_out: 30 }],
    ["gemini-2.0-flash", 0.1, 0.4, cached(0.025, { audio_in: 0.7 })],
    ["gemini-2.0-flash-lite", 0.075, 0.3],
    ["gemini-1.5-pro", 1.25, 5, cached(0.3125)],
    ["gemini-1.5-flash", 0.075, 0.3, cached(0.01875)],
    ["gemini-embedding-2", 0.2, undefined, { audio_in: 6.5, image_in: 0.45 }],
    ["gemini-embedding-001", 0.15],
  ],
  deepseek: [
    // Peak hours, twice the price of all others (priceNotes); the retired name deepseek-v4-flash is billed as Flash.
    // api-docs.deepseek.com/quick_start/pricing, in force since 10 September 2026, read 22 November 2026.
    ["deepseek-v4-pro", 1.32, 3.96, cached(0.044)],
    ["deepseek-flash deepseek-v4-flash", 0.3, 1.2, cached(0.006)],
    // No longer served by DeepSeek since 24 July 2026; its last price, for others that still serve them.
    ["deepseek-chat deepseek-reasoner", 0.28, 0.42, cached(0.028)],
  ],
  xai: [
    ["grok-4.6", 2, 6, cached(0.5)],
    ["grok-4.5", 2, 6, cached(0.3)],
    ["grok-4.3 grok-4.20", 1.25, 2.5, cached(0.2)],
    ["grok-4-1-fast-reasoning grok-4-1-fast-non-reasoning", 0.2, 0.5, cached(0.05)],
    ["grok-4-fast-reasoning grok-4-fast-non-reasoning", 0.2, 0.5, cached(0.05)],
    ["grok-4-0709 grok-3", 3, 15, cached(0.75)],
    ["grok-code-fast-1", 0.2, 1.5, cached(0.02)],
    ["grok-3-fast", 5, 25, cached(1.25)],
    ["grok-3-mini", 0.3, 0.5, cached(0.075)],
    ["grok-3-mini-fast", 0.6, 4, cached(0.15)],
  ],
  moonshot: [
    ["kimi-k3", 3, 15, cached(0.3)],
    ["kimi-k2.7-code", 0.95, 4, cached(0.19)],
    ["kimi-k2.7-code-highspeed", 1.9, 8, cached(0.38)],
    ["kimi-k2.6", 0.95, 4, cached(0.16)],
    ["kimi-k2.5", 0.6, 3, cached(0.1)],
    ["moonshot-v1-8k", 0.2, 2],
    ["moonshot-v1-32k", 1, 3],
    ["moonshot-v1-128k", 2, 5],
  ],
  zhipu: [
    ["glm-5.3 glm-5.2", 1.4, 4.4, cached(0.26)],
    ["glm-5", 1, 3.2, cached(0.2)],
    ["glm-4.7 glm-4.6 glm-4.5", 0.6, 2.2, cached(0.11)],
    ["glm-4.5-air", 0.2, 1.1, cached(0.03)],
    ["glm-4.5v", 0.6, 1.8, cached(0.11)],
    ["glm-4.6v", 0.3, 0.9, cached(0.05)],
    ["glm-4.7-flash glm-4.5-flash glm-4-flash", 0, 0],
  ],
  ali: [
    ["qwen3-max", 1.2, 6],
    ["qwen-max", 1.6, 6.4],
    ["qwen-plus", 0.4, 1.2],
    ["qwen-turbo", 0.05, 0.2],
    ["qwen-flash", 0.05, 0.4],
    ["qwen-vl-max", 0.8, 3.2],
    ["qwen-vl-plus", 0.21, 0.63],
    ["qwen3-coder-plus", 1, 5],
    ["qwen3-coder-flash", 0.3, 1.5],
    ["text-embedding-v4 text-embedding-v3", 0.07],
  ],
  mistral: [
    ["mistral-large-latest mistral-large-2512", 0.5, 1.5, cached(0.05)],
    ["mistral-medium-latest", 1.5, 7.5, cached(0.15)],
    ["mistral-medium-2508", 0.4, 2, cached(0.04)],
    ["mistral-small-latest mistral-small-2603", 0.15, 0.6, cached(0.015)],
    ["magistral-medium-latest", 2, 5],
    ["magistral-small-latest", 0.5, 1.5],
    ["codestral-latest", 0.3, 0.9],
    ["devstral-2512", 0.4, 2, cached(0.04)],
    ["ministral-8b-latest open-mistral-nemo", 0.15, 0.15],
    ["ministral-3b-latest", 0.1, 0.1],
    ["mistral-embed", 0.1],
  ],
  cohere: [
    ["command-a-03-2025 command-r-plus-08-2024 command-r-plus", 2.5, 10],
    ["command-r-08-2024 command-r", 0.15, 0.6],
    ["command-r7b-12-2024", 0.0375, 0.15],
    ["c4ai-aya-expanse-32b c4ai-aya-expanse-8b", 0.5, 1.5],
    ["embed-v4.0", 0.12],
    ["embed-english-v3.0 embed-multilingual-v3.0", 0.1],
  ],
  perplexity: [
    ["sonar", 1, 1],
    ["sonar-pro", 3, 15],
    ["sonar-reasoning-pro sonar-deep-research", 2, 8],
  ],
  minimax: [
    ["MiniMax-M3", 0.3, 1.2, cached(0.06)],
    ["MiniMax-M2.7", 0.3, 1.2, cached(0.06, { cache_write: 0.375 })],
    ["MiniMax-M2.7-highspeed", 0.6, 2.4, cached(0.06, { cache_write: 0.375 })],
    ["MiniMax-M2.5 MiniMax-M2.1 MiniMax-M2", 0.3, 1.2, cached(0.03, { cache_write: 0.375 })],
    ["MiniMax-M1", 0.4, 2.2],
    ["MiniMax-Text-01", 0.2, 1.1],
    // Speech is priced by the character.
    ["speech-2.8-hd", 100],
    ["speech-2.8-turbo", 60],
  ],
  amazon: [
    ["nova-premier-v1:0", 2.5, 12.5, cached(0.625)],
    ["nova-pro-v1:0", 0.8, 3.2, cached(0.2)],
    ["nova-lite-v1:0", 0.06, 0.24, cached(0.015)],
    ["nova-micro-v1:0", 0.035, 0.14, cached(0.00875)],
  ],
  lingyiwanwu: [["yi-large", 3, 3]],
  // Videos by the tokens of their frames; with sound they are audio_out (docs.byteplus.com/en/docs/ModelArk, model
  // pricing).
  bytedance: [
    ["doubao-seedance-2-0-260128", 7, 7, { audio_out: 7 }],
    ["doubao-seedance-2-0-fast-260128", 5.6, 5.6, { audio_out: 5.6 }],
    ["doubao-seedance-1-5-pro-251215", 1.2, 1.2, { audio_out: 2.4 }],
    ["doubao-seedance-1-0-pro-250528", 2.5, 2.5],
    ["doubao-seedance-1-0-pro-fast-251015", 1, 1],
    ["doubao-seedance-1-0-lite-t2v-250428 doubao-seedance-1-0-lite-i2v-250428", 1.8, 1.8],
  ],
  // The demo channel: a millionth of a dollar a token, so that its bill can be checked by eye.
  weir: [["demo-echo", 1, 1]],
};

/** Every model with a price per token, one row each. */
export const modelPrices: readonly ModelPriceRow[] = Object.entries(lines).flatMap(([vendor, entries]) =>
  entries.flatMap(([names, input, output, others]) =>
    names.split(" ").map((model) => ({ model, vendor, input, ...(output !== undefined && { output }), ...others })),
  ),
);

/** The last day whose Chinese public holidays are known; the notice for 2027 was not out on 23 November 2026. */
const HOLIDAYS_KNOWN = "2026-12-31";

const DEEPSEEK_HOURS: Text = {
  zh: `DeepSeek 在高峰时段（北京时间周一至周五 9:00–12:00 与 14:00–18:00）按两倍价格计费：内置的是高峰价，其余时段由内置规则减半。中国法定节假日官方不算高峰。节假日只公布到 ${HOLIDAYS_KNOWN}，在那之前工作日里已没有节假日；之后的节假日内置规则仍按高峰价，可在价格规则里把公布的日期加为按闲时计价。`,
  en: `DeepSeek asks double at peak hours (Monday to Friday, 01:00–04:00 and 06:00–10:00 UTC): the built-in price is the peak rate, and a built-in rule halves it at all other hours. Chinese public holidays have no peak hours. They are published until ${HOLIDAYS_KNOWN}, and no working day until then is one; on later holidays the built-in rule asks the peak rate until their dates are added to the price rules as off-peak.`,
};

/** What the built-in price of a model leaves out; shown beside it while that price is in force (price-rows.ts). */
export const priceNotes: Readonly<Record<string, Text>> = {
  "deepseek-v4-pro": DEEPSEEK_HOURS, "deepseek-flash": DEEPSEEK_HOURS, "deepseek-v4-flash": DEEPSEEK_HOURS,
};

/**
 * USD of one picture. Alibaba's: help.aliyun.com/zh/model-studio/model-pricing, deployment "international" (its
 * dollars, shown as yuan; wanx2.1-imageedit, which only Beijing has:
 * alibabacloud.com/help/en/model-studio/wanx-image-edit); Google's: ai.google.dev/gemini-api/docs/pricing; Zhipu's:
 * docs.z.ai/guides/overview/pricing; Replicate's: replicate.com/pricing. Pictures whose vendors name no dollars have no
 * price; Gemini's and gpt-image's cost tokens, above.
 */
const picturePrices: Readonly<Record<string, number>> = {
  "dall-e-3": 0.04, "dall-e-2": 0.02, "grok-2-image-1212": 0.07,
  "imagen-4.0-generate-001": 0.04, "imagen-4.0-fast-generate-001": 0.02, "imagen-4.0-ultra-generate-001": 0.06, "imagen-3.0-generate-002": 0.03,
  "qwen-image": 0.035, "qwen-image-plus": 0.03, "qwen-image-max": 0.075, "qwen-image-2.0": 0.035, "qwen-image-2.0-pro": 0.075,
  "qwen-image-edit": 0.045, "qwen-image-edit-plus": 0.03, "qwen-image-edit-max": 0.075,
  "wan2.6-t2i": 0.03, "wan2.5-t2i-preview": 0.03, "wan2.2-t2i-plus": 0.05, "wan2.2-t2i-flash": 0.025, "wan2.1-t2i-plus": 0.05, "wan2.1-t2i-turbo": 0.025,
  "wan2.7-image": 0.03, "wan2.7-image-pro": 0.075, "wan2.6-image": 0.03, "wan2.5-i2i-preview": 0.03, "wanx2.1-imageedit": 0.02007,
  "cogview-4": 0.01, "glm-image": 0.015,
  "black-forest-labs/flux-1.1-pro": 0.04, "black-forest-labs/flux-schnell": 0.003,
};

/** Prices per call in USD. A name that ends in `*` is a prefix. */
export const callPrices: Readonly<Record<string, number>> = {
  mj_imagine: 0.1, mj_variation: 0.1, mj_reroll: 0.1, mj_blend: 0.1, mj_modal: 0.1, mj_zoom: 0.1, mj_shorten: 0.1,
  mj_high_variation: 0.1, mj_low_variation: 0.1, mj_pan: 0.1, mj_describe: 0.05, mj_upscale: 0.05, mj_upload: 0.05,
  // A video costs about eight times a picture (midjourney.com, "Introducing our V1 video model", June 2025).
  swap_face: 0.05, mj_edits: 0.1, mj_video: 0.8, mj_inpaint: 0, mj_custom_zoom: 0, suno_music: 0.1, suno_lyrics: 0.01, "gpt-4-gizmo-*": 0.1,
  "rerank-v3.5": 0.002, "rerank-english-v3.0": 0.002, "rerank-multilingual-v3.0": 0.002,
  ...picturePrices,
  // For one second, or one clip: video-tariffs.ts.
  ...videoPrices,
};

/**
 * Prices of server-side tools in USD per 1000 calls; `tool:model*` wins over `tool` (November 2026). OpenAI's:
 * developers.openai.com/api/docs/pricing#built-in-tools; a container of code costs 0.03 USD for each gigabyte and 20
 * minutes, since June 2026 by the minute and for five at least (changelog, 2 June 2026): a response does not contain
 * the minutes, so it counts as 20. Anthropic's code execution has no price here: it costs nothing beside its searches,
 * else 0.05 USD an hour beyond 1,550 free ones a month of the account, and a response contains calls, not hours
 * (platform.claude.com/docs/en/about-claude/pricing). xAI's: docs.x.ai/developers/pricing, "Tools pricing"; its older
 * live search costs by source.
 */
export const toolPrices: Readonly<Record<string, number>> = {
  web_search: 10,
  web_search_preview: 10,
  "web_search_preview:gpt-4o*": 25,
  "web_search_preview:gpt-4.1*": 25,
  file_search: 2.5,
  code_interpreter: 30,
  google_search: 14,
  "web_search:grok-*": 5,
  x_search: 5,
  "code_interpreter:grok-*": 5,
  live_search: 25,
};

/**
 * Chat models that search the web in every call without counting it, with the tool's price that they cost besides their
 * tokens (openai.com/api/pricing: search-preview models by the older tool's price; November 2026).
 */
const searchingModels: readonly (readonly [models: RegExp, tool: string])[] = [
  [/^gpt-[\w.-]*-search-preview/, "web_search_preview"],
  [/^gpt-[\w.-]*-search-api/, "web_search"],
];

/** The tool that every call of the model runs; undefined for most. */
export const ownToolOf = (model: string): string | undefined => searchingModels.find(([models]) => models.test(model))?.[1];

const tier = (over: number, input = 2, output = 1.5): ContextTiers => [{ over, input, output }];

const K = 1000;
/** Tiers of Alibaba's models: the steps' lengths, and what they cost beside the first. */
const qwen = (...steps: readonly (readonly [over: number, input: number, output?: number])[]): ContextTiers =>
  steps.map(([over, input, output = input]) => ({ over: over * K, input, output }));

const OPENAI_LONG = [
  "gpt-5.4", "gpt-5.4-pro", "gpt-5.5", "gpt-5.5-pro", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna", "gpt-6-astra", "gpt-6-sol", "gpt-6-luna",
  "gpt-6.1-sol", "gpt-6.1-terra", "gpt-6.2-astra", "gpt-6.2-sol",
] as const;

/**
 * Models whose vendors have higher prices for long inputs, and then for the whole call (checked in November 2026):
 * OpenAI above 272K tokens, developers.openai.com/api/docs/models (gpt-5.4 to gpt-5.6 and gpt-6); Google above 200K,
 * ai.google.dev/gemini-api/docs/pricing; Anthropic above 100K for Haiku 5.5,
 * platform.claude.com/docs/en/about-claude/pricing; xAI from 200,000 tokens on, docs.x.ai/developers/pricing; Alibaba
 * by steps, alibabacloud.com/help/en/model-studio/model-pricing, deployment "international", as LiteLLM's table has
 * them (tiered_pricing; both read 23 November 2026). Anthropic's other models cost the same over their whole window:
 * the 1M beta of Sonnet 4 and 4.5, which cost more above 200K, has ended, and their window is 200K.
 */
export const longContextTiers: Readonly<Record<string, ContextTiers>> = {
  ...Object.fromEntries(OPENAI_LONG.map((model) => [model, tier(272_000)])),
  ...Object.fromEntries(["gemini-2.5-pro", "gemini-3-pro-preview", "gemini-3.1-pro-preview"].map((model) => [model, tier(200_000)])),
  "claude-haiku-5-5": tier(100_000, 5, 5),
  // From 200,000 tokens on, and not above them.
  ...Object.fromEntries(["grok-4.6", "grok-4.5", "grok-4.3", "grok-4.20"].map((model) => [model, tier(199_999, 2, 2)])),
  "qwen3-max": qwen([32, 2], [128, 2.5]),
  "qwen3-coder-plus": qwen([32, 1.8], [128, 3], [256, 6, 12]),
  "qwen3-coder-flash": qwen([32, quotient(5, 3)], [128, quotient(8, 3)], [256, quotient(16, 3), 6.4]),
  "qwen-plus": qwen([256, 3]),
  "qwen-flash": qwen([256, 5]),
};

/**
 * Completion ratios of model families, used for names that the option CompletionRatio does not have (the operator's
 * value always wins). Names that end in `*` are prefixes; the longest one applies.
 */
export const familyCompletionRatios: Readonly<Record<string, number>> = {
  "gpt-3.5*": 3, "gpt-4*": 2, "gpt-4-turbo*": 3, "gpt-4-1106*": 3, "gpt-4-0125*": 3, "gpt-4o*": 4, "gpt-4.1*": 4,
  "gpt-4.5-preview*": 2, "gpt-5*": 8, "gpt-4-all": 1, "gpt-4-gizmo*": 2, "gpt-4o-gizmo*": 3, "o1*": 4, "o3*": 4,
  "o4*": 4, "claude-instant-1*": 3, "claude-2*": 3, "claude-3*": 5, "claude-opus*": 5, "claude-sonnet*": 5,
  "claude-haiku*": 5, "claude-fable*": 5, "mistral-*": 3, "gemini-*": 4, "gemini-2.5-pro*": 8, "command*": 4,
  "command-r": 3, "command-r-plus": 5, "ERNIE-Speed*": 2, "ERNIE-Lite*": 2,
  "ERNIE-Character*": 2, "ERNIE-Functions*": 2,
};

/** A quotient as a decimal of at most 12 places, exact where the quotient has no more. */
function quotient(dividend: number, divisor: number): number {
  return divisor === 0 ? 1 : Number((dividend / divisor).toFixed(12));
}

type RatioOf = (row: ModelPriceRow) => number | undefined;

function ratios(of: RatioOf): Readonly<Record<string, number>> {
  return Object.fromEntries(
    modelPrices.flatMap((row) => {
      const ratio = of(row);
      return ratio === undefined ? [] : [[row.model, ratio] as const];
    }),
  );
}

const relative =
  (price: (row: ModelPriceRow) => number | undefined): RatioOf =>
  (row) => {
    const value = price(row);
    return value === undefined ? undefined : quotient(value, row.input);
  };

/** Default values of the price options, as the tables that their JSON text holds. */
export const defaultPriceTables = {
  /** Ratio 1 = 2 USD per 1M tokens. */
  ModelRatio: ratios((row) => quotient(row.input, 2)),
  CompletionRatio: ratios(relative((row) => row.output)),
  CacheRatio: ratios(relative((row) => row.cache_read)),
  CreateCacheRatio: ratios(relative((row) => row.cache_write)),
  ImageRatio: ratios(relative((row) => row.image_in)),
  ImageCompletionRatio: ratios(relative((row) => row.image_out)),
  AudioRatio: ratios(relative((row) => row.audio_in)),
  /** Relative to the audio input. */
  AudioCompletionRatio: ratios((row) =>
    row.audio_out === undefined ? undefined : quotient(row.audio_out, row.audio_in ?? row.input),
  ),
  ModelPrice: callPrices,
} as const;
