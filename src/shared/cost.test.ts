import { describe, expect, test } from "bun:test";
import { settingProblem } from "./channel-setting";
import { belowCost, type BilledCall, costOf, parseCostPrices } from "./cost";
import { compilePrice } from "./pricing";

const PEAK = Date.parse("2026-11-23T02:00:00Z");
const call = (model: string, usage: BilledCall["usage"], more: Partial<BilledCall> = {}): BilledCall => ({
  model,
  usage,
  moment: PEAK,
  ...more,
});

describe("the cost of a call", () => {
  test("is the vendor's list price, to a billionth of a dollar, at the hour of the call", () => {
    const usage = { input: 1000, cache_read: 500, output: 100 };
    // 1000 x 2.5 + 500 x 1.25 + 100 x 10 USD per million
    expect(costOf({}, call("gpt-4o", usage))).toBe(4_125_000);
    expect(costOf({}, call("gpt-4o", { input: 1 }))).toBe(2_500);
    // 1000 x 1.32 + 500 x 0.044 + 100 x 3.96; half of it at lunch time in Beijing
    expect(costOf({}, call("deepseek-v4-pro", usage))).toBe(1_738_000);
    const lunch = Date.parse("2026-11-23T05:00:00Z");
    expect(costOf({}, call("deepseek-v4-pro", usage, { moment: lunch }))).toBe(869_000);
  });

  test("contains pictures, videos and server-side tools", () => {
    expect(costOf({}, call("dall-e-3", {}, { times: { calls: 2, factors: { size: 2 } } }))).toBe(160_000_000);
    expect(costOf({}, call("gpt-4o", { server_tools: { web_search: 3 } }))).toBe(30_000_000);
    const half = compilePrice(
      "m",
      "",
      { model_ratio: { value: 1, source: "test" } },
      { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
    );
    expect(costOf({}, call("gpt-4o", { input: 7 }, { priced: () => half }))).toBe(7);
  });

  test("of a batch is what vendors ask for one, whatever it is sold at", () => {
    const usage = { input: 1_000_000 };
    expect(costOf({}, call("gpt-4o", usage, { batch: true }))).toBe(1_250_000_000);
    const own = { cost_prices: JSON.stringify({ "gpt-4o": { input: 1 } }) };
    expect(costOf(own, call("gpt-4o", usage, { batch: true }))).toBe(500_000_000);
  });

  test("is the channel's share of the list price, and nothing where that is 0", () => {
    const usage = { input: 1000 };
    expect(costOf({ cost_percent: 80 }, call("gpt-4o", usage))).toBe(2_000_000);
    expect(costOf({ cost_percent: 0 }, call("gpt-4o", usage))).toBe(0);
  });

  test("in another currency is converted by its rate, and not known without one", () => {
    const yuan = { cost_prices: JSON.stringify({ "gpt-4o": { input: 14, output: 70 } }), cost_currency: "CNY" };
    const usage = { input: 1000, output: 10 };
    expect(costOf(yuan, call("gpt-4o", usage), { CNY: { rate: 7 } })).toBe(2_100_000);
    expect(costOf({ ...yuan, cost_currency: "USD" }, call("gpt-4o", usage))).toBe(14_700_000);
    expect(costOf(yuan, call("gpt-4o", usage), { EUR: { rate: 0.9 } })).toBeNull();
    expect(costOf(yuan, call("gpt-4o", usage))).toBeNull();
    // List prices are in dollars whatever the channel's own are in.
    expect(costOf({ ...yuan, cost_percent: 50 }, call("gpt-4o-mini", { input: 1000 }))).toBe(75_000);
    expect(["CNY", "cny", "YUAN"].map((code) => settingProblem("cost_currency", code) === undefined)).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("is by the rules of the channel's own prices, which see the tier that was sent or that the answer names", () => {
    const rules = [
      { name: "fast", when: { service_tier: ["priority"] }, then: { factor: 3 } },
      { name: "us", when: { region: ["us"] }, then: { usd: { input: 7 } } },
      { name: "flex", when: { service_tier: ["flex"] }, then: { factor: 0.5 }, cheaper: true },
      { name: "peak", when: { hours: [{ zone: "Asia/Shanghai", from: "09:00", to: "12:00" }] }, then: { factor: 2 } },
    ];
    const own = { cost_prices: JSON.stringify({ m: { input: 2, rules } }), cost_currency: "CNY" };
    const rates = { CNY: { rate: 7 } };
    const usage = { input: 7000 };
    const evening = PEAK + 8 * 3_600_000;
    const cost = (more: Partial<BilledCall>) => costOf(own, call("m", usage, { moment: evening, ...more }), rates);
    expect(cost({})).toBe(2_000_000);
    expect(cost({ moment: PEAK })).toBe(4_000_000);
    expect(cost({ facts: { service_tier: ["priority"] } })).toBe(6_000_000);
    expect(cost({ facts: { inference_geo: ["us"] } })).toBe(7_000_000);
    expect(
      cost({ facts: { service_tier: ["priority"] }, usage: { ...usage, served: { service_tier: "default" } } }),
    ).toBe(2_000_000);
    expect(cost({ usage: { ...usage, served: { service_tier: "flex" } } })).toBe(1_000_000);
    const wrong = JSON.stringify({ m: { input: 2, rules: [{ name: "x", when: {}, then: { factor: 0 } }] } });
    expect(parseCostPrices(wrong)).toHaveProperty("problem");
  });

  test("is by the channel's own prices where it has them, the exact name before the longest prefix", () => {
    const cost_prices = JSON.stringify({
      "gpt-*": { input: 1 },
      "gpt-4*": { input: 2, output: 8, cache_read: 0.5 },
      "gpt-4o": { input: 3 },
      picture: { call: 0.02 },
    });
    const of = (model: string, usage: BilledCall["usage"]): number | null =>
      costOf({ cost_prices, cost_percent: 50 }, call(model, usage));
    expect(of("gpt-4o", { input: 1000, output: 1000 })).toBe(6_000_000);
    expect(of("gpt-4.1", { input: 1000, cache_read: 1000, output: 1000, reasoning: 1000 })).toBe(18_500_000);
    expect(of("gpt-9", { input: 1000, output: 1000 })).toBe(2_000_000);
    expect(of("picture", {})).toBe(20_000_000);
    // Not in the channel's table: its share of the list price.
    expect(of("claude-opus-4-5", { input: 1000 })).toBe(2_500_000);
  });

  test("is unknown for a model without any price", () => {
    expect(costOf({}, call("mine", { input: 1000 }))).toBeNull();
  });
});

test.each([
  ["{", "not JSON"],
  ["[]", ""],
  ['{"m":{}}', "either input or call"],
  ['{"m":{"input":0}}', "input"],
  ['{"m":{"input":-1}}', "input"],
  ['{"m":{"input":1,"call":1}}', "either input or call"],
  ['{"m":{"inputs":1}}', ""],
])("a channel's cost prices %s are refused", (text, problem) => {
  const parsed = parseCostPrices(text);
  expect("problem" in parsed ? parsed.problem : "accepted").toContain(problem);
  expect(settingProblem("cost_prices", text)).toBeDefined();
});

test("a channel's cost is set in whole percent, its prices as JSON", () => {
  expect(settingProblem("cost_prices", '{"m*":{"input":0.5,"output":2}}')).toBeUndefined();
  expect(settingProblem("cost_prices", "")).toBeUndefined();
  expect([0, 72, 10_000].map((value) => settingProblem("cost_percent", value))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(settingProblem("cost_percent", -1)).toBeDefined();
});

describe("a sale below cost", () => {
  const sold = (input: number, output = input, group = 1) =>
    compilePrice(
      "m",
      "default",
      {
        model_ratio: { value: input / 2, source: "test" },
        completion_ratio: { value: output / input, source: "test" },
        cache_ratio: { value: 0.5, source: "test" },
        group_ratio: { value: group, source: "test" },
      },
      { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
    );

  test("is found for input, output and the group's ratio, by the channel's share of the list price", () => {
    expect(belowCost(sold(2.5, 10), {}, "gpt-4o", PEAK)).toBeUndefined();
    expect(belowCost(sold(2.4, 10), {}, "gpt-4o", PEAK)).toMatchObject({ sale: 2.4, cost: 2.5 });
    expect(belowCost(sold(2.5, 9), {}, "gpt-4o", PEAK)).toMatchObject({ sale: 9, cost: 10 });
    expect(belowCost(sold(2.5, 10, 0.5), {}, "gpt-4o", PEAK)).toMatchObject({ cost: expect.any(Number) });
    expect(belowCost(sold(2.5, 10, 0.5), { cost_percent: 50 }, "gpt-4o", PEAK)).toBeUndefined();
    expect(belowCost(sold(2.5), { cost_prices: '{"gpt-4o":{"call":1}}' }, "gpt-4o", PEAK)).toBeUndefined();
    expect(belowCost(sold(1), {}, "mine", PEAK)).toBeUndefined();
  });

  test("is found at the vendor's hours, wherever in the week they begin", () => {
    const saturday = Date.parse("2026-11-28T12:00:00Z");
    // The off-peak price all day is half the cost at peak.
    const found = belowCost(sold(0.66, 1.98), {}, "deepseek-v4-pro", saturday);
    expect(found).toMatchObject({ moment: Date.parse("2026-11-30T01:00:00Z") });
    const hours = [{ zone: "Asia/Shanghai", from: "09:00", to: "18:00" }];
    const rules = [{ name: "day", when: { hours }, then: { factor: 2 } }];
    expect(belowCost({ ...sold(0.66, 1.98), rules }, {}, "deepseek-v4-pro", saturday)).toBeUndefined();
  });
});
