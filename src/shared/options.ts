/**
 * The option registry: one entry per key. Parser, typed store, GET/PUT /api/option/, GET /api/status, the settings
 * cards, "configure it first" and the generated document all read these entries. On the wire and in the database every
 * value is text ("true", "5", JSON).
 */
import { type AlertRule, alertRulesShape, DEFAULT_RULES, quietHoursShape } from "./alert-rules";
import { targetsCodec } from "./alert-targets";
import { API_GENERATIONS } from "./api-generation";
import { currencyRatesShape } from "./currency-rates";
import { GRANULARITIES } from "./dashboard";
import { BATCH_DISCOUNT } from "./factor-rules";
import { limitHint, type LimitSet, limitSets } from "./limits";
import { defaultPriceTables, longContextTiers, toolPrices } from "./model-prices";
import {
  address,
  type Card,
  choice,
  decimal,
  flag,
  int,
  jsonOption,
  lines,
  link,
  list,
  longText,
  type Option,
  type Parsed,
  sealed,
  secret,
  string,
} from "./options/kinds";
import {
  apiVersions,
  chatLinks,
  contextTiers,
  listOfNames,
  mapOfMaps,
  modelHeaders,
  numberMap,
  payMethods,
  rateLimitGroups,
  routingMap,
  safetySettings,
  textMap,
} from "./options/shapes";
import { priceFeedsShape } from "./price-feeds";
import { priceRulesShape } from "./price-rules";
import type { GroupRouting } from "./score-factors";
import type { Text } from "./text";
import { virtualModelsShape } from "./virtual-models";

export type { Card, Option, Parsed } from "./options/kinds";

export const SETTING_TABS = ["operation", "system", "alert", "other"] as const;
export type SettingTab = (typeof SETTING_TABS)[number];

export interface CardFacts {
  readonly tab: SettingTab;
  readonly title: Text;
  /** Keys that must have a text before anything of the card is saved in the console. */
  readonly needs?: readonly OptionKey[];
}

/** The settings cards in order, each with its tab. */
export const cards: Readonly<Record<Card, CardFacts>> = {
  general: { tab: "operation", title: { zh: "通用设置", en: "General" } },
  relay: { tab: "operation", title: { zh: "转发设置", en: "Relay" } },
  drawing: { tab: "operation", title: { zh: "绘图与任务", en: "Drawing and tasks" } },
  sensitive: { tab: "operation", title: { zh: "屏蔽词过滤", en: "Sensitive words" } },
  log: { tab: "operation", title: { zh: "日志设置", en: "Logs" } },
  dashboard: { tab: "operation", title: { zh: "数据看板", en: "Data dashboard" } },
  monitoring: { tab: "operation", title: { zh: "监控设置", en: "Monitoring" } },
  quota: { tab: "operation", title: { zh: "额度设置", en: "Quota" } },
  chat: { tab: "operation", title: { zh: "聊天设置", en: "Chat" } },
  group: { tab: "operation", title: { zh: "分组设置", en: "Groups" } },
  ratelimit: { tab: "operation", title: { zh: "模型请求限流", en: "Model request limits" } },
  pricing: { tab: "operation", title: { zh: "模型价格", en: "Model prices" } },
  models: { tab: "operation", title: { zh: "模型协议", en: "Model protocols" } },
  server: { tab: "system", title: { zh: "服务器", en: "Server" } },
  worker: { tab: "system", title: { zh: "代理 Worker", en: "Worker proxy" } },
  payment: { tab: "system", title: { zh: "支付设置", en: "Payment" }, needs: ["ServerAddress"] },
  login: { tab: "system", title: { zh: "登录与注册", en: "Sign-in and registration" } },
  email: { tab: "system", title: { zh: "邮箱域名白名单", en: "E-mail domains" } },
  smtp: { tab: "system", title: { zh: "SMTP 发信", en: "SMTP" } },
  github: { tab: "system", title: { zh: "GitHub 登录", en: "GitHub" } },
  wechat: { tab: "system", title: { zh: "微信服务器", en: "WeChat server" } },
  telegram: { tab: "system", title: { zh: "Telegram 登录", en: "Telegram" } },
  turnstile: { tab: "system", title: { zh: "Turnstile 人机验证", en: "Turnstile" } },
  linuxdo: { tab: "system", title: { zh: "LinuxDO 登录", en: "LinuxDO" } },
  oidc: { tab: "system", title: { zh: "OIDC 登录", en: "OIDC" } },
  alert: { tab: "alert", title: { zh: "告警", en: "Alerts" } },
  content: { tab: "other", title: { zh: "站点内容", en: "Site content" } },
};

