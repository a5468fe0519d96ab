/**
 * The effect of a channel's own settings on its calls: system prompt, overrides, timeouts, billing name, formats,
 * proxy, length.
 */
import { afterAll, describe, expect, test } from "bun:test";
import type { ChannelSetting } from "../../src/shared/channel-setting";
import { channelType } from "../../src/shared/channel-types";
import { compileHeaders } from "../../src/shared/header-override";
import { compileOverride } from "../../src/shared/param-override";
import { compilePrice } from "../../src/shared/pricing";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { startSocks } from "../kit/socks-server";
import {
  type Bench,
  chatBody,
  frames,
  makeBench,
  makeChannel,
  pieces,
  scripted,
  type ScriptedStream,
  VirtualTime,
} from "./kit";

const CHAT = "/v1/chat/completions";

interface Heard {
  url: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/** A relay whose upstream records its requests and gives plain answers, in OpenAI's format by default. */
function listening(
  type: number,
  more: Parameters<typeof makeChannel>[2] = {},
  answer?: unknown,
): { bench: Bench; heard: Heard[] } {
  const heard: Heard[] = [];
  const said = answer ?? {
    id: "x",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  const bench = makeBench([makeChannel(1, "http://up.test", { type: typeOf(type), ...more })], {
    fetch: async (url, init) => {
      heard.push({ url, headers: Object.fromEntries(new Headers(init.headers)), body: JSON.parse(String(init.body)) });
      return Response.json(said);
    },
  });
  return { bench, heard };
}

const typeOf = (id: number) => channelType(id) ?? expect.unreachable(`no type ${id}`);
const hello = [{ role: "user", content: "hello" }];

describe("a channel's system prompt", () => {
  const setting = { system_prompt: "Be brief." };
  const over = { ...setting, system_prompt_override: true };
  /** The same call with and without a system prompt of its own, in each dialect that callers speak. */
  const calls = {
    openai: {
      path: CHAT,
      plain: { model: "m", messages: hello },
      own: { model: "m", messages: [{ role: "system", content: "Own." }, ...hello] },
    },
    responses: {
      path: "/v1/responses",
      plain: { model: "m", input: "hello" },
      own: { model: "m", input: "hello", instructions: "Own." },
    },
    anthropic: {
      path: "/v1/messages",
      plain: { model: "m", max_tokens: 9, messages: hello },
      own: { model: "m", max_tokens: 9, messages: hello, system: "Own." },
    },
    gemini: {
      path: "/v1beta/models/m:generateContent",
      plain: { contents: [{ role: "user", parts: [{ text: "hello" }] }] },
      own: {
        contents: [{ role: "user", parts: [{ text: "hello" }] }],
        systemInstruction: { parts: [{ text: "Own." }] },
      },
    },
  };
  const upstreams = {
    openai: {
      type: 1,
      said: (body: Record<string, unknown>) =>
        (body.messages as { role: string; content: unknown }[])
          .filter(({ role }) => role === "system")
          .map(({ content }) => content),
    },
    anthropic: { type: 14, said: (body: Record<string, unknown>) => (body.system === undefined ? [] : [body.system]) },
    gemini: {
      type: 24,
      said: (body: Record<string, unknown>) =>
        ((body.systemInstruction as { parts: { text: string }[] } | undefined)?.parts ?? []).map(({ text }) => text),
    },
  };
  const pairs = Object.entries(calls).flatMap(([caller, call]) =>
    Object.entries(upstreams).map(([channel, upstream]) => [caller, channel, call, upstream] as const),
  );

  test.each(pairs)(
    "%s to %s: added when the call brings none, untouched beside an own one, put before it on request",
    async (_caller, _channel, { path, plain, own }, { type, said }) => {
      const told = async (given: typeof setting, body: object): Promise<unknown> => {
        const { bench, heard } = listening(type, { setting: given });
        await bench.send(path, body);
        return JSON.stringify(said(heard[0]?.body ?? {}));
      };
      expect(await told(setting, plain)).toBe('["Be brief."]');
      expect(await told(setting, own)).toBe('["Own."]');
      expect(await told(over, own)).toBe('["Be brief.\\n\\nOwn."]');
    },
  );

  test("the rest of a call in the channel's own dialect stays, members that Weir does not know too", async () => {
    const { bench, heard } = listening(1, { setting });
    await bench.send(CHAT, { model: "m", messages: hello, temperature: 0.5, vendor_field: { a: 1 } });
    expect(heard[0]?.body).toMatchObject({
      temperature: 0.5,
      vendor_field: { a: 1 },
      messages: [{ role: "system" }, ...hello],
    });
  });
});

describe("members with a surcharge", () => {
  const told = async (
    type: number,
    path: string,
    body: object,
    setting: ChannelSetting = {},
  ): Promise<Record<string, unknown>> => {
    const { bench, heard } = listening(type, { setting });
    await bench.send(path, body);
    return heard[0]?.body ?? {};
  };
  const chat = { model: "m", messages: hello };
  const message = { ...chat, max_tokens: 9 };

  test("a more expensive tier, fast mode and a region are dropped from a passthrough call, and the row says so", async () => {
    expect(await told(1, CHAT, { ...chat, service_tier: "priority", seed: 7 })).toEqual({ ...chat, seed: 7 });
    expect(await told(1, "/v1/responses", { model: "m", input: "hello", service_tier: "fast" })).not.toHaveProperty(
      "service_tier",
    );
    expect(await told(14, "/v1/messages", { ...message, speed: "fast", inference_geo: "us" })).toEqual(message);
    expect(
      await told(24, "/v1beta/models/m:generateContent", {
        contents: [{ role: "user", parts: [{ text: "hello" }] }],
        serviceTier: "PRIORITY",
      }),
    ).not.toHaveProperty("serviceTier");
    const { bench } = listening(1);
    await bench.send(CHAT, { ...chat, service_tier: "priority" });
    expect(bench.ledger.settlements[0]?.log.other).toContain('"warnings":["dropped_field: service_tier"]');
  });

  test("values without a surcharge stay, and so do those that the operator allows", async () => {
    for (const service_tier of ["auto", "default", "flex", null])
      expect(await told(1, CHAT, { ...chat, service_tier })).toEqual({ ...chat, service_tier });
    expect(await told(14, "/v1/messages", { ...message, service_tier: "standard_only", speed: "standard" })).toEqual({
      ...message,
      service_tier: "standard_only",
      speed: "standard",
    });
    expect(await told(1, CHAT, { ...chat, service_tier: "priority" }, { allow_service_tier: true })).toMatchObject({
      service_tier: "priority",
    });
    expect(
      await told(14, "/v1/messages", { ...message, speed: "fast", inference_geo: "us" }, { allow_speed: true }),
    ).toEqual({ ...message, speed: "fast" });
    expect(
      await told(14, "/v1/messages", { ...message, inference_geo: "us" }, { allow_inference_geo: true }),
    ).toMatchObject({ inference_geo: "us" });
  });

  test("the speed of speech is no tier", async () => {
    expect(await told(1, "/v1/audio/speech", { model: "m", input: "hello", voice: "alloy", speed: 1.5 })).toMatchObject(
      { speed: 1.5 },
    );
  });

  test("the operator's own override is not dropped", async () => {
    const override = compileOverride({ service_tier: "priority" });
    const { bench, heard } = listening(1, { override });
    await bench.send(CHAT, chat);
    expect(heard[0]?.body).toMatchObject({ service_tier: "priority" });
  });
});

describe("overrides", () => {
  test("members of the body change last, after the translation to the channel's dialect", async () => {
    const override = compileOverride({ operations: [{ mode: "set", path: "generationConfig.temperature", value: 0 }] });
    const { bench, heard } = listening(24, { override });
    await bench.send(CHAT, { ...chatBody("m"), temperature: 1 });
    expect(heard[0]?.body).toMatchObject({ generationConfig: { temperature: 0 } });
  });

  test("they apply to other operations as well", async () => {
    const { bench, heard } = listening(
      1,
      { override: compileOverride({ size: "512x512" }) },
      { created: 1, data: [{ url: "http://x.test/1.png" }] },
    );
    await bench.send("/v1/images/generations", { model: "dall-e-3", prompt: "a cat" });
    expect(heard[0]?.body).toMatchObject({ size: "512x512", prompt: "a cat" });
  });

  test("headers change, with the channel's key in place of its placeholder; the caller's headers are not sent", async () => {
    const headers = compileHeaders({ "X-Key": "k={api_key}", authorization: null });
    const { bench, heard } = listening(1, { headers });
    await bench.send(CHAT, chatBody("m"), { headers: { "x-caller": "1" } });
    expect(heard[0]?.headers).toMatchObject({ "x-key": "k=upstream-key-1", "content-type": "application/json" });
    expect(heard[0]?.headers).not.toHaveProperty("authorization");
    expect(heard[0]?.headers).not.toHaveProperty("x-caller");
  });
});

test("an address with an API version carries the caller's version, where the caller names one (C-237)", async () => {
  const asked = async (type: number, query: string): Promise<string> => {
    const { bench, heard } = listening(type, { other: type === 3 ? "2024-10-21" : "" });
    expect((await bench.send(`${CHAT}${query}`, chatBody("m"))).status).toBe(200);
    return new URL(heard[0]?.url ?? "").search;
  };
  // spec: C-236
  expect(await asked(3, "")).toBe("?api-version=2024-10-21");
  // spec: C-237
  expect(await asked(3, "?api-version=2025-04-01-preview")).toBe("?api-version=2025-04-01-preview");
  for (const none of ["", "a b", "x%26y%3D1", "v".repeat(33)])
    expect(await asked(3, `?api-version=${none}`)).toBe("?api-version=2024-10-21");
  expect(await asked(1, "?api-version=2025-04-01")).toBe("");
});

describe("a channel's own timeouts", () => {
  function stage(setting: ChannelSetting): {
    bench: Bench;
    time: VirtualTime;
    opened: ScriptedStream[];
    hang: { on: boolean };
  } {
    const time = new VirtualTime();
    const opened: ScriptedStream[] = [];
    const hang = { on: false };
    const fetch = scripted((stream) => {
      opened.push(stream);
      return hang.on ? "hang" : undefined;
    });
    const bench = makeBench([makeChannel(1, "http://up.test", { setting })], {
      now: time.now,
      timers: time.timers,
      fetch,
      reachable: async () => true,
    });
    return { bench, time, opened, hang };
  }
  const body = chatBody("gpt-4o", { stream: true });

  test("first byte: the call fails after the channel's seconds, not the system's", async () => {
    const { bench, time, hang } = stage({ first_byte_timeout: 3 });
    hang.on = true;
    let status = 0;
    const sent = bench.send(CHAT, body).then((response) => void (status = response.status));
    await time.advance(2_999);
    expect(status).toBe(0);
    await time.advance(1);
    await sent;
    expect(status).toBe(504);
  });

  test("a response that has begun may think longer than the first-byte timeout, as long as it is not silent", async () => {
    const { bench, time, opened } = stage({ first_byte_timeout: 3, idle_timeout: 2 });
    const sent = bench.send(CHAT, body);
    await time.settle();
    opened[0]?.write(": waiting\n\n");
    await time.advance(2_500);
    opened[0]?.write(frames.role);
    for (let i = 0; i < 10; i++) {
      await time.advance(1_900);
      opened[0]?.write(": thinking\n\n");
    }
    await time.advance(1_900);
    opened[0]?.write(frames.text("a") + frames.finish + frames.done);
    expect(await pieces(await sent).rest()).toContain('"content":"a"');
    expect(opened).toHaveLength(1);
  });

  test("comments alone do not count as a beginning, and a response that goes silent before its content times out", async () => {
    const { bench, time, opened } = stage({ first_byte_timeout: 3, idle_timeout: 2 });
    const waiting = bench.send(CHAT, body);
    await time.settle();
    for (let i = 0; i < 3; i++) {
      opened[0]?.write(": waiting\n\n");
      await time.advance(1_000);
    }
    expect((await waiting).status).toBe(504);
    const silent = bench.send(CHAT, body);
    await time.settle();
    opened[1]?.write(frames.role);
    await time.advance(2_000);
    expect((await silent).status).toBe(504);
  });

  test("idle and total: a stream is cut after the channel's seconds", async () => {
    for (const [setting, ms] of [
      [{ idle_timeout: 2 }, 2_000],
      [{ total_timeout: 7 }, 7_000],
    ] as const) {
      const { bench, time, opened } = stage(setting);
      const sent = bench.send(CHAT, body);
      await time.settle();
      opened[0]?.write(frames.text("a"));
      const answer = pieces(await sent);
      await answer.next();
      const rest = answer.rest();
      await time.advance(ms - 1);
      expect(opened[0]?.aborted).toBe(false);
      await time.advance(1);
      expect(opened[0]?.aborted).toBe(true);
      expect(await rest).toContain("error");
    }
  });

  test("pings come in the channel's interval, and 0 is never", async () => {
    const often = stage({ ping_interval: 2 });
    const sent = often.bench.send(CHAT, body);
    await often.time.advance(2_000);
    expect(await pieces(await sent).next()).toStartWith(":");

    const never = stage({ ping_interval: 0 });
    let answered = false;
    void never.bench.send(CHAT, body).then(() => (answered = true));
    await never.time.advance(100_000);
    expect(answered).toBe(false);
  });

  test("when the caller leaves, the upstream is cut at once where the channel says so", async () => {
    const { bench, time, opened } = stage({ on_disconnect: "cut" });
    const sent = bench.send(CHAT, body);
    await time.settle();
    opened[0]?.write(frames.text("abcdef"));
    const answer = pieces(await sent);
    await answer.next();
    await answer.leave();
    await time.settle();
    expect(opened[0]?.aborted).toBe(true);
    await bench.quiet();
    expect(bench.ledger.settlements[0]?.log).toMatchObject({ end_reason: "caller_left", completion_tokens: 2 });
    expect(time.waiting).toBe(0);
  });

  test("a caller who disconnects before any content ends the attempt at once, too", async () => {
    const { bench, time, opened } = stage({ on_disconnect: "cut" });
    const abort = new AbortController();
    const sent = bench.send(CHAT, body, { signal: abort.signal });
    await time.settle();
    abort.abort();
    await time.advance(0);
    expect(opened[0]?.aborted).toBe(true);
    await sent;
    expect(bench.ledger.charged).toBe(0);
  });
});

describe("the billed name", () => {
  const priceOf = (model: string, ratio: number) =>
    compilePrice(
      model,
      "default",
      { model_ratio: { value: ratio, source: "test" }, completion_ratio: { value: 1, source: "test" } },
      { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
    );
  const prices: Record<string, ReturnType<typeof priceOf>> = { asked: priceOf("asked", 1), dear: priceOf("dear", 10) };
  const mapped = { model_mapping: new Map([["asked", "dear"]]) };

  /** [charge, what the hold covered, the row's other]. */
  async function billed(
    channels: ReturnType<typeof makeChannel>[],
    fails = 0,
    unpriced = "",
  ): Promise<{ charge: number; held: number; other: Record<string, unknown> }> {
    let calls = 0;
    const bench = makeBench(channels, {
      fetch: async () => {
        if (++calls <= fails) return Response.json({ error: { message: "x" } }, { status: 500 });
        return Response.json({
          choices: [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 },
        });
      },
    });
    bench.options.retryTimes = 3;
    bench.controlPlane.price = (model) => (model === unpriced ? undefined : prices[model]);
    const response = await bench.send(CHAT, chatBody("asked", { max_tokens: 1 }));
    expect(response.status).toBe(200);
    const log = bench.ledger.settlements[0]?.log;
    return {
      charge: bench.ledger.charged,
      held: bench.ledger.holdRequests[0]?.amount ?? 0,
      other: JSON.parse(String(log?.other)),
    };
  }

  test("is the requested model, unless the channel sets the upstream's", async () => {
    expect(await billed([makeChannel(1, "http://u.test", mapped)])).toMatchObject({ charge: 10 });
    const upstream = await billed([makeChannel(1, "http://u.test", { ...mapped, setting: { bill_by: "upstream" } })]);
    expect(upstream).toMatchObject({ charge: 100, other: { billed_model: "dear", upstream_model_name: "dear" } });
  });

  test("the hold covers the most expensive name that may serve, and the bill is that of the serving channel", async () => {
    const dear = makeChannel(1, "http://u.test", { ...mapped, priority: 1, setting: { bill_by: "upstream" } });
    const plain = makeChannel(2, "http://u.test");
    const first = await billed([dear, plain]);
    const second = await billed([dear, plain], 1);
    expect(first.charge).toBe(100);
    expect(second.charge).toBe(10);
    expect(second.other).not.toHaveProperty("billed_model");
    expect(second.held).toBe(first.held);
    expect(first.held).toBeGreaterThanOrEqual(100);
  });

  test("an upstream's name without a price is billed as the requested model", async () => {
    expect(
      await billed([makeChannel(1, "http://u.test", { ...mapped, setting: { bill_by: "upstream" } })], 0, "dear"),
    ).toMatchObject({ charge: 10 });
  });
});

describe("formats", () => {
  const upstream = startFakeUpstream();
  afterAll(() => upstream.close());
  const content = (text: string): string =>
    text
      .split("\n")
      .flatMap((line) =>
        line.startsWith("data: {") ? [JSON.parse(line.slice(6)).choices?.[0]?.delta?.content ?? ""] : [],
      )
      .join("");

  test.each([1, 14, 24])(
    "type %d: thoughts come inside <think> tags in the text, streamed and whole, and the bill is the same",
    async (type) => {
      const bench = (setting: ChannelSetting) =>
        makeBench([makeChannel(1, upstream.url, { type: typeOf(type), setting })]);
      const usual = bench({});
      const inText = bench({ thinking_to_content: true });
      const plain = await (await usual.send(CHAT, chatBody("reasoning"))).json();
      const whole = await (await inText.send(CHAT, chatBody("reasoning"))).json();
      const { content: said, reasoning_content: thought } = plain.choices[0].message;
      expect(thought).not.toBe("");
      // spec: C-215
      expect(whole.choices[0].message.content).toBe(`<think>\n${thought}\n</think>\n\n${said}`);
      expect(whole.choices[0].message).not.toHaveProperty("reasoning_content");

      const streamed = await (await inText.send(CHAT, chatBody("reasoning", { stream: true }))).text();
      expect(content(streamed)).toBe(whole.choices[0].message.content);
      expect(streamed).not.toContain("reasoning_content");
      expect(streamed).toEndWith("data: [DONE]\n\n");
      await inText.quiet();
      expect(inText.ledger.settlements[0]?.quota).toBe(usual.ledger.settlements[0]?.quota ?? -1);
      expect(inText.ledger.holds.size).toBe(0);
    },
  );

  test("callers of other dialects get thoughts in their own member", async () => {
    const bench = makeBench([makeChannel(1, upstream.url, { setting: { thinking_to_content: true } })]);
    const answer = await (
      await bench.send("/v1/messages", { model: "reasoning", max_tokens: 99, messages: hello })
    ).json();
    expect(answer.content.map((block: { type: string }) => block.type)).toEqual(["thinking", "text"]);
  });

  test("force_format rewrites an answer: unknown members are dropped, streamed and plain", async () => {
    const strange = {
      id: "c1",
      object: "odd",
      vendor: { a: 1 },
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
    };
    const { bench } = listening(8, { setting: { force_format: true }, base_url: "http://up.test/x" }, strange);
    const whole = await (await bench.send(CHAT, chatBody("m"))).json();
    expect(whole).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { content: "hi" } }],
      usage: { total_tokens: 5 },
    });
    // spec: C-215, C-239
    expect(whole).not.toHaveProperty("vendor");

    const streams = makeBench([makeChannel(1, "http://up.test", { setting: { force_format: true } })], {
      fetch: scripted((stream) => {
        stream.write(
          `data: {"odd":1,"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n${frames.finish}${frames.usage(1, 1)}${frames.done}`,
        );
        stream.end();
      }),
    });
    const text = await (await streams.send(CHAT, chatBody("m", { stream: true }))).text();
    expect(content(text)).toBe("a");
    expect(text).toContain('"object":"chat.completion.chunk"');
    expect(text).not.toContain("odd");
    expect(text).toEndWith("data: [DONE]\n\n");
  });
});

