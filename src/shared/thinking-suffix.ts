/** A name that asks a Claude model to think: the model's own with `-thinking` behind it (compatibility.md 5.1, type 14). */
const SUFFIX = "-thinking";

/** The model without the suffix; undefined for a name without it, and for models of other makers. */
export const splitThinking = (model: string): string | undefined =>
  model.includes("claude") && model.endsWith(SUFFIX) ? model.slice(0, -SUFFIX.length) : undefined;
