/**
 * The operator's rules for Claude and Gemini models (options on the card "models"): headers, limits and thinking of
 * Claude, safety, version and thinking of Gemini, passthrough bodies; and the thinking that a model name's suffix asks
 * for. They are applied to calls only here.
 */
import type { AskedEffort, AskedThoughts } from "../../../shared/thinking-suffix";
import { modelFacts } from "../../protocol/dialects/anthropic/models";
import { geminiFacts } from "../../protocol/dialects/gemini/models";
import { budgetOf, wantedEffort } from "../../protocol/dialects/shared/effort";
import type { UpstreamDialectKey } from "../../protocol/dialects/vendor-dialects";
import type { ChatPrompt, Reasoning, WireObject } from "../../protocol/chat-events";
import { isObject } from "../../lib/json-bytes";
import type { PoolChannel } from "../../contracts/channel";
import type { VendorRules } from "../../contracts/vendor-rules";
import { effortFields, type ModelNames } from "./model-mapping";

const entryOf = <Value>(
  table: Readonly<Record<string, Value>>,
  { asked, model }: Pick<ModelNames, "asked" | "model">,
): Value | undefined =>
  Object.hasOwn(table, asked) ? table[asked] : Object.hasOwn(table, model) ? table[model] : undefined;

const isWord = (thoughts: AskedThoughts | undefined): thoughts is AskedEffort =>
  typeof thoughts === "string" && thoughts !== "some";

/**
 * The members that a body in one of OpenAI's dialects needs for the effort in its model's name: none if the caller sets
 * the effort. undefined: this dialect has no such member (types of the `openai` SDK 7.55: reasoning_effort, reasoning).
 */
export function effortMembers(
  body: WireObject,
  dialect: UpstreamDialectKey,
  { thoughts }: ModelNames,
): WireObject | undefined {
  if (!isWord(thoughts) || !effortFields(dialect)) return undefined;
  const said = isObject(body.reasoning) ? body.reasoning : undefined;
  if (dialect === "openai-chat")
    return said || typeof body.reasoning_effort === "string" ? {} : { reasoning_effort: thoughts };
  return typeof said?.effort === "string" ? {} : { reasoning: { ...said, effort: thoughts } };
}

/** Whether a body is sent to the channel as its caller wrote it. */
export const isPassthrough = ({ setting }: Pick<PoolChannel, "setting">, rules: VendorRules | undefined): boolean =>
  setting.pass_through_body_enabled === true || rules?.pass_through === true;

/** max_tokens of a call that sets none. The general entry never exceeds the model's known maximum. */
export function claudeMaxTokens(names: ModelNames, rules: VendorRules | undefined): number {
  const { maxTokens } = modelFacts(names.model);
  const table = rules?.claude_max_tokens ?? {};
  return entryOf(table, names) ?? Math.min(maxTokens, table.default ?? maxTokens);
}

/**
 * Most tokens added for thinking to a limit that the caller did not set: within the maximum of every adaptive model.
 */
const MAX_THINKING_ROOM = 64_000;

function forClaude(prompt: ChatPrompt, names: ModelNames, rules: VendorRules): ChatPrompt {
  const limit = prompt.max_output ?? claudeMaxTokens(names, rules);
  const adaptive = modelFacts(names.model).thinking === "adaptive";
  const share = names.thoughts === "some" ? (rules.claude_thinking_share ?? 0) : 0;
  const wished = share > 0 ? (adaptive ? {} : { budget: Math.floor(limit * share) }) : undefined;
  const reasoning = prompt.reasoning ?? wished;
  // Adaptive thinking counts towards the limit, so the answer keeps the room that it would have without it.
  const room =
    prompt.max_output === undefined && adaptive && reasoning ? budgetOf(wantedEffort(reasoning) ?? "high") : 0;
  return {
    ...prompt,
    max_output: room > 0 ? Math.max(limit, Math.min(MAX_THINKING_ROOM, limit + room)) : limit,
    ...(reasoning && { reasoning }),
  };
}

/** The categories that every Gemini model supports (ai.google.dev/gemini-api/docs/safety-settings, November 2026). */
const CATEGORIES = ["HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT"].map(
  (name) => `HARM_CATEGORY_${name}`,
);

