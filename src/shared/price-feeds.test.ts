import { describe, expect, test } from "bun:test";
import { readCatalogue } from "./price-catalogues";
import { judgeChanges, type HeldFor, priceFeedsShape, type Surroundings } from "./price-feeds";
import { readPrices, type PriceChange } from "./price-import";
import { type PriceNumbers, toDollars } from "./price-rows";

const around = (more: Partial<Surroundings> = {}): Surroundings => ({
  automatic: true,
  dayBefore: () => undefined,
  isConfirmed: () => false,
  isBelowCost: () => false,
  compared: 100,
  ...more,
});
const change = (before: PriceNumbers, after: PriceNumbers, name = "m"): PriceChange => ({
  name,
  before,
  after,
  kind: Object.keys(before).length === 0 ? "new" : "changed",
});
const held = (one: PriceChange, more?: Partial<Surroundings>): HeldFor | undefined =>
  judgeChanges([one], around(more))[0]?.held;

describe("which changes of a feed are taken without a person", () => {
  test("a fall by exactly half and a rise to exactly the double are taken, a little more is held", () => {
    expect(held(change({ ModelRatio: 2 }, { ModelRatio: 1 }))).toBeUndefined();
    expect(held(change({ ModelRatio: 2 }, { ModelRatio: 0.99 }))).toBe("falls");
    expect(held(change({ ModelRatio: 2 }, { ModelRatio: 4 }))).toBeUndefined();
    expect(held(change({ ModelRatio: 2 }, { ModelRatio: 4.01 }))).toBe("rises");
  });

  test("every price of a model counts in dollars: output that falls while input rises is seen", () => {
    const before = { ModelRatio: 1, CompletionRatio: 4 };
    expect(held(change(before, { ModelRatio: 1.5, CompletionRatio: 1 }))).toBe("falls");
    expect(held(change({ ...before, CacheRatio: 0.5 }, { ...before, CacheRatio: 0.1 }))).toBe("falls");
    // Without an entry cached input costs what input does.
    expect(held(change(before, { ...before, CacheRatio: 0.1 }))).toBe("falls");
  });

  test("two falls within a day count as one", () => {
    const second = change({ ModelRatio: 1.2 }, { ModelRatio: 0.8 });
    expect(held(second)).toBeUndefined();
    expect(held(second, { dayBefore: () => ({ ModelRatio: 2 }) })).toBe("falls");
  });

  test("what becomes free, changes its kind, is below cost, or comes from a feed by hand is held", () => {
    expect(held(change({ ModelRatio: 1 }, { ModelRatio: 0 }))).toBe("free");
    expect(held(change({ ModelRatio: 0 }, { ModelRatio: 1 }))).toBe("free");
    expect(held(change({ ModelRatio: 1 }, { ModelPrice: 1 }))).toBe("kind");
    expect(held(change({ ModelRatio: 1 }, { ModelRatio: 0.9 }), { isBelowCost: () => true })).toBe("below-cost");
    expect(held(change({ ModelRatio: 1 }, { ModelRatio: 0.9 }), { automatic: false })).toBe("by-hand");
  });

  test("a new model needs a second feed with the same price, and is not sold below cost either", () => {
    const fresh = change({}, { ModelRatio: 1 });
    expect(held(fresh)).toBe("new");
    expect(held(fresh, { isConfirmed: () => true })).toBeUndefined();
    expect(held(fresh, { isConfirmed: () => true, isBelowCost: () => true })).toBe("below-cost");
  });

  test("a feed that halves or multiplies everything is held as a whole, a general sale of a tenth is not", () => {
    const all = (factor: number, count: number) =>
      Array.from({ length: count }, (_, i) => change({ ModelRatio: i + 1 }, { ModelRatio: (i + 1) * factor }, `m${i}`));
    const judged = (changes: PriceChange[], compared: number) =>
      new Set(judgeChanges(changes, around({ compared })).map((one) => one.held));
    expect(judged(all(0.5, 10), 10)).toEqual(new Set(["everything"]));
    expect(judged(all(1.9, 6), 10)).toEqual(new Set(["everything"]));
    expect(judged(all(1.9, 5), 10)).toEqual(new Set([undefined]));
    expect(judged(all(0.9, 10), 10)).toEqual(new Set([undefined]));
  });
});

