/** Names that say how much a model is to think: its own name with an ending (compatibility.md 5.1, types 14 and 24). */

/** What an ending asks for: thoughts, none, or so many tokens of them. */
export type AskedThoughts = "some" | "none" | number;

/** Each maker's endings, by what his models' names contain. */
const endings = { claude: /-(thinking)$/, gemini: /-(?:(thinking)|nothinking|thinking-(\d{1,6}))$/ } as const;

/** The model without the ending, and what that asks for; undefined for a name without one, and for models of other makers. */
export function splitThinking(name: string): { model: string; thoughts: AskedThoughts } | undefined {
  for (const [maker, ending] of Object.entries(endings)) {
    const found = name.includes(maker) ? ending.exec(name) : null;
    if (!found) continue;
    const [, plain, tokens] = found;
    const thoughts = plain !== undefined ? "some" : tokens === undefined ? "none" : Number(tokens);
    return { model: name.slice(0, found.index), thoughts };
  }
  return undefined;
}
