/** The name that a channel is asked for: model_mapping, and the suffixes of names that ask for thoughts. */
import { type AskedThoughts, type Maker, splitThinking } from "../../../shared/thinking-suffix";
import type { PoolChannel } from "../../contracts/channel";
import type { UpstreamDialectKey } from "../../protocol/dialects/vendor-dialects";
import type { VendorRules } from "../../contracts/vendor-rules";

/** A model at a channel: `asked` is the caller's name, `model` the vendor's. */
export interface ModelNames {
  readonly asked: string;
  readonly model: string;
  /** The thinking that the name's suffix asks for. */
  readonly thoughts?: AskedThoughts;
}

type Namer = Pick<PoolChannel, "type" | "base_url" | "models" | "model_mapping">;

/**
 * The names of a model at a channel that uses `dialect`: the vendor's name has no suffix of Weir's, and is what the
 * mapping makes of the name without it.
 */
export function namesOf(
  asked: string,
  { type, base_url, models, model_mapping }: Namer,
  dialect: UpstreamDialectKey | undefined,
  rules: VendorRules | undefined,
): ModelNames {
  const model = model_mapping.get(asked) ?? asked;
  const split = rules && splitThinking(model);
  if (!split) return { asked, model };
  const mapped = model !== asked;
  const ours = base_url === type.base_url || (!mapped && models.has(split.model));
  if (!suffixRules[split.maker]({ dialect, rules, ours })) return { asked, model };
  return {
    asked,
    model: (mapped ? undefined : model_mapping.get(split.model)) ?? split.model,
    thoughts: split.thoughts,
  };
}

/**
 * Where suffixes of model names have a meaning, by dialect. OpenAI and xAI have no models with such names; other
 * addresses may (deployments, other gateways): there a name is used unchanged unless the channel also lists the model
 * without the suffix.
 */
const suffixRules: Readonly<
  Record<Maker, (at: { dialect: UpstreamDialectKey | undefined; rules: VendorRules; ours: boolean }) => boolean>
> = {
  claude: ({ dialect, rules }) => dialect === "anthropic" && rules.claude_thinking_share !== undefined,
  gemini: ({ dialect, rules }) => dialect === "gemini" && rules.gemini_thinking_share !== undefined,
  openai: ({ dialect, ours }) => effortFields(dialect) && ours,
  grok: ({ dialect, ours }) => effortFields(dialect) && ours,
};

/** The dialects in which a member of the body names the effort. */
export const effortFields = (dialect: UpstreamDialectKey | undefined): boolean =>
  dialect === "openai-chat" || dialect === "openai-responses";
