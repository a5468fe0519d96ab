import { describe, expect, test } from "bun:test";
import { defaultValue } from "./options";
import { type DayUse, priceEffect } from "./price-use";
import type { PriceRule } from "./price-rules";
import { type PriceTables, priceTableKeys } from "./pricing";

const base = Object.fromEntries(priceTableKeys.map((key) => [key, defaultValue(key)])) as unknown as PriceTables;
const tables: PriceTables = {
  ...base,
  ModelRatio: { m: 1, free: 0 },
  CompletionRatio: { m: 4 },
  ModelPrice: { call: 0.01 },
  LongContextRatio: {},
  PriceRules: {},
  GroupRatio: { default: 1, vip: 0.5 },
};
const use = (more: Partial<DayUse> = {}): DayUse => ({
  model: "m",
  group: "default",
  hour: Date.parse("2026-11-23T02:00:00Z") / 1000,
  count: 10,
  quota: 5000,
  prompt_tokens: 1000,
  completion_tokens: 1000,
  ...more,
});

describe("the effect of a change of prices on the last 24 hours", () => {
  test("is nothing without a change, and nothing for models that the change does not affect", () => {
    expect(priceEffect([use(), use({ model: "call" })], tables, tables)).toBe(0);
    expect(priceEffect([use()], tables, { ...tables, ModelRatio: { ...tables.ModelRatio, other: 9 } })).toBe(0);
    expect(priceEffect([], tables, { ...tables, ModelRatio: {} })).toBe(0);
  });

  test("doubling an input price doubles what was charged, whatever part of it was cached", () => {
    const after = { ...tables, ModelRatio: { m: 2 } };
    expect(priceEffect([use(), use({ quota: 700, group: "vip" })], tables, after)).toBe(5700);
    expect(priceEffect([use()], after, tables)).toBe(-2500);
  });

  test("a higher output price counts by its share: 1000 x 1 + 1000 x 8 instead of 1000 x 1 + 1000 x 4", () => {
    expect(priceEffect([use()], tables, { ...tables, CompletionRatio: { m: 8 } })).toBe(4000);
  });

  test("a price per call counts calls, a group's ratio its own rows", () => {
    expect(
      priceEffect([use({ model: "call", quota: 50_000 })], tables, { ...tables, ModelPrice: { call: 0.03 } }),
    ).toBe(100_000);
    expect(
      priceEffect([use(), use({ group: "vip", quota: 2500 })], tables, {
        ...tables,
        GroupRatio: { default: 1, vip: 1 },
      }),
    ).toBe(2500);
  });

  test("usage that was free or had no price costs the formula's result, and usage that loses its price earns nothing", () => {
    expect(
      priceEffect([use({ model: "free", quota: 0 })], tables, {
        ...tables,
        ModelRatio: { free: 1 },
        CompletionRatio: { free: 1 },
      }),
    ).toBe(2000);
    expect(
      priceEffect([use({ model: "new", quota: 0 })], tables, {
        ...tables,
        ModelRatio: { ...tables.ModelRatio, new: 1 },
        CompletionRatio: { new: 2 },
      }),
    ).toBe(3000);
    expect(priceEffect([use()], tables, { ...tables, ModelRatio: {} })).toBe(-5000);
    expect(priceEffect([use()], tables, { ...tables, ModelRatio: { m: 0 } })).toBe(-5000);
  });

  test("a tier applies to models whose average call reaches it, not to the sum of many short calls", () => {
    const after = { ...tables, LongContextRatio: { m: [{ over: 500, input: 2, output: 2 }] } };
    expect(priceEffect([use()], tables, after)).toBe(0);
    expect(priceEffect([use({ count: 1 })], tables, after)).toBe(5000);
  });

  test("rules of hours and dates count in their hours, by the quarter; those of lengths by the average call", () => {
    const window = { zone: "UTC", from: "02:30", to: "03:00" };
    const after = (...rules: PriceRule[]) => ({ ...tables, PriceRules: { m: rules } });
    const half = after({ name: "half", when: { hours: [window] }, then: { factor: 3 } });
    const later = use({ hour: Date.parse("2026-11-23T03:00:00Z") / 1000 });
    expect(priceEffect([use(), later], tables, half)).toBe(5000);
    expect(priceEffect([use(), later], half, tables)).toBe(-2500);
    const ended = after({
      name: "ended",
      when: { dates: [{ zone: "UTC", until: "2026-11-22" }] },
      then: { factor: 3 },
    });
    expect(priceEffect([use(), later], tables, ended)).toBe(0);
    const long = after({ name: "long", when: { input: { over: 500 } }, then: { factor: 3 } });
    expect([use(), use({ count: 1 })].map((one) => priceEffect([one], tables, long))).toEqual([0, 10_000]);
    const asked = after({ name: "tier", when: { service_tier: ["priority"] }, then: { factor: 3 } });
    expect(priceEffect([use()], tables, asked)).toBe(0);
  });

  test("rows without calls or with refunds only are accepted", () => {
    expect(
      priceEffect([use({ count: 0, quota: -40, prompt_tokens: 0, completion_tokens: 0 })], tables, {
        ...tables,
        ModelRatio: { m: 3 },
      }),
    ).toBe(0);
    expect(
      priceEffect([use({ model: "call", count: 0, quota: 0 })], tables, { ...tables, ModelPrice: { call: 9 } }),
    ).toBe(0);
  });
});
