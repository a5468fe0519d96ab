import { describe, expect, test } from "bun:test";
import { chargeOf } from "./charge";
import { priceNotes } from "./model-prices";
import { defaultValue } from "./options";
import { type PriceTables, priceTableKeys, resolvePrice } from "./pricing";
import { priceAt } from "./ruled-price";

const defaults = Object.fromEntries(priceTableKeys.map((key) => [key, defaultValue(key)])) as unknown as PriceTables;

/** USD of a million tokens of each kind at a moment, with the name of the rule. */
function usdAt(model: string, iso: string, tables = defaults): [rule: string | undefined, ...usd: number[]] {
  const listed = resolvePrice(model, "default", "default", tables);
  if (listed.unpriced) throw new Error(`${model} has no price`);
  const price = priceAt(listed, { moment: Date.parse(iso), member: () => [] });
  const usage = [{ input: 1_000_000 }, { cache_read: 1_000_000 }, { output: 1_000_000 }];
  return [price.rule?.name, ...usage.map((used) => chargeOf(price, used).quota / defaults.QuotaPerUnit)];
}

describe("DeepSeek's hours", () => {
  const peak = [undefined, 1.32, 0.044, 3.96];
  const half = ["DeepSeek off-peak", 0.66, 0.022, 1.98];

  // 23 November 2026 is a Monday.
  test.each([
    ["2026-11-23T00:59:59.999Z", half],
    ["2026-11-23T01:00:00.000Z", peak],
    ["2026-11-23T03:59:59.999Z", peak],
    ["2026-11-23T04:00:00.000Z", half],
    ["2026-11-23T05:59:59.999Z", half],
    ["2026-11-23T06:00:00.000Z", peak],
    ["2026-11-23T09:59:59.999Z", peak],
    ["2026-11-23T10:00:00.000Z", half],
    ["2026-11-27T09:59:59.999Z", peak],
    ["2026-11-27T10:00:00.000Z", half],
    ["2026-11-28T02:00:00.000Z", half],
    ["2026-11-29T07:00:00.000Z", half],
    ["2026-11-29T15:59:59.999Z", half],
    ["2026-11-29T16:00:00.000Z", half],
    ["2026-11-30T01:00:00.000Z", peak],
    // Beijing has no daylight saving: nothing moves when Europe and America change their clocks.
    ["2026-03-09T01:00:00.000Z", peak],
    ["2026-03-30T00:59:59.999Z", half],
    ["2026-10-26T01:00:00.000Z", peak],
    ["2026-11-02T03:59:59.999Z", peak],
  ])("at %s the price of V4 Pro is the vendor's", (iso, expected) => {
    expect<unknown>(usdAt("deepseek-v4-pro", iso)).toEqual(expected);
  });

  test("assume no public holiday, whose dates are not published for 2027, and the note says until when they are known", () => {
    // New Year, the Monday after the Spring Festival of 6 February, Labour Day: peak, which is never below cost.
    for (const day of ["2027-01-01", "2027-02-08", "2027-05-03"])
      expect<unknown>(usdAt("deepseek-v4-pro", `${day}T02:00:00Z`)).toEqual(peak);
    const note = priceNotes["deepseek-v4-pro"];
    for (const text of [note?.zh, note?.en]) expect(text).toContain("2026-12-31");
  });

  test("hold for Flash by both its names", () => {
    for (const model of ["deepseek-flash", "deepseek-v4-flash"]) {
      expect(usdAt(model, "2026-11-23T02:00:00Z")).toEqual([undefined, 0.3, 0.006, 1.2]);
      expect(usdAt(model, "2026-11-23T05:00:00Z")).toEqual(["DeepSeek off-peak", 0.15, 0.003, 0.6]);
    }
  });

  test("end where the operator sets another price, or rules of the model's own", () => {
    const night = "2026-11-23T20:00:00Z";
    const dearer = { ...defaults, ModelRatio: { ...defaults.ModelRatio, "deepseek-v4-pro": 1 } };
    expect(usdAt("deepseek-v4-pro", night, dearer).slice(0, 2)).toEqual([undefined, 2]);
    expect(usdAt("deepseek-v4-pro", night, { ...defaults, PriceRules: { "deepseek-v4-pro": [] } })[0]).toBeUndefined();
    const own = [{ name: "own", when: {}, then: { factor: 3 } }];
    expect(usdAt("deepseek-v4-pro", night, { ...defaults, PriceRules: { "deepseek-*": own } }).slice(0, 2)).toEqual([
      "own",
      3.96,
    ]);
  });
});

test.each([
  ["2026-12-31T23:59:59.999Z", ["Gemini introductory price", 0.75, 0.075, 3.75]],
  ["2027-01-01T00:00:00.000Z", [undefined, 1.5, 0.15, 7.5]],
])("at %s Gemini 3.6, 3.7 and 3.8 Flash have the vendor's price", (iso, expected) => {
  for (const model of ["gemini-3.8-flash", "gemini-3.7-flash", "gemini-3.6-flash"])
    expect<unknown>(usdAt(model, iso)).toEqual(expected);
});
