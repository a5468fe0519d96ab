/** Recordings of vendors' errors, as they come over the wire: each entry of the list is proven by one. */
import { describe, expect, test } from "bun:test";
import type { FailureKind } from "../../shared/failures";
import type { WireError } from "./chat-events";
import { asIs } from "./clean-text";
import { readError as readAnthropic } from "./dialects/anthropic/error";
import { readError as readBaidu } from "./dialects/baidu/answer";
import { readError as readGemini } from "./dialects/gemini/error";
import { readError as readOpenai } from "./dialects/openai-chat/error";
import { readError as readResponses } from "./dialects/openai-responses/stream-decode";
import { readError as readSpark } from "./dialects/spark/answer";
import type { TokenCounts } from "./relay-error";
import { classifyErrorIn200, classifyStatus } from "./upstream-failure";
import { matches } from "./vendor-error-kind";
import { UNSOURCED, VENDOR_ERRORS } from "./vendor-errors";

type Read = (body: unknown) => WireError | undefined;
/** The vendor, its status (200: inside an answer), its body, and the tokens that it names. */
type Recording = [vendor: string, status: number, body: object, tokens?: TokenCounts];

const openai = (message: string, more: { type?: string; code?: string | number } = {}) => ({
  error: { message, type: more.type ?? "invalid_request_error", param: null, code: more.code ?? null },
});
const anthropic = (type: string, message: string) => ({ type: "error", error: { type, message } });
const google = (code: number, status: string, message: string) => ({ error: { code, message, status } });

const readers: Readonly<Record<string, Read>> = {
  Anthropic: readAnthropic,
  Bedrock: readAnthropic,
  Gemini: readGemini,
  "Baidu, generation 1": readBaidu,
  Spark: readSpark,
  "OpenAI Responses": readResponses,
};