describe("a channel's proxy", () => {
  const upstream = startFakeUpstream();
  afterAll(() => upstream.close());

  test("carries its calls, plain and streamed, if it is a SOCKS proxy", async () => {
    using socks = await startSocks("ann:secret");
    const bench = makeBench([makeChannel(1, upstream.url, { setting: { proxy: socks.url } })]);
    expect((await bench.send(CHAT, chatBody("echo"))).status).toBe(200);
    expect(await (await bench.send(CHAT, chatBody("echo", { stream: true }))).text()).toEndWith("data: [DONE]\n\n");
    // spec: C-215
    expect(socks.asked.length).toBe(2);
    await bench.quiet();
  });

  test.each(["socks5://127.0.0.1:1", "http://127.0.0.1:1", "not a proxy"])(
    "%s: the attempt fails as unreachable and another channel serves",
    async (proxy) => {
      const seen = upstream.journal.entries.length;
      const alone = makeBench([makeChannel(1, upstream.url, { setting: { proxy } })]);
      expect((await alone.send(CHAT, chatBody("echo"))).status).toBe(502);
      expect(alone.failures[0]?.other).toContain('"failure":"unreachable"');
      expect(upstream.journal.entries.length).toBe(seen);

      const two = makeBench([
        makeChannel(1, upstream.url, { priority: 1, setting: { proxy } }),
        makeChannel(2, upstream.url),
      ]);
      two.options.retryTimes = 1;
      expect((await two.send(CHAT, chatBody("echo"))).status).toBe(200);
    },
  );
});

