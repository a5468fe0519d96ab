import { afterAll, describe, expect, test } from "bun:test";
import { rawCall } from "./raw-call";
import { startFakeUpstream } from "./server";

const upstream = startFakeUpstream();
afterAll(upstream.close);

const DIALECTS = {
  "openai chat": "/v1/chat/completions",
  "openai responses": "/v1/responses",
  anthropic: "/v1/messages",
} as const;
const ask = (model: string, stream: boolean, path: string = DIALECTS["openai chat"]) =>
  rawCall(upstream.url, path, { model, stream, messages: [{ role: "user", content: "one two three four five" }] });

for (const [dialect, path] of Object.entries(DIALECTS)) {
  describe(`${dialect}: broken streams`, () => {
    test("a cut stream ends with a socket reset after some content, not with a clean end", async () => {
      const answer = await ask("words:9+cut-midstream:3", true, path);
      expect(answer.end).toBe("reset");
      expect(answer.terminated).toBe(false);
      expect(answer.body).toContain("word3");
      expect(answer.body).not.toContain("word4");
    });

    test("a cleanly cut stream is well-formed HTTP without finish or end mark", async () => {
      const answer = await ask("words:9+cut-clean:3", true, path);
      expect(answer.terminated).toBe(true);
      expect(answer.body).toContain("word3");
      for (const mark of ["word4", '"finish_reason":"stop"', "[DONE]", "message_stop", "response.completed"])
        expect(answer.body).not.toContain(mark);
    });

    test("an error in mid-stream is the dialect's own event and the last one", async () => {
      const answer = await ask("words:9+error-midstream:3", true, path);
      expect(answer.terminated).toBe(true);
      const last = answer.body.trimEnd().split("\n\n").at(-1) ?? "";
      const data = JSON.parse(last.slice(last.indexOf("data: ") + 6)) as Record<string, unknown>;
      expect(dialect === "openai chat" ? "error" in data : data.type === "error").toBe(true);
    });

    test.concurrent("a hang in a frame leaves half a frame on an open connection", async () => {
      const answer = await ask("words:9+hang-in-frame:3", true, path);
      expect(answer.end).toBe("open");
      expect(answer.body).toContain("word3");
      expect(answer.body.endsWith("\n\n")).toBe(false);
    });

    test.concurrent("a hang after the last frame sends everything and never ends the body", async () => {
      const answer = await ask("words:3+hang-after-done", true, path);
      expect(answer.end).toBe("open");
      expect(answer.terminated).toBe(false);
      expect(answer.body).toContain(
        dialect === "openai chat" ? "[DONE]" : dialect === "anthropic" ? "message_stop" : "response.completed",
      );
    });
  });
}

