/** Every caller's dialect on every channel's: content, charge and end. And the vendors' own SDKs. */
import { afterAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { channelType } from "../../src/shared/channel-types";
import { encodeSignature } from "../../src/server/protocol/dialects/shared/reasoning-signature";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { type Bench, makeBench, makeChannel, serve, TEST_KEY } from "./kit";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());

const callers = ["openai-chat", "openai-responses", "anthropic", "gemini"] as const;
type CallerKey = (typeof callers)[number];
const channels = { "openai-chat": 1, anthropic: 14, gemini: 24 } as const;
type ChannelKey = keyof typeof channels;
const channelKeys = Object.keys(channels) as ChannelKey[];

function benchOf(key: ChannelKey, more: Parameters<typeof makeChannel>[2] = {}): Bench {
  const type = channelType(channels[key]);
  if (!type) throw new Error(`no channel type for ${key}`);
  return makeBench([makeChannel(1, upstream.url, { type, ...more })]);
}

const WORDS = "hello there my friend";
const schema = { type: "object", properties: { city: { type: "string" } } };
const toolNames = ["get_weather", "get_time"];

/** One call in a caller's dialect. */
function callOf(
  caller: CallerKey,
  model: string,
  stream: boolean,
  tools = false,
): { path: string; body: Record<string, unknown> } {
  switch (caller) {
    case "openai-chat": {
      const defined = tools && {
        tools: toolNames.map((name) => ({ type: "function", function: { name, parameters: schema } })),
      };
      const usage = stream && { stream_options: { include_usage: true } };
      return {
        path: "/v1/chat/completions",
        body: { model, stream, messages: [{ role: "user", content: WORDS }], ...usage, ...defined },
      };
    }
    case "openai-responses": {
      const defined = tools && { tools: toolNames.map((name) => ({ type: "function", name, parameters: schema })) };
      return { path: "/v1/responses", body: { model, stream, input: WORDS, ...defined } };
    }
    case "anthropic": {
      const defined = tools && { tools: toolNames.map((name) => ({ name, input_schema: schema })) };
      return {
        path: "/v1/messages",
        body: { model, stream, max_tokens: 100, messages: [{ role: "user", content: WORDS }], ...defined },
      };
    }
    case "gemini": {
      const defined = tools && {
        tools: [{ functionDeclarations: toolNames.map((name) => ({ name, parameters: schema })) }],
      };
      const path = `/v1beta/models/${encodeURIComponent(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;
      return { path, body: { contents: [{ role: "user", parts: [{ text: WORDS }] }], ...defined } };
    }
  }
}

const dataOf = (text: string): string[] =>
  text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [line.slice(6)] : []));

/** Every text under a key anywhere in a value, joined. */
function texts(value: unknown, key: string): string {
  if (Array.isArray(value)) return value.map((item) => texts(item, key)).join("");
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value)
    .map(([name, member]) => (name === key && typeof member === "string" ? member : texts(member, key)))
    .join("");
}

/** The text of a stream. */
function wordsOf(caller: CallerKey, frames: unknown[]): string {
  if (caller === "openai-chat") return texts(frames, "content");
  if (caller === "openai-responses") {
    return frames
      .map((frame) => (texts(frame, "type").includes("output_text.delta") ? texts(frame, "delta") : ""))
      .join("");
  }
  return texts(caller === "gemini" ? frames : frames.map((frame) => Reflect.get(Object(frame), "delta")), "text");
}

const lastWord: Record<CallerKey, RegExp> = {
  "openai-chat": /data: \[DONE\]\n\n$/,
  "openai-responses": /event: response\.completed\ndata: [^\n]+\n\n$/,
  anthropic: /event: message_stop\ndata: [^\n]+\n\n$/,
  gemini: /"finishReason"[^\n]*\n\n$/,
};
const failedWord: Record<CallerKey, RegExp> = {
  "openai-chat": /data: \{"error":\{[^\n]+\n\n$/,
  "openai-responses": /event: response\.failed\ndata: [^\n]+\n\n$/,
  anthropic: /event: error\ndata: \{"type":"error"[^\n]+\n\n$/,
  gemini: /data: \{"error":\{[^\n]+\n\n$/,
};

async function send(
  bench: Bench,
  call: { path: string; body: unknown },
  init?: RequestInit,
): Promise<{ status: number; text: string }> {
  const response = await bench.send(call.path, call.body, init);
  const answer = { status: response.status, text: await response.text() };
  await bench.quiet();
  expect(bench.ledger.holds.size).toBe(0);
  expect(bench.ledger.balance + bench.ledger.charged).toBe(1_000_000);
  return answer;
}

for (const caller of callers) {
  for (const channel of channelKeys) {
    describe(`${caller} callers on ${channel} channels`, () => {
      test("get a whole answer, at the price of its usage", async () => {
        const bench = benchOf(channel);
        const { status, text } = await send(bench, callOf(caller, "gpt-4o", false));
        expect([status, text]).toEqual([200, expect.stringContaining(WORDS)]);
        expect(bench.ledger.settlements).toMatchObject([
          { quota: 10 + 40, log: { prompt_tokens: 10, completion_tokens: 20, end_reason: "complete" } },
        ]);
      });

      test("get a stream that ends with their dialect's final frame, at the same price", async () => {
        for (const model of ["gpt-4o", "gpt-4o+slow:2", "gpt-4o+split-bytes", "gpt-4o+comments", "gpt-4o+crlf"]) {
          const bench = benchOf(channel);
          const { status, text } = await send(bench, callOf(caller, model, true));
          expect(status).toBe(200);
          expect(text.replaceAll("\r", "")).toMatch(lastWord[caller]);
          expect(
            wordsOf(
              caller,
              dataOf(text.replaceAll("\r", ""))
                .filter((data) => data !== "[DONE]")
                .map((data) => JSON.parse(data)),
            ),
          ).toBe(WORDS);
          if (caller !== "openai-chat") expect(text).not.toContain("[DONE]");
          expect(bench.ledger.settlements).toMatchObject([
            { quota: 10 + 40, log: { prompt_tokens: 10, completion_tokens: 20, end_reason: "complete" } },
          ]);
        }
      });

      test("get tool calls that arrived in fragments, and thoughts", async () => {
        for (const stream of [true, false]) {
          const bench = benchOf(channel);
          const tools = await send(bench, callOf(caller, "tool-split", stream, true));
          expect(tools.status).toBe(200);
          for (const name of toolNames) expect(tools.text).toContain(`"${name}"`);
          const thoughts = await send(bench, callOf(caller, "reasoning", stream));
          expect(thoughts.status).toBe(200);
          expect(bench.ledger.settlements.map(({ quota }) => quota)).toEqual([50, 50]);
        }
      });

      test("get a refused call as an error of their own dialect, and nothing is charged", async () => {
        for (const stream of [true, false]) {
          const bench = benchOf(channel);
          const refused = await send(bench, callOf(caller, "error-400", stream));
          expect(refused.status).toBe(400);
          expect(JSON.parse(refused.text)).toMatchObject(
            caller === "anthropic"
              ? { type: "error", error: { type: "invalid_request_error" } }
              : { error: { message: expect.any(String) } },
          );
          expect((await send(bench, callOf(caller, "error-429", stream))).status).toBe(429);
          expect(bench.ledger.charged).toBe(0);
          expect(bench.failures.map(({ end_reason }) => end_reason)).toEqual(["upstream_error", "upstream_error"]);
        }
      });

      test("get an error of their own dialect at the end of a broken stream, and pay for the received part", async () => {
        for (const [model, reason] of [
          ["words:9+error-midstream", "upstream_error"],
          ["words:9+cut-midstream", "upstream_cut"],
        ] as const) {
          const bench = benchOf(channel);
          const { text } = await send(bench, callOf(caller, model, true));
          expect(text).toMatch(failedWord[caller]);
          expect(text).not.toMatch(lastWord[caller]);
          expect(bench.ledger.settlements).toMatchObject([{ log: { end_reason: reason } }]);
          expect(bench.ledger.charged).toBeGreaterThan(0);
        }
      });

      test("get an error event when the head was sent before the failure", async () => {
        const bench = benchOf(channel);
        bench.options.pingAfterMs = 10;
        const { status, text } = await send(bench, callOf(caller, "error-500+slow-head:80", true));
        expect(status).toBe(200);
        expect(text).toMatch(failedWord[caller]);
        expect(bench.ledger.charged).toBe(0);
      });
    });
  }
}

describe("the vendors' own SDKs", () => {
  for (const channel of channelKeys) {
    const bench = benchOf(channel);
    bench.options.pingAfterMs = 15;
    const server = serve(bench);
    afterAll(() => server[Symbol.dispose]());

    test(`Anthropic's reads answers, streams, tools and errors of ${channel} channels`, async () => {
      const client = new Anthropic({ apiKey: TEST_KEY, baseURL: server.url, maxRetries: 0 });
      const base = { max_tokens: 100, messages: [{ role: "user" as const, content: WORDS }] };
      const whole = await client.messages.create({ model: "gpt-4o", ...base });
      expect(whole.content).toMatchObject([{ type: "text", text: WORDS }]);
      expect([whole.stop_reason, whole.usage.input_tokens, whole.usage.output_tokens]).toEqual(["end_turn", 10, 20]);
      const streamed = await client.messages.stream({ model: "gpt-4o+slow:40", ...base }).finalMessage();
      expect(streamed.content).toMatchObject([{ type: "text", text: WORDS }]);
      expect([streamed.stop_reason, streamed.usage.output_tokens]).toEqual(["end_turn", 20]);
      const tools = toolNames.map((name) => ({ name, input_schema: { type: "object" as const } }));
      const called = await client.messages.stream({ model: "tool-split", tools, ...base }).finalMessage();
      expect(called.stop_reason).toBe("tool_use");
      expect(called.content.flatMap((block) => (block.type === "tool_use" ? [block.name] : [])).sort()).toEqual(
        [...toolNames].sort(),
      );
      const failed: unknown = await client.messages
        .create({ model: "error-429", ...base })
        .catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(Anthropic.RateLimitError);
    });

    test(`OpenAI's reads responses of ${channel} channels`, async () => {
      const client = new OpenAI({ apiKey: TEST_KEY, baseURL: `${server.url}/v1`, maxRetries: 0 });
      const whole = await client.responses.create({ model: "gpt-4o", input: WORDS });
      expect([whole.output_text, whole.status, whole.usage?.total_tokens]).toEqual([WORDS, "completed", 30]);
      const streamed = await client.responses.stream({ model: "gpt-4o+slow:40", input: WORDS }).finalResponse();
      expect([streamed.output_text, streamed.usage?.total_tokens]).toEqual([WORDS, 30]);
      const cut = await client.responses.stream({ model: "gpt-4o+finish-length", input: WORDS }).finalResponse();
      expect([cut.status, cut.incomplete_details?.reason]).toEqual(["incomplete", "max_output_tokens"]);
    });

    test(`Google's reads answers and streams of ${channel} channels`, async () => {
      const client = new GoogleGenAI({ apiKey: TEST_KEY, httpOptions: { baseUrl: server.url } });
      const whole = await client.models.generateContent({ model: "gpt-4o", contents: WORDS });
      expect([whole.text, whole.usageMetadata?.totalTokenCount]).toEqual([WORDS, 30]);
      let text = "";
      for await (const chunk of await client.models.generateContentStream({ model: "gpt-4o+slow:2", contents: WORDS }))
        text += chunk.text ?? "";
      expect(text).toBe(WORDS);
    });
  }
});