describe("public catalogues", () => {
  // Shapes and figures of LiteLLM's model_prices_and_context_window.json, November 2026.
  const LITELLM = {
    sample_spec: { litellm_provider: "one of …", input_cost_per_token: 0 },
    "claude-sonnet-4-5": {
      litellm_provider: "anthropic",
      mode: "chat",
      input_cost_per_token: 3e-6,
      output_cost_per_token: 1.5e-5,
      cache_read_input_token_cost: 3e-7,
      cache_creation_input_token_cost: 3.75e-6,
      cache_creation_input_token_cost_above_1hr: 6e-6,
    },
    "bedrock/claude-sonnet-4-5": {
      litellm_provider: "bedrock",
      input_cost_per_token: 9e-6,
      output_cost_per_token: 9e-6,
    },
    "gemini/gemini-2.5-pro": { litellm_provider: "gemini", input_cost_per_token: 1.25e-6, output_cost_per_token: 1e-5 },
    "a/open-model": { litellm_provider: "a", input_cost_per_token: 1e-7, output_cost_per_token: 2e-7 },
    "b/open-model": { litellm_provider: "b", input_cost_per_token: 2e-7, output_cost_per_token: 2e-7 },
    "half-priced": { litellm_provider: "a", input_cost_per_token: 1e-7 },
  };

  test("LiteLLM's: a plain name before sellers' names, sellers only where they agree", () => {
    const found = readCatalogue(LITELLM);
    expect(toDollars(found?.get("claude-sonnet-4-5") ?? {})).toEqual({
      ModelRatio: 3,
      CompletionRatio: 15,
      CacheRatio: 0.3,
      CreateCacheRatio: 3.75,
      CreateCache1hRatio: 6,
    });
    expect(found?.get("gemini-2.5-pro")).toEqual({ ModelRatio: 0.625, CompletionRatio: 8 });
    expect(found?.has("open-model")).toBe(false);
    expect(found?.has("half-priced")).toBe(false);
    expect(found?.has("sample_spec")).toBe(false);
  });

  test("models.dev's: only makers sell at the list price", () => {
    const found = readCatalogue({
      deepseek: {
        id: "deepseek",
        models: { "deepseek-chat": { cost: { input: 0.28, output: 0.42, cache_read: 0.028 } } },
      },
      reseller: { id: "reseller", models: { "deepseek-chat": { cost: { input: 9, output: 9 } } } },
      openai: { id: "openai", models: { "gpt-image": { name: "no cost" } } },
    });
    expect([...(found ?? [])].map(([name, numbers]) => [name, toDollars(numbers)])).toEqual([
      ["deepseek-chat", { ModelRatio: 0.28, CompletionRatio: 0.42, CacheRatio: 0.028 }],
    ]);
  });

  test("the import by hand reads both, and neither is taken for a gateway's list", () => {
    expect(readPrices(LITELLM)?.get("claude-sonnet-4-5")?.ModelRatio).toBe(1.5);
    expect(readCatalogue({ model_ratio: { m: 1 } })).toBeUndefined();
    expect(readPrices({ model_ratio: { m: 1 } })?.get("m")).toEqual({ ModelRatio: 1 });
  });

  test("negative, enormous and textual prices are no prices", () => {
    for (const cost of [-1, 5, "0.1", null])
      expect(
        readCatalogue({ m: { litellm_provider: "x", input_cost_per_token: cost, output_cost_per_token: 1e-6 } })?.size,
      ).toBe(0);
  });
});

describe("the option PriceFeeds", () => {
  const problem = (value: unknown) => {
    const checked = priceFeedsShape()(value);
    return "value" in checked ? undefined : checked.en;
  };
  test("refuses names twice, addresses that are none, keys of another length, unknown members", () => {
    const feed = { name: "a", url: "https://prices.example/x" };
    expect(problem([feed])).toBeUndefined();
    for (const bad of [
      [feed, feed],
      [{ ...feed, url: "file:///etc/passwd" }],
      [{ ...feed, key: "short" }],
      [{ ...feed, hours: 1.5 }],
      [{ ...feed, more: 1 }],
      {},
    ])
      expect(problem(bad)).toStartWith("Not a valid list of price feeds");
  });
});
