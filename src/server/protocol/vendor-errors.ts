/**
 * Vendors' errors as data: what each says, which kind of failure it is, and where that is written. The first entry that
 * matches decides (vendor-error-kind.ts); where none does, the status decides.
 *
 * A message is read only where the vendor has no code for it. A pattern is linear: numbers have a bounded length, and
 * nothing repeats inside what repeats. Its groups `used` and `limit` are the tokens that the call has and may have.
 */
import type { FailureKind } from "../../shared/failures";

export interface VendorError {
  readonly vendor: string;
  readonly kind: FailureKind;
  /** The error's code or its type: one of these words, or words of this form. */
  readonly code?: readonly string[] | RegExp;
  readonly message?: RegExp;
  /**
   * Where it counts: the statuses, any failure of the server's (`5xx`), or only inside an answer that began with 200
   * (`in_answer`). By default a code counts everywhere, a message where a request is refused (REFUSED). Inside such an
   * answer without a status of its own everything counts.
   */
  readonly status?: readonly number[] | "5xx" | "in_answer";
  /** A page that shows it; UNSOURCED where none was found. */
  readonly source: string;
  /** The month in which the source was read. */
  readonly seen: string;
}

/** Statuses by which vendors refuse a request for what it is. */
export const REFUSED: readonly number[] = [400, 413, 422];

/** Words of earlier releases without a page that shows them. */
export const UNSOURCED = "";

const seen = "2026-11";
const ANTHROPIC = "https://platform.claude.com/docs/en/api/errors";
const KIMI = "https://platform.kimi.com/docs/api/errors";
const OPENROUTER = "https://openrouter.ai/docs/client-sdks/python/components/apierrortype.md";
const OPENAI_TYPES = "https://github.com/openai/openai-node/blob/master/src/resources/responses/responses.ts";
const PI = "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts";
const QIANFAN = "https://cloud.baidu.com/doc/qianfan-api/s/rmwbl43x7";
const VOLCENGINE = "https://www.volcengine.com/docs/82379/1299023";
const ZHIPU = "https://docs.bigmodel.cn/cn/api/api-code";

/** Entries of one kind, in the order in which they are tried. */
const all = (kind: FailureKind, entries: readonly Omit<VendorError, "kind" | "seen">[]): VendorError[] =>
  entries.map((entry) => ({ ...entry, kind, seen }));