describe("counting tokens", () => {
  test("a channel of the caller's own dialect is called; otherwise the answer is an estimate that says so; nothing is charged", async () => {
    const anthropic = callOf("anthropic", "usage:321:1", false);
    const gemini = {
      path: "/v1beta/models/usage%3A321%3A1:countTokens",
      body: { contents: [{ parts: [{ text: WORDS }] }] },
    };
    const count = { path: "/v1/messages/count_tokens", body: anthropic.body };
    expect(JSON.parse((await send(benchOf("anthropic"), count)).text)).toEqual({ input_tokens: 321 });
    expect(JSON.parse((await send(benchOf("gemini"), gemini)).text)).toEqual({ totalTokens: 321 });
    const bench = benchOf("openai-chat");
    expect(JSON.parse((await send(bench, count)).text)).toEqual({ input_tokens: expect.any(Number), estimated: true });
    expect(JSON.parse((await send(bench, gemini)).text)).toEqual({ totalTokens: expect.any(Number), estimated: true });
    expect(bench.ledger.holdRequests).toEqual([]);
    const broken = { path: count.path, body: { ...anthropic.body, model: "error-500" } };
    expect(JSON.parse((await send(benchOf("anthropic"), broken)).text)).toMatchObject({ estimated: true });
  });

  test("a channel with several keys is called with each in turn", async () => {
    const type = channelType(channels.anthropic) ?? expect.unreachable();
    const plain = makeChannel(1, upstream.url, { type });
    const keys = [1, 2, 3].map((n) => ({ ...plain, key: `good-key-${n}`, key_row: { id: n, position: n, hint: "…" } }));
    const bench = makeBench([{ ...plain, keys, multi_key_mode: "polling" }]);
    const count = { path: "/v1/messages/count_tokens", body: callOf("anthropic", "usage:321:1", false).body };
    const used: (string | undefined)[] = [];
    for (let i = 0; i < 4; i++) {
      expect(JSON.parse((await send(bench, count)).text)).toEqual({ input_tokens: 321 });
      used.push(upstream.journal.last().headers["x-api-key"]);
    }
    expect(used).toEqual(["good-key-1", "good-key-2", "good-key-3", "good-key-1"]);
  });
});