const money = { min: 0, max: 1_000_000_000_000 } as const;
const megabytes = { max: 1_000_000, unit: { zh: "MB", en: "MB" } } as const;
const seconds = (max: number) => ({ min: 1, max, unit: { zh: "秒", en: "s" } }) as const;

const options = {
  // Quota
  QuotaForNewUser: int(0, "quota", "新用户初始额度", "Quota of a new user", { ...money }),
  PreConsumedQuota: int(500, "quota", "请求预扣 Token 数", "Tokens held in advance", { ...money }),
  QuotaForInviter: int(0, "quota", "邀请人奖励额度", "Reward of the inviter", { ...money }),
  QuotaForInvitee: int(0, "quota", "被邀请人奖励额度", "Reward of the invited", { ...money }),
  BatchRatio: decimal(String(BATCH_DISCOUNT), "quota", "批处理倍率", "Batch ratio",
    { min: 0, max: 100, hint: { zh: "批处理（/v1/batches）按模型价格乘以此倍率计费", en: "Batches (/v1/batches) cost their model's price times this" } }),
  InviteRebatePercent: decimal("0", "quota", "邀请充值返利比例", "Inviter's share of top-ups", { min: 0, max: 100, unit: { zh: "%", en: "%" } }),
  QuotaRemindThreshold: int(1000, "monitoring", "额度提醒阈值", "Low-quota threshold", { ...money }),
  MaxTokensPerUser: int(1000, "general", "每个用户的令牌数量上限", "Most tokens of one user",
    { min: 0, max: 1_000_000, hint: { zh: "对管理员同样有效；0 表示不限制，已有的令牌不受影响", en: "Also for administrators; 0 means no limit, tokens that exist stay" } }),
  QuotaPerUnit: decimal("500000", "general", "单位美元额度", "Units per dollar",
    { min: 1, max: 1e12, public: "quota_per_unit" }),
  MaxHoldOutputTokens: int(32_768, "quota", "预扣输出 Token 上限", "Most output tokens held", { min: 1, max: 1e9 }),

  // Prices and groups
  ModelPrice: jsonOption(defaultPriceTables.ModelPrice, numberMap(), "pricing", "模型固定价格", "Prices per call",
    {}),
  ModelRatio: jsonOption(defaultPriceTables.ModelRatio, numberMap(), "pricing", "模型倍率", "Model ratios"),
  CompletionRatio: jsonOption(defaultPriceTables.CompletionRatio, numberMap(), "pricing", "补全倍率", "Completion ratios",
    {}),
  CacheRatio: jsonOption(defaultPriceTables.CacheRatio, numberMap(), "pricing", "缓存读取倍率", "Cache read ratios",
    {}),
  CreateCacheRatio: jsonOption(defaultPriceTables.CreateCacheRatio, numberMap(),
    "pricing", "缓存写入倍率", "Cache write ratios",
    {}),
  CreateCache1hRatio: jsonOption<Record<string, number>>({}, numberMap(),
    "pricing", "缓存写入倍率（1 小时）", "Cache write ratios (1 hour)",
    { hint: { zh: "没有列出的模型为缓存写入倍率 × 1.6", en: "Models not listed: the cache write ratio × 1.6" } }),
  ImageRatio: jsonOption(defaultPriceTables.ImageRatio, numberMap(), "pricing", "图片输入倍率", "Image input ratios",
    {}),
  ImageCompletionRatio: jsonOption(defaultPriceTables.ImageCompletionRatio, numberMap(),
    "pricing", "图片输出倍率", "Image output ratios",
    {}),
  AudioRatio: jsonOption(defaultPriceTables.AudioRatio, numberMap(), "pricing", "音频输入倍率", "Audio input ratios",
    {}),
  AudioCompletionRatio: jsonOption(defaultPriceTables.AudioCompletionRatio, numberMap(),
    "pricing", "音频补全倍率", "Audio completion ratios",
    {}),
  LongContextRatio: jsonOption(longContextTiers, contextTiers(), "pricing", "长上下文倍率", "Long-context ratios",
    { hint: { zh: "输入超过 over 个 Token 的调用，整次按 input 与 output 倍数计费",
      en: "Calls whose input exceeds `over` tokens are charged as a whole by the factors `input` and `output`" } }),
  PriceRules: jsonOption({}, priceRulesShape(), "pricing", "价格规则", "Price rules",
    { hint: { zh: "模型 → 规则列表 {name, when, then}：第一条适用的规则生效，都不适用时按普通价格计费",
      en: "Model → list of rules {name, when, then}: the first that applies counts, without one the plain price does" } }),
  CurrencyRates: jsonOption({}, currencyRatesShape(), "pricing", "货币汇率", "Currency rates",
    { hint: { zh: "货币代码 → 一美元兑换的数量，例如 {\"CNY\": 7.1}，或加上日期与来源 {rate, date, source}；用于以其他货币记录的渠道成本",
      en: "Currency code → its units for a dollar, for example {\"CNY\": 7.1}, or with its day and source {rate, date, source}; for channels whose costs are in another currency" } }),
  PriceFeeds: jsonOption([], priceFeedsShape(), "pricing", "价格源", "Price feeds",
    { hint: { zh: "定时读取价格的地址列表 {name, url, key, hours, automatic}",
      en: "List of addresses that prices are read from: {name, url, key, hours, automatic}" } }),
  VirtualModels: jsonOption({}, virtualModelsShape(), "pricing", "虚拟模型", "Virtual models",
    { hint: { zh: "名称 → {steps: [{model, group, weight, on, max_input_tokens}], fixed_price}：按顺序或权重尝试各步骤，on 为转到该步骤的原因",
      en: "Name → {steps: [{model, group, weight, on, max_input_tokens}], fixed_price}: steps are tried in order or by weight; `on` names the reasons to come to a step" } }),
  VirtualModelHeader: flag(false, "pricing", "响应头告知实际应答的模型（x-weir-model）", "A response header names the model that answered (x-weir-model)"),
  "tool_price_setting.prices": jsonOption(toolPrices, numberMap(),
    "pricing", "工具价格（美元/千次）", "Tool prices (USD per 1000 calls)",
    {}),
  ExposeRatioEnabled: flag(false, "pricing", "公开倍率接口", "Publish the ratios"),
  GroupRatio: jsonOption({ default: 1, vip: 1, svip: 1 }, numberMap({ notEmpty: true }),
    "group", "分组倍率", "Group ratios",
    {}),
  UserUsableGroups: jsonOption({ default: "默认分组", vip: "VIP 分组" }, textMap(),
    "group", "用户可选分组", "Groups users may choose",
    {}),
  GroupGroupRatio: jsonOption<Record<string, Record<string, number>>>({}, mapOfMaps(),
    "group", "分组专属倍率", "Exclusive group ratios",
    {}),
  AutoGroups: jsonOption(["default"], listOfNames(), "group", "自动分组顺序", "Order of the auto group"),
  GroupRouting: jsonOption<Record<string, GroupRouting>>({}, routingMap(), "group", "分组选路方式", "Routing of groups",
    { hint: { zh: "分组 → \"score\"：同一优先级内按首字时间、成功率、空闲容量与成本评分选择渠道；未列出的分组按权重",
      en: "Group → \"score\": channels of one priority are chosen by first-token time, success, free capacity and cost; groups that are not listed by weight" } }),
  DefaultUseAutoGroup: flag(false, "group", "新令牌默认使用 auto 分组", "New tokens use group auto",
    { public: "default_use_auto_group" }),

  // Chat and links
  Chats: jsonOption<Record<string, string>[]>([], chatLinks(), "chat", "聊天链接", "Chat links",
    { public: "chats" }),
  TopUpLink: link("general", "充值链接", "Top-up link", { public: "top_up_link" }),
  ChatLink: link("general", "聊天链接（旧）", "Chat link (old)", { public: "chat_link" }),
  ChatLink2: link("general", "聊天链接 2（旧）", "Chat link 2 (old)", { public: "chat_link2" }),
  "general_setting.docs_link": link("general", "文档链接", "Documentation link", { public: "docs_link" }),

  // Behaviour
  RetryTimes: int(3, "general", "失败重试次数", "Retries after a failure",
    { min: 0, max: 100, hint: { zh: "失败后最多再尝试这么多个其他渠道；0 表示从不切换渠道", en: "So many other channels are tried after a failure; 0: none, ever" } }),
  RetryMaxCost: decimal("0.1", "general", "可能已受理时的重试费用上限", "Most that a retry may pay twice",
    { min: 0, max: 1e6, unit: { zh: "美元", en: "USD" },
      hint: { zh: "超时、连接中断或上游 5xx 时，请求可能已被受理：只有按 Token 计费且预估费用低于此值的调用才会换渠道重试；图片、音频、视频、音乐、批处理与后台任务从不重试",
        en: "After a time-out, a cut or a 5xx the upstream may have accepted the call: only calls priced by tokens that cost less, as estimated, are tried again; pictures, audio, video, music, batches and background responses never are" } }),
  DisplayInCurrencyEnabled: flag(true, "general", "以货币形式显示额度", "Show quota as currency",
    { public: "display_in_currency" }),
  DisplayTokenStatEnabled: flag(true, "general", "余额接口显示令牌额度", "Balance calls report the token"),
  DefaultCollapseSidebar: flag(false, "general", "默认折叠侧边栏", "Sidebar starts collapsed",
    { public: "default_collapse_sidebar" }),
  DemoSiteEnabled: flag(false, "general", "演示站点模式", "Demonstration site", { public: "demo_site_enabled" }),
  SelfUseModeEnabled: flag(false, "general", "自用模式", "Self-use mode",
    { public: "self_use_mode_enabled",
      hint: { zh: "未设置价格的模型按倍率 37.5 计费，而不是拒绝",
        en: "Models without a price cost ratio 37.5 instead of being refused" } }),

  ApiGeneration: choice("2025-04", API_GENERATIONS, "general", "接口代次（new-api）", "API generation (new-api)",
    { hint: { zh: "令牌、渠道、绘图与任务列表的形状：2025-04 为数组、p 从 0 起，2025-07 为分页对象、p 从 1 起；单个请求可用 ?shape=page|array 或请求头 Weir-Api-Generation 指定",
      en: "Shape of the lists of tokens, channels, drawings and tasks: 2025-04 arrays, p from 0; 2025-07 page objects, p from 1. A request chooses with ?shape=page|array or the header Weir-Api-Generation" } }),

  // Relay
  PingAfter: int(15, "relay", "首包前心跳间隔", "Ping when nothing came for", { ...seconds(600) }),
  RelayConnectTimeout: int(10, "relay", "连接超时", "Connect timeout", { ...seconds(600) }),
  RelayFirstByteTimeout: int(120, "relay", "流首个事件超时（长时间思考而不输出的模型除外）", "First-event timeout of a stream (except models that think in silence)",
    { ...seconds(3600), hint: { zh: "还有其他渠道可试时，最多等待剩余重试总时间预算的一半", en: "While another channel can answer, at most half of what is left of the time budget of all attempts" } }),
  RelayIdleTimeout: int(120, "relay", "流空闲超时", "Idle timeout of a stream", { ...seconds(3600) }),
  RelayTotalTimeout: int(3600, "relay", "总时长上限", "Total timeout", { ...seconds(86_400) }),
  StickyRouting: flag(true, "relay", "同一会话优先使用同一渠道（提示词缓存）", "Keep a conversation on its channel (prompt caches)"),
  QuotaRefused403Enabled: flag(false, "relay", "额度不足时返回 403（默认返回 429 insufficient_quota）", "Refuse calls without balance with 403 (otherwise 429 insufficient_quota)"),
  StoredResponseDays: int(30, "relay", "响应保存天数（Responses API，0 为不保存）", "Days that responses are kept (Responses API, 0 = none)", { min: 0, max: 3650, unit: { zh: "天", en: "d" } }),
  StoredResponseMaxMB: int(100, "relay", "每个用户保存响应的容量上限", "Most stored responses per user", { ...megabytes, min: 1 }),
  StoredFileMaxMB: int(1024, "relay", "每个用户上传文件的容量上限", "Most uploaded files per user", { ...megabytes, min: 0 }),
  RelayAttemptBudget: int(60, "relay", "重试总时间预算", "Time budget of all attempts", { ...seconds(3600) }),

  DrainEndsRealtime: flag(true, "relay", "排空时结束实时会话", "Drains end realtime sessions",
    { hint: { zh: "会话在当前响应完成后结束；关闭后，会话可持续到排空的截止时间",
      en: "A session ends after its running response; off: it may go on until the drain's deadline" } }),
  DrainEndsJobs: flag(false, "relay", "排空到期时终止任务", "Drains end jobs at their deadline",
    { hint: { zh: "排空的渠道或密钥到达截止时间后，其未完成的任务、批处理与后台响应记为失败并退回费用；关闭后继续查询直至完成",
      en: "Unfinished jobs, batches and background responses of a drained channel or key then fail and are paid back; off: they are asked about until they end" } }),

  // Drawing and tasks
  DrawingEnabled: flag(true, "drawing", "启用绘图功能", "Drawing", { public: "enable_drawing" }),
  TaskEnabled: flag(true, "drawing", "启用异步任务", "Asynchronous tasks", { public: "enable_task" }),
  MjNotifyEnabled: flag(false, "drawing", "允许回调", "Pass notifyHook on", { public: "mj_notify_enabled" }),
  MjAccountFilterEnabled: flag(false, "drawing", "允许 accountFilter 参数", "Pass accountFilter on"),
  MjForwardUrlEnabled: flag(true, "drawing", "图片地址改为本站地址", "Serve images from this server"),
  MjModeClearEnabled: flag(false, "drawing", "清除 --fast、--relax、--turbo 参数", "Cut --fast, --relax and --turbo",
    {}),
  MjActionCheckSuccessEnabled: flag(true, "drawing", "操作前检查原任务成功", "Follow-ups need a successful job"),

  // Sensitive words
  CheckSensitiveEnabled: flag(true, "sensitive", "启用屏蔽词过滤", "Filter sensitive words"),
  CheckSensitiveOnPromptEnabled: flag(true, "sensitive", "检查提示词", "Check prompts"),
  StopOnSensitiveEnabled: flag(true, "sensitive", "命中后停止", "Stop on a match",
    { hint: { zh: "关闭时把屏蔽词替换为 **###** 后继续；表单请求始终拒绝",
      en: "Off: the words become **###** and the call goes on; forms are always refused" } }),
  SensitiveWords: lines("test_sensitive", "sensitive", "屏蔽词列表", "Sensitive words"),

  // Logs and dashboard
  LogConsumeEnabled: flag(true, "log", "记录消费日志", "Log consumption"),
  LogRetentionDays: int(0, "log", "日志保留天数", "Days that logs are kept",
    { min: 0, max: 36_500, hint: { zh: "0 表示永久保留", en: "0 keeps them for ever" } }),
  LogContentEnabled: flag(false, "log", "记录请求与回答内容", "Keep requests and answers",
    { hint: { zh: "密钥与媒体数据会被遮盖，仅管理员可见", en: "Keys and media are blanked; administrators alone see them" } }),
  LogContentDays: int(7, "log", "内容保留天数", "Days that requests and answers are kept", { min: 1, max: 365 }),
  DataExportEnabled: flag(true, "dashboard", "启用数据看板", "Data dashboard", { public: "enable_data_export" }),
  StatusPageEnabled: flag(false, "dashboard", "公开模型状态页", "Public status page of the models",
    { public: "status_page_enabled",
      hint: { zh: "任何人都可看到各模型近 24 小时的成功率与速度，不含调用量；关闭时仅管理员可见",
        en: "Anyone sees success and speed of each model in the last 24 hours, without amounts; off: administrators only" } }),
  DataExportInterval: int(5, "dashboard", "刷新间隔", "Refresh interval",
    { min: 1, max: 1440, unit: { zh: "分钟", en: "min" } }),
  DataExportDefaultTime: choice("hour", GRANULARITIES, "dashboard", "默认时间粒度", "Default granularity",
    { public: "data_export_default_time" }),

  // Channel health
  ChannelDisableThreshold: decimal("5", "monitoring", "响应超时阈值", "Longest response time of a test",
    { min: 0, max: 3600, unit: { zh: "秒", en: "s" },
      hint: { zh: "0 表示不因过慢而禁用", en: "0 never disables for slowness" } }),
  ChannelKeyRevealEnabled: flag(false, "monitoring", "允许查看渠道密钥", "Channel keys may be revealed",
    { person: true,
      hint: { zh: "超级管理员可经 POST /api/channel/{id}/key 取得明文密钥，系统访问令牌亦可；每次都记入审计日志",
        en: "A super administrator gets them in clear by POST /api/channel/{id}/key, also with a system access token; each time is in the audit log" } }),
  AutomaticDisableChannelEnabled: flag(false, "monitoring", "失败时自动禁用通道", "Disable channels on failure"),
  AutomaticEnableChannelEnabled: flag(false, "monitoring", "成功时自动启用通道", "Enable channels on success"),
  AutomaticDisableKeywords: lines(
    [
      "Your credit balance is too low",
      "This organization has been disabled.",
      "You exceeded your current quota",
      "Permission denied",
      "The security token included in the request is invalid",
      "Operation not allowed",
      "Your account is not authorized",
    ].join("\n"),
    "monitoring",
    "自动禁用关键词",
    "Keywords that disable a channel",
    {},
  ),
  ModelRequestRateLimitEnabled: flag(false, "ratelimit", "启用模型请求限流", "Limit model requests"),
  ModelRequestRateLimitDurationMinutes: int(1, "ratelimit", "限流周期", "Period",
    { min: 1, max: 43_200, unit: { zh: "分钟", en: "min" } }),
  ModelRequestRateLimitCount: int(0, "ratelimit", "周期内最多请求数", "Requests per period",
    { min: 0, max: 1e9, hint: { zh: "0 表示不限制", en: "0 means no limit" } }),
  ModelRequestRateLimitSuccessCount: int(1000, "ratelimit", "周期内最多成功请求数", "Successful requests per period",
    { min: 0, max: 1e9 }),
  ModelRequestRateLimitGroup: jsonOption<Record<string, number[]>>({}, rateLimitGroups(),
    "ratelimit", "分组限流", "Limits per group",
    {}),
  GroupLimits: jsonOption<Record<string, LimitSet>>({}, limitSets(), "ratelimit", "分组总限额", "Limits of groups",
    { hint: limitHint }),
  ModelLimits: jsonOption<Record<string, LimitSet>>({}, limitSets(), "ratelimit", "模型总限额", "Limits of models",
    { hint: limitHint }),

  // Protocols
  "global.pass_through_request_enabled": flag(false, "models", "请求体原样透传", "Pass bodies through unchanged",
    { hint: { zh: "只替换映射后的模型名；格式不同的请求仍会转换。上游不返回用量时按估算计费",
      en: "Only a mapped model's name is replaced; calls of another format are still translated. Without usage from the upstream tokens are estimated" } }),
  "claude.model_headers_settings": jsonOption<Record<string, Record<string, string | string[]>>>({}, modelHeaders(),
    "models", "Claude 请求头覆盖", "Claude request headers",
    { hint: { zh: "模型 → 请求头 → 值或值的列表；anthropic-beta 与调用方的合并", en: "Model → header → value or list of values; anthropic-beta is joined with the caller's" } }),
  "claude.default_max_tokens": jsonOption({ default: 8192 }, numberMap({ whole: true }),
    "models", "Claude 缺省 max_tokens", "Claude default max_tokens",
    {}),
  "claude.thinking_adapter_enabled": flag(true, "models", "Claude -thinking 后缀适配", "Claude -thinking suffix",
    { hint: { zh: "以 -thinking 结尾的 Claude 模型名会开启思考，没有单独定价时按原模型计费",
      en: "A Claude model's name that ends in -thinking turns thinking on; without a price of its own it costs what the model does" } }),
  "claude.thinking_adapter_budget_tokens_percentage": decimal("0.8", "models", "思考预算占比", "Share of the thinking budget",
    { min: 0.1, max: 1 }),
  "gemini.safety_settings": jsonOption({ default: "OFF", HARM_CATEGORY_CIVIC_INTEGRITY: "BLOCK_NONE" }, safetySettings(),
    "models", "Gemini 安全设置", "Gemini safety settings",
    {}),
  "gemini.thinking_adapter_enabled": flag(true, "models", "Gemini 思考后缀适配", "Gemini thinking suffixes",
    { hint: { zh: "Gemini 模型名可以 -thinking、-nothinking 或 -thinking-预算 结尾，没有单独定价时按原模型计费",
      en: "A Gemini model's name may end in -thinking, -nothinking or -thinking-budget; without a price of its own it costs what the model does" } }),
  "gemini.thinking_adapter_budget_tokens_percentage": decimal("0.6", "models", "Gemini 思考预算占比", "Share of Gemini's thinking budget",
    { min: 0.1, max: 1 }),
  "gemini.version_settings": jsonOption({ default: "v1beta", "gemini-1.0-pro": "v1" }, apiVersions(),
    "models", "Gemini 版本设置", "Gemini API versions",
    {}),

  // Alerts
  AlertAccounts: flag(true, "alert", "通知超级管理员", "Tell root accounts",
    { hint: { zh: "告警按各超级管理员自己的通知方式发送（邮件、Webhook、Bark、Gotify、手机推送）",
      en: "Alerts go to each root account as its own notices are set (e-mail, webhook, Bark, Gotify, phone)" } }),
  AlertQuietHours: jsonOption([], quietHoursShape(), "alert", "静默时段", "Quiet hours",
    { hint: { zh: "时段列表 {zone, days, from, to}：期间只发送严重告警，其余在结束时一并发送",
      en: "List of windows {zone, days, from, to}: only critical alerts are sent in them, the others together when they end" } }),
  AlertRules: jsonOption<readonly AlertRule[]>(DEFAULT_RULES, alertRulesShape(), "alert", "告警规则", "Alert rules"),
  AlertTargets: sealed("alert", "通知对象", "Alert targets", targetsCodec),

  // Content
  Notice: longText("content", "公告", "Notice"),
  SystemName: string("Weir", "content", "系统名称", "System name", { public: "system_name", required: true }),
  Logo: link("content", "Logo 图片地址", "Logo address", { public: "logo" }),
  HomePageContent: longText("content", "首页内容", "Home page"),
  About: longText("content", "关于", "About"),
  Footer: longText("content", "页脚", "Footer", { public: "footer_html" }),

  // Server
  ServerAddress: address("server", "服务器地址", "Server address", { public: "server_address" }),
  ConsoleAddresses: lines("", "server", "控制台的其他地址", "Other addresses of the console", {
    hint: {
      zh: "每行一个。仅当反向代理不传递 Host 且用 http 访问时需要：来自其他地址的页面不能修改任何内容",
      en: "One per line. Only needed over http behind a reverse proxy that does not pass Host on: pages of other addresses may change nothing",
    },
  }),
  WorkerUrl: address("worker", "Worker 地址", "Worker address"),
  WorkerValidKey: secret("worker", "Worker 密钥", "Worker key"),

  // Payment
  PayAddress: address("payment", "支付地址", "Payment address", { needs: ["ServerAddress"] }),
  EpayId: string("", "payment", "易支付商户 ID", "Merchant id"),
  EpayKey: secret("payment", "易支付商户密钥", "Merchant key"),
  CustomCallbackAddress: address("payment", "回调地址", "Callback address"),
  Price: decimal("7.3", "payment", "充值价格（每美元）", "Price of one dollar", { min: 0, max: 1e9, public: "price" }),
  MinTopUp: int(1, "payment", "最低充值数量", "Smallest top-up", { min: 1, max: 1e9, public: "min_topup" }),
  TopupGroupRatio: jsonOption({ default: 1, vip: 1, svip: 1 }, numberMap(),
    "payment", "充值分组倍率", "Top-up ratios of groups",
    {}),
  PayMethods: jsonOption(
    [{ name: "支付宝", type: "alipay", color: "#1677ff" }, { name: "微信", type: "wxpay", color: "#07c160" }],
    payMethods(), "payment", "支付方式", "Payment methods", { public: "pay_methods" }),
  StripeApiSecret: secret("payment", "Stripe API 密钥", "Stripe API key"),
  StripeWebhookSecret: secret("payment", "Stripe Webhook 签名密钥", "Stripe webhook secret"),
  StripeCurrency: choice("usd", ["usd", "eur", "gbp", "aud", "cad", "chf", "cny", "hkd", "nzd", "sgd"],
    "payment", "Stripe 货币", "Stripe currency"),
  StripeUnitPrice: decimal("8", "payment", "Stripe 单价", "Stripe unit price",
    { min: 0, max: 1e9, public: "stripe_unit_price" }),
  StripeMinTopUp: int(1, "payment", "Stripe 最低充值数量", "Smallest Stripe top-up", { min: 1, max: 1e9 }),

  // Sign-in and registration
  PasswordLoginEnabled: flag(true, "login", "允许密码登录", "Password sign-in", { public: "password_login" }),
  PasswordRegisterEnabled: flag(true, "login", "允许密码注册", "Password registration",
    { public: "password_register" }),
  RegisterEnabled: flag(true, "login", "允许新用户注册", "Registration", { public: "register_enabled" }),
  EmailVerificationEnabled: flag(false, "login", "注册需要邮箱验证", "Registration needs an e-mail code",
    { public: "email_verification", needs: ["SMTPServer"] }),
  GitHubOAuthEnabled: flag(false, "login", "允许 GitHub 登录", "GitHub sign-in",
    { public: "github_oauth", needs: ["GitHubClientId", "GitHubClientSecret"] }),
  LinuxDOOAuthEnabled: flag(false, "login", "允许 LinuxDO 登录", "LinuxDO sign-in",
    { public: "linuxdo_oauth", needs: ["LinuxDOClientId", "LinuxDOClientSecret"] }),
  WeChatAuthEnabled: flag(false, "login", "允许微信登录", "WeChat sign-in",
    { public: "wechat_login", needs: ["WeChatServerAddress", "WeChatServerToken"] }),
  TelegramOAuthEnabled: flag(false, "login", "允许 Telegram 登录", "Telegram sign-in",
    { public: "telegram_oauth", needs: ["TelegramBotToken", "TelegramBotName"] }),
  TurnstileCheckEnabled: flag(false, "login", "启用 Turnstile 校验", "Turnstile check",
    { public: "turnstile_check", needs: ["TurnstileSiteKey", "TurnstileSecretKey"] }),
  EmailDomainRestrictionEnabled: flag(false, "email", "限制邮箱域名", "Restrict e-mail domains",
    { needs: ["EmailDomainWhitelist"] }),
  EmailAliasRestrictionEnabled: flag(false, "email", "禁止邮箱别名", "Refuse e-mail aliases"),
  EmailDomainWhitelist: list(
    "gmail.com,163.com,126.com,qq.com,outlook.com,hotmail.com,icloud.com,yahoo.com,foxmail.com",
    "email", "邮箱域名白名单", "Allowed e-mail domains",
    {}),

  // Integrations
  SMTPServer: string("", "smtp", "SMTP 服务器", "SMTP server"),
  SMTPPort: int(587, "smtp", "SMTP 端口", "SMTP port", { min: 1, max: 65_535 }),
  SMTPAccount: string("", "smtp", "SMTP 账户", "SMTP account"),
  SMTPFrom: string("", "smtp", "发件人", "Sender", { hint: { zh: "留空则使用账户", en: "Empty: the account" } }),
  SMTPToken: secret("smtp", "SMTP 密码", "SMTP password"),
  SMTPSSLEnabled: flag(false, "smtp", "使用 SSL 连接", "Implicit TLS"),
  GitHubClientId: string("", "github", "Client ID", "Client ID", { public: "github_client_id" }),
  GitHubClientSecret: secret("github", "Client Secret", "Client secret"),
  LinuxDOClientId: string("", "linuxdo", "Client ID", "Client ID", { public: "linuxdo_client_id" }),
  LinuxDOClientSecret: secret("linuxdo", "Client Secret", "Client secret"),
  LinuxDOMinimumTrustLevel: int(0, "linuxdo", "最低信任等级", "Lowest trust level", { min: 0, max: 4 }),
  WeChatServerAddress: address("wechat", "服务器地址", "Server address"),
  WeChatServerToken: secret("wechat", "访问凭证", "Access token"),
  WeChatAccountQRCodeImageURL: link("wechat", "公众号二维码图片地址", "QR code image address",
    { public: "wechat_qrcode" }),
  TelegramBotToken: secret("telegram", "Bot Token", "Bot token"),
  TelegramBotName: string("", "telegram", "Bot 名称", "Bot name", { public: "telegram_bot_name" }),
  TurnstileSiteKey: string("", "turnstile", "Site Key", "Site key", { public: "turnstile_site_key" }),
  TurnstileSecretKey: secret("turnstile", "Secret Key", "Secret key"),
  "oidc.enabled": flag(false, "login", "允许 OIDC 登录", "OIDC sign-in",
    { public: "oidc_enabled", needs: ["oidc.client_id", "oidc.client_secret", "oidc.well_known"] }),
  "oidc.client_id": string("", "oidc", "Client ID", "Client ID", { public: "oidc_client_id" }),
  "oidc.client_secret": secret("oidc", "Client Secret", "Client secret"),
  "oidc.well_known": address("oidc", "Well-Known 地址", "Discovery address"),
  "oidc.authorization_endpoint": address("oidc", "授权端点", "Authorization endpoint",
    { public: "oidc_authorization_endpoint" }),
  "oidc.token_endpoint": address("oidc", "令牌端点", "Token endpoint"),
  "oidc.user_info_endpoint": address("oidc", "用户信息端点", "User info endpoint"),
} as const;

