import { describe, expect, test } from "bun:test";
import { channelType } from "../../../shared/channel-types";
import { makeBench, makeChannel } from "../../../../tests/relay/kit";
import { chat } from "../operations/chat";
import { messages, responses } from "../operations/dialect-chat";
import type { PoolChannel } from "../../contracts/channel";
import { addressOf, dialectOf, operationFor, readChannelError } from "./dispatch";

function channel(type: number, more: Partial<PoolChannel> = {}): PoolChannel {
  const fact = channelType(type);
  if (!fact) throw new Error(`no channel type ${type}`);
  return makeChannel(1, more.base_url ?? (fact.base_url || "https://up.example"), { type: fact, ...more });
}

describe("the dialect of a call", () => {
  test.each([
    [
      "DeepSeek declares Anthropic's calls",
      43,
      "messages",
      "anthropic",
      "https://api.deepseek.com/anthropic/v1/messages",
    ],
    ["Zhipu declares them", 26, "messages", "anthropic", "https://open.bigmodel.cn/api/anthropic/v1/messages"],
    ["OpenAI does not", 1, "chat", "openai-chat", "https://api.openai.com/v1/chat/completions"],
    ["Anthropic's own are conversations", 14, "chat", "anthropic", "https://api.anthropic.com/v1/messages"],
    [
      "Gemini is always translated",
      24,
      "chat",
      "gemini",
      "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
    ],
    ["a vendor's own language is always translated", 23, "chat", "tencent", "https://hunyuan.tencentcloudapi.com/"],
  ])("of an Anthropic caller: %s", (_, type, operation, dialect, address) => {
    const one = channel(type);
    expect<unknown>([
      operationFor(one, messages, "m"),
      dialectOf(one, messages, "m"),
      addressOf(one, messages, "m"),
    ]).toEqual([operation, dialect, address]);
  });

  test("of an OpenAI caller is that of the channel's chat calls", () => {
    expect([operationFor(channel(43), chat, "m"), dialectOf(channel(43), chat, "m")]).toEqual(["chat", "openai-chat"]);
    expect(dialectOf(channel(43), responses, "m")).toBe("openai-chat");
  });

  test("is the channel's where its setting says so, at an address other than the vendor's, and at a complete URL", () => {
    const told = channel(43, { setting: { native_calls: "never" } });
    expect([operationFor(told, messages, "m"), dialectOf(told, messages, "m")]).toEqual(["chat", "openai-chat"]);
    const elsewhere = { base_url: "https://mirror.example" };
    expect(operationFor(channel(43, elsewhere), messages, "m")).toBe("chat");
    expect(operationFor(channel(43, { ...elsewhere, setting: { native_calls: "always" } }), messages, "m")).toBe(
      "messages",
    );
    const complete = channel(8, { base_url: "https://x.example/run" });
    expect([operationFor(complete, messages, "m"), addressOf(complete, messages, "m")]).toEqual([
      "chat",
      "https://x.example/run",
    ]);
  });

  test("decides how an error is read", () => {
    const body = { type: "error", error: { type: "overloaded_error", message: "busy" } };
    expect(readChannelError(channel(43), messages, "m", body)).toMatchObject({
      code: "overloaded_error",
      message: "busy",
    });
    expect(readChannelError(channel(43), chat, "m", { error: { message: "no", code: "x" } })).toMatchObject({
      code: "x",
    });
  });
});

describe("a conversation with a model that OpenAI serves through the Responses API only", () => {
  const withTools = { ...chat, tools: true } as const;
  const spokenTo = (one: PoolChannel, model: string): unknown => [
    operationFor(one, withTools, model),
    dialectOf(one, withTools, model),
  ];
  const RESPONSES = ["responses", "openai-responses"];
  const CHAT = ["chat", "openai-chat"];

  test("is spoken in Responses at OpenAI and Azure, at every address, and elsewhere in chat", () => {
    expect(spokenTo(channel(1), "gpt-5.5")).toEqual(RESPONSES);
    expect(spokenTo(channel(1, { base_url: "https://mirror.example" }), "gpt-5.5")).toEqual(RESPONSES);
    expect(spokenTo(channel(3), "gpt-5.5")).toEqual(RESPONSES);
    expect(addressOf(channel(3), withTools, "gpt-5.5")).toBe("https://up.example/openai/v1/responses");
    expect(spokenTo(channel(20), "openai/gpt-5.5")).toEqual(CHAT);
    expect(spokenTo(channel(8, { base_url: "https://x.example/run" }), "gpt-5.5")).toEqual(CHAT);
    expect(spokenTo(channel(1), "gpt-5.1")).toEqual(CHAT);
    expect(operationFor(channel(1), messages, "gpt-5-codex")).toBe("responses");
  });

  test("is spoken as the channel's setting says, whatever the model needs", () => {
    const set = (setting: PoolChannel["setting"]) => channel(1, { setting });
    expect(spokenTo(set({ responses_api: "never" }), "gpt-5.5")).toEqual(CHAT);
    expect(spokenTo(set({ responses_api: "always" }), "gpt-4o")).toEqual(RESPONSES);
    expect(spokenTo(set({ native_calls: "never" }), "gpt-5.5")).toEqual(CHAT);
    expect(spokenTo(set({ native_calls: "never", responses_api: "always" }), "gpt-5.5")).toEqual(RESPONSES);
  });

  test("has its errors read in that dialect", () => {
    const body = { type: "response.failed", response: { error: { code: "server_error", message: "no" } } };
    expect(readChannelError(channel(1), withTools, "gpt-5.5", body)).toMatchObject({ code: "server_error" });
  });
});

