import { describe, expect, test } from "bun:test";
import { chargeOf, estimateUpperBound, type InputKinds, outputWithin, quotaOf } from "./charge";
import { type CompiledPrice, type PriceTables, resolvePrice, tokenKinds, type Usage } from "./pricing";
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
  QuotaPerUnit: 500_000,
  SelfUseModeEnabled: false,
};

function priced(tables: Partial<PriceTables>): CompiledPrice {
  const price = resolvePrice("m", "default", "default", { ...empty, ...tables });
  if (price.unpriced) throw new Error("m is unpriced");
  return price;
}

/** 1 unit a token in, 2 a token out. */
const plain = priced({ ModelRatio: { m: 1 }, CompletionRatio: { m: 2 } });
/** A third of a unit a token in, two thirds a token out. */
const cheap = priced({ ModelRatio: { m: 0.3 }, CompletionRatio: { m: 2 } });
const perCall = priced({ ModelPrice: { m: 0.0002 } });
const free = priced({ ModelRatio: { m: 1 }, GroupRatio: { default: 0 } });
/** Every kind has a price of its own. */
const rich = priced({
  ModelRatio: { m: 2 },
  CompletionRatio: { m: 3 },
  CacheRatio: { m: 0.5 },
  CreateCacheRatio: { m: 1.25 },
  CreateCache1hRatio: { m: 2 },
  AudioRatio: { m: 10 },
  AudioCompletionRatio: { m: 2 },
  ImageRatio: { m: 4 },
  ImageCompletionRatio: { m: 5 },
});

describe("a charge", () => {
  test("of nothing is nothing, and of counts that count nothing too", () => {
    for (const usage of [{}, { input: 0 }, { input: -5, output: -1 }, { server_tools: { web_search: 0 } }] as Usage[])
      expect([usage, chargeOf(plain, usage), quotaOf(plain, usage)]).toEqual([
        usage,
        { quota: 0, exact: "0", lines: [] },
        0,
      ]);
  });

  test("counts whole tokens", () => {
    expect(chargeOf(plain, { input: 3.9 }).lines).toMatchObject([{ kind: "input", count: 3, units: "3" }]);
    expect(quotaOf(plain, { input: 3.9 })).toBe(3);
  });

  test("of one unit is no minimum, and of half a unit is rounded up to one", () => {
    expect(chargeOf(plain, { input: 1 })).toMatchObject({ quota: 1, exact: "1", lines: [{ kind: "input" }] });
    const half = priced({ ModelRatio: { m: 0.5 } });
    expect(chargeOf(half, { input: 1 })).toMatchObject({ quota: 1, exact: "0.5", lines: [{ kind: "input" }] });
  });

  test("of less than half a unit is one, by a line that carries what is missing", () => {
    const { quota, exact, lines } = chargeOf(cheap, { input: 1 });
    expect([quota, exact]).toEqual([1, "1"]);
    expect(lines).toMatchObject([
      { kind: "input", count: 1, units: "0.3" },
      { kind: "minimum", count: 1, usd: "0", ratios: {}, units: "0.7" },
    ]);
  });

  test("of what is free at a price above 0 is one unit, and at a price of 0 nothing", () => {
    const cached = priced({ ModelRatio: { m: 1 }, CacheRatio: { m: 0 } });
    expect([chargeOf(cached, { cache_read: 9 }).quota, quotaOf(cached, { cache_read: 9 })]).toEqual([1, 1]);
    expect([chargeOf(free, { input: 9 }).quota, quotaOf(free, { input: 9 })]).toEqual([0, 0]);
    expect(chargeOf(free, { input: 9 }).lines).toMatchObject([{ kind: "input", units: "0" }]);
  });

  test("is never above the limit", () => {
    const most = { input: Number.MAX_SAFE_INTEGER, output: Number.MAX_SAFE_INTEGER };
    expect([chargeOf(plain, most).quota, quotaOf(plain, most)]).toEqual([CHARGE_LIMIT, CHARGE_LIMIT]);
    expect(estimateUpperBound(plain, most.input, most.output)).toBe(CHARGE_LIMIT);
    expect(quotaOf(plain, { input: CHARGE_LIMIT - 1 })).toBe(CHARGE_LIMIT - 1);
  });

  test("by call is one call unless more results came, and tokens are free", () => {
    expect(chargeOf(perCall, { input: 1e6 })).toMatchObject({ quota: 100, lines: [{ kind: "call", count: 1 }] });
    expect(chargeOf(perCall, {}, { calls: 3 }).quota).toBe(300);
    expect(chargeOf(perCall, {}, { calls: 0 }).quota).toBe(0);
    expect(quotaOf(perCall, { input: 1e6 })).toBe(100);
  });

  test("of a tool is its price per thousand calls, in the group's ratio", () => {
    const tools = { "tool_price_setting.prices": { search: 10 }, GroupRatio: { default: 2 } };
    const { quota, lines } = chargeOf(priced({ ModelRatio: { m: 1 }, ...tools }), { server_tools: { search: 3 } });
    expect(quota).toBe(3 * 5_000 * 2);
    expect(lines).toMatchObject([{ kind: "tool", tool: "search", count: 3, usd: "10", ratios: { group_ratio: "2" } }]);
  });

  test("as a running cost is the same as on the bill, whatever was used", () => {
    for (const price of [plain, cheap, rich, free])
      for (const kind of tokenKinds)
        for (const tokens of [1, 2, 3, 7, 1000])
          expect([kind, tokens, quotaOf(price, { input: 1, [kind]: tokens })]).toEqual([
            kind,
            tokens,
            chargeOf(price, { input: 1, [kind]: tokens }).quota,
          ]);
  });
});

