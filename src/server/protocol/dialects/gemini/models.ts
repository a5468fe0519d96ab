/**
 * What Gemini models want, by name (ai.google.dev/gemini-api/docs: thinking, thought-signatures, function-calling;
 * model table of @ai-sdk/google 4.0.121; error "Function calling with a response mime type: 'application/json' is
 * unsupported"; read November 2026). What they refuse of sampling is in shared/refused-members.ts.
 */
export interface GeminiFacts {
  /** How thinking is asked for: a number of tokens up to 2.5, a level from 3 on. Some do not think. */
  readonly thinking: "none" | "budget" | "level";
  /** The least that can be asked for, where thinking cannot be turned off; `some`: where it is not off. */
  readonly least: { readonly budget: number; readonly some: number; readonly level: "minimal" | "low" };
  /** The most tokens that can be asked for. */
  readonly most: number;
  /** Calls in the history must carry a signature. */
  readonly signedCalls: boolean;
  /** Results of tools may hold images. */
  readonly resultImages: boolean;
  /** JSON may be demanded beside functions. */
  readonly formatBesideTools: boolean;
}

/** The generation in a name; an alias is that of the newest. */
function generation(model: string): number {
  if (/gemini-[a-z-]*latest/.test(model)) return 3.7;
  return Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 2.5);
}

function thinkingOf(model: string, version: number): GeminiFacts["thinking"] {
  if (version < 2.5 || model.includes("2.5-flash-image")) return "none";
  return version >= 3 && !model.includes("gemini-3-pro-image") ? "level" : "budget";
}

export function geminiFacts(model: string): GeminiFacts {
  const version = generation(model);
  const pro = model.includes("-pro");
  const lite = model.includes("-lite");
  return {
    thinking: thinkingOf(model, version),
    least: { budget: pro ? 128 : 0, some: lite ? 512 : 1, level: pro || (version >= 3.7 && !lite) ? "low" : "minimal" },
    most: pro ? 32_768 : 24_576,
    signedCalls: version >= 3,
    resultImages: version >= 3,
    formatBesideTools: version >= 3,
  };
}

/** What the documentation offers for calls that another model made: accepted instead of a signature. */
export const UNSIGNED_CALL = "skip_thought_signature_validator";