describe("a coding plan as the address", () => {
  test.each([
    [
      26,
      "glm-coding-plan",
      "https://open.bigmodel.cn/api/coding/paas/v4/chat/completions",
      "https://open.bigmodel.cn/api/anthropic/v1/messages",
    ],
    [
      26,
      "glm-coding-plan-international",
      "https://api.z.ai/api/coding/paas/v4/chat/completions",
      "https://api.z.ai/api/anthropic/v1/messages",
    ],
    [
      25,
      "kimi-coding-plan",
      "https://api.kimi.com/coding/v1/chat/completions",
      "https://api.kimi.com/coding/v1/messages",
    ],
    [
      45,
      "doubao-coding-plan",
      "https://ark.cn-beijing.volces.com/api/coding/v3/chat/completions",
      "https://ark.cn-beijing.volces.com/api/coding/v1/messages",
    ],
    [14, "kimi-coding-plan", "https://api.kimi.com/coding/v1/messages", "https://api.kimi.com/coding/v1/messages"],
  ])("type %d at %s has an address for each language", (type, base_url, ofChat, ofMessages) => {
    const one = channel(type, { base_url });
    expect(addressOf(one, chat, "m")).toBe(ofChat);
    expect(addressOf(one, messages, "m")).toBe(ofMessages);
    expect(addressOf(one, { key: "embeddings" }, "m")).toBeUndefined();
  });
});

describe("what is sent", () => {
  /** The body that reaches the vendor. */
  async function sent(
    type: number,
    path: string,
    body: object,
    more: Partial<PoolChannel> = {},
  ): Promise<{ url: string; headers: Headers; body: unknown }> {
    let seen: { url: string; headers: Headers; body: unknown } | undefined;
    const fetch = async (url: string, init: BunFetchRequestInit) => {
      seen = {
        url,
        headers: new Headers(init.headers),
        body: JSON.parse(Buffer.from(init.body as Uint8Array).toString()),
      };
      return Response.json({ error: { message: "enough" } }, { status: 400 });
    };
    const bench = makeBench([channel(type, more)], { fetch });
    await bench.send(path, body, { headers: { "anthropic-beta": "context-1m" } });
    await bench.quiet();
    if (!seen) throw new Error("nothing was sent");
    return seen;
  }
  const said = [{ role: "user", content: "hi" }];

  test("an Anthropic caller's body passes through unchanged except for the model's name, with the key in Anthropic's header", async () => {
    const body = {
      model: "claude",
      max_tokens: 9,
      messages: said,
      thinking: { type: "enabled", budget_tokens: 1024 },
      cache_control: { type: "ephemeral" },
    };
    const {
      url,
      headers,
      body: got,
    } = await sent(43, "/v1/messages", body, { model_mapping: new Map([["claude", "deepseek-chat"]]) });
    expect(url).toEndWith("/anthropic/v1/messages");
    expect(got).toEqual({ ...body, model: "deepseek-chat" });
    expect([headers.get("x-api-key"), headers.get("anthropic-version"), headers.get("anthropic-beta")]).toEqual([
      "upstream-key-1",
      "2023-06-01",
      "context-1m",
    ]);
  });

  test("top_p stays within the vendor's range, passed through and translated", async () => {
    expect((await sent(26, "/v1/chat/completions", { model: "glm-4", messages: said, top_p: 1 })).body).toMatchObject({
      top_p: 0.99,
    });
    expect((await sent(26, "/v1/chat/completions", { model: "glm-4", messages: said, top_p: 0.5 })).body).toMatchObject(
      { top_p: 0.5 },
    );
    expect(
      (await sent(27, "/v1/messages", { model: "sonar", max_tokens: 9, messages: said, top_p: 1 })).body,
    ).toMatchObject({ top_p: 0.99 });
    expect((await sent(1, "/v1/chat/completions", { model: "gpt-4o", messages: said, top_p: 1 })).body).toMatchObject({
      top_p: 1,
    });
  });

  test("an application of Ark is called at its own path", async () => {
    const bot = await sent(45, "/v1/chat/completions", { model: "bot-20250101", messages: said });
    expect(bot.url).toBe("https://ark.cn-beijing.volces.com/api/v3/bots/chat/completions");
    expect((await sent(45, "/v1/chat/completions", { model: "doubao", messages: said })).url).toEndWith(
      "/api/v3/chat/completions",
    );
  });
});
