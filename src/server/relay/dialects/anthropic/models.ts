/**
 * What Claude models refuse, by name: the same field is required by one generation and an error for another.
 * Source: platform.claude.com/docs, migration guides of Opus 4.7, Sonnet 5 and the 5.5 generation (manual thinking and
 * non-default sampling return 400; 5.5 cannot turn thinking off), structured outputs, models overview (output limits);
 * types of @anthropic-ai/sdk 1.11 (ThinkingConfigParam); read November 2026.
 */
export interface ModelFacts {
  /** "budget": thinking is a number of tokens; "adaptive": an effort. */
  readonly thinking: "budget" | "adaptive";
  /** How to say "do not think": the word, or nothing where it is the default or cannot be said. */
  readonly off: "disabled" | "between_tools" | undefined;
  /** temperature, top_p and top_k may be set. */
  readonly sampling: boolean;
  /** output_config.format and strict tools. */
  readonly structured: boolean;
  /** Messages of role system in the middle of a conversation. */
  readonly midSystem: boolean;
  /** max_tokens, which Anthropic demands, where the caller names none: within every model's limit. */
  readonly maxTokens: number;
}

const stranger: ModelFacts = {
  thinking: "budget",
  off: "disabled",
  sampling: true,
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
  if (!model.includes("claude")) return stranger;
  const age = generation(model);
  if (age === undefined) return { ...stranger, maxTokens: 32_000 };
  if (age < 4) return { ...stranger, maxTokens: age < 3.5 ? 4096 : 8192 };
  if (age < 4.6) return { ...stranger, structured: age >= 4.5 || age === 4.1, maxTokens: 32_000 };
  const off =
    age < 4.7 ? "disabled" : age < 5 ? undefined : age < 5.5 ? "disabled" : sonnet(model) ? "between_tools" : undefined;
  return { thinking: "adaptive", off, sampling: age < 4.7, structured: true, midSystem: age >= 5, maxTokens: 32_000 };
}

const sonnet = (model: string): boolean => model.includes("sonnet");
