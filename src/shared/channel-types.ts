/**
 * The channel types: every vendor that Weir can call, as data. Ids are the original API's (28 to 30 and 32 are unused
 * there, 0 means unknown). An ordinary vendor is one entry here; one with `custom: true` is an entry and one file in
 * the server's relay/providers.
 */
import { type ChannelType, field, type Operation, openaiPaths, provider, text } from "./channel-types/definition";
import {
  joinedKey,
  jsonKey,
  isRegion,
  type KeyFormat,
  type KeyParts,
  plainKey,
  problemByFormat,
  splitByFormat,
} from "./channel-types/key-format";
import { models } from "./channel-types/models";
import { isCodingPlan } from "./channel-types/plans";
import type { Text } from "./text";

export type {
  AuthStyle,
  BalanceKind,
  ChannelType,
  Dialect,
  Operation,
} from "./channel-types/definition";
export type { KeyParts } from "./channel-types/key-format";
export { codingPlans, isCodingPlan, planAddress, planModels } from "./channel-types/plans";

/** The version of Anthropic's API. */
export const ANTHROPIC_VERSION = "2023-06-01";

const accessAndSecret: KeyFormat = joinedKey("|", [{ access_key: "AccessKey", secret_key: "SecretKey" }]);
const video = { dialect: "video", operations: ["video"], test: false, fetch_models: undefined } as const;
const midjourney = {
  logo: "midjourney",
  dialect: "midjourney",
  custom: true,
  auth: "mj-api-secret",
  operations: ["midjourney"],
  fixed_models: true,
  test: false,
  fetch_models: undefined,
} as const;
const allOperations: readonly Operation[] = [
  "chat", "completions", "responses", "embeddings", "images", "speech", "transcription", "moderations", "realtime",
];
/** An address, or the name of one of the vendor's coding plans. */
const addressOrPlan = (...plans: readonly string[]) =>
  field(text("接口地址", "API address"), {
    hint: text(`也可填写编程套餐：${plans.join("、")}`, `Or the name of a coding plan: ${plans.join(", ")}`),
  });
const serverAddress = field(text("服务器地址", "Server address"), { required: true });

/** The text of "fill template" in the form; a new channel starts with empty mappings. */
export const channelTemplates = {
  model_mapping: '{"gpt-3.5-turbo":"gpt-3.5-turbo-0125"}',
  status_code_mapping: '{"400":"500"}',
  region: '{"default":"us-central1","claude-3-5-sonnet-20240620":"europe-west1"}',
} as const;

/** Other names that callers and older front-ends use for a model; it is priced and routed by the second name. */
const modelAliases: Readonly<Record<string, string>> = { mj_uploads: "mj_upload" };

/** The name that a model is priced and routed by. */
export const canonicalModel = (name: string): string => (Object.hasOwn(modelAliases, name) ? (modelAliases[name] ?? name) : name);

