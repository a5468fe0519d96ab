/**
 * Model names with a suffix that sets thinking or search. The efforts of each model:
 * platform.openai.com/docs/guides/reasoning and docs.x.ai/developers/model-capabilities/text/reasoning, November 2026.
 */

/** The meaning of a suffix: thinking, a budget of thinking tokens, or an effort. */
export type AskedThoughts = "some" | number | AskedEffort;
export type AskedEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh";

/** Each maker's models, the suffixes of their names, and their meaning. */
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
  return word as AskedEffort; // the suffixes are exactly these words
}

export type Maker = keyof typeof makers;
const makerNames = Object.keys(makers) as Maker[]; // its own keys

/**
 * The model without the suffix, its maker, and the suffix's meaning; undefined for a name without one, and for models
 * of other makers.
 */
export function splitThinking(name: string): SplitName | undefined {
  if (splits.has(name)) return splits.get(name);
  const split = readName(name);
  // Names come from callers: their number has no other bound.
  if (splits.size >= 1000) splits.clear();
  splits.set(name, split);
  return split;
}

interface SplitName {
  readonly maker: Maker;
  readonly model: string;
  readonly thoughts: AskedThoughts;
}
const splits = new Map<string, SplitName | undefined>();

function readName(name: string): SplitName | undefined {
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
 * The model of a name that requests a web search; undefined for another name. The provider knows whether its vendor has
 * such names.
 */
export const withoutSearch = (name: string): string | undefined =>
  name.endsWith(SEARCH) ? name.slice(0, -SEARCH.length) : undefined;

/** Makers whose models have search names: xAI, and Baidu's Qianfan. */
const searchers = /^(?:grok|ernie|deepseek)-/i;

/** The model behind a name with a suffix; undefined for every other name. */
export const modelBehind = (name: string): string | undefined =>
  splitThinking(name)?.model ?? (searchers.test(name) ? withoutSearch(name) : undefined);