export const VENDOR_ERRORS: readonly VendorError[] = [
  ...all("unaffordable", [
    // Not "only afford 0": that account is empty.
    {
      vendor: "OpenRouter",
      message: /more credits, or fewer max_tokens[^]{0,80}?can only afford [1-9]/,
      status: [402],
      source: "https://github.com/can1357/oh-my-pi/issues/9569",
    },
  ]),
  ...all("quota_exhausted", [
    { vendor: "OpenAI", code: ["insufficient_quota"], source: "https://github.com/OpenHands/OpenHands/issues/998" },
    { vendor: "OpenAI", code: ["billing_not_active"], source: "https://github.com/BerriAI/litellm/issues/2743" },
    {
      vendor: "OpenAI",
      code: ["billing_hard_limit_reached"],
      source: "https://github.com/Decryptu/DecryptGPT/issues/1",
    },
    {
      vendor: "New API",
      code: ["insufficient_user_quota"],
      source: "https://github.com/popjane/free_chatgpt_api/issues/78",
    },
    {
      vendor: "LaoZhang",
      code: ["insufficient_balance"],
      source: "https://docs.laozhang.ai/en/faq/balance-insufficient.md",
    },
    { vendor: "OpenRouter", code: ["payment_required"], source: OPENROUTER },
    // The word that dialects/anthropic/error.ts reads from the message.
    {
      vendor: "Anthropic",
      code: ["credit_balance_too_low"],
      source: "https://github.com/anthropics/claude-code/issues/4207",
    },
    {
      vendor: "Moonshot",
      code: ["exceeded_current_quota_error"],
      source: "https://forum.moonshot.ai/t/429-insufficient-balance/244",
    },
    { vendor: "Volcengine", code: ["AccountOverdueError"], source: VOLCENGINE },
    {
      vendor: "Model Studio",
      code: ["Arrearage"],
      source: "https://help.aliyun.com/zh/dashscope/return-status-code-description",
    },
  ]),
  ...all("bad_credentials", [
    { vendor: "OpenAI", code: ["invalid_api_key"], source: UNSOURCED },
    { vendor: "Anthropic", code: ["authentication_error"], source: ANTHROPIC },
    { vendor: "OpenAI", code: ["account_deactivated"], source: UNSOURCED },
    { vendor: "Moonshot", code: ["invalid_authentication"], source: UNSOURCED },
    { vendor: "GitHub", code: ["unauthorized"], source: "https://github.com/github/gh-models/issues/35" },
    { vendor: "Gemini", code: ["API_KEY_INVALID"], source: "https://ai.google.dev/gemini-api/docs/troubleshooting" },
  ]),
  ...all("model_missing", [
    {
      vendor: "OpenAI",
      code: ["model_not_found"],
      source: "https://github.com/BerriAI/litellm/blob/main/litellm/litellm_core_utils/exception_mapping_utils.py",
    },
    {
      vendor: "GitHub Copilot",
      code: ["model_not_supported"],
      source: "https://github.com/github/copilot-cli/issues/639",
    },
    { vendor: "any", code: ["unsupported_model"], source: UNSOURCED },
    { vendor: "Moonshot", code: ["resource_not_found_error"], source: KIMI },
    { vendor: "Volcengine", code: ["InvalidEndpointOrModel.NotFound", "ModelNotOpen"], source: VOLCENGINE },
  ]),
  ...all("forbidden", [
    {
      vendor: "OpenAI",
      code: ["unsupported_country_region_territory"],
      source: "https://github.com/home-assistant/core/issues/120072",
    },
  ]),
  ...all("content_filtered", [
    {
      vendor: "Azure",
      code: ["content_filter", "ResponsibleAIPolicyViolation"],
      source: "https://www.dotnetstudioai.com/hospital/fix-azure-openai-content-filter-error-csharp",
    },
    { vendor: "Moonshot", code: ["content_filter"], source: KIMI },
    {
      vendor: "OpenAI",
      code: ["moderation_blocked"],
      source: "https://help.apiyi.com/en/fix-gpt-image-2-moderation-blocked-400-error-en.html",
    },
    { vendor: "OpenRouter", code: ["content_policy_violation"], source: OPENROUTER },
    {
      vendor: "OpenAI",
      code: ["bio_policy", "misalignment_policy_violation", "image_content_policy_violation"],
      source: OPENAI_TYPES,
    },
    // The same code also calls a schema malformed.
    {
      vendor: "OpenAI",
      code: ["invalid_prompt"],
      message: /flagged as potentially violating|limited access to this content for safety/,
      source: "https://github.com/microsoft/PyRIT/pull/1463",
    },
    {
      vendor: "OpenAI",
      message: /rejected (?:as a result of|by) (?:our|the) safety system/,
      source: "https://github.com/RanFeng/clipsketch-ai/issues/6",
    },
    {
      vendor: "Anthropic",
      message: /Output blocked by content filtering policy/,
      source: "https://github.com/anthropics/claude-code/issues/58367",
    },
    {
      vendor: "xAI",
      message: /Content violates usage guidelines/,
      status: [400, 403],
      source: "https://github.com/UKGovernmentBEIS/inspect_ai/pull/2267",
    },
    { vendor: "DeepSeek", message: /Content Exists Risk/, source: "https://github.com/666ghj/BettaFish/issues/108" },
    {
      vendor: "Model Studio",
      code: ["DataInspectionFailed", "data_inspection_failed"],
      source: "https://github.com/666ghj/BettaFish/issues/449",
    },
    {
      vendor: "Model Studio",
      message: /DataInspectionFailed/,
      source: "https://github.com/QwenLM/qwen-code/issues/3145",
    },
    { vendor: "Zhipu", code: ["1301"], status: REFUSED, source: ZHIPU },
    {
      vendor: "Volcengine",
      code: /^(?:(?:Input|Output)(?:Text|Image|Video|Audio))?SensitiveContentDetected(?:\.|$)/,
      source: VOLCENGINE,
    },
    {
      vendor: "Volcengine",
      code: /^(?:Input|Output)(?:Text|Image)RiskDetection$/,
      source: "https://www.volcengine.com/docs/82379/1099476",
    },
    { vendor: "Baidu", code: ["unsafe_request"], source: QIANFAN },
    {
      vendor: "MiniMax",
      code: ["1026", "1027"],
      status: REFUSED,
      source: "https://github.com/esengine/DeepSeek-Reasonix/pull/6824",
    },
    { vendor: "MiniMax", message: /(?:in|out)put new_sensitive/, source: "https://github.com/MiniMax-AI/cli/pull/256" },
    {
      vendor: "Spark",
      code: ["10013"],
      status: REFUSED,
      source: "https://blog.gitcode.com/1902f9b9326d01e18472a7102b5c4bf9.html",
    },
  ]),
  ...all("context_too_long", [
    {
      vendor: "OpenAI",
      code: ["context_length_exceeded"],
      source: "https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/sse/responses.rs",
    },
    {
      vendor: "OpenAI",
      message:
        /Input tokens exceed the configured limit of (?<limit>\d{1,12}) tokens\. Your messages resulted in (?<used>\d{1,12}) tokens/,
      source: "https://github.com/hyperifyio/goagent/issues/75",
    },
    {
      vendor: "OpenAI",
      message: /exceeds the context window of this model/,
      source: "https://github.com/openai/codex/issues/18052",
    },
    // vLLM, DeepSeek, OpenRouter, Cloudflare and most others of OpenAI's form.
    {
      vendor: "vLLM",
      message:
        /maximum context length (?:is|of) (?<limit>\d{1,12}) tokens(?:[^]{0,200}?(?:requested (?:about )?|resulted in |a total of (?:at least )?)(?<used>\d{1,12}) tokens)?/,
      source: "https://github.com/evalstate/fast-agent/issues/621",
    },
    {
      vendor: "Zhipu",
      message:
        /(?<!\d)(?<used>\d{1,12})\)? (?:input tokens )?exceeds (?:the )?model's maximum context length \(?(?<limit>\d{1,12})/,
      source: "https://github.com/foreveryh/claude-code-switch/issues/12",
    },
    {
      vendor: "Fireworks",
      message: /prompt is too long: (?<used>\d{1,12}), model maximum context length: (?<limit>\d{1,12})/,
      source: "https://github.com/fw-ai/cookbook/issues/134",
    },
    {
      vendor: "Anthropic",
      message: /prompt is too long(?:: (?<used>\d{1,12}) tokens > (?<limit>\d{1,12}) maximum)?/i,
      source: "https://github.com/earendil-works/pi/issues/102",
    },
    {
      vendor: "Anthropic",
      message: /input length and `?max_tokens`? exceed context limit: \d{1,12} \+ \d{1,12} > (?<limit>\d{1,12})/,
      source: "https://github.com/docker/docker-agent/issues/569",
    },
    {
      vendor: "Anthropic",
      message: /Request size exceeds model context window/,
      source: "https://github.com/anthropics/claude-code/issues/6380",
    },
    {
      vendor: "Gemini",
      message:
        /input token count(?: \((?<used>\d{1,12})\))? exceeds the maximum number of tokens allowed(?: \((?<limit>\d{1,12})\))?/,
      source: "https://github.com/google-gemini/gemini-cli/issues/6678",
    },
    {
      vendor: "Bedrock",
      message: /Input is too long for requested model/i,
      source: "https://github.com/aws-samples/assessment-generator/issues/2",
    },
    {
      vendor: "Mistral",
      message:
        /Prompt contains (?<used>\d{1,12}) tokens[^]{0,80}?too large for model with (?<limit>\d{1,12}) maximum context length/,
      source: PI,
    },
    {
      vendor: "xAI",
      message: /maximum prompt length is (?<limit>\d{1,12}) but the request contains (?<used>\d{1,12}) tokens/,
      source: "https://github.com/cline/cline/issues/3120",
    },
    {
      vendor: "Moonshot",
      message: /exceeded model token limit ?: ?(?<limit>\d{1,12})(?: \(requested: (?<used>\d{1,12})\))?/,
      source: "https://github.com/MoonshotAI/kimi-cli/issues/2011",
    },
    { vendor: "Moonshot", message: /Input token length too long/, source: KIMI },
    { vendor: "Zhipu", code: ["1261"], status: REFUSED, source: ZHIPU },
    {
      vendor: "Zhipu",
      message: /Prompt exceeds max length/,
      source: "https://github.com/zeroclaw-labs/zeroclaw/issues/4124",
    },
    { vendor: "Baidu", code: ["336007", "336103"], source: "https://cloud.baidu.com/doc/WENXINWORKSHOP/s/Ultiovtgu" },
    { vendor: "Baidu", code: ["characters_too_long", "tokens_too_long"], source: QIANFAN },
    {
      vendor: "Model Studio",
      message: /Range of input length should be \[1, (?<limit>\d{1,12})\]/,
      source: "https://www.alibabacloud.com/help/en/model-studio/error-code",
    },
    {
      vendor: "Groq",
      message:
        /reduce the length of the messages or completion\.?(?: Current length is (?<used>\d{1,12}) while limit is (?<limit>\d{1,12}))?/,
      source: "https://github.com/cline/cline/issues/5140",
    },
    {
      vendor: "Together",
      message: /`inputs` tokens \+ `max_new_tokens` must be <= (?<limit>\d{1,12})/,
      source: "https://github.com/BerriAI/litellm/issues/4934",
    },
    {
      vendor: "SGLang",
      message:
        /input \((?<used>\d{1,12}) tokens\) is longer than the model's context length \((?<limit>\d{1,12}) tokens\)/,
      source: "https://github.com/sgl-project/sglang/issues/8096",
    },
    {
      vendor: "SiliconFlow",
      message: /length of prompt_tokens \((?<used>\d{1,12})\) must be less than max_seq_len \((?<limit>\d{1,12})\)/,
      source: "https://github.com/langgenius/dify/issues/19394",
    },
    {
      vendor: "llama.cpp",
      code: ["exceed_context_size_error"],
      source: "https://github.com/ggml-org/llama.cpp/pull/15780",
    },
    {
      vendor: "llama.cpp",
      message: /exceeds the available context size/,
      source: "https://github.com/ggml-org/llama.cpp/issues/17284",
    },
    {
      vendor: "LM Studio",
      message:
        /tokens to keep from the initial prompt is greater than the context length(?: \(n_keep: (?<used>\d{1,12}) ?>= n_ctx: (?<limit>\d{1,12})\))?/,
      source: "https://github.com/Gitlawb/openclaude/issues/353",
    },
    {
      vendor: "LM Studio",
      message: /Cannot truncate prompt with n_keep \((?<used>\d{1,12})\) >= n_ctx \((?<limit>\d{1,12})\)/,
      source: "https://github.com/anomalyco/opencode/issues/11141",
    },
    { vendor: "Ollama", message: /prompt too long; exceeded (?:max )?context length/, source: PI },
    {
      vendor: "MiniMax",
      message: /context window exceeds limit/,
      source: "https://github.com/MiniMax-AI/MiniMax-M2/issues/119",
    },
    {
      vendor: "GitHub Copilot",
      code: ["model_max_prompt_tokens_exceeded"],
      source: "https://github.com/microsoft/vscode/issues/289219",
    },
    {
      vendor: "GitHub Copilot",
      message: /prompt token count of (?<used>\d{1,12}) exceeds the limit of (?<limit>\d{1,12})/,
      source: "https://github.com/microsoft/vscode-copilot-release/issues/6700",
    },
    {
      vendor: "Cohere",
      message:
        /too many tokens: (?:total number of tokens in the prompt cannot exceed (?<limit>\d{1,12}) - received (?<used>\d{1,12})|size limit exceeded)/,
      source: "https://docs.cohere.com/v1/reference/errors.md",
    },
    { vendor: "Volcengine", code: ["OutofContextError"], source: VOLCENGINE },
  ]),
  ...all("over_account_rate", [
    // With "Rate limit reached for …, Used …" a wait helps; so it is a limited rate.
    {
      vendor: "OpenAI",
      message: /^Request too large for [^]{1,200}? on tokens per min \(TPM\): Limit \d{1,12}, Requested \d{1,12}/,
      status: [429],
      source: "https://github.com/Aider-AI/aider/issues/1880",
    },
    {
      vendor: "Groq",
      message:
        /^Request too large for model [^]{1,200}? on tokens per minute \(TPM\): Limit \d{1,12}, Requested \d{1,12}/,
      status: [413],
      source: "https://github.com/continuedev/continue/issues/10218",
    },
  ]),
  ...all("too_large", [
    { vendor: "Anthropic", code: ["request_too_large"], source: "https://github.com/earendil-works/pi/issues/2734" },
    { vendor: "OpenRouter", code: ["payload_too_large"], source: OPENROUTER },
    {
      vendor: "Gemini",
      message: /Request payload size exceeds the limit/,
      source: "https://github.com/MaKTaiL/gemini-srt-translator/issues/63",
    },
    {
      vendor: "Bedrock",
      message: /Member must have length less than or equal to 25000000/,
      source: "https://github.com/langchain-ai/langchain-aws/issues/419",
    },
  ]),
  ...all("rate_limited", [
    {
      vendor: "OpenAI",
      code: ["rate_limit_exceeded"],
      status: "in_answer",
      source: "https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/sse/responses.rs",
    },
    { vendor: "Anthropic", code: ["rate_limit_error"], status: "in_answer", source: ANTHROPIC },
    {
      vendor: "OpenAI",
      code: ["too_many_requests"],
      status: "in_answer",
      source: "https://github.com/anomalyco/opencode/blob/dev/packages/opencode/src/provider/error.ts",
    },
  ]),
  ...all("overloaded", [
    { vendor: "Anthropic", code: ["overloaded_error"], status: "5xx", source: ANTHROPIC },
    { vendor: "any", code: ["overloaded", "engine_overloaded", "server_overloaded"], status: "5xx", source: UNSOURCED },
  ]),
  ...all("caller_mistake", [
    { vendor: "Anthropic", code: ["invalid_request_error"], status: "in_answer", source: ANTHROPIC },
    {
      vendor: "OpenAI",
      // What an answer that has begun with 200 says of the request.
      code: [
        "invalid_prompt",
        "invalid_image",
        "invalid_image_format",
        "invalid_base64_image",
        "invalid_image_url",
        "image_too_large",
        "image_too_small",
        "image_parse_error",
        "invalid_image_mode",
        "image_file_too_large",
        "unsupported_image_media_type",
        "empty_image_file",
        "failed_to_download_image",
      ],
      status: "in_answer",
      source: OPENAI_TYPES,
    },
  ]),
];