describe("broken heads and bodies", () => {
  test("hang-before-headers sends nothing, hang-after-headers the whole head and nothing else", async () => {
    const modes = [false, true];
    const [before, after] = await Promise.all(
      ["hang-before-headers", "hang-after-headers"].map((model) =>
        Promise.all(modes.map((stream) => ask(model, stream))),
      ),
    );
    for (const answer of before ?? []) expect(answer).toMatchObject({ end: "open", head: "", body: "" });
    for (const answer of after ?? []) {
      expect(answer.end).toBe("open");
      expect(answer.head).toStartWith("HTTP/1.1 200 OK");
      expect(answer.body).toBe("");
    }
    expect([before?.length, after?.length]).toEqual([2, 2]);
  });

  test("cut-head resets inside the response head", async () => {
    const answer = await ask("cut-head", false);
    expect(answer.end).toBe("reset");
    expect(answer.received.toString()).toStartWith("HTTP/1.1 200");
    expect(answer.received.indexOf("\r\n\r\n")).toBe(-1);
  });

  test("a plain answer cut in the middle promises more bytes than it sends, then resets", async () => {
    const answer = await ask("cut-midstream", false);
    const promised = Number(/content-length: (\d+)/.exec(answer.head)?.[1]);
    expect(answer.end).toBe("reset");
    expect(answer.body.length).toBeGreaterThan(0);
    expect(answer.body.length).toBeLessThan(promised);
  });

  test("lies-length promises more or fewer bytes than the body has, and closes", async () => {
    const size = (answer: { head: string }) => Number(/content-length: (\d+)/.exec(answer.head)?.[1]);
    for (const stream of [false, true]) {
      const long = await ask("lies-length:long", stream);
      expect([long.end, size(long) - Buffer.byteLength(long.body)]).toEqual(["fin", 100]);
      const short = await ask("lies-length:short", stream);
      expect([short.end, Buffer.byteLength(short.body) > size(short)]).toEqual(["fin", true]);
    }
  });

  test("lies-gzip names an encoding its plain bytes do not have; gzip has it", async () => {
    for (const stream of [false, true]) {
      const lie = await ask("lies-gzip", stream);
      expect(lie.head).toContain("content-encoding: gzip");
      expect(lie.body).toContain("chatcmpl-");
      const truth = await ask("gzip", stream);
      expect(truth.head).toContain("content-encoding: gzip");
      expect(truth.body).not.toContain("chatcmpl-");
    }
  });

  test("bad-json is truncated JSON with a correct length, and one broken frame in a complete stream", async () => {
    const plain = await ask("bad-json", false);
    expect(Number(/content-length: (\d+)/.exec(plain.head)?.[1])).toBe(Buffer.byteLength(plain.body));
    expect(() => JSON.parse(plain.body) as unknown).toThrow(SyntaxError);
    const frames = (await ask("bad-json", true)).body.split("\n\n").filter((frame) => frame.startsWith("data: {"));
    const broken = frames.filter((frame) => {
      try {
        JSON.parse(frame.slice(6));
        return false;
      } catch {
        return true;
      }
    });
    expect(broken).toHaveLength(1);
  });

  test("html-error and html-200 are HTML pages, error-in-200 is an error object under 200", async () => {
    expect(await ask("html-error", true)).toMatchObject({
      head: expect.stringContaining("502 Bad Gateway"),
      body: expect.stringContaining("<html>"),
    });
    expect(await ask("html-200", false)).toMatchObject({
      head: expect.stringContaining("text/html"),
      body: expect.stringContaining("<html>"),
    });
    const answer = await ask("error-in-200", false);
    expect(answer.head).toStartWith("HTTP/1.1 200");
    expect(JSON.parse(answer.body)).toHaveProperty("error.message");
  });

  test("split-bytes cuts the stream in single bytes and changes none of them", async () => {
    const strip = (body: string) => body.replaceAll(/"created":\d+|chatcmpl-\w+|"model":"[^"]*"/g, "");
    const cut = await ask("words:3+split-bytes", true);
    expect(strip(cut.body)).toBe(strip((await ask("words:3", true)).body));
    const chunks = cut.received.toString("latin1").split("\r\n1\r\n").length;
    expect(chunks).toBeGreaterThan(Buffer.byteLength(cut.body) * 0.9);
  });
});

describe("the notations of an event stream", () => {
  test("crlf has no bare line feed, no-space no space, multi-data three lines, comments both kinds of noise", async () => {
    expect((await ask("crlf", true)).body.replaceAll("\r\n", "")).not.toContain("\n");
    expect((await ask("no-space", true)).body).not.toContain("data: ");
    const first = (await ask("multi-data", true)).body.split("\n\n")[0]?.split("\n") ?? [];
    expect(first).toHaveLength(3);
    expect(JSON.parse(first.map((line) => line.slice(6)).join("\n"))).toHaveProperty("object", "chat.completion.chunk");
    const noise = (await ask("comments", true, DIALECTS.anthropic)).body;
    expect(noise).toContain(": keep-alive\n\n");
    expect(noise.split('data: {"type":"ping"}').length).toBeGreaterThan(3);
  });

  test("Gemini streams events with alt=sse and one JSON array without", async () => {
    const body = { contents: [{ role: "user", parts: [{ text: "one two" }] }] };
    const stream = "/v1beta/models/echo+usage:7:5:streamGenerateContent";
    const array = await rawCall(upstream.url, stream, body);
    const parsed = JSON.parse(array.body) as { candidates: { finishReason?: string }[]; usageMetadata: object }[];
    expect(parsed.at(-1)?.candidates[0]?.finishReason).toBe("STOP");
    expect(parsed.at(-1)?.usageMetadata).toMatchObject({
      promptTokenCount: 7,
      candidatesTokenCount: 5,
      totalTokenCount: 12,
    });
    const events = (await rawCall(upstream.url, `${stream}?alt=sse`, body)).body.trimEnd().split("\n\n");
    expect(events).toHaveLength(parsed.length);
    expect(JSON.parse(events[0]?.slice(6) ?? "")).toHaveProperty("candidates.0.content.parts.0.text", "one");
  });
});

