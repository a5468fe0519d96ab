/**
 * The deployments of LiteLLM as channels: those of one provider, address, credential and rank are one channel. They
 * stand in LiteLLM_ProxyModelTable with every text encrypted, or in the model_list of config.yaml.
 */
import type { ChannelTypeKey } from "../../../../shared/channel-types";
import type { Row } from "../../../db/foreign/source";
import type { SourceChannel } from "../records";
import type { Environment } from "../system";
import { numberOf, objectOf, textOf, wholeOf } from "../values";
import { typeNumber } from "./channel-row";
import { openLiteText } from "./litellm-secrets";

/** Prefix of a model -> what it is here, and the vendor's address where the type does not know it. */
const PROVIDERS: Readonly<Record<string, { is: ChannelTypeKey; base_url?: string }>> = {
  openai: { is: "openai" },
  text_completion_openai: { is: "openai" },
  azure: { is: "azure" },
  anthropic: { is: "anthropic" },
  bedrock: { is: "bedrock" },
  vertex_ai: { is: "vertex" },
  gemini: { is: "gemini" },
  cohere: { is: "cohere" },
  cohere_chat: { is: "cohere" },
  mistral: { is: "mistral" },
  deepseek: { is: "deepseek" },
  openrouter: { is: "openrouter" },
  ollama: { is: "ollama" },
  ollama_chat: { is: "ollama" },
  xai: { is: "xai" },
  dashscope: { is: "ali" },
  volcengine: { is: "volcengine" },
  perplexity: { is: "perplexity" },
  moonshot: { is: "moonshot" },
  minimax: { is: "minimax" },
  replicate: { is: "replicate" },
  jina_ai: { is: "jina" },
  cloudflare: { is: "cloudflare" },
  groq: { is: "openai", base_url: "https://api.groq.com/openai" },
  together_ai: { is: "openai", base_url: "https://api.together.xyz" },
  fireworks_ai: { is: "openai", base_url: "https://api.fireworks.ai/inference" },
  hosted_vllm: { is: "openai" },
  openai_like: { is: "openai" },
  litellm_proxy: { is: "openai" },
};

/** A model without a prefix is guessed by its name, as LiteLLM does for these vendors. */
const BY_NAME = [
  [/^(gpt-|o\d|text-embedding-|dall-e|tts-|whisper)/, "openai"],
  [/^claude-/, "anthropic"],
  [/^gemini-/, "gemini"],
  [/^command-/, "cohere"],
] as const;

/** What one deployment says, in clear. */
interface Deployment {
  id: string;
  name: string;
  provider: string;
  upstream: string;
  params: Row;
  order: number;
  weight: number;
  /** Members that cannot be decrypted. */
  unreadable: string[];
}

const SALTS = ["LITELLM_SALT_KEY", "LITELLM_MASTER_KEY"] as const;

/** The parameters with every text in clear; `os.environ/NAME` is read from the environment here. */
function clearParams(row: Row, encrypted: boolean, env: Environment): { params: Row; unreadable: string[] } {
  const unreadable: string[] = [];
  const salts = SALTS.flatMap((name) => env[name] ?? []);
  const clear = (name: string, value: unknown): unknown => {
    if (typeof value !== "string") return value;
    const text = encrypted ? salts.map((salt) => openLiteText(value, salt)).find((one) => one !== undefined) : value;
    if (text === undefined) {
      unreadable.push(name);
      return undefined;
    }
    if (!text.startsWith("os.environ/")) return text;
    const found = env[text.slice("os.environ/".length)];
    if (found === undefined) unreadable.push(`${name} (${text})`);
    return found;
  };
  return {
    params: Object.fromEntries(Object.entries(row).map(([name, value]) => [name, clear(name, value)])),
    unreadable,
  };
}

