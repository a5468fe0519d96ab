import { expect, test } from "bun:test";
import { expressionPrices } from "./new-api-expressions";

function priced(expression: string) {
  const raw = new Map([
    ["billing_setting.billing_mode", '{"m":"tiered_expr"}'],
    ["billing_setting.billing_expr", JSON.stringify({ m: expression })],
  ]);
  const { options, left } = expressionPrices(raw);
  const own = [...options(new Map())].map(([key, text]) => [key, JSON.parse(text).m] as const);
  return left.length > 0 ? "left" : Object.fromEntries(own);
}

/** Writes to caches that the expression does not name: they are a part of its `p`, where Weir asks a quarter more. */
const asInput = { CreateCacheRatio: 1, CreateCache1hRatio: 1 };

test("tokens that an expression does not name cost what plain ones do: caches, pictures, sound", () => {
  expect(priced("p * 2 + c * 8")).toEqual({ ModelRatio: 1, CompletionRatio: 4, ...asInput });
  // Sound that comes in has a price, sound that goes out is a part of c.
  expect(priced("p * 2 + c * 8 + ai * 16 + cc * 2.5 + cc1h * 4")).toEqual({
    ModelRatio: 1,
    CompletionRatio: 4,
    AudioRatio: 8,
    AudioCompletionRatio: 0.5,
  });
});

test("an expression is the whole price of its model: what the tables say of it besides is left", () => {
  const raw = new Map([
    ["billing_setting.billing_mode", '{"m":"tiered_expr"}'],
    ["billing_setting.billing_expr", '{"m":"p * 2 + c * 8"}'],
  ]);
  const before = new Map([
    ["ModelPrice", '{"m":0.5,"other":1}'],
    ["CacheRatio", '{"m":0.1}'],
    ["ImageRatio", '{"other":2}'],
  ]);
  const after = expressionPrices(raw).options(before);
  expect(after.get("ModelPrice")).toBe('{"other":1}');
  expect(after.get("CacheRatio")).toBe("{}");
  expect(after.has("ImageRatio")).toBe(false);
});

test("one tier becomes ratios, with caches, audio and images relative to the input", () => {
  expect(priced('tier("base", p * 2.5 + c * 15 + cr * 0.25 + cc * 3.125 + ai * 10 + ao * 20)')).toEqual({
    ModelRatio: 1.25,
    CompletionRatio: 6,
    CacheRatio: 0.1,
    CreateCache1hRatio: 1,
    AudioRatio: 4,
    AudioCompletionRatio: 2,
  });
});

test("two tiers by length become a tier of long inputs; a fixed price a price by call", () => {
  expect(priced('v1:len <= 200000 ? tier("a", p * 1.25 + c * 10) : tier("b", p * 2.5 + c * 15)')).toEqual({
    ModelRatio: 0.625,
    CompletionRatio: 8,
    ...asInput,
    LongContextRatio: [{ over: 200_000, input: 2, output: 1.5 }],
  });
  expect(priced("fixed(0.04)")).toEqual({ ModelPrice: 0.04 });
});

const plain = { ModelRatio: 1, CompletionRatio: 4, ...asInput };
const beijing = { zone: "Asia/Shanghai", days: [1, 2, 3, 4, 5] };
const peak = `(hour("Asia/Shanghai") >= 9 && hour("Asia/Shanghai") < 12 || hour("Asia/Shanghai") >= 14 && hour("Asia/Shanghai") < 18) && weekday("Asia/Shanghai") >= 1 && weekday("Asia/Shanghai") <= 5`;
const peakHours = [
  { ...beijing, from: "09:00", to: "12:00" },
  { ...beijing, from: "14:00", to: "18:00" },
];

test("a factor under a condition becomes a rule, in both forms in which new-api writes it", () => {
  const hours = {
    ...plain,
    PriceRules: [{ name: "base × 2", when: { hours: peakHours }, then: { factor: 2 } }],
  };
  expect(priced(`v1:(tier("base", p * 2 + c * 8)) * (${peak} ? 2 : 1)`)).toEqual(hours);
  expect(priced(`tier("base", p * 2 + c * 8)|||when(${peak}) * 2`)).toEqual(hours);
  const night = `hour("UTC") * 60 + minute("UTC") >= 0`;
  expect(priced(`p * 2 * (${night} ? 2 : 1)`)).toBe("left");
  expect(priced(`tier("b", p * 2 + c * 8) * (hour("UTC") >= 22 or hour("UTC") < 6 ? 0.5 : 1)`)).toEqual({
    ...plain,
    PriceRules: [
      {
        name: "b × 0.5",
        when: {
          hours: [
            { zone: "UTC", from: "00:00", to: "06:00" },
            { zone: "UTC", from: "22:00", to: "24:00" },
          ],
        },
        then: { factor: 0.5 },
      },
    ],
  });
});

