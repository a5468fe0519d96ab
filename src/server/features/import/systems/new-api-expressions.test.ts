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

test("one tier becomes ratios, with caches, audio and images relative to the input", () => {
  expect(priced('tier("base", p * 2.5 + c * 15 + cr * 0.25 + cc * 3.125 + ai * 10 + ao * 20)')).toEqual({
    ModelRatio: 1.25,
    CompletionRatio: 6,
    CacheRatio: 0.1,
    CreateCacheRatio: 1.25,
    AudioRatio: 4,
    AudioCompletionRatio: 2,
  });
});

test("two tiers by length become a tier of long inputs; a fixed price a price by call", () => {
  expect(priced('v1:len <= 200000 ? tier("a", p * 1.25 + c * 10) : tier("b", p * 2.5 + c * 15)')).toEqual({
    ModelRatio: 0.625,
    CompletionRatio: 8,
    LongContextRatio: [{ over: 200_000, input: 2, output: 1.5 }],
  });
  expect(priced("fixed(0.04)")).toEqual({ ModelPrice: 0.04 });
});

test.each([
  'tier("a", p * 1) ||| when(hour(0) < 8) * 0.5',
  'p * 1 * param("x")',
  "c * 3",
  "p * 1 + p * 2",
  "max(p * 1, 2)",
  "",
  'header("x") == "y" ? fixed(1) : fixed(2)',
])("what ratios cannot say is left: %s", (expression) => {
  expect(priced(expression)).toBe("left");
});
