/**
 * A body in its caller's own dialect that the operator's mapping sends to another model: the caller does not know that
 * one, so what it refuses while it thinks is left out, with a warning. A caller that names the model itself gets the
 * vendor's refusal.
 */
import type { DialectKey, Warning, WireObject } from "../../protocol/chat-events";
import { type Maker, type Refusable, refusedOf } from "../../protocol/dialects/shared/refused-members";
import { isObject } from "../../lib/json-bytes";

interface Place {
  readonly makers: readonly Maker[];
  /** The dialect's names; absent: it has no such member. */
  readonly names: Readonly<Record<string, Refusable>>;
  /** The member that holds them; absent: the body itself. */
  readonly inside?: readonly string[];
  /** Whether the model will think. */
  thinks(body: WireObject): boolean;
}

const chatNames = {
  temperature: "temperature",
  top_p: "top_p",
  frequency_penalty: "frequency_penalty",
  presence_penalty: "presence_penalty",
  stop: "stop",
  logprobs: "logprobs",
  top_logprobs: "top_logprobs",
  logit_bias: "logit_bias",
  reasoning_effort: "reasoning_effort",
} as const;

const places: Readonly<Record<DialectKey, Place>> = {
  "openai-chat": {
    makers: ["openai", "xai", "deepseek"],
    names: chatNames,
    thinks: ({ reasoning_effort }) => reasoning_effort !== "none",
  },
  "openai-responses": {
    makers: ["openai", "xai"],
    names: { temperature: "temperature", top_p: "top_p", top_logprobs: "top_logprobs" },
    thinks: ({ reasoning }) => !isObject(reasoning) || reasoning.effort !== "none",
  },
  anthropic: {
    makers: ["anthropic"],
    names: { temperature: "temperature", top_p: "top_p", top_k: "top_k" },
    thinks: ({ thinking }) => isObject(thinking) && (thinking.type === "enabled" || thinking.type === "adaptive"),
  },
  gemini: {
    makers: ["google"],
    names: {
      frequencyPenalty: "frequency_penalty",
      frequency_penalty: "frequency_penalty",
      presencePenalty: "presence_penalty",
      presence_penalty: "presence_penalty",
    },
    inside: ["generationConfig", "generation_config"],
    thinks: () => true,
  },
};

/** Whether a name is that of another model than the caller's: a maker before it is not part of it. */
export const isAnother = (asked: string, model: string): boolean =>
  asked.slice(asked.lastIndexOf("/") + 1) !== model.slice(model.lastIndexOf("/") + 1);

/** A body in `dialect` without what `model` refuses; undefined when it may stay as it is. */
export function withoutRefused(
  dialect: DialectKey,
  model: string,
  body: WireObject,
): { body: WireObject; warnings: Warning[] } | undefined {
  const { makers, names, inside, thinks } = places[dialect];
  const at = inside?.find((name) => isObject(body[name]));
  const holder = at === undefined ? body : body[at];
  if ((inside && at === undefined) || !isObject(holder)) return undefined;
  const own: string[] = [];
  for (const name in holder) if (Object.hasOwn(names, name)) own.push(name);
  // As in most calls.
  if (own.length === 0) return undefined;
  const call = Object.fromEntries(own.map((name) => [names[name], holder[name]]));
  const { asked } = refusedOf(makers, model, call, thinks(body));
  const dropped = own.filter((name) => asked.some((one) => one === names[name]));
  if (dropped.length === 0) return undefined;
  const rest = Object.fromEntries(Object.entries(holder).filter(([name]) => !dropped.includes(name)));
  return {
    body: at === undefined ? rest : { ...body, [at]: rest },
    warnings: dropped.map((detail) => ({ code: "dropped_field", detail })),
  };
}