export const channelTypes = [
  provider({
    id: 1, key: "openai", name: "OpenAI", logo: "openai", base_url: "https://api.openai.com", models: models.openai,
    // OpenAI itself does not rerank; compatible servers behind this type do.
    operations: [...allOperations, "rerank", "files", "batches", "video"], organization: true, include_usage: true, balance: "openai-billing",
    openai_models: true,
  }),
  provider({
    ...midjourney, id: 2, key: "midjourney", name: "Midjourney Proxy", base_url: "https://oa.api2d.net",
    models: models.midjourney,
  }),
  provider({
    // Moderation is another product of this vendor (Content Safety).
    id: 3, key: "azure", name: "Azure OpenAI", logo: "azure", custom: true, auth: "api-key", models: models.openai,
    operations: [...allOperations.filter((operation) => operation !== "moderations"), "video"], include_usage: true, fetch_models: undefined,
    openai_models: true,
    base_url_field: field(text("终结点（Endpoint）", "Endpoint"), {
      required: true,
      hint: text("例如 https://资源名.openai.azure.com", "For example https://resource.openai.azure.com"),
    }),
    other: field(text("默认 API 版本", "Default API version"), { default: "2023-06-01-preview" }),
  }),
  provider({
    id: 4, key: "ollama", name: "Ollama", logo: "ollama", base_url: "http://localhost:11434",
    key_format: plainKey("API Key", true), models: models.ollama, include_usage: true,
    fetch_models: { path: "/api/tags", shape: "ollama" },
  }),
  provider({
    ...midjourney, id: 5, key: "midjourney-plus", name: "Midjourney Proxy Plus", base_url: "https://api.openai-sb.com",
    models: models.midjourneyPlus,
  }),
  provider({ id: 6, key: "openaimax", name: "OpenAIMax", base_url: "https://api.openaimax.com" }),
  provider({ id: 7, key: "ohmygpt", name: "OhMyGPT", base_url: "https://api.ohmygpt.com" }),
  provider({
    id: 8, key: "custom", name: text("自定义渠道", "Custom"), complete_url: true, operations: [...allOperations, "rerank"],
    settings: ["force_format", "thinking_to_content"], fetch_models: undefined, balance: "openai-billing",
    base_url_field: field(text("完整的请求地址", "Complete request URL"), {
      required: true,
      hint: text("支持变量 {model}，不会再追加路径", "The variable {model} is replaced; no path is added"),
    }),
  }),
  provider({ id: 9, key: "ails", name: "AILS", base_url: "https://api.caipacity.com" }),
  provider({ id: 10, key: "aiproxy", name: "AI Proxy", base_url: "https://api.aiproxy.io", balance: "aiproxy" }),
  provider({
    id: 11, key: "palm", name: "Google PaLM 2", logo: "palm", dialect: "palm", custom: true, auth: "x-goog-api-key",
    base_url: "https://generativelanguage.googleapis.com", models: models.palm, operations: ["chat"],
    fetch_models: undefined,
  }),
  provider({ id: 12, key: "api2gpt", name: "API2GPT", base_url: "https://api.api2gpt.com", balance: "api2gpt" }),
  provider({ id: 13, key: "aigc2d", name: "AIGC2D", base_url: "https://api.aigc2d.com", balance: "aigc2d" }),
  provider({
    id: 14, key: "anthropic", name: "Anthropic Claude", logo: "claude", dialect: "anthropic", auth: "x-api-key",
    base_url: "https://api.anthropic.com", headers: { "anthropic-version": ANTHROPIC_VERSION }, models: models.claude,
    operations: ["chat", "messages"], paths: { chat: "/v1/messages" },
    fetch_models: { path: "/v1/models", shape: "anthropic" },
  }),
  provider({
    id: 15, key: "baidu", name: text("百度文心千帆", "Baidu Wenxin"), logo: "wenxin", dialect: "baidu", custom: true,
    auth: "access-token", base_url: "https://aip.baidubce.com", models: models.baiduV1,
    key_format: joinedKey("|", [{ api_key: "APIKey", secret_key: "SecretKey" }]),
    operations: ["chat", "embeddings"], fetch_models: undefined,
  }),
  provider({
    id: 16, key: "zhipu-v3", name: text("智谱 ChatGLM V3（旧版）", "Zhipu ChatGLM v3 (legacy)"), logo: "zhipu",
    dialect: "zhipu-v3", custom: true, auth: "jwt", base_url: "https://open.bigmodel.cn", models: models.zhipuV3,
    key_format: joinedKey(".", [{ id: "id", secret: "secret" }]), operations: ["chat"], fetch_models: undefined,
  }),
  provider({
    id: 17, key: "ali", custom: true, name: text("阿里云百炼（通义千问）", "Alibaba Cloud Model Studio (Qwen)"), logo: "qwen",
    base_url: "https://dashscope.aliyuncs.com", models: models.ali, include_usage: true,
    // Files and batches: help.aliyun.com/zh/model-studio/openai-compatible-batch-file-input, read November 2026.
    operations: ["chat", "embeddings", "rerank", "images", "files", "batches", "video"],
    paths: {
      chat: "/compatible-mode/v1/chat/completions",
      embeddings: "/compatible-mode/v1/embeddings",
      files: "/compatible-mode/v1/files",
      batches: "/compatible-mode/v1/batches",
      rerank: "/compatible-api/v1/reranks",
    },
    fetch_models: { path: "/compatible-mode/v1/models", shape: "openai" },
    other: field(text("插件 ID", "Plugin id"), { hint: text("作为 X-DashScope-Plugin 发送", "Sent as X-DashScope-Plugin") }),
  }),
  provider({
    id: 18, key: "spark", zero_output: true, name: text("讯飞星火", "iFlytek Spark"), logo: "spark", dialect: "spark", custom: true,
    auth: "signed", base_url: "wss://spark-api.xf-yun.com", models: models.spark, operations: ["chat"],
    key_format: joinedKey("|", [{ app_id: "APPID", api_secret: "APISecret", api_key: "APIKey" }]),
    other: field(text("模型版本", "Model version"), { default: "v2.1" }), fetch_models: undefined,
  }),
  provider({
    id: 19, key: "ai360", name: text("360 智脑", "360 Zhinao"), logo: "ai360", base_url: "https://api.360.cn",
    models: models.ai360,
  }),
  provider({
    id: 20, key: "openrouter", name: "OpenRouter", logo: "openrouter", base_url: "https://openrouter.ai/api",
    headers: { "X-Title": "Weir" }, operations: ["chat", "completions", "embeddings", "responses"],
    // openrouter.ai/docs/api/reference/responses/overview: stateless; read November 2026.
    include_usage: true, balance: "openrouter", stateless: true,
  }),
  provider({
    id: 21, key: "aiproxy-library", agent: true, name: text("AI Proxy 知识库", "AI Proxy library"), dialect: "aiproxy-library",
    custom: true, base_url: "https://api.aiproxy.io", operations: ["chat"], paths: { chat: "/api/library/ask" },
    fetch_models: undefined,
    other: field(text("知识库 ID", "Knowledge base id"), { required: true }),
  }),
  provider({
    id: 22, key: "fastgpt", agent: true, name: "FastGPT", logo: "fastgpt", custom: true, base_url: "https://fastgpt.run/api/openapi",
    key_format: joinedKey("-", [{ api_key: "APIKey", app_id: "AppId" }]), operations: ["chat"],
    base_url_field: field(text("私有部署地址", "Private deployment address"), {
      hint: text("例如 https://fastgpt.run/api/openapi", "For example https://fastgpt.run/api/openapi"),
    }),
    fetch_models: undefined,
  }),
  provider({
    id: 23, key: "tencent", name: text("腾讯混元", "Tencent Hunyuan"), logo: "hunyuan", dialect: "tencent", custom: true,
    auth: "signed", base_url: "https://hunyuan.tencentcloudapi.com", models: models.tencent, operations: ["chat"],
    key_format: joinedKey("|", [{ app_id: "AppId", secret_id: "SecretId", secret_key: "SecretKey" }]),
    fetch_models: undefined,
  }),
  provider({
    id: 24, key: "gemini", name: "Google Gemini", logo: "gemini", dialect: "gemini", custom: true,
    auth: "x-goog-api-key", base_url: "https://generativelanguage.googleapis.com", models: models.gemini, api_version: "v1beta",
    operations: ["chat", "embeddings", "images", "video"], fetch_models: { path: "/v1beta/models", shape: "gemini" },
  }),
  provider({
    id: 25, key: "moonshot", name: text("月之暗面 Kimi", "Moonshot Kimi"), logo: "moonshot",
    base_url: "https://api.moonshot.cn", models: models.moonshot, operations: ["chat", "messages"], include_usage: true,
    paths: { messages: "/anthropic/v1/messages" }, balance: "moonshot",
    base_url_field: addressOrPlan("kimi-coding-plan"),
    // Fixed for these models, any other value is an error (platform.kimi.ai/docs/api/models-overview, November 2026).
    refuses: {
      models: /^kimi-k(2\.\d|[3-9])/,
      members: ["temperature", "top_p", "n", "presence_penalty", "frequency_penalty"],
    },
  }),
  provider({
    id: 26, key: "zhipu", name: text("智谱 GLM V4", "Zhipu GLM v4"), logo: "zhipu",
    base_url: "https://open.bigmodel.cn", models: models.zhipuV4, operations: ["chat", "embeddings", "images", "messages"],
    paths: {
      chat: "/api/paas/v4/chat/completions",
      messages: "/api/anthropic/v1/messages",
      embeddings: "/api/paas/v4/embeddings",
      images: "/api/paas/v4/images/generations",
    },
    max_top_p: 0.99, fetch_models: { path: "/api/paas/v4/models", shape: "openai" },
    base_url_field: addressOrPlan("glm-coding-plan", "glm-coding-plan-international"),
  }),
  provider({
    id: 27, key: "perplexity", name: "Perplexity", logo: "perplexity", base_url: "https://api.perplexity.ai",
    models: models.perplexity, operations: ["chat"], paths: { chat: "/chat/completions" }, max_top_p: 0.99,
    fetch_models: undefined,
  }),
  provider({
    id: 31, key: "lingyiwanwu", name: text("零一万物", "01.AI Yi"), logo: "yi", base_url: "https://api.lingyiwanwu.com",
    models: models.lingyiwanwu, operations: ["chat"],
  }),
  provider({
    id: 33, key: "bedrock", name: "AWS Bedrock Claude", logo: "aws", dialect: "bedrock", custom: true, auth: "signed",
    models: models.bedrock, operations: ["chat", "messages"],
    key_format: joinedKey("|", [
      { access_key: "Ak", secret_key: "Sk", region: "Region" },
      { access_key: "Ak", secret_key: "Sk", region: "Region", session_token: "SessionToken" },
      { api_key: "ApiKey", region: "Region" },
    ]),
    base_url_field: field(text("接口地址", "API address"), {
      hint: text("留空则由区域决定", "Leave empty to derive it from the region"),
    }),
    fetch_models: undefined,
  }),
  provider({
    id: 34, key: "cohere", name: "Cohere", logo: "cohere", dialect: "cohere", custom: true,
    base_url: "https://api.cohere.ai", models: models.cohere, operations: ["chat", "embeddings", "rerank"],
    paths: { chat: "/v2/chat", embeddings: "/v2/embed", rerank: "/v2/rerank" },
    fetch_models: { path: "/v1/models", shape: "cohere" },
  }),
  provider({
    id: 35, key: "minimax", name: "MiniMax", logo: "minimax", custom: true, base_url: "https://api.minimax.chat",
    models: models.minimax, operations: ["chat", "speech", "video"],
    paths: { chat: "/v1/text/chatcompletion_v2", speech: "/v1/t2a_v2" },
  }),
  provider({
    id: 36, key: "suno", name: "Suno API", logo: "suno", dialect: "suno", custom: true, models: models.suno,
    fixed_models: true, operations: ["suno"], proxy: false, base_url_field: serverAddress, test: false,
    fetch_models: undefined,
  }),
  provider({
    id: 37, key: "dify", agent: true, name: "Dify", logo: "dify", dialect: "dify", custom: true, base_url: "https://api.dify.ai",
    base_url_field: field(text("接口地址", "API address"), {
      hint: text(
        "模型名以 workflow 或 completion 开头时，按工作流或文本生成应用调用，其余按对话应用调用",
        "A model whose name begins with workflow or completion is called as such an application, every other one as a chat",
      ),
    }),
    operations: ["chat"], fetch_models: undefined,
  }),
  provider({
    id: 38, key: "jina", name: "Jina", logo: "jina", base_url: "https://api.jina.ai", models: models.jina,
    operations: ["embeddings", "rerank"], fetch_models: undefined,
  }),
  provider({
    id: 39, key: "cloudflare", name: "Cloudflare Workers AI", logo: "cloudflare",
    base_url: "https://api.cloudflare.com", models: models.cloudflare, operations: ["chat", "embeddings"],
    paths: {
      chat: "/client/v4/accounts/{other}/ai/v1/chat/completions",
      embeddings: "/client/v4/accounts/{other}/ai/v1/embeddings",
    },
    other: field(text("账户 ID", "Account ID"), { required: true }), include_usage: true, fetch_models: undefined,
  }),
  provider({
    id: 40, key: "siliconflow", name: text("硅基流动", "SiliconFlow"), logo: "siliconcloud",
    base_url: "https://api.siliconflow.cn", models: models.siliconflow,
    operations: ["chat", "embeddings", "rerank", "images", "speech", "transcription"], include_usage: true,
    balance: "siliconflow",
  }),
  provider({
    id: 41, key: "vertex", name: "Google Vertex AI", logo: "vertexai", dialect: "vertex", custom: true,
    auth: "access-token", models: models.vertex, operations: ["chat", "messages", "embeddings", "images", "video"],
    // An API key is for the express mode: Google's own models, without project and region.
    key_format: jsonKey(text("服务账号的 JSON 凭据，或 API Key（快速模式）", "Service account credential (JSON), or an API key (express mode)"), [
      "project_id", "client_email", "private_key",
    ], { plain: { pattern: /^[\w.-]{20,300}$/, label: "API Key" } }),
    base_url_field: field(text("接口地址", "API address"), {
      hint: text("留空则由区域决定", "Leave empty to derive it from the region"),
    }),
    other: field(text("部署区域", "Region"), {
      required: true,
      kind: "text-or-map",
      region: true,
      template: channelTemplates.region,
      hint: text("区域名称，或按模型区分的 JSON（须包含 default）", 'A region, or JSON per model with "default"'),
    }),
    fetch_models: undefined,
  }),
  provider({
    id: 42, key: "mistral", name: "Mistral AI", logo: "mistral", dialect: "mistral", custom: true, base_url: "https://api.mistral.ai",
    models: models.mistral, operations: ["chat", "embeddings"],
  }),
  provider({
    id: 43, key: "deepseek", name: "DeepSeek", logo: "deepseek", base_url: "https://api.deepseek.com",
    models: models.deepseek, operations: ["chat", "completions", "messages"],
    paths: { completions: "/beta/completions", messages: "/anthropic/v1/messages" }, include_usage: true,
    balance: "deepseek",
  }),
  provider({
    id: 44, key: "moka", name: "MokaAI", base_url: "https://api.moka.ai", models: models.moka,
    operations: ["embeddings"], fetch_models: undefined,
  }),
  provider({
    id: 45, key: "volcengine", name: text("火山方舟（豆包）", "VolcEngine Ark (Doubao)"), logo: "volcengine",
    base_url: "https://ark.cn-beijing.volces.com", models: models.volcengine, include_usage: true,
    key_format: plainKey(), operations: ["chat", "embeddings", "images", "responses", "video"],
    base_url_field: addressOrPlan("doubao-coding-plan"),
    paths: {
      chat: "/api/v3/chat/completions",
      embeddings: "/api/v3/embeddings",
      images: "/api/v3/images/generations",
      responses: "/api/v3/responses",
    },
    // Applications of the platform: volcengine.com/docs/82379/1526787, read November 2026.
    model_paths: [{ prefix: "bot-", operation: "chat", path: "/api/v3/bots/chat/completions" }],
    fetch_models: { path: "/api/v3/models", shape: "openai" },
  }),
  provider({
    id: 46, key: "baidu-v2", custom: true, name: text("百度千帆 V2", "Baidu Qianfan v2"), logo: "baidu",
    base_url: "https://qianfan.baidubce.com", models: models.baiduV2, include_usage: true,
    key_format: joinedKey("|", [{ api_key: "APIKey" }, { api_key: "APIKey", app_id: "AppId" }], { appid: "app_id" }),
    operations: ["chat", "embeddings", "images", "rerank"],
    paths: {
      chat: "/v2/chat/completions",
      embeddings: "/v2/embeddings",
      images: "/v2/images/generations",
      rerank: "/v2/rerank",
    },
    fetch_models: { path: "/v2/models", shape: "openai" },
  }),
  provider({
    id: 47, key: "xinference", name: "Xorbits Inference", logo: "xinference", models: models.xinference,
    key_format: plainKey("API Key", true), operations: ["chat", "completions", "embeddings", "rerank", "images"],
    base_url_field: serverAddress,
  }),
  provider({
    id: 48, key: "xai", custom: true, name: "xAI", logo: "xai", base_url: "https://api.x.ai", models: models.xai,
    operations: ["chat", "images", "responses"], include_usage: true,
  }),
  provider({
    id: 49, key: "coze", agent: true, name: text("扣子 Coze", "Coze"), logo: "coze", dialect: "coze", custom: true,
    base_url: "https://api.coze.cn", models: models.coze, operations: ["chat"], paths: { chat: "/v3/chat" },
    fetch_models: undefined,
    other: field(text("智能体 ID", "Bot id"), { hint: text("留空时模型名即智能体 ID", "Leave empty to use the model's name as the bot id") }),
  }),
  provider({
    ...video, id: 50, key: "kling", name: text("可灵", "Kling"), logo: "kling", custom: true, auth: "jwt",
    base_url: "https://api.klingai.com", models: models.kling,
    key_format: joinedKey("|", [{ access_key: "AccessKey", secret_key: "SecretKey" }, { api_key: "APIKey" }]),
  }),
  provider({
    ...video, id: 51, key: "jimeng", name: text("即梦", "Jimeng"), logo: "jimeng", custom: true, auth: "signed",
    base_url: "https://visual.volcengineapi.com", models: models.jimeng, key_format: accessAndSecret,
    operations: ["video", "images"],
  }),
  provider({
    ...video, id: 52, key: "vidu", name: "Vidu", logo: "vidu", custom: true, auth: "token",
    base_url: "https://api.vidu.cn", models: models.vidu,
  }),
  provider({
    id: 53, key: "submodel", name: "Submodel", logo: "submodel", base_url: "https://llm.submodel.ai",
    models: models.submodel, operations: ["chat"],
  }),
  provider({
    ...video, id: 54, key: "doubao-video", name: text("豆包视频", "Doubao Video"), logo: "doubao", custom: true,
    base_url: "https://ark.cn-beijing.volces.com", models: models.doubaoVideo,
  }),
  provider({
    ...video, id: 55, key: "sora", name: "Sora", logo: "sora", custom: true, base_url: "https://api.openai.com",
    models: models.sora,
  }),
  provider({
    id: 56, key: "replicate", name: "Replicate", logo: "replicate", dialect: "replicate", custom: true,
    base_url: "https://api.replicate.com", models: models.replicate, operations: ["images", "video"], test: false,
    fetch_models: undefined,
  }),
  provider({
    id: 57, key: "codex", name: "ChatGPT Codex", logo: "codex", dialect: "openai-responses", custom: true,
    auth: "access-token", base_url: "https://chatgpt.com", models: models.codex, operations: ["chat", "responses"], stateless: true,
    key_format: jsonKey(text("Codex CLI 的 auth.json", "auth.json of Codex CLI"), ["access_token", "account_id"], { within: "tokens" }),
    fetch_models: undefined,
  }),
] as const satisfies readonly ChannelType[];

