import { describe, expect, test } from "bun:test";
import { channelType } from "../../../shared/channel-types";
import type { PoolChannel } from "../../contracts/channel";
import { ordinary } from "./ordinary";

function channel(type: number, key: string, more: Partial<PoolChannel> = {}): PoolChannel {
  const fact = channelType(type);
  if (!fact) throw new Error(`no channel type ${type}`);
  return {
    id: 1,
    name: "c",
    type: fact,
    key,
    base_url: fact.base_url || "https://up.example",
    other: "",
    organization: "",
    models: new Set(),
    groups: new Set(),
    priority: 0,
    weight: 0,
    auto_ban: true,
    model_mapping: new Map(),
    status_mapping: new Map(),
    setting: {},
    test_model: "",
    ...more,
  };
}

describe("an ordinary provider's address", () => {
  test("OpenAI: bearer key, organisation only when there is one", () => {
    expect(ordinary.url(channel(1, "sk-1"), "chat", "gpt-4o")).toBe("https://api.openai.com/v1/chat/completions");
    expect(ordinary.headers(channel(1, "sk-1"))).toEqual({ authorization: "Bearer sk-1" });
    // spec: C-222
    expect(ordinary.headers(channel(1, "sk-1", { organization: "org-1" }))["openai-organization"]).toBe("org-1");
  });

  test("a custom channel's address is the whole URL, with the model in its place and escaped", () => {
    const custom = channel(8, "k", { base_url: "https://x.example/run/{model}" });
    // spec: C-238
    expect(ordinary.url(custom, "chat", "a/b")).toBe("https://x.example/run/a%2Fb");
  });

  test("Cloudflare's has the account in its path", () => {
    // spec: C-245
    expect(ordinary.url(channel(39, "k", { other: "my account" }), "chat", "m")).toEndWith(
      "/client/v4/accounts/my%20account/ai/v1/chat/completions",
    );
  });

  test("Qianfan's second key part travels as the appid header, and only the key is the bearer", () => {
    expect(ordinary.headers(channel(46, "bce-v3/k|app-7"))).toMatchObject({
      authorization: "Bearer bce-v3/k",
      appid: "app-7",
    });
    expect(ordinary.headers(channel(46, "bce-v3/k"))).not.toHaveProperty("appid");
  });

  test("behind Cloudflare's gateway the version is not repeated, and other paths stay", () => {
    const gateway = "https://gateway.ai.cloudflare.com/v1/acc/gw/openai";
    expect(ordinary.url(channel(1, "k", { base_url: gateway }), "chat", "gpt-4o")).toBe(`${gateway}/chat/completions`);
    expect(
      ordinary.url(
        channel(14, "k", { base_url: "https://gateway.ai.cloudflare.com/v1/acc/gw/anthropic" }),
        "chat",
        "claude",
      ),
    ).toEndWith("/anthropic/v1/messages");
    expect(ordinary.url(channel(45, "k", { base_url: gateway }), "chat", "m")).toEndWith(
      "/openai/api/v3/chat/completions",
    );
  });

  test("an empty optional key sends no authorization", () => {
    expect(ordinary.headers(channel(4, ""))).not.toHaveProperty("authorization");
  });
});
