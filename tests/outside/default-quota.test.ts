/**
 * A low balance still makes calls: an unstreamed call without a limit holds a quarter of what is left, and that
 * is sent to the vendor as its limit, so no balance goes below zero. Real server, own fake vendor, both engines.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES } from "../kit/databases";
import { startWeir, type Weir } from "../kit/weir";

/** The default of the option PreConsumedQuota, in tokens. */
const LEAST = 500;
const BOUND = 32_768;
const PROMPT = "hi";

interface Sent {
  path: string;
  text: string;
  body: Record<string, any>;
}

type Model = keyof typeof prices;
/** Model ratio and completion ratio: units per input token, and the factor for output tokens. */
const prices = {
  "gpt-4": [15, 2],
  "gpt-5.2-pro": [15, 8],
  "claude-sonnet-4": [1.5, 5],
  "claude-plain": [1.5, 5],
  "gemini-2.5-pro": [1, 8],
  "o4-wire": [1, 8],
  greedy: [10, 2],
  fussy: [15, 2],
  failing: [15, 2],
  "untold-model": [15, 2],
  free: [0, 1],
} as const;

/** The vendor: every answer is as long as its limit allows. Received requests are recorded. */
function startVendor() {
  const sent: Sent[] = [];
  let release: (() => void) | undefined;
  const state = { wanted: 1_000_000, gate: undefined as Promise<void> | undefined };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const text = await request.text();
      const body = JSON.parse(text) as Record<string, any>;
      sent.push({ path: pathname, text, body });
      await state.gate;
      const limit: number =
        body.max_completion_tokens ??
        body.max_output_tokens ??
        body.max_tokens ??
        body.generationConfig?.maxOutputTokens ??
        Infinity;
      if (body.model === "fussy" && limit > 8192)
        return Response.json(
          {
            error: {
              message: "max_tokens is too large",
              type: "invalid_request_error",
              param: "max_tokens",
              code: "invalid_value",
            },
          },
          { status: 400 },
        );
      if (body.model === "failing" && pathname.startsWith("/broken"))
        return Response.json({ error: { message: "busy", type: "rate_limit_error" } }, { status: 429 });
      const out = Math.min(state.wanted, limit);
      const n: number = body.n ?? body.generationConfig?.candidateCount ?? 1;
      const cut = out === limit;
      if (body.stream) {
        const frame = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
        const chunk = { id: "1", object: "chat.completion.chunk", model: body.model };
        return new Response(
          frame({ ...chunk, choices: [{ index: 0, delta: { content: "x" }, finish_reason: "stop" }] }) +
            frame({ ...chunk, choices: [], usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 } }) +
            "data: [DONE]\n\n",
          { headers: { "content-type": "text/event-stream" } },
        );
      }
      if (pathname.endsWith("/messages")) {
        return Response.json({
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: body.model,
          content: [{ type: "text", text: "x" }],
          stop_reason: cut ? "max_tokens" : "end_turn",
          stop_sequence: null,
          usage: { input_tokens: 2, output_tokens: out },
        });
      }
      if (pathname.endsWith("/responses")) {
        return Response.json({
          id: "resp_1",
          object: "response",
          created_at: 1,
          status: cut ? "incomplete" : "completed",
          model: body.model,
          incomplete_details: cut ? { reason: "max_output_tokens" } : null,
          output: [
            {
              id: "m",
              type: "message",
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text: "x", annotations: [] }],
            },
          ],
          usage: { input_tokens: 2, output_tokens: out, total_tokens: 2 + out },
        });
      }
      if (pathname.includes(":generateContent")) {
        return Response.json({
          candidates: Array.from({ length: n }, (_, index) => ({
            index,
            content: { role: "model", parts: [{ text: "x" }] },
            finishReason: cut ? "MAX_TOKENS" : "STOP",
          })),
          usageMetadata: { promptTokenCount: 2, candidatesTokenCount: out * n, totalTokenCount: 2 + out * n },
        });
      }
      const choices = Array.from({ length: n }, (_, index) => ({
        index,
        finish_reason: cut ? "length" : "stop",
        ...(pathname.endsWith("/chat/completions") ? { message: { role: "assistant", content: "x" } } : { text: "x" }),
      }));
      return Response.json({
        id: "1",
        object: "chat.completion",
        created: 1,
        model: body.model,
        choices,
        usage: { prompt_tokens: 2, completion_tokens: out * n, total_tokens: 2 + out * n },
      });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    state,
    sent,
    last: (): Sent => sent.at(-1) ?? { path: "", text: "", body: {} },
    /** Answers wait from now on. */
    hold: () => void (state.gate = new Promise((resolve) => (release = resolve))),
    open: () => {
      release?.();
      state.gate = undefined;
    },
    stop: () => server.stop(true),
  };
}