type Entries = (typeof channelTypes)[number];
export type ChannelTypeKey = Entries["key"];
/** The keys of the types that need a provider file: a record over it makes the compiler require the files. */
export type CustomProviderKey = Extract<Entries, { custom: true }>["key"];

const byId = new Map<number, ChannelType>(channelTypes.map((type) => [type.id, type]));

/** The channel type of that number, undefined when unknown (such a row is shown, but never called). */
export function channelType(id: number): ChannelType | undefined {
  return byId.get(id);
}

/** Splits a channel's key into its named parts; undefined when it does not have the form of the type. */
export function splitKey(type: number, key: string): KeyParts | undefined {
  return splitByFormat(byId.get(type)?.key_format ?? plainKey(), key);
}

/** The reason why the key does not have the form of the type, undefined when it has. Never repeats the key. */
export function keyProblem(type: number, key: string): Text | undefined {
  return problemByFormat(byId.get(type)?.key_format ?? plainKey(), key);
}

/** The value of `other` as stored: trimmed, and the type's default instead of an empty text (3, 18). */
export function otherOrDefault(type: number, other: string): string {
  return other.trim() || (byId.get(type)?.other?.default ?? "");
}

function mapWithDefault(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== "object" || value === null || !("default" in value)) return false;
    return Object.values(value).every((entry) => typeof entry === "string" && entry !== "");
  } catch {
    return false;
  }
}

