import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { printDecimal, roundHalfAway, roundTo, toDecimal } from "./decimal";
import { defaultValue } from "./options";
import { chargeOf, estimateUpperBound, quotaOf } from "./charge";
import { displayPrices, longContextPrices, priceFacts } from "./price-display";
import {
  type CompiledPrice,
  priceBook,
  type PriceTables,
  priceTableKeys,
  resolvePrice,
  type TokenKind,
  tokenKinds,
  type Usage,
} from "./pricing";
import { CHARGE_LIMIT } from "./quota";

const empty: PriceTables = {
  ModelPrice: {},
  ModelRatio: {},
  CompletionRatio: {},
  CacheRatio: {},
  CreateCacheRatio: {},
  CreateCache1hRatio: {},
  LongContextRatio: {},
  PriceRules: {},
  ImageRatio: {},
  ImageCompletionRatio: {},
  AudioRatio: {},
  AudioCompletionRatio: {},
  GroupRatio: { default: 1 },
  GroupGroupRatio: {},
  "tool_price_setting.prices": {},
  QuotaPerUnit: 500000,
  SelfUseModeEnabled: false,
};

function priced(tables: Partial<PriceTables>, model = "m", group = "default", userGroup = "default"): CompiledPrice {
  const price = resolvePrice(model, group, userGroup, { ...empty, ...tables });
  if (price.unpriced) throw new Error(`${model} is unpriced`);
  return price;
}

// Typed per key, which a loop over the keys cannot express.
const fresh = Object.fromEntries(priceTableKeys.map((key) => [key, defaultValue(key)])) as unknown as PriceTables;

// The reference: fractions of big integers, parsed by plain text handling, nothing shared with the module.
type Fraction = [bigint, bigint];
function fraction(value: number): Fraction {
  const [mantissa = "0", exponent = "0"] = String(value).split("e");
  const [whole = "0", part = ""] = mantissa.split(".");
  const power = part.length - Number(exponent);
  const digits = BigInt(whole + part);
  return power >= 0 ? [digits, 10n ** BigInt(power)] : [digits * 10n ** BigInt(-power), 1n];
}
const times = (...all: Fraction[]): Fraction => all.reduce(([a, b], [c, d]) => [a * c, b * d], [1n, 1n]);
const plus = ([a, b]: Fraction, [c, d]: Fraction): Fraction => [a * d + c * b, b * d];
const equal = ([a, b]: Fraction, [c, d]: Fraction): boolean => a * d === c * b;
function rounded([a, b]: Fraction): bigint {
  const floor = a / b;
  return 2n * (a - floor * b) >= b ? floor + 1n : floor;
}
function read(text: string): Fraction {
  const [whole = "0", part = ""] = text.split(".");
  return [BigInt(whole + part), 10n ** BigInt(part.length)];
}

const ratio = fc.oneof(
  fc.constantFrom(0, 1, 0.1, 1.25, 37.5, 0.075, 1e-7, 8.333333333333, 5e-324),
  fc.integer({ min: 0, max: 1_000_000 }).map((value) => value / 1000),
  fc.double({ min: 0, max: 100, noNaN: true }),
);
const tokens = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 50_000_000 }));
const tokenUsage = fc.record(
  Object.fromEntries(tokenKinds.map((kind) => [kind, tokens])) as Record<TokenKind, typeof tokens>,
  { requiredKeys: [] },
);
const factors = fc.record({
  model: ratio,
  completion: ratio,
  cache: ratio,
  create: ratio,
  image: ratio,
  imageOut: ratio,
  audio: ratio,
  audioOut: ratio,
  group: ratio,
});
type Drawn = typeof factors extends fc.Arbitrary<infer Value> ? Value : never;

const tablesOf = (drawn: Drawn): Partial<PriceTables> => ({
  ModelRatio: { m: drawn.model },
  CompletionRatio: { m: drawn.completion },
  CacheRatio: { m: drawn.cache },
  CreateCacheRatio: { m: drawn.create },
  ImageRatio: { m: drawn.image },
  ImageCompletionRatio: { m: drawn.imageOut },
  AudioRatio: { m: drawn.audio },
  AudioCompletionRatio: { m: drawn.audioOut },
  GroupRatio: { default: drawn.group },
});