describe("the most that a call can cost", () => {
  test("is its charge when all of it is used and the prices are whole", () => {
    expect(estimateUpperBound(plain, 7, 5)).toBe(17);
    expect(estimateUpperBound(perCall, 7, 5)).toBe(100);
    expect(estimateUpperBound(plain, 0, 0)).toBe(0);
  });

  test("is rounded up, and at least one unit where anything may be used at a price", () => {
    expect(estimateUpperBound(cheap, 1, 0)).toBe(1);
    expect(estimateUpperBound(cheap, 4, 0)).toBe(2);
    expect(estimateUpperBound(cheap, 0, 1)).toBe(1);
    expect(estimateUpperBound(cheap, 10, 0)).toBe(3);
    const outFree = priced({ ModelRatio: { m: 1 }, CompletionRatio: { m: 0 } });
    expect([estimateUpperBound(outFree, 0, 3), estimateUpperBound(outFree, 1, 3)]).toEqual([1, 1]);
    expect([estimateUpperBound(outFree, 0, 1), estimateUpperBound(outFree, 0, 0)]).toEqual([1, 0]);
    expect(estimateUpperBound(free, 1, 1)).toBe(0);
  });

  test("counts input at the highest price of the kinds that the request may hold, and of no kind that it cannot", () => {
    const bound = (kinds: InputKinds): number => estimateUpperBound(rich, 100, 10, kinds);
    // 2 units a token in, 6 a token out.
    const usual = 100 * 2 + 10 * 6;
    expect(bound({})).toBe(usual);
    expect(bound({ cache_write: "5m" })).toBe(usual + 100 * 0.5);
    expect(bound({ cache_write: "1h" })).toBe(usual + 100 * 2);
    expect(bound({ image: true })).toBe(usual + 100 * 6);
    expect(bound({ audio: true })).toBe(usual + 100 * 18);
    expect(bound({ audio: true, image: true, cache_write: "1h" })).toBe(usual + 100 * 18);
    expect(bound({ audio: false, image: false })).toBe(usual);
    expect(bound({ audio_out: true })).toBe(100 * 2 + 10 * 40);
    expect(bound({ image_out: true })).toBe(100 * 2 + 10 * 10);
    expect(bound({ audio_out: false, image_out: false })).toBe(usual);
  });

  test("counts input as cache reads where those have the higher price", () => {
    const dear = priced({ ModelRatio: { m: 1 }, CompletionRatio: { m: 1 }, CacheRatio: { m: 3 } });
    expect(estimateUpperBound(dear, 10, 1)).toBe(31);
  });

  test("uses the tier with the highest price that the whole input can reach", () => {
    const long = priced({
      ModelRatio: { m: 1 },
      CompletionRatio: { m: 1 },
      LongContextRatio: { m: [{ over: 1000, input: 2, output: 3 }] },
    });
    expect(long.open).toHaveLength(1);
    expect(estimateUpperBound(long, 1000, 10)).toBe(1010);
    expect(estimateUpperBound(long, 1001, 10)).toBe(2 * 1001 + 3 * 10);
    expect(chargeOf(long, { input: 1000, output: 10 }).quota).toBe(1010);
    expect(chargeOf(long, { input: 900, cache_read: 101, output: 10 }).quota).toBeGreaterThan(2 * 900 + 3 * 10);
    // The part that is estimated is short, the call is long.
    expect(estimateUpperBound(long, 0, 10, { context: 1001 })).toBe(30);
    expect(estimateUpperBound(long, 1001, 10, { context: 5 })).toBe(2 * 1001 + 3 * 10);
  });
});

describe("the output that so many units cover", () => {
  test("is the most whose upper bound is not above them", () => {
    for (const price of [plain, cheap, rich, perCall])
      for (const units of [0, 1, 2, 9, 10, 11, 99, 100, 101, 250])
        for (const input of [0, 1, 7]) {
          const most = 60;
          let expected = 0;
          for (let output = 1; output <= most; output++)
            if (estimateUpperBound(price, input, output) <= units) expected = output;
          expect([units, input, outputWithin(price, input, units, most)]).toEqual([units, input, expected]);
        }
  });

  test("is never more than is asked about, and nothing where not even the input is covered", () => {
    expect(outputWithin(plain, 0, 1_000_000, 10)).toBe(10);
    expect(outputWithin(plain, 0, 20, 10)).toBe(10);
    expect(outputWithin(plain, 0, 19, 10)).toBe(9);
    expect(outputWithin(plain, 0, 2, 1)).toBe(1);
    expect(outputWithin(plain, 100, 50, 10)).toBe(0);
    expect(outputWithin(plain, 0, 100, 0)).toBe(0);
  });
});
