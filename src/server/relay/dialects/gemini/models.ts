/**
 * What Gemini models want, by name (ai.google.dev/gemini-api/docs: thinking, thought-signatures, function-calling; read
 * November 2026).
 */
export interface GeminiFacts {
  /** How thinking is asked for: a number of tokens up to 2.5, a level from 3 on. */
  readonly thinking: "budget" | "level";
  /** The least that can be asked for, where thinking cannot be turned off. */
  readonly least: { readonly budget: number; readonly level: "minimal" | "low" };
  /** The most tokens that can be asked for. */
  readonly most: number;
  /** Calls in the history must carry a signature. */
  readonly signedCalls: boolean;
  /** Results of tools may hold images. */
  readonly resultImages: boolean;
}

export function geminiFacts(model: string): GeminiFacts {
  const version = Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 2.5);
  const pro = model.includes("-pro");
  return {
    thinking: version >= 3 ? "level" : "budget",
    least: { budget: pro ? 128 : 0, level: pro ? "low" : "minimal" },
    most: pro ? 32_768 : 24_576,
    signedCalls: version >= 3,
    resultImages: version >= 3,
  };
}

/** What the documentation offers for calls that another model made: accepted instead of a signature. */
export const UNSIGNED_CALL = "skip_thought_signature_validator";
