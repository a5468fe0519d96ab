/**
 * Names that say how a model is to be asked: its own name with an ending (compatibility.md 5.1, types 1, 14, 24, 46 and
 * 48). Which efforts a model takes its maker says: platform.openai.com/docs/guides/reasoning and
 * docs.x.ai/developers/model-capabilities/text/reasoning, November 2026.
 */

/** What an ending asks for: thoughts, so many tokens of them, or an effort by its word. */
export type AskedThoughts = "some" | number | AskedEffort;
export type AskedEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh";

/** Each maker's models, the endings of their names, and what those ask for. */
const makers = {
  claude: { models: /claude/, ending: /-thinking$/, asks: () => "some" },
  gemini: {
    models: /gemini/,
    ending: /-(?:thinking|nothinking|thinking-(\d{1,6}))$/,
    asks: ([ending, tokens]) => (tokens !== undefined ? Number(tokens) : ending === "-nothinking" ? "none" : "some"),
  },
  openai: { models: /^(?:o\d|gpt-(?:[5-9]|\d\d))/, ending: /-(none|minimal|low|medium|high|xhigh)$/, asks: effortOf },
  grok: { models: /^grok-(?:3-mini|\d+\.\d)/, ending: /-(none|low|medium|high|xhigh)$/, asks: effortOf },
} as const satisfies Readonly<
  Record<string, { models: RegExp; ending: RegExp; asks(found: RegExpExecArray): AskedThoughts }>
>;

function effortOf([, word]: RegExpExecArray): AskedEffort {
  return word as AskedEffort; // the endings have these words alone
}

export type Maker = keyof typeof makers;
const makerNames = Object.keys(makers) as Maker[]; // its own keys

/**
 * The model without the ending, whose it is, and what the ending asks for; undefined for a name without one, and for
 * models of other makers.
 */
export function splitThinking(name: string): { maker: Maker; model: string; thoughts: AskedThoughts } | undefined {
  for (const maker of makerNames) {
    const { models, ending, asks } = makers[maker];
    const found = models.test(name) ? ending.exec(name) : null;
    const model = name.slice(0, found?.index);
    if (found && models.test(model)) return { maker, model, thoughts: asks(found) };
  }
  return undefined;
}

const SEARCH = "-search";

/**
 * The model of a name that asks for a search of the web; undefined for another name. Whether a vendor has such names
 * its provider knows.
 */
export const withoutSearch = (name: string): string | undefined =>
  name.endsWith(SEARCH) ? name.slice(0, -SEARCH.length) : undefined;

/** Whose models are asked for a search by their names: those of xAI and at Baidu's Qianfan. */
const searchers = /^(?:grok|ernie|deepseek)-/i;

/** The model that a name with an ending stands for; undefined for every other name. */
export const modelBehind = (name: string): string | undefined =>
  splitThinking(name)?.model ?? (searchers.test(name) ? withoutSearch(name) : undefined);