describe("the longest input of a channel", () => {
  const long = { model: "m", messages: [{ role: "user", content: "word ".repeat(2_000) }] };

  test("a longer call goes to another channel, and is refused when there is none", async () => {
    const { bench, heard } = listening(1, { max_input_tokens: 100 });
    const refused = await bench.send(CHAT, long);
    expect(refused.status).toBe(400);
    expect((await refused.json()).error.code).toBe("context_length_exceeded");
    expect(heard).toEqual([]);
    expect(bench.ledger.ends.size).toBe(0);
    bench.channels.push(makeChannel(2, "http://up.test", { max_input_tokens: 10_000 }));
    expect((await bench.send(CHAT, long)).status).toBe(200);
    expect((await bench.send(CHAT, chatBody("m"))).status).toBe(200);
    const { selection } = JSON.parse(String(bench.ledger.settlements[0]?.log.other)).admin_info;
    expect(selection.skipped).toEqual([{ channel: 1, why: "too_long" }]);
  });
});

describe("several keys", () => {
  /** A channel with as many keys as letters, as the pool makes it. */
  function many(letters: string, multi_key_mode: "random" | "polling", more: Parameters<typeof makeChannel>[2] = {}) {
    const channel = makeChannel(1, "http://up.test", more);
    const keys = [...letters].map((key, index) => ({
      ...channel,
      key,
      key_row: { id: index + 10, position: index + 1, hint: "…" },
    }));
    return { ...channel, key: "", keys, multi_key_mode };
  }

  /** A relay that records the keys it used; `bad` answers for those that fail. */
  function served(channels: ReturnType<typeof makeChannel>[], bad: Record<string, number> = {}, deps: object = {}) {
    const used: string[] = [];
    const bench = makeBench(channels, {
      fetch: async (_url, init) => {
        const key = new Headers(init.headers).get("authorization")?.slice(7) ?? "";
        used.push(key);
        const status = bad[key];
        if (status) return Response.json({ error: { message: "no" } }, { status });
        return Response.json({
          choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        });
      },
      ...deps,
    });
    return { bench, used, call: async () => (await bench.send(CHAT, chatBody("m"))).status };
  }

  test("in turn: each is used as often as the others, in order", async () => {
    const { used, call } = served([many("abc", "polling")]);
    for (let i = 0; i < 7; i++) expect(await call()).toBe(200);
    expect(used.join("")).toBe("abcabca");
  });

  test("random: the draw decides", async () => {
    const draws = [0, 0.99, 0.5];
    const { used, call } = served([many("abc", "random")], {}, { random: () => draws.shift() ?? 0 });
    for (let i = 0; i < 3; i++) await call();
    expect(used.join("")).toBe("acb");
  });

  test("a rate-limited key cools down alone: the next call skips it, and the channel stays open", async () => {
    const { bench, used, call } = served([many("abc", "polling")], { a: 429 });
    expect(await call()).toBe(429);
    for (let i = 0; i < 4; i++) expect(await call()).toBe(200);
    expect(used.join("")).toBe("abcbc");
    const { attempts } = JSON.parse(String(bench.failures[0]?.other)).admin_info;
    expect(attempts).toMatchObject([{ channel: 1, key: { id: 10, position: 1, hint: "…" } }]);
    expect(JSON.stringify(attempts)).not.toContain("sk-");
  });

  test("a refused key is reported with the key, and the same call continues with another one, never with the same", async () => {
    const { bench, used, call } = served([many("abc", "polling")], { a: 401, b: 401, c: 401 });
    bench.options.retryTimes = 9;
    expect(await call()).toBe(502);
    expect(used.join("")).toBe("abc");
    const next = served([many("ab", "polling")], { a: 401 });
    next.bench.options.retryTimes = 1;
    expect(await next.call()).toBe(200);
    expect(next.used.join("")).toBe("ab");
  });

  test("what is not the key's fault goes to another channel, not to another key", async () => {
    const second = makeChannel(2, "http://up.test", { priority: -1 });
    const { bench, used, call } = served([many("ab", "polling"), second], { a: 500 });
    bench.options.retryTimes = 3;
    expect(await call()).toBe(200);
    expect(used).toEqual(["a", "upstream-key-2"]);
  });

  test("a channel whose keys all cool down is skipped like one in cooldown", async () => {
    const second = makeChannel(2, "http://up.test", { priority: -1 });
    const { bench, used, call } = served([many("ab", "polling"), second], { a: 429, b: 429 });
    bench.options.retryTimes = 3;
    await call();
    used.length = 0;
    expect(await call()).toBe(200);
    expect(used).toEqual(["upstream-key-2"]);
  });
});