describe("passthrough", () => {
  test("reaches an Anthropic channel unchanged, with the channel's key and version, and returns byte for byte", async () => {
    const bench = benchOf("anthropic", { model_mapping: new Map([["mine", "gpt-4o+slow:2"]]) });
    const body =
      '{ "model": "mine",  "max_tokens": 9, "stream": true, "future_field": {"a": [1]}, "messages": [{"role":"user","content":"hi"}] }';
    const { text } = await send(
      bench,
      { path: "/v1/messages", body },
      { headers: { "anthropic-beta": "future-2026-11-01", "x-secret": "mine" } },
    );
    const sent = upstream.journal.last();
    expect([sent.headers["x-api-key"], sent.headers["anthropic-version"]]).toEqual(["upstream-key-1", "2023-06-01"]);
    expect(sent.headers["anthropic-beta"]).toBe("future-2026-11-01");
    for (const name of ["authorization", "x-secret"]) expect(sent.headers[name]).toBeUndefined();
    expect(sent.body).toBe(body.replace('"mine"', '"gpt-4o+slow:2"'));
    const direct = await fetch(`${upstream.url}/v1/messages`, {
      method: "POST",
      body: sent.body,
      headers: { "x-api-key": "k" },
    });
    const nameless = (said: string): string => said.replace(/fake\d+/g, "id");
    expect(nameless(text)).toBe(nameless(await direct.text()));
    expect(bench.ledger.settlements).toMatchObject([{ quota: 50, log: { end_reason: "complete" } }]);
  });

  test("leaves another vendor's signatures behind: its own vendor would refuse them", async () => {
    const bench = benchOf("anthropic");
    const { path, body } = callOf("anthropic", "gpt-4o", false);
    const thinking = {
      type: "thinking",
      thinking: "hm",
      signature: encodeSignature({ from: "gemini", kind: "text", data: "c2VhbA==" }),
    };
    const messages = [
      { role: "user", content: "a" },
      { role: "assistant", content: [thinking, { type: "text", text: "b" }] },
      { role: "user", content: WORDS },
    ];
    expect((await send(bench, { path, body: { ...body, messages } })).status).toBe(200);
    expect(upstream.journal.last().body).not.toContain("w1.");
  });

  test("a Gemini stream without alt=sse is one JSON array, complete or in chunks", async () => {
    for (const model of ["gpt-4o", "gpt-4o+slow:2", "words:9+error-midstream"]) {
      for (const channel of channelKeys) {
        const { body } = callOf("gemini", model, true);
        const { text } = await send(benchOf(channel), {
          path: `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent`,
          body,
        });
        const items: unknown = JSON.parse(text);
        expect(Array.isArray(items)).toBe(true);
        expect(wordsOf("gemini", items as unknown[])).toStartWith(model.startsWith("words") ? "word1" : WORDS);
      }
    }
  });
});

