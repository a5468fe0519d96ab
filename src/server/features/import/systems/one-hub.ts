/** MartialBE/one-hub: types by common/config/constants.go, prices by model/price.go (February 2026). */
import type { Source } from "../../../db/foreign/source";
import type { System } from "../system";
import { flagOf, numberOf, objectOf, textOf, wholeOf } from "../values";
import { CHANNEL_COLUMNS, familyChannel, type TypeEntry, withSetting } from "./channel-row";
import {
  BY_CHOICE,
  FAMILY,
  FAMILY_LEFT,
  familyLog,
  familyToken,
  familyUser,
  rawOptions,
  sharedOptions,
  TOKEN_COLUMNS,
  USER_COLUMNS,
} from "./family";
import { drawings, hubOrders, tasks } from "./family-records";
import { LOG_COLUMNS } from "./shared-facts";

const TYPES: Readonly<Record<number, TypeEntry>> = {
  1: { was: "OpenAI", is: "openai" },
  3: { was: "Azure", is: "azure" },
  8: { was: "Custom", is: "openai" },
  11: { was: "PaLM", is: "palm" },
  14: { was: "Anthropic", is: "anthropic" },
  15: { was: "Baidu", is: "baidu" },
  16: { was: "Zhipu", is: "zhipu" },
  17: { was: "Ali", is: "ali" },
  18: { was: "Xunfei", is: "spark" },
  19: { was: "360", is: "ai360" },
  20: { was: "OpenRouter", is: "openrouter" },
  23: { was: "Tencent", is: "tencent" },
  24: { was: "Azure Speech" },
  25: { was: "Gemini", is: "gemini" },
  26: { was: "Baichuan", is: "openai", base_url: "https://api.baichuan-ai.com" },
  27: { was: "MiniMax", is: "minimax" },
  28: { was: "DeepSeek", is: "deepseek" },
  29: { was: "Moonshot", is: "moonshot" },
  30: { was: "Mistral", is: "mistral" },
  31: { was: "Groq", is: "openai", base_url: "https://api.groq.com/openai" },
  32: { was: "Bedrock", is: "bedrock" },
  33: { was: "LingYiWanWu", is: "lingyiwanwu" },
  34: { was: "Midjourney", is: "midjourney" },
  35: { was: "Cloudflare", is: "cloudflare" },
  36: { was: "Cohere", is: "cohere" },
  37: { was: "Stability AI" },
  38: { was: "Coze", is: "coze" },
  39: { was: "Ollama", is: "ollama" },
  40: { was: "Hunyuan", is: "tencent" },
  41: { was: "Suno", is: "suno" },
  42: { was: "Vertex AI", is: "vertex" },
  43: { was: "Llama" },
  44: { was: "Ideogram" },
  45: { was: "SiliconFlow", is: "siliconflow" },
  46: { was: "Flux" },
  47: { was: "Jina", is: "jina" },
  48: { was: "Rerank" },
  49: { was: "GitHub" },
  51: { was: "Recraft" },
  52: { was: "Replicate", is: "replicate" },
  53: { was: "Kling", is: "kling" },
  54: { was: "Databricks" },
  55: { was: "Azure v1", is: "azure" },
  56: { was: "xAI", is: "xai" },
};

/** extra_ratios -> option; each is a factor on the input's price, or on the output's. */
const EXTRA = {
  cached_read_tokens: "CacheRatio",
  cached_tokens: "CacheRatio",
  cached_write_tokens: "CreateCacheRatio",
  input_audio_tokens: "AudioRatio",
  input_image_tokens: "ImageRatio",
} as const;

/** Ratio 1 is 0.002 USD per 1,000 tokens; a price by calls is that much a call. */
const USD = 0.002;

const short = (value: number): number => Number(value.toFixed(12));

/** The table `prices` as options: one-hub has no maps of ratios. */
async function priceOptions(source: Source): Promise<{ values: Map<string, string>; left: string[] }> {
  const tables = new Map<string, Record<string, number>>([
    ["ModelRatio", {}],
    ["CompletionRatio", {}],
    ["ModelPrice", {}],
  ]);
  const put = (key: string, model: string, value: number): void =>
    void tables.set(key, { ...tables.get(key), [model]: short(value) });
  const left: string[] = [];
  const count = await source.count("prices");
  for (const row of await source.rows("prices", "model", undefined, count)) {
    const model = textOf(row, "model");
    const [input, output] = [numberOf(row, "input"), numberOf(row, "output")];
    if (textOf(row, "type") === "times") {
      put("ModelPrice", model, input * USD);
      continue;
    }
    put("ModelRatio", model, input);
    if (input > 0) put("CompletionRatio", model, output / input);
    else if (output > 0) left.push(`price of ${model}: it has an output price and no input price`);
    for (const [name, value] of Object.entries(objectOf(row, "extra_ratios"))) {
      const key = Object.entries(EXTRA).find(([known]) => known === name)?.[1];
      if (key) put(key, model, Number(value));
      else left.push(`extra ratio ${name} of ${model}`);
    }
  }
  return { values: new Map([...tables].map(([key, entries]) => [key, JSON.stringify(entries)])), left };
}

