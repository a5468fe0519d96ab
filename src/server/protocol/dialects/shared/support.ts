/**
 * What a dialect does with each member of the neutral language. Every dialect declares it in a table whose type follows
 * the neutral types: a new member does not compile until every dialect has answered for it. The warnings of what is
 * lost are generated from these tables (unsupported.ts), and tests/translation/nothing-lost.test.ts proves every entry.
 */
import type {
  Block,
  BlockStart,
  CacheMark,
  ChatAnswer,
  ChatPrompt,
  Choice,
  Citation,
  FinishReason,
  Message,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
  Usage,
} from "../../chat-events";

/**
 * "sent": the encoder writes it, or warns where a model or a value stands in the way. "implied": something else that is
 * sent says the same. "unsupported": the dialect has no word for it, which is a warning wherever it is asked for.
 */
export type Support = "sent" | "implied" | "unsupported";

/** The names of the members that may be absent. */
export type OptionalKeys<T> = { [Member in keyof T]-?: object extends Pick<T, Member> ? Member : never }[keyof T];

/** A required member is the thing itself; the optional ones each have an entry. */
export type Members<T> = [OptionalKeys<T>] extends [never] ? "sent" : { readonly [Member in OptionalKeys<T>]: Support };

/** An entry for each variant of a union that is told apart by `type`. */
export type Variants<T extends { readonly type: string }> = {
  readonly [Type in T["type"]]: "unsupported" | Members<Extract<T, { readonly type: Type }>>;
};

/** Members of a prompt that have members of their own. */
interface PromptParts {
  readonly messages: Members<Message> & { readonly content: Variants<Block> };
  readonly tools: "unsupported" | Variants<Tool>;
  readonly tool_choice: "unsupported" | Members<ToolChoice>;
  readonly format: "unsupported" | Variants<OutputFormat>;
  readonly reasoning: "unsupported" | Members<Reasoning>;
  readonly cache: "unsupported" | Members<CacheMark>;
}

/** The channel names the model, and whether the answer is streamed is between the relay and the vendor. */
type RelayParam = "model" | "stream" | "include_usage";

/** What callers ask for: every other member of a prompt. */
export type Param = Exclude<keyof ChatPrompt, RelayParam>;

/** What a dialect does with each member of a request. */
export type RequestSupport = {
  readonly [Name in Param]: Name extends keyof PromptParts ? PromptParts[Name] : Support;
};

/** The envelope of an answer: where the upstream says nothing of it, or another thing, the relay does. */
type Envelope = "id" | "model" | "created";

interface AnswerParts {
  readonly choices: Members<Omit<Choice, "finish">> & {
    /** More than one of them. */
    readonly several: Support;
    readonly content: Variants<Exclude<Block, { readonly type: "tool_result" }>>;
    readonly finish: Members<FinishReason>;
    readonly citation: Members<Citation>;
    /** What a streamed block says of itself at its start. */
    readonly starts: { readonly [Start in BlockStart as Start["kind"]]: Members<Start> };
  };
  /** Each dialect has a word of its own for `served`, or none (service-tier.ts). */
  readonly usage: Members<Omit<Usage, "served">>;
}

/** What a caller's dialect does with each member of an answer, whole or streamed. */
export type AnswerSupport = {
  readonly [Name in Exclude<keyof ChatAnswer, Envelope>]: Name extends keyof AnswerParts ? AnswerParts[Name] : Support;
};
