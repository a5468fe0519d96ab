/** songquanpeng/one-api: types by relay/channeltype/define.go and url.go (February 2025). */
import type { System } from "../system";
import { objectOf, textOf, wholeOf } from "../values";
import { CHANNEL_COLUMNS, familyChannel, type TypeEntry, withSetting } from "./channel-row";
import {
  FAMILY,
  FAMILY_LEFT,
  familyLog,
  familyToken,
  familyUser,
  has,
  rawOptions,
  sharedOptions,
  TOKEN_COLUMNS,
  USER_COLUMNS,
} from "./family";
import { LOG_COLUMNS } from "./shared-facts";

const TYPES: Readonly<Record<number, TypeEntry>> = {
  1: { was: "OpenAI", is: "openai" },
  2: { was: "API2D", is: "openai", base_url: "https://oa.api2d.net" },
  3: { was: "Azure", is: "azure" },
  4: { was: "CloseAI", is: "openai", base_url: "https://api.closeai-proxy.xyz" },
  5: { was: "OpenAI-SB", is: "openai", base_url: "https://api.openai-sb.com" },
  6: { was: "OpenAIMax", is: "openaimax" },
  7: { was: "OhMyGPT", is: "ohmygpt" },
  // An address to which the path is added: Weir's "custom" is a complete one.
  8: { was: "Custom", is: "openai" },
  9: { was: "AILS", is: "ails" },
  10: { was: "AI Proxy", is: "aiproxy" },
  11: { was: "PaLM", is: "palm" },
  12: { was: "API2GPT", is: "api2gpt" },
  13: { was: "AIGC2D", is: "aigc2d" },
  14: { was: "Anthropic", is: "anthropic" },
  15: { was: "Baidu", is: "baidu" },
  16: { was: "Zhipu", is: "zhipu-v3" },
  17: { was: "Ali", is: "ali" },
  18: { was: "Xunfei", is: "spark" },
  19: { was: "360", is: "ai360" },
  20: { was: "OpenRouter", is: "openrouter" },
  21: { was: "AI Proxy Library", is: "aiproxy-library" },
  22: { was: "FastGPT", is: "fastgpt" },
  23: { was: "Tencent", is: "tencent" },
  24: { was: "Gemini", is: "gemini" },
  25: { was: "Moonshot", is: "moonshot" },
  26: { was: "Baichuan", is: "openai", base_url: "https://api.baichuan-ai.com" },
  27: { was: "MiniMax", is: "minimax" },
  28: { was: "Mistral", is: "mistral" },
  29: { was: "Groq", is: "openai", base_url: "https://api.groq.com/openai" },
  30: { was: "Ollama", is: "ollama" },
  31: { was: "LingYiWanWu", is: "lingyiwanwu" },
  32: { was: "StepFun", is: "openai", base_url: "https://api.stepfun.com" },
  33: { was: "AWS", is: "bedrock" },
  34: { was: "Coze", is: "coze" },
  35: { was: "Cohere", is: "cohere" },
  36: { was: "DeepSeek", is: "deepseek" },
  37: { was: "Cloudflare", is: "cloudflare" },
  38: { was: "DeepL" },
  39: { was: "TogetherAI", is: "openai", base_url: "https://api.together.xyz" },
  40: { was: "Doubao", is: "volcengine" },
  41: { was: "Novita", is: "openai", base_url: "https://api.novita.ai/v3/openai", without_v1: true },
  42: { was: "Vertex AI", is: "vertex" },
  43: { was: "Proxy" },
  44: { was: "SiliconFlow", is: "siliconflow" },
  45: { was: "xAI", is: "xai" },
  46: { was: "Replicate", is: "replicate" },
  47: { was: "Baidu v2", is: "baidu-v2" },
  48: { was: "Xunfei v2", is: "openai", base_url: "https://spark-api-open.xf-yun.com" },
  49: { was: "Ali Bailian", is: "openai", base_url: "https://dashscope.aliyuncs.com/compatible-mode" },
  50: { was: "OpenAI compatible", is: "openai", without_v1: true },
  51: {
    was: "Gemini (OpenAI compatible)",
    is: "openai",
    base_url: "https://generativelanguage.googleapis.com/v1beta/openai",
    without_v1: true,
  },
};

const AWS = 33;
const VERTEX = 42;

export const oneApi: System = {
  name: "one-api",
  recognise: (catalogue) =>
    catalogue.has("abilities") && has(catalogue, "channels", "config") && !catalogue.has("prices")
      ? "one-api"
      : undefined,
  tables: (_catalogue, asked) => ({
    users: {
      ...FAMILY.users,
      taken: [...USER_COLUMNS, "oidc_id"],
      left: { lark_id: "Weir has no such provider" },
      read: (row) => familyUser(row, asked),
    },
    tokens: {
      ...FAMILY.tokens,
      taken: [...TOKEN_COLUMNS, "models", "subnet"],
      read: (row) => familyToken(row, { enabled: true, models: textOf(row, "models"), ips: textOf(row, "subnet") }),
    },
    channels: {
      ...FAMILY.channels,
      taken: [...CHANNEL_COLUMNS, "config", "system_prompt"],
      left: { weight: "one-api draws evenly among channels of one priority" },
      read: (row) => {
        const number = wholeOf(row, "type");
        const channel = familyChannel(row, TYPES[number]);
        const config = objectOf(row, "config");
        const part = (name: string): string => textOf(config, name).trim();
        const [first] = channel.keys;
        const key =
          number === AWS && part("ak") !== ""
            ? [part("ak"), part("sk"), part("region")].join("|")
            : number === VERTEX && part("vertex_ai_adc") !== ""
              ? part("vertex_ai_adc")
              : (first?.key ?? "");
        const other = channel.other || part("api_version") || part("library_id") || part("plugin");
        return {
          ...channel,
          keys: [{ key, status: 1, reason: "" }],
          other: number === VERTEX ? part("region") || channel.other : other || part("user_id"),
          // Evenly, whatever stands in the column.
          weight: 0,
          setting: withSetting(channel.setting, { system_prompt: textOf(row, "system_prompt") }),
        };
      },
    },
    codes: FAMILY.codes,
    logs: {
      ...FAMILY.logs,
      taken: [...LOG_COLUMNS, "elapsed_time", "is_stream", "channel_id"],
      left: { system_prompt_reset: "not recorded here", request_id: "rows get an id of their own" },
      read: (row) => familyLog(row, { milliseconds: "elapsed_time", tests: 5 }),
    },
  }),
  options: async (source, catalogue) =>
    sharedOptions(await rawOptions(source, catalogue), {
      OidcEnabled: "oidc.enabled",
      OidcClientId: "oidc.client_id",
      OidcClientSecret: "oidc.client_secret",
      OidcWellKnown: "oidc.well_known",
      OidcAuthorizationEndpoint: "oidc.authorization_endpoint",
      OidcTokenEndpoint: "oidc.token_endpoint",
      OidcUserinfoEndpoint: "oidc.user_info_endpoint",
    }),
  leftTables: FAMILY_LEFT,
};