function reference(drawn: Drawn, usage: Usage): Fraction {
  const weights: Record<TokenKind, Fraction> = {
    input: [1n, 1n],
    cache_read: fraction(drawn.cache),
    cache_write_5m: fraction(drawn.create),
    cache_write_1h: times(fraction(drawn.create), [16n, 10n]),
    audio_in: fraction(drawn.audio),
    image_in: fraction(drawn.image),
    output: fraction(drawn.completion),
    reasoning: fraction(drawn.completion),
    audio_out: times(fraction(drawn.audio), fraction(drawn.audioOut)),
    image_out: fraction(drawn.imageOut),
  };
  const base = tokenKinds.reduce<Fraction>(
    (total, kind) => plus(total, times([BigInt(usage[kind] ?? 0), 1n], weights[kind])),
    [0n, 1n],
  );
  return times(base, fraction(drawn.model), fraction(drawn.group));
}

describe("chargeOf", () => {
  test("is the exact sum rounded once, half away from zero, at least 1 when a priced model was used", () => {
    fc.assert(
      fc.property(factors, tokenUsage, (drawn, usage) => {
        const exact = reference(drawn, usage);
        const used = Object.values(usage).some((count) => (count ?? 0) > 0);
        const least = used && (drawn.model * drawn.group > 0 || exact[0] > 0n) ? 1n : 0n;
        const expected = rounded(exact) > least ? rounded(exact) : least;
        const price = priced(tablesOf(drawn));
        const charge = chargeOf(price, usage);
        fc.pre(expected <= BigInt(CHARGE_LIMIT));
        // spec: C-631
        expect(BigInt(charge.quota)).toBe(expected);
        // spec: C-631
        expect(quotaOf(price, usage)).toBe(charge.quota);
        if (!charge.lines.some((line) => line.kind === "minimum")) expect(equal(read(charge.exact), exact)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test("the lines of a bill sum exactly to its cost, whatever was used", () => {
    const calls = fc.integer({ min: 0, max: 50 });
    const tools = fc.record({ web_search: calls, file_search: calls });
    fc.assert(
      fc.property(factors, tokenUsage, tools, (drawn, usage, server_tools) => {
        const prices = { web_search: 10, file_search: 2.5 };
        const price = priced({ ...tablesOf(drawn), "tool_price_setting.prices": prices });
        const { quota, exact, lines } = chargeOf(price, { ...usage, server_tools });
        const total = lines.reduce<Fraction>((sum, line) => plus(sum, read(line.units)), [0n, 1n]);
        expect(equal(total, read(exact))).toBe(true);
        if (quota < CHARGE_LIMIT) expect(rounded(total)).toBe(BigInt(quota));
      }),
      { numRuns: 500 },
    );
  });

  test("more tokens never cost less, and an estimate is never below the charge", () => {
    fc.assert(
      fc.property(factors, tokenUsage, fc.constantFrom(...tokenKinds), tokens, (drawn, usage, kind, more) => {
        const price = priced(tablesOf(drawn));
        const before = chargeOf(price, usage).quota;
        expect(chargeOf(price, { ...usage, [kind]: (usage[kind] ?? 0) + more }).quota).toBeGreaterThanOrEqual(before);
        expect(before).toBeGreaterThanOrEqual(0);
        expect(Number.isSafeInteger(before)).toBe(true);
        const of = (...kinds: TokenKind[]) => kinds.reduce((total, name) => total + (usage[name] ?? 0), 0);
        const input = of("input", "cache_read", "cache_write_5m", "cache_write_1h", "audio_in", "image_in");
        const output = of("output", "reasoning", "audio_out", "image_out");
        // A 1-hour write has the highest price of all writes, so it bounds 5-minute ones too.
        const kinds = { cache_write: "1h", audio: true, image: true, audio_out: true, image_out: true } as const;
        expect(estimateUpperBound(price, input, output, kinds)).toBeGreaterThanOrEqual(before);
      }),
      { numRuns: 1000 },
    );
  });

  test("the estimate of a plain call equals its charge when all of it is used and the ratios are whole", () => {
    const price = priced({ ModelRatio: { m: 15 }, CompletionRatio: { m: 2 } });
    expect(estimateUpperBound(price, 1000, 500)).toBe(30_000);
    expect(estimateUpperBound(price, 0, 0)).toBe(0);
    expect(estimateUpperBound(priced({ ModelRatio: { m: 0.0001 } }), 1, 0)).toBe(1);
    expect(estimateUpperBound(priced({ ModelRatio: { m: 0 } }), 1000, 1000)).toBe(0);
  });

  test.each<[string, Partial<PriceTables>, Usage, number]>([
    [
      "the specification's example: ratio 15, completion 2, 1000 + 500 tokens",
      { ModelRatio: { m: 15 }, CompletionRatio: { m: 2 } },
      { input: 1000, output: 500 },
      30_000,
    ],
    ["half a unit rounds up", { ModelRatio: { m: 0.5 } }, { input: 5 }, 3],
    ["just under half rounds down", { ModelRatio: { m: 0.4999 } }, { input: 3 }, 1],
    ["0.1 + 0.2 is exact", { ModelRatio: { m: 0.1 } }, { input: 5, output: 10 }, 2],
    ["a tenth of a unit costs 1", { ModelRatio: { m: 0.1 } }, { input: 1 }, 1],
    ["no tokens cost nothing", { ModelRatio: { m: 15 } }, {}, 0],
    ["zeros cost nothing", { ModelRatio: { m: 15 } }, { input: 0, output: 0 }, 0],
    ["ratio 0 is free", { ModelRatio: { m: 0 } }, { input: 1000, output: 1000 }, 0],
    ["group ratio 0 is free", { ModelRatio: { m: 15 }, GroupRatio: { default: 0 } }, { input: 1000 }, 0],
    ["negative and broken counts are 0", { ModelRatio: { m: 1 } }, { input: -5, output: Number.NaN, cache_read: 7 }, 7],
    [
      "cached tokens cost the cache ratio",
      { ModelRatio: { m: 1 }, CacheRatio: { m: 0.1 } },
      { input: 100, cache_read: 1000 },
      200,
    ],
    [
      "cache writes: 5 minutes 1.25 by default, 1 hour 1.6 times that",
      { ModelRatio: { m: 1 } },
      { cache_write_5m: 100, cache_write_1h: 100 },
      325,
    ],
    [
      "audio: in x ar, out x ar x acr",
      { ModelRatio: { m: 1 }, CompletionRatio: { m: 4 }, AudioRatio: { m: 16 }, AudioCompletionRatio: { m: 2 } },
      { input: 10, output: 10, audio_in: 10, audio_out: 10 },
      10 + 40 + 160 + 320,
    ],
    [
      "reasoning costs as output",
      { ModelRatio: { m: 1 }, CompletionRatio: { m: 4 } },
      { output: 10, reasoning: 30 },
      160,
    ],
    [
      "QuotaPerUnit does not touch a price by ratio",
      { ModelRatio: { m: 15 }, QuotaPerUnit: 1_000_000 },
      { input: 1000 },
      15_000,
    ],
    ["a price by call ignores tokens", { ModelPrice: { m: 0.1 } }, { input: 12345, output: 999 }, 50_000],
    ["a price by call follows QuotaPerUnit", { ModelPrice: { m: 0.1 }, QuotaPerUnit: 1_000_000 }, {}, 100_000],
    ["a price by call of 0 is free", { ModelPrice: { m: 0 } }, { input: 10 }, 0],
    ["a tiny price by call costs 1", { ModelPrice: { m: 0.0000001 } }, {}, 1],
    [
      "enormous usage stops at the most that a charge may be",
      { ModelRatio: { m: 1e9 } },
      { input: Number.MAX_VALUE },
      CHARGE_LIMIT,
    ],
  ])("%s", (_, tables, usage, quota) => {
    // spec: A-533, C-627, C-630..C-632
    expect(chargeOf(priced(tables), usage).quota).toBe(quota);
    expect(quotaOf(priced(tables), usage)).toBe(quota);
  });

  test("a bill names price, ratios and exact units of every line", () => {
    const price = priced({
      ModelRatio: { m: 1.25 },
      CompletionRatio: { m: 4 },
      CacheRatio: { m: 0.5 },
      GroupRatio: { default: 0.9 },
    });
    expect(chargeOf(price, { input: 7, cache_read: 3, output: 2 })).toEqual({
      quota: 19,
      exact: "18.5625",
      lines: [
        { kind: "input", count: 7, usd: "2.5", ratios: { model_ratio: "1.25", group_ratio: "0.9" }, units: "7.875" },
        {
          kind: "cache_read",
          count: 3,
          usd: "1.25",
          ratios: { model_ratio: "1.25", cache_ratio: "0.5", group_ratio: "0.9" },
          units: "1.6875",
        },
        {
          kind: "output",
          count: 2,
          usd: "10",
          ratios: { model_ratio: "1.25", completion_ratio: "4", group_ratio: "0.9" },
          units: "9",
        },
      ],
    });
  });

  test("a charge lifted to the minimum says so in its own line", () => {
    const { quota, exact, lines } = chargeOf(priced({ ModelRatio: { m: 0.075 } }), { input: 2 });
    expect([quota, exact]).toEqual([1, "1"]);
    expect(lines.at(-1)).toEqual({ kind: "minimum", count: 1, usd: "0", ratios: {}, units: "0.85" });
  });

  test("a price by call is multiplied by the number of results and by size and quality", () => {
    const price = priced({ ModelPrice: { m: 0.04 }, GroupRatio: { default: 1.5 } });
    const { quota, lines } = chargeOf(price, { input: 9 }, { calls: 3, factors: { size: 2, quality: "1.5" } });
    expect(quota).toBe(0.04 * 500_000 * 1.5 * 3 * 2 * 1.5);
    expect(lines).toEqual([
      {
        kind: "call",
        count: 3,
        usd: "0.04",
        ratios: { size: "2", quality: "1.5", group_ratio: "1.5" },
        units: "270000",
      },
    ]);
  });

  test("tools cost their price per 1000 calls, the entry of the model before the general one", () => {
    const tools = { web_search: 10, "web_search:m-big*": 25, "web_search:other": 99 };
    const tables = { ModelRatio: { m: 1, "m-big-1": 1 }, "tool_price_setting.prices": tools };
    const usage = { input: 1, server_tools: { web_search: 2, unknown_tool: 5 } };
    expect(chargeOf(priced(tables), usage).quota).toBe(1 + 10_000);
    expect(chargeOf(priced(tables, "m-big-1"), usage).quota).toBe(1 + 25_000);
    expect(chargeOf(priced(tables), usage).lines.at(-1)).toMatchObject({ tool: "unknown_tool", units: "0" });
  });

  test("an entry for a model whose name contains colons prices that model's tools, and no other's", () => {
    const tools = { web_search: 10, "web_search:llama:7b": 25, "web_search:nova-pro-v1:*": 30 };
    const tables = { ModelRatio: { llama: 1, "llama:7b": 1, "nova-pro-v1:0": 1 }, "tool_price_setting.prices": tools };
    const searched = (model: string) => chargeOf(priced(tables, model), { server_tools: { web_search: 2 } }).quota;
    expect(["llama", "llama:7b", "nova-pro-v1:0"].map(searched)).toEqual([10_000, 25_000, 30_000]);
  });
});

describe("resolvePrice", () => {
  test("a price per call wins over a ratio", () => {
    const both = priced({ ModelPrice: { m: 0.5 }, ModelRatio: { m: 3 } });
    expect(both.by).toBe("call");
    // spec: A-391
    expect(chargeOf(both, { input: 1_000_000, output: 1_000_000 }).quota).toBe(250_000);
  });

  test("a model without price is unpriced, and costs ratio 37.5 in self-use mode", () => {
    expect(resolvePrice("m", "default", "default", empty)).toEqual({ unpriced: true, model: "m", group: "default" });
    const price = priced({ SelfUseModeEnabled: true });
    expect(price.why.model_ratio).toEqual({ value: 37.5, source: "SelfUseModeEnabled" });
    expect(chargeOf(price, { input: 2 }).quota).toBe(75);
  });

  test("names of the prototype are models without a price", () => {
    for (const model of ["constructor", "__proto__", "toString"]) {
      expect(resolvePrice(model, "default", "default", fresh).unpriced).toBe(true);
    }
  });

  test("the exclusive ratio of the user's group replaces the group's ratio", () => {
    const tables = { ModelRatio: { m: 1 }, GroupRatio: { vip: 2 }, GroupGroupRatio: { staff: { vip: 0.5 } } };
    expect(chargeOf(priced(tables, "m", "vip", "default"), { input: 100 }).quota).toBe(200);
    const price = priced(tables, "m", "vip", "staff");
    // spec
    expect(chargeOf(price, { input: 100 }).quota).toBe(50);
    expect(price.why).toMatchObject({
      group_ratio: { value: 2, source: "GroupRatio", entry: "vip" },
      user_group_ratio: { value: 0.5, source: "GroupGroupRatio", entry: "staff/vip" },
    });
    // spec: C-283
    expect(priceFacts(price)).toMatchObject({ group_ratio: 2, user_group_ratio: 0.5, model_price: -1 });
    // spec: C-283
    expect(priceFacts(priced(tables, "m", "vip"))).toMatchObject({ user_group_ratio: -1 });
  });

  test("a group without a ratio costs 1 and says that nothing names it", () => {
    expect(priced({ ModelRatio: { m: 1 } }, "m", "gone").why.group_ratio).toEqual({ value: 1, source: "default" });
  });

  test("an entry that ends in * is a prefix; the exact name and the longer prefix win", () => {
    const tables = { ModelRatio: { "a-*": 1, "a-b-*": 2, "a-b-c": 3, "*": 9 } };
    const ratioOf = (model: string) => priced(tables, model).why.model_ratio?.value;
    expect(["a-x", "a-b-x", "a-b-c", "z"].map(ratioOf)).toEqual([1, 2, 3, 9]);
  });

  test("the operator's completion ratio wins over the family's, which names with a slash do not have", () => {
    const tables = { ModelRatio: { "gpt-4o-new": 1, "claude-3-x": 1, "x/gpt-4o": 1, other: 1 } };
    const source = (model: string, more: Partial<PriceTables> = {}) =>
      priced({ ...tables, ...more }, model).why.completion_ratio;
    expect(source("gpt-4o-new")).toEqual({ value: 4, source: "built-in", entry: "gpt-4o*" });
    expect(source("claude-3-x")?.value).toBe(5);
    expect(source("x/gpt-4o")).toEqual({ value: 1, source: "default" });
    expect(source("other")?.value).toBe(1);
    // spec: A-191
    expect(source("gpt-4o-new", { CompletionRatio: { "gpt-4o-new": 2 } })?.source).toBe("CompletionRatio");
  });

  test("the defaults of a fresh install price the well-known models as their vendors do", () => {
    const shown = (model: string) => {
      const price = resolvePrice(model, "default", "default", fresh);
      return price.unpriced ? price : displayPrices(price);
    };
    expect(shown("gpt-4o")).toEqual({ input: "2.5", cache_read: "1.25", output: "10" });
    expect(shown("claude-sonnet-4-5-20250929")).toEqual({
      input: "3",
      cache_read: "0.3",
      cache_write_5m: "3.75",
      cache_write_1h: "6",
      output: "15",
    });
    expect(shown("gemini-2.5-flash")).toEqual({ input: "0.3", cache_read: "0.03", audio_in: "1", output: "2.5" });
    expect(shown("mj_imagine")).toEqual({ call: "0.1" });
    expect(shown("gpt-4-gizmo-abc")).toEqual({ call: "0.1" });
    expect(shown("never-heard-of")).toMatchObject({ unpriced: true });
  });

  test("displayed prices are multiplied by the group's ratio", () => {
    const tables = { ModelRatio: { m: 15 }, CompletionRatio: { m: 2 }, GroupRatio: { vip: 0.5 } };
    // spec
    expect(displayPrices(priced(tables))).toEqual({ input: "30", output: "60" });
    // spec: A-531
    expect(displayPrices(priced(tables, "m", "vip"))).toEqual({ input: "15", output: "30" });
    const byCall = { ModelPrice: { m: 0.1 }, GroupRatio: { vip: 2 } };
    expect(displayPrices(priced(byCall, "m", "vip"))).toEqual({ call: "0.2" });
  });

  test("a price book resolves each price once and does not mix groups", () => {
    const book = priceBook({ ...empty, ModelRatio: { m: 1 }, GroupRatio: { a: 1, b: 2 } });
    expect(book.price("m", "a", "x")).toBe(book.price("m", "a", "x"));
    expect(book.price("m", "b", "x")).not.toBe(book.price("m", "a", "x"));
    expect(book.price("gone", "a", "x").unpriced).toBe(true);
  });
});

describe("decimals", () => {
  test("a number is the decimal that its text says, and prints back", () => {
    const cases = [
      [0.1, "0.1"],
      [1e-7, "0.0000001"],
      [1.5e3, "1500"],
      ["0010.500", "10.5"],
      ["-.25", "-0.25"],
      [1e21, "1000000000000000000000"],
      [0, "0"],
    ] as const;
    for (const [value, text] of cases) expect(printDecimal(toDecimal(value))).toBe(text);
    for (const bad of ["", "abc", "1.2.3", ".", Number.NaN, Number.POSITIVE_INFINITY, "1e1000"]) {
      expect(() => toDecimal(bad)).toThrow(RangeError);
    }
  });

  test("halves are rounded away from zero on both sides", () => {
    expect([25n, 24n, -25n, -24n, 0n].map((value) => roundHalfAway(value, 10n))).toEqual([3n, 2n, -3n, -2n, 0n]);
    expect(printDecimal(roundTo(toDecimal("2.4999999999995"), 9))).toBe("2.5");
  });
});

describe("long contexts", () => {
  const tiers = {
    m: [
      { over: 1000, input: 2, output: 1.5 },
      { over: 5000, input: 4, output: 1 },
    ],
  };
  const price = priced({
    ModelRatio: { m: 1 },
    CompletionRatio: { m: 4 },
    CacheRatio: { m: 0.1 },
    LongContextRatio: tiers,
  });

  test.each<[string, Usage, number]>([
    ["up to the limit the usual price holds", { input: 1000, output: 10 }, 1040],
    ["beyond it the whole call costs more, not only what is beyond", { input: 1001, output: 10 }, 2062],
    [
      "cached, written, audio and image tokens count towards the limit and cost the tier's input factor",
      { input: 100, cache_read: 901, output: 10 },
      440,
    ], // 2 x (100 + 90.1) + 60
    ["output does not count towards the limit", { input: 1000, output: 50_000 }, 201_000],
    ["the highest tier that is reached applies", { input: 5001, output: 10 }, 20_044],
  ])("%s", (_name, usage, quota) => {
    const charge = chargeOf(price, usage);
    expect(charge.quota).toBe(quota);
    expect(quotaOf(price, usage)).toBe(quota);
    expect(estimateUpperBound(price, sumOf(usage, "in"), sumOf(usage, "out"))).toBeGreaterThanOrEqual(quota);
  });

  test("the bill names the factor of its tier, and nothing where none applies", () => {
    const line = (usage: Usage) => chargeOf(price, usage).lines[0];
    expect(line({ input: 1001 })).toMatchObject({ usd: "4", ratios: { long_context_ratio: "2" }, units: "2002" });
    expect(line({ input: 10 })?.ratios).not.toHaveProperty("long_context_ratio");
  });

  test("more output of a long call is estimated at the price of the long call", () => {
    expect(estimateUpperBound(price, 0, 100)).toBe(400);
    expect(estimateUpperBound(price, 0, 100, { context: 1001 })).toBe(600);
  });

  test("prices for showing name every tier in the group's price; a price per call knows none", () => {
    expect(
      longContextPrices(
        priced({
          ModelRatio: { m: 1 },
          CompletionRatio: { m: 4 },
          LongContextRatio: tiers,
          GroupRatio: { default: 0.5 },
        }),
      ),
    ).toEqual([
      { over: 1000, input: "2", output: "6" },
      { over: 5000, input: "4", output: "4" },
    ]);
    const call = priced({ ModelPrice: { m: 1 }, LongContextRatio: tiers });
    expect([longContextPrices(call), chargeOf(call, { input: 9999 }).quota]).toEqual([[], 500_000]);
  });
});

test("the operator's price of 1-hour cache writes replaces the rule of 1.6 times the 5-minute ones", () => {
  const price = priced({ ModelRatio: { m: 1 }, CreateCacheRatio: { m: 1.25 }, CreateCache1hRatio: { "m*": 3 } });
  expect(chargeOf(price, { cache_write_5m: 1000, cache_write_1h: 1000 }).quota).toBe(1250 + 3000);
});

function sumOf(usage: Usage, side: "in" | "out"): number {
  const out = ["output", "reasoning", "audio_out", "image_out"];
  return tokenKinds
    .filter((kind) => out.includes(kind) === (side === "out"))
    .reduce((sum, kind) => sum + (usage[kind] ?? 0), 0);
}