/** The safety thresholds of calls to Gemini models, in the format of their bodies; {} if the operator sets none. */
export function safetyOf(rules: VendorRules | undefined): { safetySettings?: WireObject[] } {
  const { default: general, ...named } = rules?.gemini_safety ?? {};
  const thresholds = {
    ...(general !== undefined && Object.fromEntries(CATEGORIES.map((category) => [category, general]))),
    ...named,
  };
  const safetySettings = Object.entries(thresholds).map(([category, threshold]) => ({ category, threshold }));
  return safetySettings.length > 0 ? { safetySettings } : {};
}

/**
 * The thinking that a name asks for. A share of the limit needs a limit, and a model that takes a budget in tokens;
 * otherwise the model thinks as it does by default.
 */
function geminiThoughts(
  { thoughts, model }: ModelNames,
  limit: number | undefined,
  share: number,
): Reasoning | undefined {
  if (thoughts === undefined) return undefined;
  if (typeof thoughts === "number") return { budget: thoughts };
  if (thoughts !== "some") return { effort: thoughts, ...(thoughts === "none" && { show: false }) };
  return limit !== undefined && geminiFacts(model).thinking === "budget" ? { budget: Math.floor(limit * share) } : {};
}

function forGemini(prompt: ChatPrompt, native: boolean, names: ModelNames, rules: VendorRules): ChatPrompt {
  const reasoning = prompt.reasoning ?? geminiThoughts(names, prompt.max_output, rules.gemini_thinking_share ?? 0);
  const extra = native ? prompt.extra : { ...prompt.extra, gemini: { ...safetyOf(rules), ...prompt.extra?.gemini } };
  return { ...prompt, extra, ...(reasoning && { reasoning }) };
}

function forOpenai(prompt: ChatPrompt, { thoughts }: ModelNames): ChatPrompt {
  if (!isWord(thoughts) || wantedEffort(prompt.reasoning) !== undefined) return prompt;
  const { budget: _, ...reasoning } = prompt.reasoning ?? {};
  return { ...prompt, reasoning: { ...reasoning, effort: thoughts } };
}

/**
 * The conversation, written in `from`, with the operator's rules for Claude and Gemini applied. The caller's own
 * members win; a caller that uses the maker's own dialect only gets what the model's name asks for.
 */
export function applyVendorRules(
  prompt: ChatPrompt,
  from: UpstreamDialectKey,
  to: UpstreamDialectKey,
  names: ModelNames,
  rules: VendorRules | undefined,
): ChatPrompt {
  const native = from === to;
  if (!rules || (native && names.thoughts === undefined)) return prompt;
  if (to === "anthropic") return forClaude(prompt, names, rules);
  if (to === "gemini") return forGemini(prompt, native, names, rules);
  return native ? prompt : forOpenai(prompt, names);
}

/** A list of names of beta features. */
const BETAS = /^[\w., -]{1,500}$/;

/**
 * Adds the beta features of an Anthropic caller and the operator's headers for the model to a call's headers; lists of
 * features are joined.
 */
export function addClaudeHeaders(
  headers: Record<string, string>,
  betas: string,
  names: ModelNames,
  rules: VendorRules | undefined,
): void {
  if (BETAS.test(betas)) headers["anthropic-beta"] = betas;
  for (const [name, value] of Object.entries(entryOf(rules?.claude_headers ?? {}, names) ?? {})) {
    const key = name.toLowerCase();
    const values = [value].flat();
    const before =
      key === "anthropic-beta"
        ? (headers[key] ?? "")
            .split(",")
            .map((one) => one.trim())
            .filter((one) => one !== "")
        : [];
    headers[key] = [...new Set([...before, ...values])].join(",");
  }
}

/** An address of the Gemini API with the version that the operator sets for the model. */
export function atVersion(
  url: string,
  { type }: Pick<PoolChannel, "type">,
  names: Pick<ModelNames, "asked" | "model">,
  rules: VendorRules | undefined,
): string {
  const { api_version } = type;
  if (api_version === undefined || !rules) return url;
  const wanted = entryOf(rules.gemini_versions, names) ?? rules.gemini_versions.default ?? api_version;
  return url.replace(`/${api_version}/models/`, `/${wanted}/models/`);
}
