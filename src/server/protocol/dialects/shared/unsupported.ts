/** What a vendor's language has no word for: taken note of, so that nothing gets lost in silence. */
import type { Block, ChatPrompt, Extra, Warn, WireObject } from "../../chat-events";

const promptParams = [
  "tools",
  "tool_choice",
  "parallel_tools",
  "format",
  "temperature",
  "top_p",
  "top_k",
  "seed",
  "frequency_penalty",
  "presence_penalty",
  "choices",
  "max_output",
  "stop",
  "reasoning",
  "verbosity",
  "user",
  "metadata",
  "cache",
] as const satisfies readonly (keyof ChatPrompt)[];

/** Warns of every wish of a prompt but those that the vendor can be told. */
export function warnUnsupported(prompt: ChatPrompt, said: readonly (typeof promptParams)[number][], warn: Warn): void {
  for (const wish of promptParams) {
    const value = prompt[wish];
    if (value === undefined || said.includes(wish)) continue;
    // What changes nothing is no loss.
    if ((Array.isArray(value) && value.length === 0) || (wish === "choices" && value === 1)) continue;
    if (wish === "format" && prompt.format?.type === "text") continue;
    warn("dropped_field", wish);
  }
}

/**
 * The members of a caller's extras that are the vendor's own words (whatever dialect the caller spoke, he knew whom he
 * spoke to); a warning for the rest. `where` names the place in the log.
 */
export function takeExtra(extra: Extra | undefined, words: ReadonlySet<string>, where: string, warn: Warn): WireObject {
  const taken: Record<string, unknown> = {};
  for (const members of Object.values(extra ?? {})) {
    for (const [key, value] of Object.entries(members ?? {})) {
      if (words.has(key)) taken[key] = value;
      else warn("dropped_field", where === "" ? key : `${where}.${key}`);
    }
  }
  return taken;
}

/** A block's name in a warning. */
export const blockName = (block: Block): string =>
  block.type === "opaque" ? String(block.value.type ?? block.from) : block.type;

/** The texts of blocks, joined; a warning for every block that is none. Refusals are texts. */
export function textsOf(blocks: readonly Block[], warn: Warn): string {
  const texts: string[] = [];
  for (const block of blocks) {
    if (block.type === "text" || block.type === "refusal") texts.push(block.text);
    else if (block.type === "file" && block.source.kind === "text") texts.push(block.source.text);
    else if (block.type === "reasoning") warn("dropped_reasoning", block.reasoningSignature?.from ?? "unsigned");
    else warn("dropped_block", blockName(block));
  }
  return texts.join("");
}
