import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { startWeir, type Weir } from "../../../../tests/kit/weir";
import { demoBaseUrl } from "./service";

let weir: Weir;
beforeAll(async () => {
  weir = await startWeir();
});
afterAll(() => weir.stop());

describe("the demo channel", () => {
  test("is made by the console, whose requests carry an idempotency key", async () => {
    const { status } = await fetch(`${weir.url}/trpc/demo.createChannel`, {
      method: "POST",
      headers: { ...weir.root.headers, "content-type": "application/json", "idempotency-key": "first" },
    });
    expect(status).toBe(200);
  });

  test("serves a call through the gateway, streamed and plain, and its bill is a unit for two tokens", async () => {
    const channel = await weir.root.trpc.demo.createChannel.mutate();
    expect(channel).toMatchObject({ type: 1, models: "demo-echo", status: 1, key: "", base_url: `${weir.url}/demo` });
    const token = await weir.newToken();
    const client = new OpenAI({ apiKey: token.key, baseURL: `${weir.url}/v1`, maxRetries: 0 });

    const plain = await client.chat.completions.create({
      model: "demo-echo",
      messages: [{ role: "user", content: "hello" }],
    });
    expect(plain.choices[0]?.message.content).toEndWith("You said: hello");
    const row = await weir.waitForLog((log) => log.token_id === token.id && !log.is_stream, 10_000);
    expect(row.prompt_tokens + row.completion_tokens).toBe(plain.usage?.total_tokens ?? -1);
    expect(row.quota).toBe(Math.round((row.prompt_tokens + row.completion_tokens) / 2));

    const stream = await client.chat.completions.create({
      model: "demo-echo",
      stream: true,
      messages: [{ role: "user", content: "你好" }],
    });
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    expect(text).toEndWith("你说的是：你好");
    const streamed = await weir.waitForLog((log) => log.token_id === token.id && log.is_stream, 10_000);
    expect(streamed.end_reason).toBe("complete");
    expect(streamed.quota).toBeGreaterThan(0);
    expect(await weir.audit()).toEqual([]);
    // On a busy machine the paced stream alone takes seconds.
  }, 30_000);

  test("is made once: a second request enables it again", async () => {
    const first = await weir.root.trpc.demo.createChannel.mutate();
    await weir.root.trpc.channel.update.mutate({ id: first.id, status: 2 });
    const second = await weir.root.trpc.demo.createChannel.mutate();
    expect(second).toMatchObject({ id: first.id, status: 1 });
  });

  test("passes the channel test and lists its model", async () => {
    const { id } = await weir.root.trpc.demo.createChannel.mutate();
    expect(await weir.root.trpc.channel.test.mutate({ id })).toMatchObject({ success: true });
    expect(await weir.root.trpc.channel.fetchModelsOf.query({ id })).toEqual(["demo-echo"]);
  });

  test("is not an open endpoint: without the derived key every call is refused", async () => {
    const body = JSON.stringify({ model: "demo-echo", messages: [{ role: "user", content: "hi" }] });
    for (const authorization of [undefined, "Bearer ", "Bearer demo-", `Bearer ${(await weir.newToken()).key}`]) {
      const headers: Record<string, string> = {
        "content-type": "application/json",
        ...(authorization ? { authorization } : {}),
      };
      const response = await fetch(`${weir.url}/demo/v1/chat/completions`, { method: "POST", headers, body });
      expect(response.status).toBe(401);
    }
  });

  test("cannot be made by ordinary users", async () => {
    const user = await weir.newUser();
    await expect(user.trpc.demo.createChannel.mutate()).rejects.toThrow();
  });

  test("still answers after a restart on another port", async () => {
    const child = await startWeir({ child: true });
    try {
      await child.root.trpc.demo.createChannel.mutate();
      const token = await child.newToken();
      const before = child.url;
      await child.process?.stop();
      await child.restart();
      expect(child.url).not.toBe(before);
      const answer = await child.call(token.key, {
        model: "demo-echo",
        messages: [{ role: "user", content: "still there" }],
      });
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain("still there");
    } finally {
      await child.stop();
    }
  }, 20_000);

  test("has an address that reaches the server whatever it listens on", () => {
    expect(demoBaseUrl("0.0.0.0", 3000)).toBe("http://127.0.0.1:3000/demo");
    expect(demoBaseUrl("::", 3000)).toBe("http://127.0.0.1:3000/demo");
    expect(demoBaseUrl("10.0.0.7", 80)).toBe("http://10.0.0.7:80/demo");
    expect(demoBaseUrl("fd00::1", 80)).toBe("http://[fd00::1]:80/demo");
  });
});
