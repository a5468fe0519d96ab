/**
 * What Claude models refuse, by name: the same field is required by one generation and an error for another.
 * Source: platform.claude.com/docs, migration guides of Opus 4.7, Sonnet 5 and the 5.5 generation (manual thinking and
 * non-default sampling return 400; 5.5 cannot turn thinking off), structured outputs, models overview (output limits);
 * types of @anthropic-ai/sdk 1.11 (ThinkingConfigParam); model table of @ai-sdk/anthropic 4.0.105 (which models always
 * think, and so may not be forced to a tool; Haiku and Fable); effort (xhigh from 4.7 on); read November 2026.
 */
export interface ModelFacts {
  /** "budget": thinking is a number of tokens; "adaptive": an effort. */
  readonly thinking: "budget" | "adaptive";
  /** How to say "do not think": the word, or nothing where it is the default or cannot be said. */
  readonly off: "disabled" | "between_tools" | undefined;
  /** The effort between high and max. */
  readonly xhigh: boolean;
  /** A tool may be forced. */
  readonly forcedTools: boolean;
  /** output_config.format and strict tools. */
  readonly structured: boolean;
  /** Messages of role system in the middle of a conversation. */
  readonly midSystem: boolean;
  /** max_tokens, which Anthropic demands, where the caller names none: within every model's limit. */
  readonly maxTokens: number;
}

const unknownModel: ModelFacts = {
  thinking: "budget",
  off: "disabled",
  xhigh: false,
  forcedTools: true,
  structured: false,
  midSystem: false,
  maxTokens: 8192,
};

/** claude-3-5-sonnet-…, claude-sonnet-4-5, anthropic.claude-opus-4-1-…: 3.5, 4.5, 4.1; undefined for other names. */
function generation(model: string): number | undefined {
  const name = model.slice(model.indexOf("claude"));
  const found = /^claude-(?:[a-z]+-)?(\d)(?:[-.](\d)(?!\d))?/.exec(name);
  return found ? Number(found[1]) + Number(found[2] ?? 0) / 10 : undefined;
}

export function modelFacts(model: string): ModelFacts {
  if (!model.includes("claude")) return unknownModel;
  const age = generation(model);
  if (age === undefined) return { ...unknownModel, maxTokens: 32_000 };
  if (age < 4) return { ...unknownModel, maxTokens: age < 3.5 ? 4096 : 8192 };
  if (age < 4.6) return { ...unknownModel, structured: age >= 4.5 || age === 4.1, maxTokens: 32_000 };
  const is = (family: string): boolean => model.includes(family);
  const off =
    age < 4.7 || is("haiku")
      ? "disabled"
      : age < 5 || is("fable")
        ? undefined
        : age < 5.5
          ? "disabled"
          : is("sonnet")
            ? "between_tools"
            : undefined;
  const always = !is("haiku") && (age >= 5.5 || (is("fable") && age > 5));
  return {
    thinking: "adaptive",
    off,
    xhigh: age >= 4.7,
    forcedTools: !always,
    structured: true,
    midSystem: age >= 5,
    maxTokens: 32_000,
  };
}