/** The reason why `other` cannot be saved for the type, undefined when it can. */
export function otherProblem(type: number, other: string): Text | undefined {
  const declared = byId.get(type)?.other;
  if (!declared) return undefined;
  const value = otherOrDefault(type, other);
  if (value === "") {
    if (!declared.required) return undefined;
    return { zh: `请填写${declared.label.zh}`, en: `Please enter: ${declared.label.en}` };
  }
  if (declared.kind === "text-or-map" && value.startsWith("{") && !mapWithDefault(value)) {
    return {
      zh: `${declared.label.zh}必须是合法的 JSON，且包含 default`,
      en: `${declared.label.en} must be valid JSON with a "default" member`,
    };
  }
  if (declared.region && !Object.values(value.startsWith("{") ? JSON.parse(value) : [value]).every((text) => isRegion(String(text)))) {
    return {
      zh: `${declared.label.zh}只能包含小写字母、数字和连字符`,
      en: `${declared.label.en}: lower-case letters, digits and hyphens only`,
    };
  }
  return undefined;
}

/**
 * The value of `other` for one model: the text itself, or the entry of a map, else its default. "" without a region.
 */
export function otherFor(type: number, other: string, model: string): string {
  const declared = byId.get(type)?.other;
  const value = otherOrDefault(type, other);
  const map = declared?.kind === "text-or-map" && value.startsWith("{") && mapWithDefault(value)
    ? new Map<string, string>(Object.entries(JSON.parse(value))) : undefined;
  const own = map ? (map.get(model) ?? map.get("default") ?? "") : value;
  return declared?.region && !isRegion(own) ? "" : own;
}