describe("the charge", () => {
  for (const caller of callers) {
    for (const channel of channelKeys) {
      test(`is committed before a ${caller} caller reads the end of an answer of a ${channel} channel`, async () => {
        const bench = benchOf(channel);
        let open = (): void => undefined;
        bench.ledger.gate = new Promise((resolve) => (open = resolve));
        const { path, body } = callOf(caller, "paced:5:10", true);
        const response = await bench.send(path, body);
        const reader = response.body?.getReader();
        let text = "";
        let ended = false;
        const read = (async () => {
          for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read())
            text += Buffer.from(piece.value).toString();
          ended = true;
        })();
        for (const end = Date.now() + 15_000; !(text.includes("word5") && bench.ledger.asked > 0) && Date.now() < end;)
          await Bun.sleep(5);
        // Anything sent before the charge would have arrived by now.
        for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
        expect(text).toContain("word5");
        expect(text).not.toMatch(lastWord[caller]);
        expect([ended, bench.ledger.settlements.length]).toEqual([false, 0]);
        open();
        await read;
        expect(text).toMatch(lastWord[caller]);
        expect(bench.ledger.settlements).toHaveLength(1);
        await bench.quiet();
      });
    }
  }

  test("a caller who disconnects from a translated stream pays for the received part, once", async () => {
    for (const caller of callers) {
      for (const channel of channelKeys) {
        const bench = benchOf(channel);
        const { path, body } = callOf(caller, "paced:40:5", true);
        const response = await bench.send(path, body);
        const reader = response.body?.getReader();
        await reader?.read();
        await reader?.cancel();
        await bench.quiet();
        expect(bench.ledger.settlements).toHaveLength(1);
        expect(bench.ledger.holds.size).toBe(0);
        expect(bench.ledger.balance + bench.ledger.charged).toBe(1_000_000);
      }
    }
  }, 30_000);
});

