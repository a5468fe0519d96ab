/**
 * What OpenAI's models refuse, by name: a member that one generation wants is an error for another. Sources: types of
 * the `openai` SDK 7.55 (ReasoningEffort, stop, include), the model table of @ai-sdk/openai 4.0.118, OpenAI's error
 * texts "Encrypted content is not supported with this model" and "Invalid 'user': string too long" (read November
 * 2026). What they refuse while they think is in refused-members.ts.
 */
import { type ChatPrompt, type Effort, efforts, type Warn } from "../../chat-events";
import { wantedEffort } from "./effort";

export interface OpenaiFacts {
  /** Whether it thinks; undefined: not OpenAI's, or not known by its name. */
  readonly thinks?: boolean;
  /** The efforts it takes; undefined: not known, every word goes to it. */
  readonly efforts?: readonly Effort[];
  /** In chat it takes functions without thoughts only (Responses is the place for both). */
  readonly eitherFunctionsOrThoughts?: boolean;
}

const unknownModel: OpenaiFacts = {};

/** gpt-4o of openai/gpt-4o and of ft:gpt-4o:org::id. */
const nameOf = (model: string): string => model.slice(model.lastIndexOf("/") + 1).replace(/^ft:/, "");

/** Whether a name is one of OpenAI's own models. */
export const isOpenai = (model: string): boolean => /^(o\d|gpt-|chatgpt-)/.test(nameOf(model));

/** Models that are named by their size or date alone. */
const plainVariant = /^(?:(?:mini|nano|sol|luna|terra)(?:-\d{4}-\d{2}-\d{2})?|\d{4}-\d{2}-\d{2})$/;

function effortsOfGpt5(minor: number): Effort[] {
  if (minor === 0) return ["minimal", "low", "medium", "high"];
  return [
    "none",
    "low",
    "medium",
    "high",
    ...(minor > 1 ? ["xhigh" as const] : []),
    ...(minor > 5 ? ["max" as const] : []),
  ];
}

export function openaiFacts(model: string): OpenaiFacts {
  const name = nameOf(model);
  if (/^o\d/.test(name)) return { thinks: true, efforts: ["low", "medium", "high"] };
  const [, generation, point = "", variant] = /^gpt-(\d+)(?:\.(\d+))?(?:-(.+))?$/.exec(name) ?? [];
  if (generation === undefined || Number(generation) < 5) {
    return /^(gpt-[34]|chatgpt-)/.test(name) ? { thinks: false } : unknownModel;
  }
  if (point === "" && variant?.startsWith("chat")) return { thinks: false };
  if (Number(generation) > 5) return { thinks: true, efforts: ["low", "medium", "high", "xhigh", "max"] };
  const minor = Number(point);
  const plain = variant === undefined || plainVariant.test(variant);
  return {
    thinks: true,
    ...(plain && { efforts: effortsOfGpt5(minor) }),
    eitherFunctionsOrThoughts: minor > 5,
  };
}

/** The effort that comes nearest to the wanted one: the highest that is not above it, else the lowest there is. */
function nearest(wanted: Effort, known: readonly Effort[]): Effort {
  if (known.includes(wanted)) return wanted;
  const thinking = known.filter((effort) => effort !== "none");
  const below = thinking.filter((effort) => efforts.indexOf(effort) < efforts.indexOf(wanted));
  return below.at(-1) ?? thinking[0] ?? wanted;
}

/** The effort that a model is asked for; undefined: none is named to it. */
export function effortFor({ model, reasoning }: ChatPrompt, warn: Warn): Effort | undefined {
  const wanted = wantedEffort(reasoning);
  if (wanted === undefined) return undefined;
  const { thinks, efforts: known } = openaiFacts(model);
  if (thinks === false) {
    if (wanted !== "none") warn("dropped_field", "reasoning");
    return undefined;
  }
  const effort = known ? nearest(wanted, known) : wanted;
  if (effort !== reasoning?.effort)
    warn("changed_value", reasoning?.effort === undefined ? "reasoning.budget" : "reasoning.effort");
  return effort;
}

/** Members that chat and Responses have in common and no other dialect has. */
const common = ["prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "service_tier"] as const;

/**
 * The prompt with what a caller of OpenAI's other dialect says of the whole call, where a model of OpenAI's reads it:
 * the key of a cache decides what a conversation costs.
 */
export function withCommon(prompt: ChatPrompt, to: "openai-chat" | "openai-responses"): ChatPrompt {
  const from = to === "openai-chat" ? "openai-responses" : "openai-chat";
  const theirs = prompt.extra?.[from];
  if (!theirs || !isOpenai(prompt.model)) return prompt;
  const entries = Object.entries(theirs);
  const isCommon = ([name]: [string, unknown]): boolean => common.some((one) => one === name);
  const rest = Object.fromEntries(entries.filter((entry) => !isCommon(entry)));
  return {
    ...prompt,
    extra: {
      ...prompt.extra,
      [from]: rest,
      [to]: { ...Object.fromEntries(entries.filter(isCommon)), ...prompt.extra?.[to] },
    },
  };
}

/** Most characters of `user`. */
const LONGEST_USER = 64;

/**
 * The caller's name of a user; a longer one (Claude Code's has 150 characters) as its digest, so that it stays one
 * user.
 */
export function userFor(user: string | undefined, warn: Warn): string | undefined {
  if (user === undefined || user.length <= LONGEST_USER) return user;
  warn("changed_value", "user");
  return new Bun.CryptoHasher("sha256").update(user).digest("hex");
}
