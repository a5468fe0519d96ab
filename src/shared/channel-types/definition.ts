/** The shape of one channel type, and the factory with the OpenAI-compatible defaults. */
import type { Text } from "../text";
import { type KeyFormat, plainKey } from "./key-format";

/** The API format of a vendor. The first four are offered to callers as well; the others belong to one vendor. */
export type Dialect =
  | "openai-chat"
  | "openai-responses"
  | "anthropic"
  | "gemini"
  | "aiproxy-library"
  | "baidu"
  | "bedrock"
  | "cohere"
  | "coze"
  | "dify"
  | "jina"
  | "midjourney"
  | "mistral"
  | "palm"
  | "replicate"
  | "spark"
  | "suno"
  | "tencent"
  | "vertex"
  | "video"
  | "zhipu-v3";

/** How the key is sent: a header of that name, a token made from the key, or a signature over the request. */
export type AuthStyle =
  | "bearer"
  | "token"
  | "x-api-key"
  | "api-key"
  | "x-goog-api-key"
  | "mj-api-secret"
  | "jwt"
  | "access-token"
  | "signed";

/** Operations of a channel. `images` includes edits and variations, `transcription` includes translations. */
export type Operation =
  | "chat"
  | "completions"
  | "embeddings"
  | "images"
  | "speech"
  | "transcription"
  | "rerank"
  | "moderations"
  | "realtime"
  | "responses"
  | "files"
  | "batches"
  | "messages"
  | "midjourney"
  | "suno"
  | "video";

/** Where a vendor lists its models and in which shape. */
export interface ModelsEndpoint {
  readonly path: string;
  /** `openai` and `anthropic`: `data[].id`; `gemini`, `ollama` and `cohere`: `models[].name`. */
  readonly shape: "openai" | "anthropic" | "gemini" | "ollama" | "cohere";
}

/** How the balance is queried. */
export type BalanceKind =
  | "openai-billing"
  | "aiproxy"
  | "api2gpt"
  | "aigc2d"
  | "openrouter"
  | "moonshot"
  | "siliconflow"
  | "deepseek";

/** One text field of the channel form whose meaning depends on the type (`base_url`, `other`). */
export interface ExtraField {
  readonly label: Text;
  readonly hint?: Text;
  readonly required: boolean;
  /** Stored when the field is saved empty; "" when empty stays empty. */
  readonly default: string;
  /** Filled in on a click, never automatically. */
  readonly template?: string;
  /** `text-or-map`: plain text, or a JSON object model -> text with a "default" member. */
  readonly kind: "text" | "text-or-map";
  /** Each text is a region, which becomes part of a host's name. */
  readonly region?: true;
}

export interface ChannelType<
  Id extends number = number,
  Key extends string = string,
  Custom extends boolean = boolean,
