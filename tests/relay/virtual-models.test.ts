/** Virtual models: which step answers and why, what is held and charged, and what is told. */
import { afterAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { channelType } from "../../src/shared/channel-types";
import { parseOption } from "../../src/shared/options";
import { compilePrice, type CompiledPrice } from "../../src/shared/pricing";
import type { VirtualModel, VirtualStep } from "../../src/shared/virtual-models";
import type { PoolChannel } from "../../src/server/contracts/channel";
import { fetchThrough } from "../../src/server/lib/proxy";
import { findVirtual } from "../../src/server/features/virtual/virtual-models";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { type Bench, chatBody, makeBench, makeChannel, simplePrice } from "./kit";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());
const chat = "/v1/chat/completions";

const priceOf = (model: string, group: string, input: number, output: number): CompiledPrice =>
  compilePrice(
    model,
    group,
    { model_ratio: { value: input, source: "test" }, completion_ratio: { value: output / input, source: "test" } },
    { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
  );

const refusal = (status: number, code: string): Response =>
  Response.json({ error: { message: `refused: ${code}`, type: "invalid_request_error", code } }, { status });

/** What an upstream does that the fake one has no name for. */
const answers: Readonly<Record<string, () => Response>> = {
  filtered: () => refusal(400, "content_filter"),
  "too-long": () => refusal(400, "context_length_exceeded"),
  mistaken: () => refusal(400, "invalid_value"),
  late: () => refusal(504, "gateway_timeout"),
};

interface Setup {
  channels?: PoolChannel[];
  /** Model -> the channels that serve it; absent: all. */
  serves?: (group: string, model: string) => readonly PoolChannel[];
  option?: Partial<VirtualModel>;
  told?: boolean;
  random?: () => number;
}

/** A bench with the virtual model "smart". */
function benchOf(steps: readonly VirtualStep[], setup: Setup = {}): Bench & { sent: string[] } {
  const sent: string[] = [];
  const bench = makeBench(setup.channels ?? [makeChannel(1, upstream.url)], {
    fetch: (url, init) => {
      const body: unknown =
        typeof init.body === "string" || init.body instanceof Uint8Array
          ? JSON.parse(Buffer.from(init.body as Uint8Array).toString())
          : {};
      const model = String((body as { model?: unknown }).model);
      sent.push(model);
      const answer = Object.hasOwn(answers, model) ? answers[model] : undefined;
      return answer ? Promise.resolve(answer()) : fetchThrough(url, init);
    },
    ...(setup.random && { random: setup.random }),
  });
  bench.set.set("VirtualModels", { smart: { steps, ...setup.option } });
  bench.set.set("VirtualModelHeader", setup.told ?? false);
  bench.set.set("UserUsableGroups", { default: "", vip: "" });
  bench.set.set("GroupRatio", { default: 1, vip: 2, secret: 3 });
  const options = { get: (key: "VirtualModels") => bench.set.get(key) };
  Object.assign(bench.controlPlane, {
    virtual: findVirtual({ options } as unknown as Parameters<typeof findVirtual>[0]),
  });
  if (setup.serves) bench.controlPlane.pool.candidates = setup.serves;
  return Object.assign(bench, { sent });
}

const rowOf = (bench: Bench) => {
  const log = bench.ledger.settlements.at(-1)?.log ?? bench.failures.at(-1);
  return { log, other: JSON.parse(log?.other ?? "{}") };
};

describe("a call to a virtual model is answered by the first step that can", () => {
  const cases: [name: string, first: string, on: NonNullable<VirtualStep["on"]>, why: string][] = [
    ["an upstream that fails for the moment", "error-500", ["transient"], "transient"],
    ["an upstream whose account failed", "error-401", ["account"], "account"],
    ["an upstream that asks to wait", "error-429", ["named_wait"], "named_wait"],
    ["an upstream that times out", "late", ["timeout"], "timeout"],
    ["a content filter", "filtered", ["content_filter"], "content_filter"],
    ["an input that the vendor calls too long", "too-long", ["context_too_long"], "context_too_long"],
  ];
  for (const [name, first, on, why] of cases)
    test(`${name}: the next step that is taken for it answers, charged and logged as itself`, async () => {
      const b = benchOf([{ model: first }, { model: "never", on: ["limits"] }, { model: "gpt-4o", on }]);
      expect((await b.send(chat, chatBody("smart"))).status).toBe(200);
      expect(b.sent).toEqual([first, "gpt-4o"]);
      const { log, other } = rowOf(b);
      expect(log).toMatchObject({ model_name: "gpt-4o" });
      expect(other).toMatchObject({ asked_model: "smart", passed_steps: [{ model: first, why }] });
      expect(other.admin_info.attempts).toHaveLength(2);
      expect([...b.ledger.ends.values()]).toEqual([["settle"]]);
    });

  test("a step that is not taken for the reason is not tried, and the caller's own mistake never goes on", async () => {
    const b = benchOf([{ model: "error-500" }, { model: "gpt-4o", on: ["content_filter"] }]);
    expect((await b.send(chat, chatBody("smart"))).status).toBe(500);
    const c = benchOf([{ model: "mistaken" }, { model: "gpt-4o" }]);
    expect((await c.send(chat, chatBody("smart"))).status).toBe(400);
    expect([b.sent, c.sent]).toEqual([["error-500"], ["mistaken"]]);
    expect(b.ledger.charged + c.ledger.charged).toBe(0);
    expect(rowOf(b).log).toMatchObject({ model_name: "error-500" });
    expect(rowOf(b).other).toMatchObject({ asked_model: "smart" });
  });

  test("an input that is too long is known before anything is sent: by the step's limit, and by its channels'", async () => {
    const small = makeChannel(1, upstream.url, { max_input_tokens: 5 });
    const large = makeChannel(2, upstream.url);
    const serves = (_: string, model: string): PoolChannel[] => [model === "small" ? small : large];
    const b = benchOf(
      [{ model: "tiny", max_input_tokens: 3 }, { model: "small" }, { model: "gpt-4o", on: ["context_too_long"] }],
      { channels: [small, large], serves },
    );
    expect((await b.send(chat, chatBody("smart"))).status).toBe(200);
    expect(b.sent).toEqual(["gpt-4o"]);
    const why = "context_too_long";
    expect(rowOf(b).other.passed_steps).toEqual([
      { model: "tiny", why },
      { model: "small", why },
    ]);
  });

  test("an input that is longer than a model is known to take goes on to a step that takes longer ones, and is refused by none", async () => {
    const long = { messages: [{ role: "user", content: "a".repeat(600_000) }] };
    const b = benchOf([{ model: "gpt-4o-mini" }, { model: "gpt-4.1" }]);
    expect((await b.send(chat, { ...long, model: "smart" })).status).toBe(200);
    expect([b.sent, rowOf(b).other.passed_steps]).toEqual([
      ["gpt-4.1"],
      [{ model: "gpt-4o-mini", why: "context_too_long" }],
    ]);
    const alone = benchOf([{ model: "gpt-4o-mini" }, { model: "gpt-4.1", on: ["timeout"] }]);
    expect((await alone.send(chat, { ...long, model: "smart" })).status).toBe(200);
    const own = benchOf([{ model: "gpt-4o-mini", max_input_tokens: 500_000 }, { model: "gpt-4.1" }]);
    expect((await own.send(chat, { ...long, model: "smart" })).status).toBe(200);
    expect([alone.sent, own.sent]).toEqual([["gpt-4o-mini"], ["gpt-4o-mini"]]);
  });

  test("a step whose channels all rest is passed at once, and tried again when no other is left", async () => {
    const down = makeChannel(1, upstream.url);
    const serves = (_: string, model: string): PoolChannel[] => [
      model === "gpt-4o" ? makeChannel(2, upstream.url) : down,
    ];
    const b = benchOf([{ model: "error-503" }, { model: "gpt-4o", on: ["transient"] }], { serves });
    await b.send(chat, chatBody("smart"));
    await b.send(chat, chatBody("smart"));
    expect(b.sent).toEqual(["error-503", "gpt-4o", "gpt-4o"]);
    b.set.set("VirtualModels", { smart: { steps: [{ model: "error-503" }] } });
    await b.send(chat, chatBody("smart"));
    expect(b.sent.at(-1)).toBe("error-503");
  });

  test("a channel at its own limit gives the reason limits", async () => {
    const full = makeChannel(1, upstream.url, { limits: { rpm: 1 } });
    const free = makeChannel(2, upstream.url);
    const serves = (_: string, model: string): PoolChannel[] => [model === "gpt-4o-mini" ? free : full];
    const b = benchOf([{ model: "gpt-4o" }, { model: "gpt-4o-mini", on: ["limits"] }], {
      channels: [full, free],
      serves,
    });
    await b.send(chat, chatBody("smart"));
    await b.send(chat, chatBody("smart"));
    expect(b.sent).toEqual(["gpt-4o", "gpt-4o-mini"]);
    expect(rowOf(b).other.passed_steps).toEqual([{ model: "gpt-4o", why: "limits" }]);
  });

  test("a call counts as running at one step at a time, and at none when it is over", async () => {
    const b = benchOf([{ model: "error-500" }, { model: "filtered" }, { model: "gpt-4o" }]);
    await (await b.send(chat, chatBody("smart", { stream: true }))).text();
    await b.quiet();
    expect(b.sent).toHaveLength(3);
    expect(b.relay.running()).toMatchObject({ running: 0 });
  });

  test("with weights the first step is drawn, and the others follow for their reasons", async () => {
    const steps = [
      { model: "gpt-4o", weight: 1 },
      { model: "error-500", weight: 3 },
    ];
    const b = benchOf(steps, { random: () => 0.9 });
    expect((await b.send(chat, chatBody("smart"))).status).toBe(200);
    expect(b.sent).toEqual(["error-500", "gpt-4o"]);
  });
});

describe("money", () => {
  const prices = (model: string, group: string): CompiledPrice | undefined =>
    ({
      cheap: priceOf("cheap", group, 1, 2),
      "gpt-4o": priceOf("gpt-4o", group, 10, 20),
      smart: priceOf("smart", group, 5, 5),
    })[model] ?? simplePrice;

  test("the hold covers the dearest step; the charge is that of the step that answered", async () => {
    const b = benchOf([{ model: "cheap" }, { model: "gpt-4o" }]);
    b.controlPlane.price = prices;
    await b.send(chat, chatBody("smart", { max_tokens: 50 }));
    const alone = benchOf([{ model: "gpt-4o" }]);
    alone.controlPlane.price = prices;
    await alone.send(chat, chatBody("smart", { max_tokens: 50 }));
    expect(b.ledger.holdRequests[0]?.amount).toBe(alone.ledger.holdRequests[0]?.amount ?? 0);
    expect(alone.ledger.charged).toBe(b.ledger.charged * 10);
  });

  test("a fixed price is that of the virtual name, in the group that serves", async () => {
    const b = benchOf([{ model: "error-500" }, { model: "gpt-4o", group: "vip" }], { option: { fixed_price: true } });
    b.controlPlane.price = (model, group) =>
      model === "smart" ? priceOf("smart", group, group === "vip" ? 7 : 5, 7) : undefined;
    expect((await b.send(chat, chatBody("smart"))).status).toBe(200);
    const { log, other } = rowOf(b);
    expect(log).toMatchObject({ model_name: "gpt-4o", group: "vip" });
    expect(other).toMatchObject({ billed_model: "smart", model_ratio: 7 });
  });

  test("a balance that does not cover the dear step is served by the one that is taken for that", async () => {
    const b = benchOf([{ model: "gpt-4o" }, { model: "gpt-4", on: ["transient"] }, { model: "cheap", on: ["budget"] }]);
    b.controlPlane.price = prices;
    b.ledger.balance = 500;
    expect((await b.send(chat, chatBody("smart", { max_tokens: 50 }))).status).toBe(200);
    expect(b.sent).toEqual(["cheap"]);
    expect(rowOf(b).other.passed_steps).toEqual([{ model: "gpt-4o", why: "budget" }]);
    const poor = benchOf([{ model: "gpt-4o" }, { model: "cheap", on: ["transient"] }]);
    poor.controlPlane.price = prices;
    poor.ledger.balance = 500;
    expect((await poor.send(chat, chatBody("smart", { max_tokens: 50 }))).status).toBe(429);
    expect(poor.sent).toEqual([]);
    expect(poor.ledger.balance).toBe(500);
  });

  test("no charge is above its hold, and every hold ends once, for any ladder", async () => {
    const model = fc.constantFrom("gpt-4o", "error-500", "error-401", "filtered", "too-long", "late", "cheap");
    const ladder = fc.uniqueArray(model, { minLength: 1, maxLength: 5 });
    const ratio = fc.integer({ min: 1, max: 40 });
    const every = fc.dictionary(model, fc.tuple(ratio, ratio));
    await fc.assert(
      fc.asyncProperty(
        ladder,
        every,
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 500, max: 2_000_000 }),
        async (models, of, stream, fixed, balance) => {
          const b = benchOf(
            models.map((name) => ({ model: name })),
            { option: { fixed_price: fixed } },
          );
          b.controlPlane.price = (name, group) => priceOf(name, group, ...(of[name] ?? [3, 9]));
          b.ledger.balance = balance;
          const answer = await b.send(chat, chatBody("smart", { stream, max_tokens: 200 }));
          await answer.text();
          await b.quiet();
          const [held] = b.ledger.holdRequests.slice(-1);
          expect(b.ledger.charged).toBeLessThanOrEqual(held?.amount ?? 0);
          expect(b.ledger.balance + b.ledger.charged).toBe(balance);
          for (const ends of b.ledger.ends.values()) expect(ends).toHaveLength(1);
          expect(b.ledger.settlements.length).toBe(answer.status === 200 ? 1 : 0);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("what is told, and to whom", () => {
  test("a header names the model that answered only where the operator allows it", async () => {
    const steps = [{ model: "error-500" }, { model: "gpt-4o" }];
    expect((await benchOf(steps).send(chat, chatBody("smart"))).headers.get("x-weir-model")).toBeNull();
    const told = benchOf(steps, { told: true });
    expect((await told.send(chat, chatBody("smart"))).headers.get("x-weir-model")).toBe("gpt-4o");
    const streamed = await told.send(chat, chatBody("smart", { stream: true }));
    expect(streamed.headers.get("x-weir-model")).toBe("gpt-4o");
    await streamed.text();
  });

  test("a token may be limited to the virtual name; a group that its user may not use serves nothing", async () => {
    const b = benchOf([{ model: "gpt-4", group: "secret" }, { model: "gpt-4o" }]);
    b.caller.models = new Set(["smart"]);
    expect((await b.send(chat, chatBody("smart"))).status).toBe(200);
    expect(b.sent).toEqual(["gpt-4o"]);
    expect(rowOf(b).other.passed_steps).toEqual([{ model: "gpt-4", why: "group_denied" }]);
    expect((await b.send(chat, chatBody("gpt-4o"))).status).toBe(403);
    b.caller.models = new Set(["gpt-4o"]);
    expect((await b.send(chat, chatBody("smart"))).status).toBe(403);
  });

  test("a step without a price is passed, whatever the next one is taken for", async () => {
    const b = benchOf([{ model: "unpriced-one" }, { model: "gpt-4o", on: [] }]);
    expect((await b.send(chat, chatBody("smart"))).status).toBe(200);
    expect(rowOf(b).other.passed_steps).toEqual([{ model: "unpriced-one", why: "unpriced" }]);
  });

  test("steps are bounded by the channels of the caller's group", async () => {
    const channel = makeChannel(1, upstream.url);
    const b = benchOf([{ model: "elsewhere" }, { model: "gpt-4o" }], {
      serves: (_, model) => (model === "gpt-4o" ? [channel] : []),
    });
    expect((await b.send(chat, chatBody("smart"))).status).toBe(200);
    const none = benchOf([{ model: "elsewhere" }], { serves: () => [] });
    const refused = await none.send(chat, chatBody("smart"));
    expect([refused.status, await refused.text()]).toEqual([404, expect.not.stringContaining("elsewhere")]);
  });
});

describe("in every dialect, whole and streamed", () => {
  const body = [{ role: "user", content: "hello there my friend" }];
  const calls: Record<string, (stream: boolean) => [string, Record<string, unknown>]> = {
    "openai-chat": (stream) => [chat, { model: "smart", stream, messages: body }],
    "openai-responses": (stream) => ["/v1/responses", { model: "smart", stream, input: "hello there my friend" }],
    anthropic: (stream) => ["/v1/messages", { model: "smart", stream, max_tokens: 100, messages: body }],
    gemini: (stream) => [
      `/v1beta/models/smart:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
      { contents: [{ role: "user", parts: [{ text: "hello there my friend" }] }] },
    ],
  };
  for (const [dialect, call] of Object.entries(calls))
    for (const stream of [false, true])
      test(`${dialect}, ${stream ? "streamed" : "whole"}`, async () => {
        const b = benchOf([{ model: "error-500" }, { model: "gpt-4o" }]);
        const [path, request] = call(stream);
        const answer = await b.send(path, request);
        const text = await answer.text();
        await b.quiet();
        expect([answer.status, text.includes("friend")]).toEqual([200, true]);
        expect(b.sent).toEqual(["error-500", "gpt-4o"]);
        expect(b.ledger.settlements).toHaveLength(1);
        expect(rowOf(b).log).toMatchObject({ model_name: "gpt-4o", is_stream: stream });
      });

  test("a conversation is continued without its model, by the virtual name; tokens are counted by the first step", async () => {
    const b = benchOf([{ model: "error-500" }, { model: "gpt-4o" }]);
    b.caller.models = new Set(["smart"]);
    const first = await b.send("/v1/responses", { model: "smart", input: "hello" });
    const { id } = (await first.json()) as { id: string };
    const next = await b.send("/v1/responses", { previous_response_id: id, input: "and then" });
    expect(next.status).toBe(200);
    expect(rowOf(b).other).toMatchObject({ asked_model: "smart" });
    const type = channelType(14);
    if (!type) throw new Error("channel type 14 is missing");
    const c = benchOf([{ model: "claude-opus-5" }], { channels: [makeChannel(1, upstream.url, { type })] });
    const counted = await c.send("/v1/messages/count_tokens", { model: "smart", messages: body });
    expect(await counted.json()).toEqual({ input_tokens: expect.any(Number) });
    expect(c.sent).toEqual(["claude-opus-5"]);
  });

  test("embeddings go the same way; pictures have no virtual models", async () => {
    const b = benchOf([{ model: "error-500" }, { model: "text-embedding-3-small" }]);
    expect((await b.send("/v1/embeddings", { model: "smart", input: "hello" })).status).toBe(200);
    expect((await b.send("/v1/images/generations", { model: "smart", prompt: "a cat" })).status).toBe(404);
    expect(b.sent).toEqual(["error-500", "text-embedding-3-small"]);
  });
});

describe("the option VirtualModels", () => {
  const problem = (value: unknown): string | undefined => {
    const parsed = parseOption("VirtualModels", JSON.stringify(value));
    return parsed.ok ? undefined : parsed.problem.en;
  };
  test("refuses loops, empty ladders, unknown reasons, mixed weights and steps that stand twice", () => {
    expect(problem({ a: { steps: [{ model: "gpt-4o", on: ["transient"] }] } })).toBeUndefined();
    expect(problem({ a: { steps: [{ model: "a" }] } })).toContain("circle");
    expect(problem({ a: { steps: [{ model: "b" }] }, b: { steps: [{ model: "c" }] } })).toContain("circle");
    expect(problem({ a: { steps: [] } })).toContain("steps");
    expect(problem({ a: { steps: [{ model: "x", on: ["whenever"] }] } })).toContain("on");
    expect(problem({ a: { steps: [{ model: "x", weight: 1 }, { model: "y" }] } })).toContain("weight");
    expect(problem({ a: { steps: [{ model: "x", weight: 0 }] } })).toContain("weights are 0");
    expect(problem({ a: { steps: [{ model: "x" }, { model: "x" }] } })).toContain("the same");
    expect(problem({ "a b": { steps: [{ model: "x" }] } })).toContain("blanks");
    expect(problem([])).toBeDefined();
  });
});
