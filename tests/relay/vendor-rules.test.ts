/** The operator's rules for Claude and Gemini models (options on the card "models"), checked on the wire. */
import { describe, expect, test } from "bun:test";
import { vendorRules } from "../../src/server/features/option/vendor-rules";
import { channelType } from "../../src/shared/channel-types";
import { compileHeaders } from "../../src/shared/header-override";
import { defaultText, type OptionKey, type OptionValue, parseOption } from "../../src/shared/options";
import { compileOverride } from "../../src/shared/param-override";
import { resolvePrice } from "../../src/shared/pricing";
import { type Bench, makeBench, makeChannel } from "./kit";

const CHAT = "/v1/chat/completions";
const MESSAGES = "/v1/messages";
const hello = [{ role: "user", content: "hello" }];

interface Heard {
  url: string;
  headers: Record<string, string>;
  text: string;
  body: Record<string, unknown>;
}

const answers: Readonly<Record<number, unknown>> = {
  1: {
    id: "x",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
  14: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "hi" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  24: {
    candidates: [{ content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  },
};

/** A relay whose options are the registry's defaults with `set` applied, and the requests to its upstream of a type. */
function listening(
  type: number,
  set: Partial<Record<OptionKey, string>> = {},
  more: Parameters<typeof makeChannel>[2] = {},
  answer = answers[type] ?? answers[1],
): { bench: Bench; heard: Heard[] } {
  const heard: Heard[] = [];
  const bench = makeBench(
    [makeChannel(1, "http://up.test", { type: channelType(type) ?? expect.unreachable(), ...more })],
    {
      fetch: async (url, init) => {
        const text = String(init.body);
        heard.push({ url, headers: Object.fromEntries(new Headers(init.headers)), text, body: JSON.parse(text) });
        return Response.json(answer);
      },
    },
  );
  // The key's parser returns a value of its type.
  const get = <K extends OptionKey>(key: K): OptionValue<K> => {
    const parsed = parseOption(key, set[key] ?? defaultText(key));
    return parsed.ok ? (parsed.value as OptionValue<K>) : expect.unreachable(`${key}: ${parsed.problem.en}`);
  };
  Object.assign(bench.options, { vendorRules: vendorRules({ get }) });
  return { bench, heard };
}

async function sent(
  type: number,
  path: string,
  body: object | string,
  set: Partial<Record<OptionKey, string>> = {},
  more: Parameters<typeof makeChannel>[2] = {},
  init: RequestInit = {},
): Promise<Heard> {
  const { bench, heard } = listening(type, set, more);
  const response = await bench.send(path, body, init);
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  return heard[0] ?? expect.unreachable("nothing was sent");
}

describe("claude.default_max_tokens", () => {
  const option = { "claude.default_max_tokens": '{"default":20000,"claude-sonnet-4-5":1234,"seen-by-callers":77}' };
  const limit = async (model: string, more: object = {}, type = 14): Promise<unknown> =>
    (await sent(type, CHAT, { model, messages: hello, ...more }, option)).body.max_tokens;

  test("a call without a limit gets the model's, else the general one, never more than the model allows", async () => {
    expect(await limit("claude-sonnet-4-5")).toBe(1234);
    expect(await limit("claude-opus-4-5")).toBe(20_000);
    expect(await limit("claude-3-opus-20240229")).toBe(4096);
  });

  test("a call's own limit stays; other makers' models get none", async () => {
    expect(await limit("claude-sonnet-4-5", { max_tokens: 5 })).toBe(5);
    expect(await limit("claude-sonnet-4-5", {}, 1)).toBeUndefined();
  });

  test("the caller's name of a mapped model wins over the vendor's", async () => {
    const mapped = { model_mapping: new Map([["seen-by-callers", "claude-sonnet-4-5"]]) };
    expect((await sent(14, CHAT, { model: "seen-by-callers", messages: hello }, option, mapped)).body).toMatchObject({
      model: "claude-sonnet-4-5",
      max_tokens: 77,
    });
  });

  test("a Messages call without the member that Anthropic requires gets it, and nothing else changes", async () => {
    const body = { model: "claude-sonnet-4-5", messages: hello, vendor_field: 1 };
    expect((await sent(14, MESSAGES, body, option)).body).toEqual({ ...body, max_tokens: 1234 });
  });

  test("where thinking counts towards the limit the answer keeps its room", async () => {
    expect(await limit("claude-opus-4-6", { reasoning_effort: "high" })).toBe(20_000 + 24_576);
    expect(await limit("claude-opus-4-6")).toBe(20_000);
  });

  test.each(['{"default":0}', '{"default":1.5}', '{"default":"8192"}', "[]", "8192"])(
    "%s is refused when it is saved",
    (text) => {
      expect(parseOption("claude.default_max_tokens", text).ok).toBe(false);
    },
  );
});

describe("claude.thinking_adapter", () => {
  test("a name that ends in -thinking calls the model without the suffix, with the option's share of the limit for thinking", async () => {
    const { body } = await sent(14, CHAT, {
      model: "claude-sonnet-4-5-thinking",
      messages: hello,
      max_tokens: 10_000,
      temperature: 0.3,
      top_p: 0.5,
    });
    expect(body).toMatchObject({
      model: "claude-sonnet-4-5",
      max_tokens: 10_000,
      thinking: { type: "enabled", budget_tokens: 8000 },
    });
    expect(body).not.toHaveProperty("temperature");
    expect(body).not.toHaveProperty("top_p");
    const half = { "claude.thinking_adapter_budget_tokens_percentage": "0.5" };
    expect(
      (await sent(14, CHAT, { model: "claude-sonnet-4-5-thinking", messages: hello, max_tokens: 10_000 }, half)).body,
    ).toMatchObject({ thinking: { budget_tokens: 5000 } });
  });

  test("without a limit the default one is shared; the budget is never below its minimum", async () => {
    const model = "claude-sonnet-4-5-thinking";
    expect((await sent(14, CHAT, { model, messages: hello })).body).toMatchObject({
      max_tokens: 8192,
      thinking: { budget_tokens: 6553 },
    });
    expect((await sent(14, CHAT, { model, messages: hello, max_tokens: 100 })).body).toMatchObject({
      max_tokens: 1124,
      thinking: { budget_tokens: 1024 },
    });
  });

  test("models without a budget think as they do by default", async () => {
    const { body } = await sent(14, CHAT, { model: "claude-opus-4-6-thinking", messages: hello });
    expect(body).toMatchObject({ model: "claude-opus-4-6", thinking: { type: "adaptive" } });
    expect(body).not.toHaveProperty("thinking.budget_tokens");
  });

  test("the caller's own thinking settings win", async () => {
    const { body } = await sent(14, CHAT, {
      model: "claude-sonnet-4-5-thinking",
      messages: hello,
      max_tokens: 9000,
      reasoning_effort: "low",
    });
    expect(body).toMatchObject({ model: "claude-sonnet-4-5", thinking: { budget_tokens: 1024 } });
  });

  test("Messages calls think as well, and keep members that only Anthropic knows", async () => {
    const { body } = await sent(14, MESSAGES, {
      model: "claude-sonnet-4-5-thinking",
      max_tokens: 5000,
      messages: hello,
      context_management: { edits: [] },
    });
    expect(body).toMatchObject({
      model: "claude-sonnet-4-5",
      max_tokens: 5000,
      thinking: { type: "enabled", budget_tokens: 4000 },
      context_management: { edits: [] },
    });
  });

  test("when it is off, and for channels of other dialects, the name is sent unchanged", async () => {
    const off = { "claude.thinking_adapter_enabled": "false" };
    const { body } = await sent(14, CHAT, { model: "claude-sonnet-4-5-thinking", messages: hello }, off);
    expect(body).toMatchObject({ model: "claude-sonnet-4-5-thinking" });
    expect(body).not.toHaveProperty("thinking");
    expect((await sent(1, CHAT, { model: "claude-sonnet-4-5-thinking", messages: hello })).body).toEqual({
      model: "claude-sonnet-4-5-thinking",
      messages: hello,
    });
  });

  test("such a name costs what the model does, unless it has a price of its own", () => {
    const tables = {
      ModelPrice: {},
      ModelRatio: {
        "claude-x": 1.5,
        "claude-y": 1,
        "claude-y-thinking": 9,
        "gemini-x": 2,
        "gemini-y": 1,
        "gemini-y-thinking-*": 7,
        "o3-mini": 3,
        "gpt-5": 4,
        "gpt-5-high": 8,
        "grok-4.3": 5,
        "ernie-x": 6,
        "gpt-4o": 1,
      },
      CompletionRatio: { "claude-x": 5 },
      CacheRatio: {},
      CreateCacheRatio: {},
      CreateCache1hRatio: {},
      ImageRatio: {},
      ImageCompletionRatio: {},
      AudioRatio: {},
      AudioCompletionRatio: {},
      LongContextRatio: {},
      PriceRules: {},
      GroupRatio: {},
      GroupGroupRatio: {},
      "tool_price_setting.prices": {},
      QuotaPerUnit: 500_000,
      SelfUseModeEnabled: false,
    };
    const price = (model: string) => resolvePrice(model, "default", "default", tables);
    expect(price("claude-x-thinking")).toMatchObject({
      model: "claude-x-thinking",
      why: { model_ratio: { value: 1.5 }, completion_ratio: { value: 5 } },
    });
    expect(price("claude-y-thinking")).toMatchObject({ why: { model_ratio: { value: 9 } } });
    for (const ending of ["thinking", "nothinking", "thinking-1024"])
      expect(price(`gemini-x-${ending}`)).toMatchObject({ why: { model_ratio: { value: 2 } } });
    expect(price("gemini-y-thinking-64")).toMatchObject({
      why: { model_ratio: { value: 7, entry: "gemini-y-thinking-*" } },
    });
    for (const [name, ratio] of [
      ["o3-mini-high", 3],
      ["gpt-5-minimal", 4],
      ["gpt-5-high", 8],
      ["grok-4.3-low", 5],
      ["grok-4.3-search", 5],
      ["ernie-x-search", 6],
    ] as const) {
      expect(price(name)).toMatchObject({ model: name, why: { model_ratio: { value: ratio } } });
    }
    for (const name of [
      "gpt-4o-high",
      "gpt-5-search",
      "o4-high",
      "claude-z-thinking",
      "claude-x-nothinking",
      "claude-x-thinking-64",
      "gpt-thinking",
      "-thinking",
    ])
      expect(price(name)).toMatchObject({ unpriced: true });
  });
});

describe("gemini.thinking_adapter", () => {
  const native = (model: string): string => `/v1beta/models/${model}:generateContent`;
  const contents = [{ role: "user", parts: [{ text: "hello" }] }];
  /** The model in the address, and its thinking configuration. */
  const asked = async (
    model: string,
    more: object = {},
    set: Partial<Record<OptionKey, string>> = {},
  ): Promise<unknown[]> => {
    const { url, body } = await sent(24, CHAT, { model, messages: hello, ...more }, set);
    return [
      /models\/([^:]+):/.exec(url)?.[1],
      (body.generationConfig as Record<string, unknown> | undefined)?.thinkingConfig,
    ];
  };

  test("-thinking-N calls the model with a budget of N tokens, within the model's range", async () => {
    expect(await asked("gemini-2.5-flash-thinking-2048")).toEqual([
      "gemini-2.5-flash",
      { includeThoughts: true, thinkingBudget: 2048 },
    ]);
    expect(await asked("gemini-2.5-pro-thinking-32768")).toEqual([
      "gemini-2.5-pro",
      { includeThoughts: true, thinkingBudget: 32_768 },
    ]);
    expect(await asked("gemini-2.5-flash-thinking-99999")).toEqual([
      "gemini-2.5-flash",
      { includeThoughts: true, thinkingBudget: 24_576 },
    ]);
    expect(await asked("gemini-2.5-pro-thinking-1")).toEqual([
      "gemini-2.5-pro",
      { includeThoughts: true, thinkingBudget: 128 },
    ]);
  });

  test("-thinking gives thinking the option's share of the call's limit, and leaves it to the model without one", async () => {
    expect(await asked("gemini-2.5-flash-thinking", { max_tokens: 10_000 })).toEqual([
      "gemini-2.5-flash",
      { includeThoughts: true, thinkingBudget: 6000 },
    ]);
    const quarter = { "gemini.thinking_adapter_budget_tokens_percentage": "0.25" };
    expect(await asked("gemini-2.5-flash-thinking", { max_tokens: 10_000 }, quarter)).toEqual([
      "gemini-2.5-flash",
      { includeThoughts: true, thinkingBudget: 2500 },
    ]);
    expect(await asked("gemini-2.5-flash-thinking")).toEqual(["gemini-2.5-flash", { includeThoughts: true }]);
  });

  test("-nothinking turns thinking off, or to its minimum where it cannot be turned off", async () => {
    expect(await asked("gemini-2.5-flash-nothinking")).toEqual([
      "gemini-2.5-flash",
      { includeThoughts: false, thinkingBudget: 0 },
    ]);
    expect(await asked("gemini-2.5-pro-nothinking")).toEqual([
      "gemini-2.5-pro",
      { includeThoughts: false, thinkingBudget: 128 },
    ]);
  });

  test("models with levels think at their default, at the level nearest to a budget, or at the lowest", async () => {
    expect(await asked("gemini-3-pro-preview-thinking", { max_tokens: 10_000 })).toEqual([
      "gemini-3-pro-preview",
      { includeThoughts: true },
    ]);
    expect(await asked("gemini-3-pro-preview-thinking-20000")).toEqual([
      "gemini-3-pro-preview",
      { includeThoughts: true, thinkingLevel: "HIGH" },
    ]);
    expect(await asked("gemini-3-flash-preview-nothinking")).toEqual([
      "gemini-3-flash-preview",
      { includeThoughts: false, thinkingLevel: "MINIMAL" },
    ]);
  });

  test("the caller's own thinking settings win", async () => {
    expect(await asked("gemini-2.5-flash-thinking-2048", { reasoning_effort: "low" })).toEqual([
      "gemini-2.5-flash",
      { includeThoughts: true, thinkingBudget: 1024 },
    ]);
  });

  test("Google's own callers can use such names as well, and nothing else is added to their call", async () => {
    const { url, body } = await sent(24, native("gemini-2.5-flash-thinking-512"), {
      contents,
      cachedContent: "cachedContents/1",
    });
    expect(new URL(url).pathname).toBe("/v1beta/models/gemini-2.5-flash:generateContent");
    expect(body).toEqual({
      contents,
      cachedContent: "cachedContents/1",
      generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 512 } },
    });
  });

  test("when it is off, for other makers' models and for other dialects' channels, the name is sent unchanged", async () => {
    const off = { "gemini.thinking_adapter_enabled": "false" };
    expect(await asked("gemini-2.5-flash-thinking-2048", {}, off)).toEqual([
      "gemini-2.5-flash-thinking-2048",
      undefined,
    ]);
    for (const model of ["gemma-3-thinking-64", "gemini-2.0-flash-thinking-exp-1219"])
      expect(await asked(model)).toEqual([model, undefined]);
    expect((await sent(1, CHAT, { model: "gemini-2.5-flash-nothinking", messages: hello })).body).toMatchObject({
      model: "gemini-2.5-flash-nothinking",
    });
  });
});

/**
 * Channel types 1 and 48; the efforts: types of the `openai` SDK 7.55 (ReasoningEffort) and
 * docs.x.ai/developers/model-capabilities/text/reasoning, November 2026.
 */
describe("names that end in an effort", () => {
  const RESPONSES = "/v1/responses";
  const OPENAI = "https://api.openai.com";
  const answered = {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "m",
    output: [
      {
        id: "msg_1",
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "hi", annotations: [] }],
      },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
  /** Where every model of OpenAI's is spoken to in chat. */
  const inChat = { base_url: OPENAI, setting: { responses_api: "never" } } as const;
  /** The request that a channel of the type gets, at the vendor's own address unless `more` sets another. */
  const at = async (
    path: string,
    body: object,
    more: Parameters<typeof makeChannel>[2] = { base_url: OPENAI },
    type = 1,
    upstream = path === RESPONSES ? "responses" : "chat",
  ): Promise<Heard> => {
    const { bench, heard } = listening(type, {}, more, upstream === "responses" ? answered : answers[1]);
    const response = await bench.send(path, body);
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    return heard[0] ?? expect.unreachable("nothing was sent");
  };

  test("an OpenAI reasoning model is called without the suffix, with that effort, and nothing else of a chat call changes", async () => {
    const call = (model: string) => ({ model, messages: hello, vendor_field: [1], temperature: 1 });
    for (const [model, effort] of [
      ["o3-mini", "high"],
      ["o1", "low"],
      ["gpt-5", "minimal"],
      ["gpt-5.1", "none"],
      ["gpt-5-mini-2025-08-07", "medium"],
      ["gpt-5.1-codex-max", "xhigh"],
    ] as const) {
      const { body } = await at(CHAT, call(`${model}-${effort}`), inChat);
      expect(body).toEqual({ ...call(model), reasoning_effort: effort });
    }
  });

  test("a Responses call keeps its other reasoning settings, and what it continues", async () => {
    const { url, body } = await at(RESPONSES, {
      model: "gpt-5-high",
      input: "hello",
      reasoning: { summary: "auto" },
      store: false,
      truncation: "auto",
    });
    expect(new URL(url).pathname).toBe("/v1/responses");
    expect(body).toEqual({
      model: "gpt-5",
      input: "hello",
      reasoning: { summary: "auto", effort: "high" },
      store: false,
      truncation: "auto",
    });
  });

  test("callers of the other dialects can use such names as well", async () => {
    const asked = { model: "o3-mini", reasoning_effort: "low" };
    expect((await at(MESSAGES, { model: "o3-mini-low", max_tokens: 99, messages: hello })).body).toMatchObject(asked);
    expect(
      (
        await at("/v1beta/models/o3-mini-low:generateContent", {
          contents: [{ role: "user", parts: [{ text: "hello" }] }],
        })
      ).body,
    ).toMatchObject(asked);
    const chatOnly = { base_url: OPENAI, setting: { native_calls: "never" } } as const;
    expect(
      (
        await at(
          RESPONSES,
          { model: "o3-mini-low", input: "hello", reasoning: { summary: "auto" } },
          chatOnly,
          1,
          "chat",
        )
      ).body,
    ).toMatchObject(asked);
  });

  test("the caller's own effort wins", async () => {
    expect((await at(CHAT, { model: "gpt-5-high", messages: hello, reasoning_effort: "low" })).body).toEqual({
      model: "gpt-5",
      messages: hello,
      reasoning_effort: "low",
    });
    expect((await at(RESPONSES, { model: "gpt-5-high", input: "x", reasoning: { effort: "low" } })).body).toEqual({
      model: "gpt-5",
      input: "x",
      reasoning: { effort: "low" },
    });
    expect(
      (
        await at(MESSAGES, {
          model: "gpt-5-high",
          max_tokens: 9000,
          messages: hello,
          thinking: { type: "enabled", budget_tokens: 1024 },
        })
      ).body,
    ).toMatchObject({ model: "gpt-5", reasoning_effort: "low" });
  });

  test("a channel's system prompt is added as well", async () => {
    const prompted = { base_url: OPENAI, setting: { system_prompt: "Be brief." } };
    expect((await at(CHAT, { model: "gpt-5-high", messages: hello }, prompted)).body).toMatchObject({
      model: "gpt-5",
      reasoning_effort: "high",
      messages: [{ role: "system" }, { role: "user" }],
    });
    expect(
      (await at(RESPONSES, { model: "gpt-5-high", input: "hello", reasoning: { summary: "auto" } }, prompted)).body,
    ).toMatchObject({ model: "gpt-5", instructions: "Be brief.", reasoning: { summary: "auto", effort: "high" } });
  });

  test("Grok models with an effort support such names too", async () => {
    const XAI = { base_url: "https://api.x.ai" };
    for (const [model, effort] of [
      ["grok-3-mini", "high"],
      ["grok-3-mini-fast", "low"],
      ["grok-4.3", "none"],
    ] as const) {
      expect((await at(CHAT, { model: `${model}-${effort}`, messages: hello }, XAI, 48)).body).toEqual({
        model,
        messages: hello,
        reasoning_effort: effort,
      });
    }
    for (const model of ["grok-4-low", "grok-3-high"])
      expect((await at(CHAT, { model, messages: hello }, XAI, 48)).body).toEqual({ model, messages: hello });
  });

  test("at another address a name that the channel has without its model, or by its mapping, is that of a model there; one beside its model goes where that leads", async () => {
    const asked = async (models: string[], model_mapping: [string, string][] = [], model = "gpt-5-high") =>
      (
        await at(
          CHAT,
          { model, messages: hello },
          { base_url: "http://up.test", models: new Set(models), model_mapping: new Map(model_mapping) },
        )
      ).body;
    expect(await asked(["gpt-5-high"])).toEqual({ model: "gpt-5-high", messages: hello });
    expect(await asked(["gpt-5", "gpt-5-high"])).toEqual({ model: "gpt-5", messages: hello, reasoning_effort: "high" });
    expect(await asked(["gpt-5", "gpt-5-high"], [["gpt-5", "my-deployment"]])).toEqual({
      model: "my-deployment",
      messages: hello,
      reasoning_effort: "high",
    });
    expect(await asked(["gpt-5"], [["gpt-5", "gpt-5-high"]], "gpt-5")).toEqual({
      model: "gpt-5-high",
      messages: hello,
    });
  });

  test("a mapping may have such a name as its target at the vendor's own address", async () => {
    const mapped = { base_url: OPENAI, model_mapping: new Map([["smart", "o3-high"]]) };
    expect((await at(CHAT, { model: "smart", messages: hello }, mapped)).body).toEqual({
      model: "o3",
      messages: hello,
      reasoning_effort: "high",
    });
  });

  test("names that only look alike stay, and so does a passthrough body", async () => {
    for (const model of [
      "gpt-4o-high",
      "openai/o3-mini-high",
      "gpt-5-search-api",
      "o3-deep-research",
      "gpt-5.1-codex-max",
      "qwen-low",
      "o3-mini-xlow",
    ]) {
      expect((await at(CHAT, { model, messages: hello }, inChat)).body).toEqual({ model, messages: hello });
    }
    const through = { base_url: OPENAI, setting: { pass_through_body_enabled: true } };
    expect((await at(CHAT, { model: "gpt-5-high", messages: hello }, through)).body).toEqual({
      model: "gpt-5-high",
      messages: hello,
    });
  });
});

describe("claude.model_headers_settings", () => {
  const option = {
    "claude.model_headers_settings":
      '{"claude-sonnet-4-5":{"anthropic-beta":["context-1m-2025-08-07","b"],"X-Plan":"gold"}}',
  };
  const headers = async (path: string, init: RequestInit = {}, model = "claude-sonnet-4-5", type = 14) =>
    (await sent(type, path, { model, max_tokens: 9, messages: hello }, option, {}, init)).headers;

  test("a model's calls have its headers for every caller; its beta features are joined with the caller's", async () => {
    expect(await headers(CHAT)).toMatchObject({ "anthropic-beta": "context-1m-2025-08-07,b", "x-plan": "gold" });
    expect(await headers(MESSAGES, { headers: { "anthropic-beta": "a, b" } })).toMatchObject({
      "anthropic-beta": "a,b,context-1m-2025-08-07",
    });
  });

  test("a token count has them like the call, under the channel's own header overrides", async () => {
    const { bench, heard } = listening(14, option, { headers: compileHeaders({ "x-plan": "silver" }) });
    await bench.send(
      `${MESSAGES}/count_tokens`,
      { model: "claude-sonnet-4-5", messages: hello },
      { headers: { "anthropic-beta": "a" } },
    );
    expect(heard[0]?.headers).toMatchObject({ "anthropic-beta": "a,context-1m-2025-08-07,b", "x-plan": "silver" });
  });

  test("other models and other vendors' channels have none", async () => {
    expect(await headers(CHAT, {}, "claude-opus-4-5")).not.toHaveProperty("x-plan");
    expect(await headers(CHAT, {}, "claude-sonnet-4-5", 1)).not.toHaveProperty("x-plan");
  });

  test.each([
    ["a header of the connection", '{"m":{"Host":"x"}}'],
    ["a line break", '{"m":{"x-a":"a\\r\\nb: c"}}'],
    ["a number", '{"m":{"x-a":1}}'],
    ["no object", '{"m":["x-a"]}'],
    ["an empty list", '{"m":{"x-a":[]}}'],
    ["null", '{"m":null}'],
  ])("%s is refused when it is saved", (_, text) => {
    expect(parseOption("claude.model_headers_settings", text).ok).toBe(false);
  });
});

describe("gemini.safety_settings", () => {
  const settings = async (option: string | undefined, path = CHAT, more: object = {}): Promise<unknown> =>
    (
      await sent(
        24,
        path,
        {
          ...(path === CHAT
            ? { model: "gemini-2.5-pro", messages: hello }
            : { contents: [{ role: "user", parts: [{ text: "hello" }] }] }),
          ...more,
        },
        option === undefined ? {} : { "gemini.safety_settings": option },
      )
    ).body.safetySettings;
  const native = "/v1beta/models/gemini-2.5-pro:generateContent";

  test("translated calls have a threshold for each category: its own, else the default", async () => {
    const four = ["HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT"].map((name) => ({
      category: `HARM_CATEGORY_${name}`,
      threshold: "OFF",
    }));
    expect(await settings(undefined)).toEqual([
      ...four,
      { category: "HARM_CATEGORY_CIVIC_INTEGRITY", threshold: "BLOCK_NONE" },
    ]);
    const own = await settings('{"default":"OFF","HARM_CATEGORY_HATE_SPEECH":"BLOCK_ONLY_HIGH"}');
    expect(own).toEqual(
      four.map((one) => (one.category.endsWith("HATE_SPEECH") ? { ...one, threshold: "BLOCK_ONLY_HIGH" } : one)),
    );
    expect(await settings('{"HARM_CATEGORY_HARASSMENT":"BLOCK_NONE"}')).toEqual([
      { category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" },
    ]);
    expect(await settings("{}")).toBeUndefined();
  });

  test("a caller of Google's dialect sets its own", async () => {
    expect(await settings(undefined, native)).toBeUndefined();
    const own = [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }];
    expect(await settings(undefined, native, { safetySettings: own })).toEqual(own);
  });

  test.each(['{"default":"MAYBE"}', '{"harassment":"OFF"}', '{"default":null}', "[]"])(
    "%s is refused when it is saved",
    (text) => {
      expect(parseOption("gemini.safety_settings", text).ok).toBe(false);
    },
  );
});

describe("gemini.version_settings", () => {
  const option = { "gemini.version_settings": '{"default":"v1alpha","gemini-1.0-pro":"v1"}' };
  const at = async (
    model: string,
    set: Partial<Record<OptionKey, string>> = option,
    more: object = {},
  ): Promise<string> => new URL((await sent(24, CHAT, { model, messages: hello, ...more }, set)).url).pathname;

  test("the address has the model's version, else the default; without either v1beta", async () => {
    expect(await at("gemini-1.0-pro")).toBe("/v1/models/gemini-1.0-pro:generateContent");
    expect(await at("gemini-2.5-pro")).toBe("/v1alpha/models/gemini-2.5-pro:generateContent");
    expect(await at("gemini-2.5-pro", {})).toBe("/v1beta/models/gemini-2.5-pro:generateContent");
    expect(await at("gemini-2.5-pro", { "gemini.version_settings": "{}" })).toBe(
      "/v1beta/models/gemini-2.5-pro:generateContent",
    );
  });

  test("a token count uses the same version", async () => {
    const { bench, heard } = listening(24, option);
    await bench.send("/v1beta/models/gemini-1.0-pro:countTokens", { contents: [{ parts: [{ text: "hello" }] }] });
    expect(heard.map(({ url }) => new URL(url).pathname)).toEqual(["/v1/models/gemini-1.0-pro:countTokens"]);
  });

  test.each(['{"default":"v1/../v2"}', '{"default":""}', '{"default":1}'])("%s is refused when it is saved", (text) => {
    expect(parseOption("gemini.version_settings", text).ok).toBe(false);
  });
});

describe("a body that passes through unchanged", () => {
  const on = { "global.pass_through_request_enabled": "true" };
  const odd = `{ "model":"m",  "stream_options": null, "top_p":1.0,"unknown":[1, 2],"messages":[{"role":"user","content":"h\\u0069"}] }`;

  test("the vendor gets the caller's bytes: no override, no system prompt, no range checks", async () => {
    const more = { setting: { system_prompt: "Be brief." }, override: compileOverride({ temperature: 0 }) };
    expect((await sent(1, CHAT, odd, on, more)).text).toBe(odd);
    expect((await sent(1, CHAT, odd, {}, { ...more, setting: { pass_through_body_enabled: true } })).text).toBe(odd);
    expect((await sent(26, CHAT, odd, on)).text).toBe(odd);
    expect((await sent(26, CHAT, odd)).text).not.toBe(odd);
  });

  test("only a mapped model's name is replaced", async () => {
    expect((await sent(1, CHAT, odd, on, { model_mapping: new Map([["m", "real"]]) })).text).toBe(
      odd.replace('"m"', '"real"'),
    );
  });

  test("other dialects pass through to a channel of their dialect, and are translated elsewhere", async () => {
    const messages = `{"model":"claude-sonnet-4-5-thinking", "messages":[{"role":"user","content":"hi"}]}`;
    expect((await sent(14, MESSAGES, messages, on)).text).toBe(messages);
    expect((await sent(24, MESSAGES, messages, on)).body).toMatchObject({
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
    });
  });

  test("other operations as well", async () => {
    const { bench, heard } = listening(1, on, { override: compileOverride({ dimensions: 3 }) });
    const body = `{"model":"embed", "input":"x"}`;
    await bench.send("/v1/embeddings", body);
    expect(heard[0]?.text).toBe(body);
  });
});