> {
  readonly id: Id;
  readonly key: Key;
  readonly name: Text;
  /** A name of the static svg set, or "". */
  readonly logo: string;
  readonly dialect: Dialect;
  /** True when address, signature or framing need code: the server must then have a provider file under this key. */
  readonly custom: Custom;
  /** Default address without trailing slash; "" when the operator must give it or it is derived from the key. */
  readonly base_url: string;
  readonly base_url_field: ExtraField;
  /** The operator's base_url is the complete URL of the call, with `{model}` replaced, and no path is added. */
  readonly complete_url: boolean;
  /**
   * Behind it is an agent, a workflow or a knowledge base: it may send its models far more than the caller sees, and
   * count all of it in one sum.
   */
  readonly agent?: true;
  /** It may count no output tokens beside content: its documentation shows that for function calls. */
  readonly zero_output?: true;
  readonly auth: AuthStyle;
  /** Headers of every call, unless the caller's own value of the same name is passed through. */
  readonly headers: Readonly<Record<string, string>>;
  readonly key_format: KeyFormat;
  readonly other?: ExtraField;
  /** Shows openai_organization and sends it as OpenAI-Organization. */
  readonly organization: boolean;
  /** Offers a per-channel proxy. */
  readonly proxy: boolean;
  /** Members of `setting` that the form offers besides the proxy. */
  readonly settings: readonly ("force_format" | "thinking_to_content")[];
  readonly models: readonly string[];
  /** The model list is the list of actions: other names are impossible. */
  readonly fixed_models: boolean;
  readonly operations: readonly Operation[];
  /** Paths that differ from `openaiPaths`; `{model}` and `{other}` are replaced. */
  readonly paths: Readonly<Partial<Record<Operation, string>>>;
  /** Serves OpenAI's models, of which some take a conversation through the Responses API only. */
  readonly openai_models?: true;
  /** Its Responses API stores no responses: a continued call must send the history again. */
  readonly stateless?: true;
  /** Paths of models whose name begins with `prefix`, before `paths`. */
  readonly model_paths: readonly { readonly prefix: string; readonly operation: Operation; readonly path: string }[];
  /**
   * The default API version in its addresses; the operator may choose another for a model (gemini.version_settings).
   */
  readonly api_version?: string;
  /** Sends stream_options.include_usage (only where the dialect has it and the vendor accepts it). */
  readonly include_usage: boolean;
  /** Greatest top_p that the vendor accepts. */
  readonly max_top_p?: number;
  /** Members of a chat call that some of the vendor's models refuse with any value: left out. */
  readonly refuses?: { readonly models: RegExp; readonly members: readonly string[] };
  /** The channel test can call it. */
  readonly test: boolean;
  readonly fetch_models?: ModelsEndpoint;
  readonly balance?: BalanceKind;
}

/** The paths of the OpenAI API, for every type without its own. */
export const openaiPaths: Readonly<Partial<Record<Operation, string>>> = {
  chat: "/v1/chat/completions",
  completions: "/v1/completions",
  embeddings: "/v1/embeddings",
  images: "/v1/images/generations",
  speech: "/v1/audio/speech",
  transcription: "/v1/audio/transcriptions",
  rerank: "/v1/rerank",
  moderations: "/v1/moderations",
  realtime: "/v1/realtime",
  responses: "/v1/responses",
  files: "/v1/files",
  batches: "/v1/batches",
  messages: "/v1/messages",
  video: "/v1/videos",
};

export const text = (zh: string, en: string): Text => ({ zh, en });

/** Declares an extra field of the form. */
export function field(label: Text, more: Partial<Omit<ExtraField, "label">> = {}): ExtraField {
  return { label, required: false, default: "", kind: "text", ...more };
}

type Entry<Id extends number, Key extends string, Custom extends boolean> = {
  readonly id: Id;
  readonly key: Key;
  readonly name: string | Text;
  readonly custom?: Custom;
} & Partial<Omit<ChannelType, "id" | "key" | "name" | "custom">>;

/**
 * One channel type. Defaults are those of an OpenAI-compatible server with a bearer key, chat, completions and
 * embeddings, and a model list at /v1/models. Without a default address base_url is required.
 */
export function provider<const Id extends number, const Key extends string, const Custom extends boolean = false>(
  entry: Entry<Id, Key, Custom>,
): ChannelType<Id, Key, Custom> {
  const { name, custom, ...rest } = entry;
  const base_url = entry.base_url ?? "";
  return {
    logo: "",
    dialect: "openai-chat",
    base_url,
    base_url_field: field(text("接口地址", "API address"), { required: base_url === "" }),
    complete_url: false,
    auth: "bearer",
    headers: {},
    key_format: plainKey(),
    organization: false,
    proxy: true,
    settings: ["thinking_to_content"],
    models: [],
    fixed_models: false,
    operations: ["chat", "completions", "embeddings"],
    paths: {},
    model_paths: [],
    include_usage: false,
    test: true,
    fetch_models: { path: "/v1/models", shape: "openai" },
    ...rest,
    name: typeof name === "string" ? { zh: name, en: name } : name,
    // The factory's default of the type parameter is false as well.
    custom: (custom ?? false) as Custom,
  };
}