describe("each dialect has its own errors and usage", () => {
  const post = async (path: string, model: string, key = "sk") => {
    const response = await fetch(upstream.url + path, {
      method: "POST",
      headers: { "x-api-key": key },
      body: JSON.stringify({ model }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  test("Anthropic", async () => {
    expect(await post("/v1/messages", "error-529")).toMatchObject({
      status: 529,
      body: { type: "error", error: { type: "overloaded_error" } },
    });
    expect(await post("/v1/messages", "echo", "bad-x")).toMatchObject({
      status: 401,
      body: { error: { type: "authentication_error" } },
    });
    expect(await post("/v1/messages", "echo", "broke-x")).toMatchObject({
      status: 400,
      body: { error: { type: "invalid_request_error" } },
    });
    expect(await post("/v1/messages", "cached:1000:400:200:50:150")).toMatchObject({
      body: {
        stop_reason: "end_turn",
        usage: {
          input_tokens: 400,
          cache_read_input_tokens: 400,
          cache_creation_input_tokens: 200,
          output_tokens: 50,
          cache_creation: { ephemeral_5m_input_tokens: 50, ephemeral_1h_input_tokens: 150 },
        },
      },
    });
    expect(await post("/v1/messages/count_tokens", "usage:77:1")).toMatchObject({ body: { input_tokens: 77 } });
  });
  test("Gemini", async () => {
    const path = (model: string, verb = "generateContent") => `/v1beta/models/${encodeURIComponent(model)}:${verb}`;
    expect(await post(path("error-429"), "")).toMatchObject({
      status: 429,
      body: { error: { status: "RESOURCE_EXHAUSTED" } },
    });
    expect(await post(path("echo"), "", "bad-x")).toMatchObject({
      status: 400,
      body: { error: { details: [{ reason: "API_KEY_INVALID" }] } },
    });
    expect(await post(path("usage:100:40+reasoning:15"), "")).toMatchObject({
      body: {
        usageMetadata: {
          promptTokenCount: 100,
          candidatesTokenCount: 25,
          thoughtsTokenCount: 15,
          totalTokenCount: 140,
        },
      },
    });
    expect(await post(path("usage:77:1", "countTokens"), "")).toMatchObject({ body: { totalTokens: 77 } });
    expect(await post(path("echo", "embedContent"), "")).toHaveProperty("body.embedding.values.length", 16);
  });
  test("rerank and the billing pair", async () => {
    const response = await fetch(`${upstream.url}/v1/rerank`, {
      method: "POST",
      body: JSON.stringify({ model: "echo", query: "q", documents: ["a", "b", "c"], top_n: 2, return_documents: true }),
    });
    expect(await response.json()).toMatchObject({
      results: [{ index: 0, document: { text: "a" } }, { index: 1 }],
      usage: { total_tokens: 10 },
    });
    const get = async (path: string) => (await fetch(upstream.url + path)).json();
    expect(await get("/v1/dashboard/billing/subscription")).toMatchObject({ hard_limit_usd: 100 });
    expect(await get("/v1/dashboard/billing/usage?start_date=2026-11-01&end_date=2026-11-30")).toMatchObject({
      total_usage: 1234,
    });
  });
});