type Options = typeof options;
export type OptionKey = keyof Options;
/** The typed value of an option: boolean, number, text or the parsed JSON. */
export type OptionValue<K extends OptionKey> = Options[K] extends Option<infer Value> ? Value : never;

/** Whether a text is the key of an option. */
export function isOptionKey(key: string): key is OptionKey {
  return Object.hasOwn(options, key);
}

/** All keys in registry order. */
export const optionKeys: readonly OptionKey[] = Object.keys(options).filter(isOptionKey);

/** The declaration of an option, with the type of its value erased. */
export function option(key: OptionKey): Option<unknown> {
  return options[key];
}

/** Parses an option's text; the problem says what is wrong and, inside JSON, where. Never throws. */
export function parseOption<K extends OptionKey>(key: K, text: string): Parsed<OptionValue<K>> {
  // The registry's value types are per key; the parser of key K yields OptionValue<K> by its declaration.
  return option(key).parse(text) as Parsed<OptionValue<K>>;
}

/** The text of a value, as stored and sent. */
export function printOption<K extends OptionKey>(key: K, value: OptionValue<K>): string {
  return option(key).print(value);
}

/** The text of an option that was never set. JSON options are valid JSON, never "". */
export function defaultText(key: OptionKey): string {
  return option(key).default;
}