/** The address to call: the channel's own without trailing slashes, else the default of the type. */
export function baseUrlOf(type: number, base_url: string): string {
  return base_url.trim().replace(/\/+$/, "") || (byId.get(type)?.base_url ?? "");
}

/** The reason why base_url cannot be saved for the type, undefined when it can. */
export function baseUrlProblem(type: number, base_url: string): Text | undefined {
  const url = baseUrlOf(type, base_url);
  const declared = byId.get(type)?.base_url_field;
  if (url === "") {
    if (!declared?.required) return undefined;
    return { zh: `请填写${declared.label.zh}`, en: `Please enter: ${declared.label.en}` };
  }
  if (isCodingPlan(url)) return undefined;
  const at = (model: string): string => url.replaceAll("{model}", model);
  // The caller's model must not be part of the host's name: callers would decide where the key is sent.
  if (URL.canParse(at("m")) && /^(https?|wss?):\/\//i.test(url) && new URL(at("m")).host === new URL(at("n")).host) return undefined;
  return { zh: "地址必须以 http:// 或 https:// 开头", en: "The address must begin with http:// or https://" };
}

/**
 * The path of an operation at a type's address (with `{model}` and `{other}` still in it), for a model with its own
 * path that one; undefined: not served.
 */
export function operationPath(type: ChannelType, operation: Operation, model = ""): string | undefined {
  if (!type.operations.includes(operation)) return undefined;
  const own = type.model_paths.find((one) => one.operation === operation && model.startsWith(one.prefix));
  return own?.path ?? type.paths[operation] ?? openaiPaths[operation];
}

/** Every model of a channel type, once, with the key of the first type that has it, in registry order. */
export function knownModels(): { id: string; owned_by: string }[] {
  const owners = new Map<string, string>();
  for (const type of channelTypes) {
    for (const model of type.models) if (!owners.has(model)) owners.set(model, type.key);
  }
  return [...owners].map(([id, owned_by]) => ({ id, owned_by }));
}