/** The table `user_groups` as options. */
async function groupOptions(source: Source): Promise<{ values: Map<string, string>; left: string[] }> {
  const ratios: Record<string, number> = {};
  const usable: Record<string, string> = {};
  const limits: Record<string, { rpm: number }> = {};
  const left: string[] = [];
  for (const row of await source.rows("user_groups", "id", undefined, 10_000)) {
    const name = textOf(row, "symbol").trim();
    if (name === "") continue;
    ratios[name] = numberOf(row, "ratio");
    if (flagOf(row, "public")) usable[name] = textOf(row, "name") || name;
    if (wholeOf(row, "api_rate") > 0) limits[name] = { rpm: wholeOf(row, "api_rate") };
    if (flagOf(row, "promotion")) left.push(`promotion of group ${name} by what is paid`);
  }
  const values = new Map<string, string>();
  if (Object.keys(ratios).length > 0) values.set("GroupRatio", JSON.stringify({ default: 1, ...ratios }));
  if (Object.keys(usable).length > 0) values.set("UserUsableGroups", JSON.stringify(usable));
  if (Object.keys(limits).length > 0) values.set("GroupLimits", JSON.stringify(limits));
  return { values, left };
}

export const oneHub: System = {
  name: "one-hub",
  recognise: (catalogue) =>
    catalogue.has("prices") && catalogue.has("user_groups") && catalogue.has("channels") ? "one-hub" : undefined,
  tables: (_catalogue, asked) => ({
    users: {
      ...FAMILY.users,
      taken: [
        ...USER_COLUMNS,
        "oidc_id",
        "github_id_new",
        "telegram_id",
        "linuxdo_id",
        "aff_count",
        "aff_quota",
        "aff_history",
        "created_time",
        "last_login_time",
      ],
      left: {
        lark_id: "Weir has no such provider",
        avatar_url: "Weir has no pictures of users",
        last_login_ip: "not kept",
      },
      read: (row) => {
        const linux_do_id = row.linuxdo_id ?? row.linux_do_id;
        return familyUser({ ...row, linux_do_id }, asked);
      },
    },
    tokens: {
      ...FAMILY.tokens,
      taken: [...TOKEN_COLUMNS, "setting", "group"],
      left: { backup_group: "Weir has no second group of a token: the group auto tries several" },
      read: (row) => {
        const limits = objectOf(objectOf(row, "setting"), "limits");
        const [models, ips] = [objectOf(limits, "limit_model_setting"), objectOf(limits, "limits_ip_setting")];
        const list = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(",") : "");
        return familyToken(row, {
          enabled: flagOf(models, "enabled"),
          models: list(models.models),
          ips: flagOf(ips, "enabled") ? list(ips.whitelist) : "",
        });
      },
    },
    channels: {
      ...FAMILY.channels,
      taken: [...CHANNEL_COLUMNS, "test_model", "tag", "model_headers", "custom_parameter", "proxy"],
      left: {
        only_chat: "Weir asks the type what it serves",
        pre_cost: "Weir holds what a call may cost",
        compatible_response: "Weir translates Responses by itself",
        disabled_stream: "not known to Weir",
      },
      read: (row) => {
        const channel = familyChannel(
          { ...row, header_override: row.model_headers, param_override: row.custom_parameter },
          TYPES[wholeOf(row, "type")],
        );
        return {
          ...channel,
          weight: Math.max(1, channel.weight),
          setting: withSetting("", { proxy: textOf(row, "proxy").trim() }),
        };
      },
    },
    codes: FAMILY.codes,
    logs: {
      ...FAMILY.logs,
      taken: [...LOG_COLUMNS, "channel_id", "request_time", "is_stream", "source_ip"],
      left: { metadata: "the factors of old prices" },
      read: (row) => familyLog(row, { milliseconds: "request_time" }),
    },
    orders: hubOrders,
    drawings,
    tasks,
  }),
  options: async (source, catalogue) => {
    const [prices, groups] = [await priceOptions(source), await groupOptions(source)];
    const raw = new Map([...(await rawOptions(source, catalogue)), ...prices.values, ...groups.values]);
    const shared = sharedOptions(raw, {
      PaymentUSDRate: "Price",
      PaymentMinAmount: "MinTopUp",
      OIDCAuthEnabled: "oidc.enabled",
      OIDCClientId: "oidc.client_id",
      OIDCClientSecret: "oidc.client_secret",
      SafeKeyWords: "SensitiveWords",
      EnableSafe: "CheckSensitiveEnabled",
    });
    return { ...shared, left: [...shared.left, ...prices.left, ...groups.left] };
  },
  leftTables: {
    ...FAMILY_LEFT,
    prices: "read for prices",
    user_groups: "read for groups",
    statistics: "the roll-ups are made of the log",
    orders: BY_CHOICE,
    payments: "gateways of payment are set by hand",
    web_authn_credentials: "bound to the old address: users add their passkeys again",
  },
};