/** The parsed default of an option. */
export function defaultValue<K extends OptionKey>(key: K): OptionValue<K> {
  const parsed = parseOption(key, defaultText(key));
  if (!parsed.ok) throw new Error(`the default of option ${key} is not valid: ${parsed.problem.en}`);
  return parsed.value;
}

/** Options that GET /api/option/ leaves out: secrets, and every key that ends in Token, Secret or Key. */
export function isHidden(key: OptionKey): boolean {
  return option(key).secret || /(Token|Secret|Key)$/.test(key);
}

/** The options shown in GET /api/status: public name and key. */
export const publicOptions: readonly { name: string; key: OptionKey }[] = optionKeys.flatMap((key) => {
  const name = option(key).public;
  return name === undefined ? [] : [{ name, key }];
});

/** The members of /api/status that options fill, from a reader of typed values. */
export function publicStatus(get: <K extends OptionKey>(key: K) => OptionValue<K>): Record<string, unknown> {
  return Object.fromEntries(publicOptions.map(({ name, key }) => [name, get(key)]));
}

/**
 * The keys that must be set before an option may have this text ("configure it first"): none when it is being switched
 * off or emptied. `isSet` says whether an option has a text other than "".
 */
export function missingNeeds(
  { needs }: Pick<Option<unknown>, "needs">,
  text: string,
  isSet: (key: OptionKey) => boolean,
): OptionKey[] {
  if (text === "" || text === "false") return [];
  return (needs as readonly OptionKey[]).filter((needed) => !isSet(needed)); // keys of the registry, by its test
}