test("several factors become a rule for each of their combinations, the most of them first", () => {
  const text = `tier("b", p * 2 + c * 8) * (param("service_tier") == "priority" ? 2 : 1) * (param("mode.x") == "pro" || param("mode.x") == "max" ? 0.5 : 1)`;
  const member = { path: "mode.x", values: ["pro", "max"] };
  expect(priced(text)).toEqual({
    ...plain,
    PriceRules: [
      { name: "b × 2 × 0.5", when: { service_tier: ["priority"], member }, then: { factor: 1 } },
      { name: "b × 2", when: { service_tier: ["priority"] }, then: { factor: 2 } },
      { name: "b × 0.5", when: { member }, then: { factor: 0.5 }, cheaper: true },
    ],
  });
});

test("three tiers by length become rules in dollars; tokens without a price of their own cost what plain ones do", () => {
  const text = `len <= 1000 ? tier("a", p * 1 + c * 2 + cr * 0.1) : len < 5000 ? tier("b", p * 2 + c * 3) : tier("c", p * 2 + c * 8)`;
  const dollars = (input: number, output: number, cache_read = input) => ({
    usd: {
      input,
      output,
      cache_read,
      cache_write_5m: input,
      cache_write_1h: input,
      image_in: input,
      audio_in: input,
      image_out: output,
      audio_out: output,
    },
  });
  expect(priced(text)).toEqual({
    ...plain,
    PriceRules: [
      { name: "a", when: { input: { up_to: 1000 } }, then: dollars(1, 2, 0.1) },
      { name: "b", when: { input: { up_to: 4999 } }, then: dollars(2, 3) },
    ],
  });
});

test("tiers whose kinds rise by different factors are rules, not tiers of long inputs", () => {
  const found = priced('len <= 1000 ? tier("a", p * 1 + c * 2 + cr * 0.1) : tier("b", p * 2 + c * 8 + cr * 0.1)');
  expect(found).toMatchObject({ ...plain, PriceRules: [{ name: "a", when: { input: { up_to: 1000 } } }] });
  expect(found).not.toHaveProperty("LongContextRatio");
});

test("prices by call under conditions become rules of a price by call", () => {
  expect(priced('param("size") == "1024x1792" ? tier("tall", fixed(0.08)) : tier("square", fixed(0.04))')).toEqual({
    ModelPrice: 0.04,
    PriceRules: [
      {
        name: "tall",
        when: { member: { path: "size", values: ["1024x1792"] } },
        then: { usd: { call: 0.08 } },
        cheaper: true,
      },
    ],
  });
});

test("conditions that exclude each other make no rule", () => {
  const text = `(len <= 10 ? tier("a", p * 1 + c * 2) : tier("b", p * 2 + c * 8)) * (len > 100 ? 2 : 1)`;
  expect(priced(text)).toMatchObject({
    PriceRules: [
      { name: "a", when: { input: { up_to: 10 } } },
      { name: "b × 2", when: { input: { over: 100 } }, then: { factor: 2 } },
    ],
  });
});

test.each([
  'tier("a", p * 1) ||| when(header("x") has "y") * 0.5',
  'tier("a", p * 1) * (header("x") == "y" ? 2 : 1)',
  'tier("a", p * 1) * (month("UTC") == 12 ? 2 : 1)',
  'tier("a", p * 1) * (param("x") != "y" ? 2 : 1)',
  'tier("a", p * 1) * (hour("Mars/Base") < 8 ? 2 : 1)',
  'len <= 10 ? fixed(1) : tier("a", p * 1)',
  'len <= 10 ? tier("free", p * 0 + c * 0) : param("x") == 1 ? tier("a", p * 1) : tier("b", p * 2)',
  'p * 1 + "',
  "((((p * 1",
  'p * 1 * param("x")',
  "c * 3",
  "p * 1 + p * 2",
  "max(p * 1, 2)",
  "",
  'header("x") == "y" ? fixed(1) : fixed(2)',
])("what ratios cannot say is left: %s", (expression) => {
  expect(priced(expression)).toBe("left");
});