const recordings: Partial<Record<FailureKind, Recording[]>> = {
  unaffordable: [
    [
      "OpenRouter",
      402,
      openai(
        "This request requires more credits, or fewer max_tokens. You requested up to 16384 tokens, but can only afford 3919. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account",
      ),
    ],
  ],
  quota_exhausted: [
    [
      "OpenAI",
      429,
      openai("You exceeded your current quota", { type: "insufficient_quota", code: "insufficient_quota" }),
    ],
    ["OpenAI", 429, openai("Your account is not active", { type: "billing_not_active", code: "billing_not_active" })],
    ["OpenAI", 400, openai("Billing hard limit has been reached", { code: "billing_hard_limit_reached" })],
    ["New API", 403, openai("user quota is not enough", { type: "v_api_error", code: "insufficient_user_quota" })],
    ["LaoZhang", 403, openai("Insufficient balance", { type: "insufficient_balance", code: "insufficient_balance" })],
    ["OpenRouter", 400, openai("More credits are needed", { code: "payment_required" })],
    [
      "Anthropic",
      400,
      anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    ],
    ["Moonshot", 429, openai("You exceeded your current token quota", { type: "exceeded_current_quota_error" })],
    [
      "Volcengine",
      403,
      openai("your account has an overdue balance", { code: "AccountOverdueError", type: "Forbidden" }),
    ],
    [
      "Model Studio",
      400,
      openai("Access denied, please make sure your account is in good standing.", { code: "Arrearage" }),
    ],
  ],
  bad_credentials: [
    ["OpenAI", 400, openai("Incorrect API key provided", { code: "invalid_api_key" })],
    ["Anthropic", 403, anthropic("authentication_error", "invalid x-api-key")],
    ["OpenAI", 403, openai("The account was deactivated", { code: "account_deactivated" })],
    ["Moonshot", 400, openai("Invalid Authentication", { code: "invalid_authentication" })],
    ["GitHub", 403, { error: { code: "unauthorized", message: "Resource not accessible by integration" } }],
    [
      "Gemini",
      400,
      {
        error: {
          code: 400,
          message: "API key not valid.",
          status: "INVALID_ARGUMENT",
          details: [{ reason: "API_KEY_INVALID" }],
        },
      },
    ],
  ],
  model_missing: [
    ["OpenAI", 404, openai("The model `x` does not exist", { code: "model_not_found" })],
    ["GitHub Copilot", 400, openai("The requested model is not supported.", { code: "model_not_supported" })],
    ["any", 400, openai("unsupported", { code: "unsupported_model" })],
    ["Moonshot", 404, openai("Not found the model x or Permission denied", { type: "resource_not_found_error" })],
    ["Volcengine", 404, openai("The model or endpoint x does not exist", { code: "InvalidEndpointOrModel.NotFound" })],
    ["Volcengine", 404, openai("Your account has not activated the model", { code: "ModelNotOpen" })],
  ],
  forbidden: [
    [
      "OpenAI",
      403,
      openai("Country, region, or territory not supported", { code: "unsupported_country_region_territory" }),
    ],
  ],
  content_filtered: [
    [
      "Azure",
      400,
      {
        error: {
          code: "content_filter",
          message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
          status: 400,
          innererror: { code: "ResponsibleAIPolicyViolation" },
        },
      },
    ],
    [
      "Moonshot",
      400,
      { error: { type: "content_filter", message: "The request was rejected because it was considered high risk" } },
    ],
    ["OpenAI", 400, openai("Your request was rejected by the safety system.", { code: "moderation_blocked" })],
    ["OpenAI", 400, openai("Your request was rejected as a result of our safety system.")],
    ["OpenRouter", 403, openai("The input was flagged", { code: "content_policy_violation" })],
    ["OpenAI Responses", 200, { response: { error: { code: "bio_policy", message: "m" } } }],
    [
      "OpenAI",
      400,
      openai("Invalid prompt: your prompt was flagged as potentially violating our usage policy.", {
        code: "invalid_prompt",
      }),
    ],
    [
      "OpenAI",
      400,
      openai("Invalid prompt: we've limited access to this content for safety reasons.", { code: "invalid_prompt" }),
    ],
    ["Anthropic", 400, anthropic("invalid_request_error", "Output blocked by content filtering policy")],
    [
      "xAI",
      403,
      {
        code: "The caller does not have permission to execute the specified operation",
        error:
          "Content violates usage guidelines. Team: t, API key ID: k, Model: grok-4, Failed check: SAFETY_CHECK_TYPE_BIO",
      },
    ],
    ["DeepSeek", 400, openai("Content Exists Risk", { code: "invalid_request_error" })],
    ["DeepSeek", 400, { detail: "Content Exists Risk" }],
    ["Model Studio", 400, openai("Input data may contain inappropriate content.", { code: "data_inspection_failed" })],
    [
      "Model Studio",
      400,
      openai("<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content."),
    ],
    ["Zhipu", 400, { error: { code: "1301", message: "系统检测到输入或生成内容可能包含不安全或敏感内容" } }],
    [
      "Volcengine",
      400,
      openai("may contain sensitive information", { type: "BadRequest", code: "InputTextSensitiveContentDetected" }),
    ],
    [
      "Volcengine",
      400,
      openai("may contain violence", { type: "BadRequest", code: "SensitiveContentDetected.Violence" }),
    ],
    ["Volcengine", 400, openai("sensitive content", { type: "BadRequest", code: "InputImageRiskDetection" })],
    [
      "Baidu",
      400,
      openai("the content of image_url.url is unsafe", { type: "unsafe_request", code: "image_url_unsafe" }),
    ],
    ["MiniMax", 200, { choices: null, base_resp: { status_code: 1026, status_msg: "input new_sensitive" } }],
    ["MiniMax", 422, { error: { message: "output new_sensitive (1027)" } }],
    ["Spark", 200, { header: { code: 10013, message: "内容违规", status: 2 } }],
  ],
  context_too_long: [
    [
      "OpenAI",
      400,
      openai(
        "This model's maximum context length is 4097 tokens. However, your messages resulted in 35569 tokens. Please reduce the length of the messages.",
        { code: "context_length_exceeded" },
      ),
      { used: 35569, limit: 4097 },
    ],
    [
      "OpenAI",
      400,
      openai(
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 533603 tokens. Please reduce the length of the messages.",
        { code: "context_length_exceeded" },
      ),
      { used: 533603, limit: 272000 },
    ],
    [
      "OpenAI",
      400,
      openai("Your input exceeds the context window of this model. Please adjust your input and try again.", {
        code: "invalid_request_body",
      }),
    ],
    [
      "OpenAI Responses",
      200,
      {
        type: "error",
        code: "context_length_exceeded",
        message: "Your input exceeds the context window of this model.",
      },
    ],
    [
      "DeepSeek",
      400,
      openai(
        "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
        { code: "invalid_request_error" },
      ),
      { used: 131134, limit: 131072 },
    ],
    [
      "vLLM",
      400,
      {
        object: "error",
        type: "BadRequestError",
        code: 400,
        message:
          "This model's maximum context length is 131072 tokens. However, you requested 16000 output tokens and your prompt contains at least 115073 input tokens, for a total of at least 131073 tokens. Please reduce the length of the input prompt.",
      },
      { used: 131073, limit: 131072 },
    ],
    [
      "Cloudflare",
      400,
      openai(
        "Requested token count exceeds the model's maximum context length of 256000 tokens. You requested a total of 256878 tokens: 31216 tokens from the input messages and 225662 tokens for the completion.",
      ),
      { used: 256878, limit: 256000 },
    ],
    [
      "OpenRouter",
      200,
      {
        error: {
          code: 400,
          message:
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 141607 tokens (10535 of text input, 131072 in the output).",
        },
      },
      { used: 141607, limit: 131072 },
    ],
    [
      "Zhipu",
      400,
      openai(
        "API 调用参数有误，请检查文档。Request 182387 input tokens exceeds the model's maximum context length 202750",
        { code: "1210" },
      ),
      { used: 182387, limit: 202750 },
    ],
    ["Zhipu", 400, { error: { code: "1261", message: "Prompt exceeds max length" } }],
    ["Zhipu", 400, { error: { code: "", message: "Prompt exceeds max length" } }],
    [
      "Fireworks",
      400,
      openai("The prompt is too long: 40177, model maximum context length: 32767", { code: "invalid_request_error" }),
      { used: 40177, limit: 32767 },
    ],
    [
      "Anthropic",
      400,
      anthropic("invalid_request_error", "prompt is too long: 219898 tokens > 200000 maximum"),
      { used: 219898, limit: 200000 },
    ],
    [
      "Anthropic",
      400,
      anthropic(
        "invalid_request_error",
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again",
      ),
      { limit: 200000 },
    ],
    ["Anthropic", 413, anthropic("invalid_request_error", "Request size exceeds model context window")],
    [
      "Gemini",
      400,
      google(
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
      ),
      { used: 1200293, limit: 1048576 },
    ],
    [
      "Gemini",
      400,
      google(400, "INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens allowed (1048576)."),
      { limit: 1048576 },
    ],
    ["Bedrock", 400, anthropic("invalid_request_error", "Input is too long for requested model.")],
    [
      "Mistral",
      400,
      openai(
        "Prompt contains 300000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
      ),
      { used: 300000, limit: 131072 },
    ],
    [
      "xAI",
      400,
      {
        code: "Client specified an invalid argument",
        error: "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
      },
      { used: 136973, limit: 131072 },
    ],
    [
      "Moonshot",
      400,
      openai("Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)"),
      { used: 269030, limit: 262144 },
    ],
    ["Moonshot", 400, openai("Input token length too long")],
    ["Baidu, generation 1", 200, { error_code: 336007, error_msg: "the max length of current question is 8000" }],
    ["Baidu", 400, openai("Prompt tokens too long", { code: "tokens_too_long" })],
    [
      "Model Studio",
      400,
      openai("Range of input length should be [1, 129024]", { code: "InvalidParameter" }),
      { limit: 129024 },
    ],
    [
      "Groq",
      400,
      openai("Please reduce the length of the messages or completion.", { code: "context_length_exceeded" }),
    ],
    [
      "Cerebras",
      400,
      openai("Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000"),
      { used: 42328, limit: 40000 },
    ],
    [
      "Together",
      400,
      openai(
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 80125 `inputs` tokens and 4096 `max_new_tokens`",
      ),
      { limit: 4097 },
    ],
    [
      "SGLang",
      400,
      {
        object: "error",
        message: "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
        type: "BadRequestError",
        param: null,
        code: 400,
      },
      { used: 61709, limit: 40960 },
    ],
    [
      "SiliconFlow",
      400,
      { code: 20015, message: "length of prompt_tokens (57535) must be less than max_seq_len (32768)", data: null },
      { used: 57535, limit: 32768 },
    ],
    [
      "llama.cpp",
      500,
      {
        error: {
          code: 500,
          message: "the request exceeds the available context size.",
          type: "exceed_context_size_error",
          n_prompt_tokens: 1407,
          n_ctx: 256,
        },
      },
    ],
    ["llama.cpp", 400, openai("the request exceeds the available context size, try increasing it")],
    [
      "LM Studio",
      400,
      {
        error:
          "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.",
      },
      { used: 13055, limit: 4096 },
    ],
    [
      "LM Studio",
      400,
      { error: "Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)" },
      { used: 15028, limit: 7424 },
    ],
    ["Ollama", 400, openai("prompt too long; exceeded max context length by 4096 tokens")],
    ["MiniMax", 400, anthropic("invalid_request_error", "invalid params, context window exceeds limit (2013)")],
    [
      "GitHub Copilot",
      400,
      {
        error: {
          message: "prompt token count of 1236658 exceeds the limit of 128000",
          code: "model_max_prompt_tokens_exceeded",
        },
      },
      { used: 1236658, limit: 128000 },
    ],
    [
      "GitHub Copilot",
      400,
      { error: { message: "prompt token count of 65446 exceeds the limit of 64000", param: "", code: "", type: "" } },
      { used: 65446, limit: 64000 },
    ],
    [
      "Cohere",
      400,
      {
        message:
          "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt.",
      },
      { used: 4292, limit: 4081 },
    ],
    [
      "Cohere",
      400,
      { message: "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs." },
    ],
    [
      "Volcengine",
      400,
      openai("Total tokens of image and text exceed max message tokens.", {
        type: "BadRequest",
        code: "OutofContextError",
      }),
    ],
  ],
  over_account_rate: [
    [
      "OpenAI",
      429,
      openai(
        "Request too large for gpt-4o in organization org-a1b2c3 on tokens per min (TPM): Limit 30000, Requested 36278. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.",
        { type: "tokens", code: "rate_limit_exceeded" },
      ),
    ],
    [
      "Groq",
      413,
      openai(
        "Request too large for model `llama-3.3-70b-versatile` in organization `org_01kgg` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing",
        { type: "tokens", code: "rate_limit_exceeded" },
      ),
    ],
  ],
  too_large: [
    ["Anthropic", 413, { error: { type: "request_too_large", message: "Request exceeds the maximum size" } }],
    ["OpenRouter", 400, openai("The payload is too large", { code: "payload_too_large" })],
    ["Gemini", 400, google(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.")],
    [
      "Bedrock",
      400,
      anthropic(
        "invalid_request_error",
        "1 validation error detected: Value at 'body' failed to satisfy constraint: Member must have length less than or equal to 25000000",
      ),
    ],
    [
      "OpenAI",
      413,
      openai("413: Maximum content size limit (26214400) exceeded (26417812 bytes read)", { type: "server_error" }),
    ],
  ],
  rate_limited: [
    ["OpenAI Responses", 200, { response: { error: { code: "rate_limit_exceeded", message: "Rate limit reached" } } }],
    ["Anthropic", 200, anthropic("rate_limit_error", "This request would exceed your account's rate limit.")],
    ["OpenAI", 200, openai("Too many requests", { type: "too_many_requests" })],
    ["Bedrock", 429, anthropic("rate_limit_error", "Too many tokens, please wait before trying again.")],
  ],
  overloaded: [
    ["Anthropic", 500, anthropic("overloaded_error", "Overloaded")],
    ["any", 500, openai("busy", { type: "server_overloaded" })],
  ],
  caller_mistake: [
    ["Anthropic", 200, anthropic("invalid_request_error", "messages: roles must alternate")],
    ["OpenAI", 200, openai("Invalid image", { type: "", code: "invalid_image" })],
    ["OpenAI", 400, openai("Invalid prompt: schema", { code: "invalid_prompt" })],
    [
      "OpenAI",
      400,
      openai("Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576", {
        code: "string_above_max_length",
      }),
    ],
    [
      "Anthropic",
      400,
      anthropic(
        "invalid_request_error",
        "max_tokens: 21333 > 4096, which is the maximum allowed number of output tokens for claude-3-opus-20240229",
      ),
    ],
  ],
};

const read = (vendor: string, body: object): WireError => (readers[vendor] ?? readOpenai)(body) as WireError;
const cases = Object.entries(recordings).flatMap(([kind, list]) =>
  list.map(([vendor, status, body, tokens]) => ({ kind, vendor, status, body, tokens })),
);

describe("a recording of a vendor's error", () => {
  test.each(cases)("is judged: $kind of $vendor ($status)", ({ kind, vendor, status, body, tokens }) => {
    const error = read(vendor, body);
    expect(error?.message).not.toBe("");
    const failure = status === 200 ? classifyErrorIn200(asIs, error) : classifyStatus(asIs, status, error, new Map());
    expect<unknown>([failure.kind, failure.tokens]).toEqual([kind, tokens]);
  });

  test("exists for each entry of the list", () => {
    const unproven = VENDOR_ERRORS.filter(
      (entry) =>
        !cases.some(({ kind, vendor, status, body }) => {
          const at = { status: status === 200 ? undefined : status, in_answer: status === 200 };
          return kind === entry.kind && matches(entry, read(vendor, body), at);
        }),
    );
    expect(unproven.map(({ vendor, kind, code, message }) => [vendor, kind, String(code ?? message)])).toEqual([]);
  });
});

describe("the list", () => {
  test("names a page for each entry, and the words without one are those of earlier releases", () => {
    const unsourced = VENDOR_ERRORS.filter(({ source }) => source === UNSOURCED);
    expect(unsourced.flatMap(({ code }) => String(code).split(","))).toEqual([
      "invalid_api_key",
      "account_deactivated",
      "invalid_authentication",
      "unsupported_model",
      "overloaded",
      "engine_overloaded",
      "server_overloaded",
    ]);
    for (const { source, seen } of VENDOR_ERRORS)
      if (source !== UNSOURCED) expect([source, seen]).toEqual([expect.stringMatching(/^https:\/\/\S+$/), "2026-11"]);
  });

  test("reads a message only where a request is refused: words that it brings back elsewhere mean nothing", () => {
    const error = { message: "prompt is too long: Content Exists Risk", type: "", code: "", param: null };
    const kinds = [401, 402, 403, 404, 429, 500, 503].map(
      (status) => classifyStatus(asIs, status, error, new Map()).kind,
    );
    expect(kinds).toEqual([
      "bad_credentials",
      "quota_exhausted",
      "forbidden",
      "caller_mistake",
      "rate_limited",
      "server_error",
      "overloaded",
    ]);
    expect(classifyErrorIn200(asIs, { ...error, code: "500" }).kind).toBe("server_error");
  });
});

test("inside an answer a word of the rate says more than the status beside it", () => {
  const error = { message: "m", type: "rate_limit_error", code: "500", param: null };
  expect(classifyErrorIn200(asIs, error).kind).toBe("rate_limited");
  expect(classifyStatus(asIs, 500, error, new Map()).kind).toBe("server_error");
});

test("a hostile message of a megabyte is classified within 50 ms", () => {
  const pieces = [
    "1",
    "9 ",
    "maximum context length is 1 tokens ",
    "maximum context length is 1 tokens requested ",
    "a total of ",
    "Prompt contains 1 tokens ",
    "prompt is too long: 1 ",
    "1) exceeds ",
    "1 input tokens ",
    "input token count (1) ",
    "`inputs` tokens + ",
    "rejected as a result of ",
    "too many tokens: total number of tokens in the prompt cannot exceed 1 ",
    "a",
    "\n",
  ];
  for (const piece of pieces) {
    const message = piece.repeat(Math.ceil(1_000_000 / piece.length));
    let best = Infinity;
    for (let round = 0; round < 3; round++) {
      const started = performance.now();
      classifyStatus(asIs, 400, { message, type: "", code: "x".repeat(1_000_000), param: null }, new Map());
      best = Math.min(best, performance.now() - started);
    }
    expect({ piece, quick: best < 50 }).toEqual({ piece, quick: true });
  }
});
