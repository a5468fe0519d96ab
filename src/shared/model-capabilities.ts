/**
 * What models can do besides text, as their vendors or those who publish tables of them say, or as the model's own name
 * or price says. What is not known is not listed: an empty answer means no knowledge, not no capability.
 */
import { modelsOfKind } from "./job-models";
import { modelPrices } from "./model-prices";
import { CAPABILITIES, type Capability } from "./price-list";
import { splitThinking } from "./thinking-suffix";

interface KnownCapabilities {
  /** Matches the name that the vendor gives the model, without a prefix. */
  readonly model: RegExp;
  readonly can: readonly Capability[];
  /** A page that says so. */
  readonly source: string;
  /** The month in which the source was read. */
  readonly seen: string;
}

const seen = "2026-11";
/** Profiles of models that LangChain generates from models.dev, one file a vendor. */
const profiles = (of: string): string => `https://www.npmjs.com/package/@langchain/${of} (profiles.js)`;
const OPENAI = profiles("openai/v/1.5.8");
const ANTHROPIC = profiles("anthropic/v/1.5.11");
const GOOGLE = profiles("google-genai/v/2.3.2");
const DEEPSEEK = profiles("deepseek/v/1.1.13");
const XAI = profiles("xai/v/1.4.15");

const READS: readonly Capability[] = ["vision", "tools"];
const THINKS: readonly Capability[] = ["vision", "tools", "reasoning"];
const THINKS_IN_TEXT: readonly Capability[] = ["tools", "reasoning"];
const HEARS: readonly Capability[] = ["vision", "tools", "reasoning", "audio"];

/** The first that fits says it. */
const KNOWN: readonly KnownCapabilities[] = [
  { model: /^gpt-5-chat/, can: ["vision", "reasoning"], source: OPENAI, seen },
  {
    model: /^gpt-5(?:\.[1-5])?(?:-(?:mini|nano|pro|codex|chat))*(?:-max|-spark|-latest|-20\d\d.*)?$/,
    can: THINKS,
    source: OPENAI,
    seen,
  },
  { model: /^gpt-4\.1(?:-mini|-nano)?(?:-20|$)/, can: READS, source: OPENAI, seen },
  { model: /^gpt-4o(?:-mini)?(?:-20|$)/, can: READS, source: OPENAI, seen },
  { model: /^gpt-4-turbo(?:-20|$)/, can: READS, source: OPENAI, seen },
  { model: /^gpt-4(?:-0\d{3})?$/, can: ["tools"], source: OPENAI, seen },
  { model: /^o3-mini(?:-20|$)|^codex-mini/, can: THINKS_IN_TEXT, source: OPENAI, seen },
  { model: /^o1-(?:mini|preview)/, can: ["reasoning"], source: OPENAI, seen },
  { model: /^(?:o1|o3|o4-mini)(?:-pro|-deep-research)?(?:-20|$)/, can: THINKS, source: OPENAI, seen },
  {
    model: /^claude-(?:fable-5(?:-1)?|haiku-4-5|opus-4-[15678]|opus-5|sonnet-4-[56]|sonnet-5)(?:-20|$)/,
    can: THINKS,
    source: ANTHROPIC,
    seen,
  },
  {
    model: /^claude-opus-5-5(?:-20|$)/,
    can: THINKS,
    source: "https://inference.sh/apps/anthropic/claude-opus-5-5",
    seen,
  },
  {
    model: /^claude-(?:opus-4-(?:0$|2025)|3-7-sonnet)/,
    can: THINKS,
    source: "https://app.unpkg.com/@langchain/anthropic@1.3.3/files/dist/profiles.cjs.map",
    seen,
  },
  {
    model: /^claude-3-5-(?:haiku|sonnet)/,
    can: READS,
    source: "https://docs.rs/crate/aisdk/latest/source/src/providers/anthropic/capabilities.rs",
    seen,
  },
  { model: /^gemini-2\.5-flash-image/, can: ["vision", "reasoning", "image"], source: GOOGLE, seen },
  { model: /^gemini-(?:2\.5-(?:pro|flash)|3-(?:pro|flash))(?!.*(?:tts|image|live))/, can: HEARS, source: GOOGLE, seen },
  {
    model: /^gemini-(?:1\.5-(?:pro|flash)|2\.0-flash)(?!.*(?:image|live))/,
    can: ["vision", "tools", "audio"],
    source: GOOGLE,
    seen,
  },
  { model: /^deepseek-(?:v4-(?:pro|flash)|flash|reasoner)$/, can: THINKS_IN_TEXT, source: DEEPSEEK, seen },
  { model: /^deepseek-chat$/, can: ["tools"], source: DEEPSEEK, seen },
  { model: /^grok-4(?:-1)?-fast-non-reasoning/, can: READS, source: XAI, seen },
  { model: /^grok-4(?:-1)?-fast/, can: THINKS, source: XAI, seen },
  { model: /^grok-4(?:-0709)?$|^grok-3-mini|^grok-code-fast-1/, can: THINKS_IN_TEXT, source: XAI, seen },
  { model: /^grok-3(?:-fast)?(?:-latest)?$/, can: ["tools"], source: XAI, seen },
  { model: /^grok-4\.3$/, can: THINKS, source: "https://vercel.com/ai-gateway/models/grok-4.3/about", seen },
  { model: /^kimi-k2\.6$/, can: THINKS, source: "https://vercel.com/ai-gateway/models/kimi-k2.6/api", seen },
  {
    model: /^kimi-k2-thinking/,
    can: THINKS_IN_TEXT,
    source: "https://vercel.com/ai-gateway/models/kimi-k2-thinking/latency",
    seen,
  },
  { model: /^glm-4\.5v$/, can: ["vision"], source: "https://vercel.com/ai-gateway/models/glm-4.5v/api", seen },
];

/** What a name says by itself. */
const NAMED: readonly (readonly [RegExp, Capability])[] = [
  [/embed/, "embedding"],
  [/rerank/, "rerank"],
  [/^dall-e|^imagen-|^mj_|(?:^|[-.])image(?:-|$)|-t2i/, "image"],
  [/^(?:tts|whisper|speech)-|-(?:tts|transcribe|audio|realtime)(?:-|$)|^gpt-(?:audio|realtime)|^suno_music/, "audio"],
];

/** What is paid for by itself can be done. */
const PRICED = new Map(
  modelPrices.map(({ model, image_out, audio_in, audio_out }): [string, Capability[]] => [
    model.toLowerCase(),
    [...(image_out ? (["image"] as const) : []), ...(audio_in || audio_out ? (["audio"] as const) : [])],
  ]),
);

/** What is known of a model, in the order of CAPABILITIES. A vendor's prefix (`openai/`) is passed over. */
export function capabilitiesOf(model: string): Capability[] {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  const base = splitThinking(name)?.model ?? name;
  const video = modelsOfKind("video", [model]).length > 0;
  const can = new Set<Capability>([
    ...(KNOWN.find((known) => known.model.test(base))?.can ?? []),
    ...NAMED.filter(([said]) => said.test(name)).map(([, capability]) => capability),
    // A video's sound is priced as audio.
    ...(video ? (["video"] as const) : (PRICED.get(name) ?? [])),
  ]);
  return CAPABILITIES.filter((capability) => can.has(capability));
}
