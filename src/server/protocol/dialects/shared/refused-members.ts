/**
 * What models refuse of a call's sampling, by family and by whether they think: rows of data, each with what it was
 * read from. A translated call, and one that the operator's mapping sends to another model, leaves such members out
 * with a warning. A caller of the vendor's own dialect that names the model itself gets the vendor's refusal.
 */
import type { Warn } from "../../chat-events";

export type Refusable =
  | "temperature"
  | "top_p"
  | "top_k"
  | "frequency_penalty"
  | "presence_penalty"
  | "stop"
  | "logprobs"
  | "top_logprobs"
  | "logit_bias"
  | "reasoning_effort";

/** Who makes the model: another vendor's model of such a name is another model. */
export type Maker = "openai" | "anthropic" | "google" | "xai" | "deepseek";

interface RefusalRule {
  readonly maker: Maker;
  /** By the name without the maker. */
  readonly models: RegExp;
  readonly when: "always" | "thinking";
  readonly members: readonly Refusable[];
  /** Values that are no error. */
  readonly accepts?: Readonly<Partial<Record<Refusable, (value: unknown) => boolean>>>;
}

/** Values that ask for what the model does anyway: left out without a warning. */
const idle: Readonly<Partial<Record<Refusable, (value: unknown) => boolean>>> = {
  temperature: (value) => value === 1,
  top_p: (value) => value === 1,
  frequency_penalty: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  logprobs: (value) => value === false,
};

const rules: readonly RefusalRule[] = [
  // "temperature, top_p, presence_penalty, frequency_penalty, logprobs, top_logprobs, logit_bias are not supported"
  // (learn.microsoft.com/azure/foundry/openai/how-to/reasoning, "API & feature support"; "Unsupported parameter: 'stop'
  // is not supported with this model."; developers.openai.com/api/docs/guides/latest-model, "GPT-5.1 parameter
  // compatibility": the first three with effort none only; read 22 November 2026).
  {
    maker: "openai",
    models: /^(?:o\d|gpt-5(?!\.\d|-chat)|gpt-(?:[6-9]|\d\d))/,
    when: "always",
    members: ["temperature", "top_p", "logprobs", "top_logprobs"],
  },
  {
    maker: "openai",
    models: /^gpt-5\.\d/,
    when: "thinking",
    members: ["temperature", "top_p", "logprobs", "top_logprobs"],
  },
  {
    maker: "openai",
    models: /^(?:o\d|gpt-5(?!-chat)|gpt-(?:[6-9]|\d\d))/,
    when: "always",
    members: ["frequency_penalty", "presence_penalty", "stop", "logit_bias"],
  },
  // Any value is an error from 4.7 on (platform.claude.com/docs, migration guides of Opus 4.7 and Sonnet 5; the API's
  // own "`temperature` is deprecated for this model."; read 22 November 2026).
  {
    maker: "anthropic",
    models: /claude-(?:[a-z]+-)?(?:4[-.][7-9]|[5-9])(?!\d)/,
    when: "always",
    members: ["temperature", "top_p", "top_k"],
  },
  // With a budget and in adaptive mode (platform.claude.com/docs/en/build-with-claude/extended-thinking, "Feature
  // compatibility", and the API's own "`temperature` may only be set to 1 when thinking is enabled or in adaptive
  // mode"; read 22 November 2026).
  {
    maker: "anthropic",
    models: /(?:)/,
    when: "thinking",
    members: ["temperature", "top_p", "top_k"],
    accepts: {
      temperature: (value) => value === 1,
      top_p: (value) => typeof value === "number" && value >= 0.95,
    },
  },
  // "Penalty is not enabled for this model": 2.5 and later, probed (google-gemini/cookbook#1290, vercel/ai#8943,
  // mnfst/modelparams.dev#16; read 22 November 2026).
  {
    maker: "google",
    models: /^gemini-(?!1\.|2\.0)/,
    when: "always",
    members: ["frequency_penalty", "presence_penalty"],
  },
  // "presencePenalty, frequencyPenalty and stop parameters are not supported by reasoning models. Adding them in the
  // request would result in an error." (docs.x.ai/docs/guides/reasoning; read 22 November 2026).
  {
    maker: "xai",
    models: /^grok-(?:3-mini|(?:code|build)|(?:[4-9]|\d\d)(?!.*non-reasoning))/,
    when: "always",
    members: ["frequency_penalty", "presence_penalty", "stop"],
  },
  // "Grok 4 does not have a reasoning_effort parameter. If a reasoning_effort is provided, the request will return an
  // error." (docs.x.ai/docs/models); grok-4.20 likewise, all but its agents (vercel/ai, @ai-sdk/xai 4.0.8); 3-mini, 4.3
  // and later have one; read 22 November 2026.
  {
    maker: "xai",
    models: /^grok-(?:3(?!-mini)|code|4(?:-(?!\d{2}(?!\d))|$)|4\.20(?!-multi-agent))/,
    when: "always",
    members: ["reasoning_effort"],
  },
  // "Setting logprobs or top_logprobs will trigger an error"; the others are without effect
  // (api-docs.deepseek.com/guides/reasoning_model; read 22 November 2026).
  { maker: "deepseek", models: /^deepseek-reasoner/, when: "always", members: ["logprobs", "top_logprobs"] },
];

/** gpt-5 of openai/gpt-5 and of ft:gpt-5:org::id. */
const nameOf = (model: string): string => model.slice(model.lastIndexOf("/") + 1).replace(/^ft:/, "");

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);

/**
 * The members that a model of these makers refuses, from those that a call has; `thinks`: it will think. `asked` are
 * those whose absence changes the answer: a warning for the log.
 */
export function refusedOf(
  makers: readonly Maker[],
  model: string,
  call: Readonly<Partial<Record<Refusable, unknown>>>,
  thinks: boolean,
): { refused: Refusable[]; asked: Refusable[] } {
  const name = nameOf(model);
  const refused = new Set<Refusable>();
  for (const { maker, models, when, members, accepts } of rules) {
    if (!makers.includes(maker) || !models.test(name) || (when === "thinking" && !thinks)) continue;
    for (const member of members)
      if (isSet(call[member]) && accepts?.[member]?.(call[member]) !== true) refused.add(member);
  }
  return { refused: [...refused], asked: [...refused].filter((member) => idle[member]?.(call[member]) !== true) };
}

/** The members of a call that a model of these makers takes; a warning for each that it would have changed. */
export function takenOf<Call extends Readonly<Partial<Record<Refusable, unknown>>>>(
  makers: readonly Maker[],
  model: string,
  call: Call,
  thinks: boolean,
  warn: Warn,
): Partial<Call> {
  // Most calls have none of them.
  if (Object.values(call).every((value) => value === undefined)) return {};
  const { refused, asked } = refusedOf(makers, model, call, thinks);
  for (const member of asked) warn("dropped_field", member);
  const left = refused as readonly string[];
  const taken = Object.entries(call).filter(([member, value]) => value !== undefined && !left.includes(member));
  return Object.fromEntries(taken) as Partial<Call>; // members of the call itself
}