const ask = (model: Model | string, more: object = {}): object => ({
  model,
  messages: [{ role: "user", content: PROMPT }],
  ...more,
});
const unitsOut = (model: Model): number => prices[model][0] * prices[model][1];

/** The output tokens that this many units cover for this body: the hold is the size of the body and the limit. */
const covered = (model: Model, body: object, units: number): number =>
  Math.min(
    BOUND,
    Math.max(LEAST, Math.floor((units - JSON.stringify(body).length * prices[model][0]) / unitsOut(model))),
  );

for (const engine of ENGINES) {
  describe(engine, () => {
    const vendor = startVendor();
    let weir: Weir;
    let dearest: string;
    let dear: { ratio: number; completion: number };

    beforeAll(async () => {
      weir = await startWeir({ engine });
      const options = new Map(
        (await weir.root.ok<{ key: string; value: string }[]>("GET", "/api/option/")).map(({ key, value }) => [
          key,
          value,
        ]),
      );
      const table = (key: string): Record<string, number> =>
        JSON.parse(options.get(key) ?? "{}") as Record<string, number>;
      const [ratios, completions] = [table("ModelRatio"), table("CompletionRatio")];
      const cost = (name: string): number => (ratios[name] ?? 0) * (completions[name] ?? 1);
      dearest = Object.keys(ratios).toSorted((a, b) => cost(b) - cost(a))[0] ?? "";
      dear = { ratio: ratios[dearest] ?? 0, completion: completions[dearest] ?? 1 };
      await weir.setOption("ModelRatio", {
        ...ratios,
        ...Object.fromEntries(Object.entries(prices).map(([name, [ratio]]) => [name, ratio])),
      });
      await weir.setOption("CompletionRatio", {
        ...completions,
        ...Object.fromEntries(Object.entries(prices).map(([name, [, completion]]) => [name, completion])),
      });
      await weir.setOption("ModelPrice", { "by-call": 0.1 });
      await weir.newChannel({
        base_url: vendor.url,
        models: [dearest, "gpt-4", "gpt-5.2-pro", "greedy", "fussy", "free", "by-call"],
      });
      await weir.newChannel({
        base_url: vendor.url,
        models: ["o4-wire"],
        setting: JSON.stringify({ native_calls: "always" }),
      });
      await weir.newChannel({ base_url: vendor.url, models: ["claude-sonnet-4", "claude-plain"], type: 14 });
      await weir.newChannel({ base_url: vendor.url, models: ["gemini-2.5-pro"], type: 24 });
      await weir.newChannel({ base_url: `${vendor.url}/broken`, models: ["failing"], priority: 9 });
      await weir.newChannel({ base_url: vendor.url, models: ["failing"] });
      await weir.setOption("RetryTimes", 3);
    }, 30_000);
    afterAll(async () => {
      await weir?.stop();
      vendor.stop();
    });

    /** A user with this many units, and a limited token with as many (0: an unlimited one). */
    async function caller(quota: number, remain: number = quota) {
      const user = await weir.newUser({ quota });
      const token = await weir.newToken(remain > 0 ? { quota: remain } : {}, user);
      const left = async (): Promise<{ user: number; token: number }> => {
        const [user_, { remain_quota }] = await Promise.all([
          weir.balance(user.id),
          user.ok<{ remain_quota: number }>("GET", `/api/token/${token.id}`),
        ]);
        return { user: user_.quota, token: remain_quota };
      };
      return { user, key: token.key, left };
    }
    const errorOf = async (response: Response): Promise<{ code: string; message: string }> =>
      ((await response.json()) as { error: { code: string; message: string } }).error;
    const warningsOf = async (userId: number): Promise<string[]> => {
      const row = await weir.waitForLog((one) => one.user_id === userId);
      return (JSON.parse(row.other) as { warnings?: string[] }).warnings ?? [];
    };

    test("a token of the default quota makes an ordinary unstreamed call of the most expensive built-in model, and no balance goes below zero", async () => {
      expect(dear.ratio * dear.completion).toBeGreaterThan(30);
      const { user, key, left } = await caller(500_000);
      const response = await weir.call(key, ask(dearest));
      expect(response.status).toBe(200);
      expect(((await response.json()) as { choices: { finish_reason: string }[] }).choices[0]?.finish_reason).toBe(
        "length",
      );
      const { body } = vendor.last();
      const limit = Number(body.max_output_tokens ?? body.max_completion_tokens ?? body.max_tokens);
      expect(limit).toBeGreaterThanOrEqual(LEAST);
      expect(limit * dear.ratio * dear.completion).toBeLessThanOrEqual(
        Math.max(125_000, LEAST * dear.ratio * dear.completion),
      );
      // The answer had the maximum length.
      const now = await left();
      expect(now.user).toBe(500_000 - (2 + limit * dear.completion) * dear.ratio);
      expect(now).toEqual({ user: now.user, token: now.user });
      expect(now.user).toBeGreaterThanOrEqual(0);
      expect(await warningsOf(user.id)).toEqual([`limited_output: ${limit}`]);
    });

    test("a quarter of the smaller of balance and limited token is held: that limit is sent, and the rest of the body stays unchanged", async () => {
      for (const [quota, remain, least] of [
        [2_000_000, 500_000, 500_000],
        [500_000, 2_000_000, 500_000],
        [800_000, 0, 800_000],
      ] as const) {
        const { key } = await caller(quota, remain);
        const body = ask("gpt-4", { temperature: 0.25 });
        expect((await weir.call(key, body)).status).toBe(200);
        const limit = covered("gpt-4", body, least / 4);
        expect(vendor.last().body).toEqual({ ...body, max_tokens: limit });
        expect(vendor.last().text).toBe(JSON.stringify(body).replace("{", `{"max_tokens":${limit},`));
      }
    });

    test("PreConsumedQuota tokens are held at least, and no more than MaxHoldOutputTokens", async () => {
      const few = await caller(24_000);
      expect((await weir.call(few.key, ask("gpt-4"))).status).toBe(200);
      // spec: A-184
      expect(vendor.last().body.max_tokens).toBe(LEAST);
      // spec: A-184
      expect((await few.left()).user).toBe(24_000 - 2 * 15 - LEAST * 30);

      const rich = await caller(10_000_000);
      vendor.state.wanted = 3;
      expect((await weir.call(rich.key, ask("gpt-4"))).status).toBe(200);
      vendor.state.wanted = 1_000_000;
      expect(vendor.last().text).toBe(JSON.stringify(ask("gpt-4")));
      expect(await warningsOf(rich.user.id)).toEqual([]);
    });

    test("thirty calls at once that use all they may: no balance goes below zero, and the ledger balances", async () => {
      const { user, key, left } = await caller(500_000);
      vendor.hold();
      const before = vendor.sent.length;
      let answered = 0;
      const answers = Array.from({ length: 30 }, () => weir.call(key, ask("greedy")).finally(() => void answered++));
      // All are either refused or at the vendor.
      for (
        const deadline = Date.now() + 10_000;
        answered + (vendor.sent.length - before) < 30 && Date.now() < deadline;
      )
        await Bun.sleep(5);
      const held = await left();
      expect(held.user).toBeGreaterThanOrEqual(0);
      expect(held.token).toBeGreaterThanOrEqual(0);
      vendor.open();
      const all = await Promise.all(answers);
      const served = all.filter(({ status }) => status === 200).length;
      expect(served).toBeGreaterThan(3);
      expect(served).toBeLessThan(30);
      expect(all.filter(({ status }) => status === 429)).toHaveLength(30 - served);
      const limits = vendor.sent
        .slice(before)
        .map(({ body }) => Number(body.max_tokens))
        .toSorted((a, b) => b - a);
      expect(limits[0]).toBe(covered("greedy", ask("greedy"), 125_000));
      expect(limits.at(-1)).toBe(LEAST);
      const { quota } = await weir.balance(user.id);
      expect(quota).toBe(500_000 - limits.reduce((sum, limit) => sum + 20 + limit * 20, 0));
      expect(quota).toBeGreaterThanOrEqual(0);
      expect(await weir.holds()).toBe(0);
      expect(await weir.audit()).toEqual([]);
    }, 30_000);

    test("a named limit is held and sent as it is; where it is not covered the error says in both languages how many tokens are, and that many are served", async () => {
      for (const [user, token] of [
        [500_000, 0],
        [900_000, 500_000],
        [500_000, 900_000],
        [900_000, 100_000],
      ] as const) {
        const { key } = await caller(user, token);
        const least = Math.min(user, token || Infinity);
        const [zh, en] = await Promise.all(
          ["zh", "en"].map(async (lang) => {
            const refused = await weir.call(key, ask("gpt-4", { max_tokens: 20_000 }), {
              headers: { "accept-language": lang },
            });
            expect(refused.status).toBe(429);
            return errorOf(refused);
          }),
        );
        expect(zh?.code).toBe("insufficient_quota");
        const tokens = Number(/输出上限最多为 (\d+) 个 Token/.exec(zh?.message ?? "")?.[1]);
        expect(en?.message).toContain(`an output limit of ${tokens} tokens`);
        expect(tokens).toBe(
          Math.floor((least - JSON.stringify(ask("gpt-4", { max_tokens: 20_000 })).length * 15) / 30),
        );
        expect((await weir.call(key, ask("gpt-4", { max_tokens: tokens + 50 }))).status).toBe(429);
        expect((await weir.call(key, ask("gpt-4", { max_tokens: tokens }))).status).toBe(200);
        expect(vendor.last().body.max_tokens).toBe(tokens);
      }
      const { key } = await caller(500_000);
      const choices = await errorOf(
        await weir.call(key, ask("gpt-4", { max_tokens: 20_000, n: 4 }), { headers: { "accept-language": "en" } }),
      );
      const each = Number(/limit of (\d+) tokens/.exec(choices.message)?.[1]);
      expect((await weir.call(key, ask("gpt-4", { max_tokens: each, n: 4 }))).status).toBe(200);
    });

    test("a named limit that is covered is not lowered to a quarter", async () => {
      const { key } = await caller(500_000);
      expect((await weir.call(key, ask("gpt-4", { max_tokens: 12_000 }))).status).toBe(200);
      expect(vendor.last().body.max_tokens).toBe(12_000);
    });

    test("without cover for the minimum: 429 with the balance and what it covers, and the vendor is not called", async () => {
      const { user, key } = await caller(9000);
      const before = vendor.sent.length;
      const refused = await weir.call(key, ask("gpt-4"), { headers: { "accept-language": "en" } });
      expect(refused.status).toBe(429);
      expect((await errorOf(refused)).message).toMatch(/9000; .*an output limit of \d+ tokens/);
      expect(vendor.sent).toHaveLength(before);
      expect(await weir.balance(user.id)).toEqual({ quota: 9000, used_quota: 0, request_count: 0 });
    });

    test("several choices share the hold", async () => {
      const { key, left } = await caller(500_000);
      const body = ask("gpt-4", { n: 3 });
      expect((await weir.call(key, body)).status).toBe(200);
      const total = covered("gpt-4", body, 125_000);
      expect(vendor.last().body.max_tokens).toBe(Math.floor(total / 3));
      expect((await left()).user).toBe(500_000 - 30 - Math.floor(total / 3) * 3 * 30);
    });

    test("the limit is sent in each vendor's dialect, whatever the caller's dialect", async () => {
      const tell = async (path: string, body: object, headers: Record<string, string> = {}): Promise<Sent["body"]> => {
        const { key } = await caller(200_000);
        const response = await weir.call(key, body, { path, headers });
        expect([path, response.status]).toEqual([path, 200]);
        return vendor.last().body;
      };
      const messages = [{ role: "user", content: PROMPT }];
      const contents = [{ role: "user", parts: [{ text: PROMPT }] }];
      // OpenAI's older member, and the one of Responses for a model that is served there only.
      expect((await tell("/v1/chat/completions", ask("gpt-4"))).max_tokens).toBeGreaterThan(LEAST);
      const thinking = await tell("/v1/chat/completions", ask("gpt-5.2-pro"));
      expect([thinking.max_output_tokens, thinking.max_tokens]).toEqual([LEAST, undefined]);
      expect((await tell("/v1/completions", { model: "gpt-4", prompt: PROMPT })).max_tokens).toBeGreaterThan(LEAST);
      expect((await tell("/v1/responses", { model: "o4-wire", input: PROMPT })).max_output_tokens).toBeGreaterThan(
        LEAST,
      );
      // A limit of null is none.
      expect((await tell("/v1/chat/completions", ask("gpt-4", { max_tokens: null }))).max_tokens).toBeGreaterThan(
        LEAST,
      );
      // Gemini, its own member and the other spelling of it; the settings beside it stay.
      const gemini = await tell("/v1beta/models/gemini-2.5-pro:generateContent", {
        contents,
        generationConfig: { temperature: 0.5 },
      });
      expect(gemini.generationConfig).toEqual({ temperature: 0.5, maxOutputTokens: expect.any(Number) });
      const snake = await tell("/v1beta/models/gemini-2.5-pro:generateContent", {
        contents,
        generation_config: { temperature: 0.5 },
      });
      expect(snake).toMatchObject({ generation_config: { temperature: 0.5, maxOutputTokens: expect.any(Number) } });
      expect(snake.generationConfig).toBeUndefined();
      expect(
        (await tell("/v1/chat/completions", ask("gemini-2.5-pro"))).generationConfig.maxOutputTokens,
      ).toBeGreaterThan(LEAST);
      // Anthropic requires a limit: ours is not above the model's own, and the thinking budget stays below it.
      const own = await tell(
        "/v1/messages",
        { model: "claude-sonnet-4", messages, thinking: { type: "enabled", budget_tokens: 30_000 } },
        { "anthropic-version": "2023-06-01" },
      );
      expect(own.max_tokens).toBe(
        Math.floor(
          (50_000 -
            JSON.stringify({ model: "claude-sonnet-4", messages, thinking: { type: "enabled", budget_tokens: 30_000 } })
              .length *
              1.5) /
            7.5,
        ),
      );
      expect(own.thinking.type).toBe("enabled");
      expect(own.thinking.budget_tokens).toBeGreaterThanOrEqual(1024);
      expect(own.thinking.budget_tokens).toBeLessThan(own.max_tokens);
      const translated = await tell("/v1/chat/completions", ask("claude-sonnet-4", { reasoning_effort: "high" }));
      expect(translated.max_tokens).toBeLessThanOrEqual(50_000 / 7.5);
      expect(translated.thinking?.budget_tokens ?? 0).toBeLessThan(translated.max_tokens);
      const plain = await tell("/v1/chat/completions", ask("claude-plain"));
      expect(plain.max_tokens).toBeLessThanOrEqual(50_000 / 7.5);
    });

    test("an Anthropic caller's thinking is dropped where its minimum budget is not covered", async () => {
      const { key } = await caller(6000);
      const body = {
        model: "claude-sonnet-4",
        messages: [{ role: "user", content: PROMPT }],
        thinking: { type: "enabled", budget_tokens: 2000 },
      };
      expect((await weir.call(key, body, { path: "/v1/messages" })).status).toBe(200);
      expect(vendor.last().body).toMatchObject({ max_tokens: LEAST, thinking: { type: "disabled" } });
    });

    test("a body that a channel passes through as it came carries the limit as well", async () => {
      const id = await weir.newChannel({
        base_url: vendor.url,
        models: ["untold-model"],
        setting: JSON.stringify({ pass_through_body_enabled: true }),
      });
      expect(id).toBeGreaterThan(0);
      const { key } = await caller(500_000);
      expect((await weir.call(key, ask("untold-model", { odd: 1 }))).status).toBe(200);
      expect(vendor.last().body).toMatchObject({ odd: 1, max_tokens: expect.any(Number) });
    });

    test("a retry on another channel has the same limit", async () => {
      const { key } = await caller(500_000);
      const before = vendor.sent.length;
      expect((await weir.call(key, ask("failing"))).status).toBe(200);
      const tried = vendor.sent.slice(before);
      expect(tried).toHaveLength(2);
      const limit = covered("failing", ask("failing"), 125_000);
      expect(tried.map(({ body }) => body.max_tokens)).toEqual([limit, limit]);
    });

    test("a vendor that refuses such a high limit is retried once with one that every model accepts", async () => {
      const { user, key, left } = await caller(2_000_000);
      const before = vendor.sent.length;
      expect((await weir.call(key, ask("fussy"))).status).toBe(200);
      expect(vendor.sent.slice(before).map(({ body }) => body.max_tokens)).toEqual([
        covered("fussy", ask("fussy"), 500_000),
        4096,
      ]);
      expect((await left()).user).toBe(2_000_000 - 30 - 4096 * 30);
      expect(await warningsOf(user.id)).toEqual(["limited_output: 4096"]);
    });

    test("streams, free models and prices per call get no added limit", async () => {
      const { key } = await caller(200_000);
      for (const body of [
        ask("free"),
        ask("by-call"),
        ask("gpt-4", { stream: true, stream_options: { include_usage: true } }),
      ]) {
        const response = await weir.call(key, body);
        await response.text();
        expect(response.status).toBe(200);
        expect(vendor.last().text).toBe(JSON.stringify(body));
      }
    });

    test("a call that may return audio or images with their own price is held in full: a token limit would not bound it", async () => {
      await weir.setOption("AudioRatio", { "gpt-4": 10 });
      const { key } = await caller(400_000);
      const before = vendor.sent.length;
      expect((await weir.call(key, ask("gpt-4", { modalities: ["text", "audio"] }))).status).toBe(429);
      expect(vendor.sent).toHaveLength(before);
      expect((await weir.call(key, ask("gpt-4", { modalities: ["text"] }))).status).toBe(200);
    });

    test("a budget that does not cover a quarter of what is left covers the minimum, and is never exceeded", async () => {
      const user = await weir.newUser({ quota: 500_000 });
      const { key } = await weir.newToken({ quota: 500_000, budget_day: 20_000 }, user);
      expect((await weir.call(key, ask("gpt-4"))).status).toBe(200);
      expect(vendor.last().body.max_tokens).toBe(LEAST);
      expect((await weir.call(key, ask("gpt-4"))).status).toBe(429);
      const roomy = await weir.newToken({ quota: 500_000, budget_day: 400_000 }, user);
      expect((await weir.call(roomy.key, ask("gpt-4"))).status).toBe(200);
      expect(vendor.last().body.max_tokens).toBeGreaterThan(LEAST);
      expect(await weir.holds()).toBe(0);
      expect(await weir.audit()).toEqual([]);
    });

    test("a vendor without a limit is called only where its longest answer is covered", async () => {
      // Tencent's older API has no member for it.
      await weir.newChannel({ base_url: vendor.url, models: ["untold"], type: 23, key: "1|id|secret" });
      await weir.setOption("ModelRatio", {
        ...Object.fromEntries(Object.entries(prices).map(([name, [ratio]]) => [name, ratio])),
        untold: 15,
      });
      const { key } = await caller(400_000);
      const before = vendor.sent.length;
      const refused = await weir.call(key, ask("untold"));
      expect([refused.status, (await errorOf(refused)).code]).toEqual([429, "insufficient_quota"]);
      expect(vendor.sent).toHaveLength(before);
    });
  });
}
