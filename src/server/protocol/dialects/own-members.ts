/**
 * The members of a request that only its own dialect has, and what becomes of each at a channel of another dialect. A
 * channel of the caller's own dialect gets them all, and is preferred where one of them would be refused.
 *
 * `refused`: without it the model would answer something else than was asked, or a promise would be broken, so a call
 * that only such channels could serve is refused. `dropped`: the answer is the same in kind; the log names it
 * (shared/unsupported.ts). A member that no table names is dropped and named as well.
 *
 * Types of @anthropic-ai/sdk 1.11 (beta MessageCreateParamsBase), openai 7.55 (ChatCompletionCreateParamsBase,
 * ResponseCreateParamsBase), @google/genai 3.1 (GenerateContentConfig); read November 2026. The generated page
 * members.md shows the tables; tests/translation/own-members.test.ts holds them against these types.
 */
import { type DialectKey, dialectKeys, type WireObject } from "../chat-events";
import { isObject } from "./shared/json";
import { member } from "./gemini/members";

export type Fate = "refused" | "dropped";

export interface OwnMember {
  readonly fate: Fate;
  /** What the member is for, or what is lost. */
  readonly meaning: string;
  /** Refused with these values only. */
  readonly only?: { readonly values: string; readonly when: (value: unknown) => boolean };
}

const refused = (meaning: string, only?: OwnMember["only"]): OwnMember => ({
  fate: "refused",
  meaning,
  ...(only && { only }),
});
const dropped = (meaning: string): OwnMember => ({ fate: "dropped", meaning });

const names = (value: unknown, ...wanted: readonly string[]): boolean =>
  Array.isArray(value) && value.some((entry) => typeof entry === "string" && wanted.includes(entry.toLowerCase()));

const CHAT_AND_RESPONSES = {
  moderation: dropped("moderation of the call by OpenAI"),
  prompt_cache_key: dropped("a hint for OpenAI's cache"),
  prompt_cache_options: dropped("a hint for OpenAI's cache"),
  prompt_cache_retention: dropped("a hint for OpenAI's cache"),
  service_tier: dropped("speed against price"),
} as const;

/** Gemini's members by camel case; `generationConfig.` before those of the configuration. */
export const OWN_MEMBERS: Readonly<Record<DialectKey, Readonly<Record<string, OwnMember>>>> = {
  anthropic: {
    thread: refused("the turns before this one are stored by the vendor"),
    mcp_servers: refused("tools that the vendor asks other servers for"),
    inference_geo: refused("where the data may be processed", {
      values: "all but `global`",
      when: (value) => value !== "global",
    }),
    billing_policy: dropped("whose account at the vendor pays"),
    compaction: dropped("how the vendor shortens a long conversation"),
    container: dropped("the container of tools that the vendor runs; the tools are named as well"),
    context_management: dropped("what the vendor forgets of a long conversation"),
    diagnostics: dropped("what the vendor reports of the call"),
    fallback_credit_token: dropped("a credit of the vendor's"),
    fallbacks: dropped("models that the vendor asks instead"),
    output_format: dropped("the earlier name of output_config.format"),
    service_tier: dropped("speed against price"),
    speed: dropped("speed against price"),
    user_profile_id: dropped("a name of the end user at the vendor"),
    workspace_id: dropped("a name of the account at the vendor"),
  },
  "openai-chat": {
    modalities: refused("the answer is to be spoken", {
      values: "with `audio`",
      when: (value) => names(value, "audio"),
    }),
    audio: dropped("voice and format of a spoken answer"),
    logit_bias: dropped("likeliness of single tokens"),
    logprobs: dropped("probabilities beside the answer"),
    top_logprobs: dropped("probabilities beside the answer"),
    prediction: dropped("a guess that makes the answer faster"),
    store: dropped("storing at OpenAI"),
    ...CHAT_AND_RESPONSES,
  },
  "openai-responses": {
    prompt: refused("a prompt that is stored by the vendor"),
    conversation: refused("the turns before this one are stored by the vendor"),
    access_programs: dropped("programs of OpenAI's that the account takes part in"),
    background: dropped("answered by the channel that stores the answer, or refused (background_unsupported)"),
    context_management: dropped("what the vendor forgets of a long conversation"),
    image: dropped("settings of the vendor's own drawing tool"),
    max_tool_calls: dropped("a limit for tools that the vendor runs"),
    top_logprobs: dropped("probabilities beside the answer"),
    truncation: dropped("what happens to a conversation that is too long"),
    ...CHAT_AND_RESPONSES,
  },
  gemini: {
    cachedContent: refused("the beginning of the conversation is stored by the vendor"),
    "generationConfig.responseModalities": refused("the answer is to be heard or seen", {
      values: "with `AUDIO` or `VIDEO`",
      when: (value) => names(value, "audio", "video"),
    }),
    safetySettings: dropped("thresholds of Google's filters"),
    labels: dropped("labels in Google's bill"),
    serviceTier: dropped("speed against price"),
    store: dropped("storing at Google"),
    modelArmorConfig: dropped("filters of the account at Google"),
    continuationToken: dropped("a token of the SDK's for an interrupted answer"),
    automaticContinuation: dropped("the SDK's own continuation"),
    generationOutputConfig: dropped("where Google stores the output"),
    "generationConfig.audioTimestamp": dropped("times beside sound"),
    "generationConfig.audioTranscriptionConfig": dropped("a transcript beside sound"),
    "generationConfig.enableEnhancedCivicAnswers": dropped("answers about elections"),
    "generationConfig.imageConfig": dropped("format of drawn pictures"),
    "generationConfig.logprobs": dropped("probabilities beside the answer"),
    "generationConfig.mediaResolution": dropped("how closely media are looked at"),
    "generationConfig.modelSelectionConfig": dropped("which model Google selects"),
    "generationConfig.responseLogprobs": dropped("probabilities beside the answer"),
    "generationConfig.routingConfig": dropped("which model Google selects"),
    "generationConfig.speechConfig": dropped("voice of a spoken answer"),
  },
};

interface RefusableMember {
  readonly path: string;
  /** The one or two parts of the path. */
  readonly parts: readonly string[];
  readonly only: OwnMember["only"];
}

const refusable: Readonly<Record<DialectKey, readonly RefusableMember[]>> = Object.fromEntries(
  dialectKeys.map((key) => [
    key,
    Object.entries(OWN_MEMBERS[key]).flatMap(([path, { fate, only }]) =>
      fate === "refused" ? [{ path, parts: path.split("."), only }] : [],
    ),
  ]),
) as unknown as Record<DialectKey, RefusableMember[]>; // the keys are all of them

function valueAt(body: WireObject, [first = "", second]: readonly string[]): unknown {
  const value = member(body, first);
  return second === undefined ? value : isObject(value) ? member(value, second) : undefined;
}

const isAsked = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);

/** The members of a call that only a channel of its own dialect may serve. */
export function membersToRefuse(from: DialectKey, body: WireObject): string[] {
  const found: string[] = [];
  for (const { path, parts, only } of refusable[from]) {
    const value = valueAt(body, parts);
    if (isAsked(value) && (only?.when(value) ?? true)) found.push(path);
  }
  return found;
}