function deploymentOf(
  row: Row,
  credentials: ReadonlyMap<string, Row>,
  encrypted: boolean,
  env: Environment,
): Deployment {
  const own = clearParams(objectOf(row, "litellm_params"), encrypted, env);
  const shared = credentials.get(textOf(own.params, "litellm_credential_name"));
  const joined = shared ? clearParams(shared, encrypted, env) : { params: {}, unreadable: [] };
  const params: Row = { ...joined.params, ...own.params };
  const model = textOf(params, "model");
  const name = textOf(row, "model_name") || model;
  const slash = model.indexOf("/");
  const prefix = slash < 0 ? "" : model.slice(0, slash);
  const guessed = BY_NAME.find(([pattern]) => pattern.test(model))?.[1] ?? "";
  const provider = textOf(params, "custom_llm_provider") || (prefix in PROVIDERS ? prefix : prefix || guessed);
  return {
    id: textOf(row, "model_id") || `place ${textOf(row, "place")}`,
    name,
    provider,
    upstream: (prefix === provider ? model.slice(slash + 1) : model).replace(/^converse\//, ""),
    params,
    order: wholeOf(params, "order"),
    weight: Math.max(0, numberOf(params, "weight")),
    unreadable: [...own.unreadable, ...joined.unreadable],
  };
}

const joined = (params: Row, names: readonly string[]): string => {
  const parts = names.map((name) => textOf(params, name));
  return parts.some((part) => part === "") ? "" : parts.join("|");
};

function keyOf({ provider, params }: Deployment): string {
  if (provider === "bedrock")
    return (
      joined(params, ["aws_access_key_id", "aws_secret_access_key", "aws_region_name"]) || textOf(params, "api_key")
    );
  if (provider === "vertex_ai") return textOf(params, "vertex_credentials") || textOf(params, "api_key");
  return textOf(params, "api_key");
}

/** LiteLLM calls `<api_base>/chat/completions`: a base with /v1 is one of OpenAI's form, another a complete address. */
function placeOf({ provider, params }: Deployment): Pick<SourceChannel, "base_url"> & { type?: number } {
  const entry = PROVIDERS[provider];
  const base = (textOf(params, "api_base") || textOf(params, "base_url")).trim().replace(/\/+$/, "");
  if (!entry) return { base_url: base };
  if (base === "" || entry.is !== "openai")
    return { type: typeNumber(entry.is), base_url: base || (entry.base_url ?? "") };
  if (base.endsWith("/v1")) return { type: typeNumber("openai"), base_url: base.slice(0, -3) };
  return { type: typeNumber("custom"), base_url: `${base}/chat/completions` };
}

function channelOf(group: readonly Deployment[]): SourceChannel {
  const [first] = group as [Deployment, ...Deployment[]];
  const { params, provider } = first;
  const mapping = group.filter(({ name, upstream }) => name !== upstream).map(({ name, upstream }) => [name, upstream]);
  const named = group.filter(({ name }) => !name.includes("*"));
  const wild = group.filter(({ name }) => name.includes("*")).map(({ name }) => name);
  const unreadable = [...new Set(group.flatMap((one) => one.unreadable))];
  return {
    id: first.id,
    ...placeOf(first),
    was: provider || "no provider",
    name: `${provider || "channel"}: ${[...new Set(group.map(({ name }) => name))].slice(0, 3).join(", ")}`.slice(
      0,
      200,
    ),
    keys: [{ key: keyOf(first), status: 1, reason: "" }],
    multi_key_mode: "",
    other: textOf(params, "vertex_location") || textOf(params, "api_version"),
    models: [...new Set(named.map(({ name }) => name))].join(","),
    group: "default",
    model_mapping: mapping.length > 0 ? JSON.stringify(Object.fromEntries(mapping)) : "",
    status_code_mapping: "",
    setting: "",
    param_override: "",
    header_override: "",
    test_model: "",
    auto_ban: 1,
    tag: "",
    // A lower order is tried first there, a higher priority here.
    priority: first.order > 0 ? -Math.min(900, first.order) : 0,
    weight: Math.round(first.weight * 100),
    openai_organization: textOf(params, "organization"),
    status: 1,
    response_time: 0,
    used_quota: 0,
    balance: 0,
    balance_updated_time: 0,
    test_time: 0,
    created_time: 0,
    other_info: "",
    notes: [
      ...(unreadable.length > 0 ? [`cannot be read, is the salt right?: ${unreadable.join(", ")}`] : []),
      ...(wild.length > 0 ? [`the wildcard ${wild.join(", ")}: fetch the channel's models and choose`] : []),
      ...(textOf(params, "rpm") || textOf(params, "tpm")
        ? ["limits of calls and tokens a minute are not taken over"]
        : []),
    ],
  };
}

/** `encrypted`: the rows come from the database. A name that has two upstreams at one place gets a channel for each. */
export function channelsOf(
  rows: readonly Row[],
  credentials: ReadonlyMap<string, Row>,
  encrypted: boolean,
  env: Environment,
): SourceChannel[] {
  const groups = new Map<string, Deployment[]>();
  for (const row of rows) {
    const one = deploymentOf(row, credentials, encrypted, env);
    const place = JSON.stringify([
      one.provider,
      one.params.api_base,
      keyOf(one),
      one.params.api_version,
      one.params.vertex_location,
      one.order,
      one.weight,
    ]);
    for (let n = 0; ; n++) {
      const group = groups.get(`${place} ${n}`);
      if (!group) groups.set(`${place} ${n}`, [one]);
      else if (!group.some(({ name }) => name === one.name)) group.push(one);
      else continue;
      break;
    }
  }
  return [...groups.values()].map(channelOf);
}

const short = (value: number): number => Number(value.toFixed(12));

/** Own prices of deployments (USD a token) as ratios, by option. */
export function pricesOf(rows: readonly Row[]): Map<string, Record<string, number>> {
  const tables = new Map<string, Record<string, number>>();
  const put = (key: string, name: string, value: number): void =>
    void tables.set(key, { ...tables.get(key), [name]: short(value) });
  for (const row of rows) {
    const facts = { ...objectOf(row, "model_info"), ...objectOf(row, "litellm_params") };
    const name = textOf(row, "model_name");
    const input = numberOf(facts, "input_cost_per_token");
    if (input <= 0 || name === "") continue;
    put("ModelRatio", name, input * 500_000);
    const output = numberOf(facts, "output_cost_per_token");
    const read = numberOf(facts, "cache_read_input_token_cost");
    if (output > 0) put("CompletionRatio", name, output / input);
    if (read > 0) put("CacheRatio", name, read / input);
  }
  return tables;
}