describe("the next channel", () => {
  test("may speak another language: the call is rewritten for each, whole and streamed", async () => {
    for (const caller of callers) {
      for (const stream of [false, true]) {
        const bench = benchOf("anthropic", { priority: 2, model_mapping: new Map([["mine", "error-500"]]) });
        const others = benchOf("gemini", { id: 2, priority: 1, model_mapping: new Map([["mine", "error-503"]]) });
        const last = benchOf("openai-chat", { id: 3, priority: 0, model_mapping: new Map([["mine", "gpt-4o"]]) });
        bench.channels.push(...others.channels, ...last.channels);
        bench.options.retryTimes = 3;
        const { status, text } = await send(bench, callOf(caller, "mine", stream));
        expect(status).toBe(200);
        expect(text).toContain("friend");
        const { log } = bench.ledger.settlements[0] ?? {};
        expect(JSON.parse(String(log?.other)).admin_info.use_channel).toEqual(["1", "2", "3"]);
        expect(bench.ledger.settlements).toMatchObject([{ quota: 50, log: { channel: 3, end_reason: "complete" } }]);
      }
    }
  });
});

describe("a key", () => {
  test("is accepted where Google's callers put it", async () => {
    const bench = benchOf("gemini");
    const { path, body } = callOf("gemini", "gpt-4o", false);
    for (const [query, headers, status] of [
      [`?key=${TEST_KEY}`, { authorization: "" }, 200],
      ["", { authorization: "", "x-goog-api-key": TEST_KEY }, 200],
      ["?key=sk-wrong", { authorization: "" }, 401],
    ] as const) {
      expect((await send(bench, { path: path + query, body }, { headers })).status).toBe(status);
    }
  });
});

describe("content that cannot be translated", () => {
  test("is written into the log row as text", async () => {
    const bench = benchOf("anthropic");
    const { path, body } = callOf("openai-chat", "gpt-4o", false);
    await send(bench, { path, body: { ...body, seed: 7, logit_bias: { 1: 2 } } });
    const { log } = bench.ledger.settlements[0] ?? {};
    expect(JSON.parse(String(log?.other)).warnings).toContainEqual(expect.stringContaining("seed"));
  });

  test("a Responses call may have a template or a previous response instead of input, but not neither", async () => {
    const ask = async (more: object): Promise<number> =>
      (
        await send(benchOf("openai-chat", { setting: { native_calls: "always" } }), {
          path: "/v1/responses",
          body: { model: "gpt-4o", ...more },
        })
      ).status;
    expect(await ask({ prompt: { id: "pmpt_1", version: "2" } })).toBe(200);
    expect(await ask({})).toBe(400);
    expect(await ask({ input: 7, prompt: { id: "pmpt_1" } })).toBe(400);
    expect(await ask({ previous_response_id: "resp_none" })).toBe(404);
  });

  test("a body that is not a call of its dialect is refused with 400 before any channel is called", async () => {
    const bench = benchOf("openai-chat");
    const before = upstream.journal.entries.length;
    const { body } = callOf("anthropic", "gpt-4o", false);
    const { status, text } = await send(bench, { path: "/v1/messages", body: { ...body, messages: [7] } });
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      { type: "error", error: { type: "invalid_request_error" } },
    ]);
    expect(upstream.journal.entries.length).toBe(before);
    expect(bench.failures).toMatchObject([{ end_reason: "refused" }]);
    expect(bench.troubles.filter(({ disable }) => disable)).toEqual([]);
  });
});
