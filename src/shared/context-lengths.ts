/**
 * The longest input of models, as their vendors or those who sell them name it. With it a virtual model knows before
 * anything is sent that an input is too long for a step. What is not listed is not known; an operator's own limit
 * (max_input_tokens of a step or a channel) comes first.
 */

interface KnownLength {
  /** Matches the name that the vendor gives the model, without a prefix. */
  readonly model: RegExp;
  /** Tokens of the input; where only the whole context is named, that. */
  readonly tokens: number;
  /** A page that shows it. */
  readonly source: string;
  /** The month in which the source was read. */
  readonly seen: string;
}

const seen = "2026-11";
/** Tables that LangChain generates from models.dev (profiles.js of the package). */
const OPENAI_PROFILES = "https://www.npmjs.com/package/@langchain/openai/v/1.5.8";
const ANTHROPIC_PROFILES = "https://www.npmjs.com/package/@langchain/anthropic/v/1.5.11";
const GPT_SIZES = "https://chatai.guide/models/context-window-comparison/";

const CONTEXT_LENGTHS: readonly KnownLength[] = [
  {
    model: /^claude-(?:fable|opus)-5/,
    tokens: 1_000_000,
    source: "https://platform.claude.com/docs/zh-CN/models/opus-5/overview.md",
    seen,
  },
  {
    model: /^claude-(?:sonnet-5|haiku-5-5)/,
    tokens: 1_000_000,
    source: "https://docs.rs/claude-session-parser/0.2.6/claude_session_parser/usage/fn.context_window_for_model.html",
    seen,
  },
  {
    model: /^claude-haiku-4-5/,
    tokens: 200_000,
    source: "https://github.com/xsyetopz/claudetto/wiki/Claude-Code-Models-Catalog",
    seen,
  },
  {
    model: /^claude-opus-4(?:-1)?(?:-2025\d{4})?$/,
    tokens: 200_000,
    source: "https://github.com/labring/fastgpt-plugin/pull/242.diff",
    seen,
  },
  { model: /^claude-opus-4-[678](?:-20|$)/, tokens: 1_000_000, source: ANTHROPIC_PROFILES, seen },
  { model: /^claude-opus-4-5(?:-20|$)/, tokens: 200_000, source: ANTHROPIC_PROFILES, seen },
  {
    model: /^claude-3-/,
    tokens: 200_000,
    source: "https://docs.rs/anthropic_rust/latest/anthropic_rust/types/enum.Model.html",
    seen,
  },
  {
    model: /^gpt-5\.6-sol/,
    tokens: 1_050_000,
    source: "https://docs.rs/crate/llmr/latest/source/models/openai.toml",
    seen,
  },
  {
    model: /^gpt-5\.[45](?:-20|$)/,
    tokens: 1_050_000,
    source: "https://docs.oxen.ai/inference-api/reference/models/gpt-5-5-2026-04-23.md",
    seen,
  },
  {
    model: /^gpt-5\.2(?:-20|$)/,
    tokens: 400_000,
    source: "https://vercel.com/ai-gateway/models/openai/gpt-5.2-fast.md",
    seen,
  },
  {
    model: /^gpt-5\.1(?:-20|$)/,
    tokens: 400_000,
    source: "https://github.com/labring/fastgpt-plugin/pull/297.diff",
    seen,
  },
  // Of 400,000 tokens 128,000 are kept for the output.
  {
    model: /^gpt-5(?:-mini|-nano)?(?:-20|$)/,
    tokens: 272_000,
    source:
      "https://community.openai.com/t/huge-gpt-5-documentation-gap-flaw-causing-bugs-input-tokens-exceed-the-configured-limit-of-272-000-tokens/1344734",
    seen,
  },
  { model: /^gpt-4-turbo(?:-20|$)/, tokens: 128_000, source: OPENAI_PROFILES, seen },
  { model: /^(?:o1|o3|o3-mini|o1-pro|o3-pro)(?:-20|$)/, tokens: 200_000, source: OPENAI_PROFILES, seen },
  {
    model: /^o4-mini/,
    tokens: 200_000,
    source:
      "https://community.openai.com/t/huge-gpt-5-documentation-gap-flaw-causing-bugs-input-tokens-exceed-the-configured-limit-of-272-000-tokens/1344734",
    seen,
  },
  { model: /^gpt-4\.1(?:-mini|-nano)?(?:-20|$)/, tokens: 1_047_576, source: GPT_SIZES, seen },
  { model: /^gpt-4o(?:-mini)?(?:-20|$)/, tokens: 128_000, source: GPT_SIZES, seen },
  {
    model: /^gemini-2\.0-flash/,
    tokens: 1_048_576,
    source: "https://ai.google.dev/gemini-api/docs/models/gemini-2.0-flash",
    seen,
  },
  {
    model: /^gemini-3-flash/,
    tokens: 1_048_576,
    source: "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/models/gemini/3-flash",
    seen,
  },
  {
    model: /^gemini-(?:2\.5-(?:pro|flash)|3\.\d-(?:pro|flash))(?!.*(?:image|tts|live|audio))/,
    tokens: 1_048_576,
    source: "https://docs.rs/crate/litellm-rs/0.8.2/source/src/core/providers/gemini_shared.rs",
    seen,
  },
  {
    model: /^deepseek-(?:v4-pro|v4-flash|flash)/,
    tokens: 1_000_000,
    source: "https://api-docs.deepseek.com/zh-cn/quick_start/pricing/",
    seen,
  },
  { model: /^grok-4(?:-0709)?$/, tokens: 256_000, source: "https://www.openrouter.ai/x-ai/grok-4", seen },
  { model: /^grok-4-fast/, tokens: 2_000_000, source: "https://openrouter.ai/x-ai/grok-4-fast:nitro/api", seen },
  { model: /^grok-4-1-fast/, tokens: 2_000_000, source: "https://opencode.ai/data/xai/grok-4-1-fast.md", seen },
  { model: /^grok-4\.3$/, tokens: 1_000_000, source: "https://vercel.com/ai-gateway/models/grok-4.3.md", seen },
  { model: /^kimi-k2\.6$/, tokens: 262_144, source: "https://dev.to/preecha/how-to-use-the-kimi-k26-api-5dpi", seen },
];

/** The longest input of a model in tokens; undefined: not known. A vendor's prefix (`openai/`) is passed over. */
export function contextLength(model: string): number | undefined {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return CONTEXT_LENGTHS.find((known) => known.model.test(name))?.tokens;
}
