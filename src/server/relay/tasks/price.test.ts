import { expect, test } from "bun:test";
import { simplePrice } from "../../../../tests/relay/kit";
import { chargeOf } from "../../../shared/charge";
import type { PriceRule } from "../../../shared/price-rules";
import { compilePrice, type CompiledPrice } from "../../../shared/pricing";
import { priceAt } from "../../../shared/ruled-price";
import { videoKind } from "./video/kind";
import { jobPrice, packPrice, termsOf, unpackPrice } from "./price";

const NOON = Date.parse("2026-11-23T12:00:00Z");
const job = (json: object = {}) => ({
  body: Buffer.from(JSON.stringify(json)),
  kept: {},
});
const ruled = (...rules: PriceRule[]): CompiledPrice => ({ ...simplePrice, rules });
const noon: PriceRule = {
  name: "noon",
  when: { hours: [{ zone: "UTC", from: "12:00", to: "13:00" }] },
  then: { factor: 3 },
};

test("a job priced by its model's ratio costs what the rule of its moment says", () => {
  const terms = termsOf({ usage: {}, exact: true });
  const cost = (moment: number): number => chargeOf(jobPrice(job(), moment, terms, ruled(noon)), {}).quota;
  expect(cost(NOON)).toBe(cost(NOON - 1) * 3);
});

test("rules see the length, the resolution and the members of a job", () => {
  const long: PriceRule = { name: "long", when: { seconds: { over: 5 }, resolution: ["1080p"] }, then: { factor: 2 } };
  const mode: PriceRule = { name: "mode", when: { member: { path: "mode", values: ["pro"] } }, then: { factor: 5 } };
  const cost = (shown: object, json: object = {}): number =>
    chargeOf(jobPrice(job(json), NOON, termsOf({ usage: {}, exact: true, shown }), ruled(mode, long)), {}).quota;
  const plain = cost({});
  expect(cost({ seconds: 6, resolution: "1080p" })).toBe(plain * 2);
  expect(cost({ seconds: 5, resolution: "1080p" })).toBe(plain);
  expect(cost({}, { mode: "pro" })).toBe(plain * 5);
});

test("a video whose length and resolution the caller leaves open has its vendor's defaults for rules", () => {
  const [sora] = videoKind.providers;
  const shown = (more: object) =>
    sora?.terms?.({ model: "sora-2", prompt: "x", images: [], n: 1, extra: {}, ...more }, "sora-2", "generate").shown;
  expect(shown({})).toEqual({ seconds: 4, resolution: "720p" });
  expect(shown({ seconds: 8, resolution: "1024p" })).toEqual({ seconds: 8, resolution: "1024p" });
});

test("a price that an earlier release stored with its tiers beside it charges long inputs as it did", () => {
  const tables = { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} };
  const tiers = [
    { over: 1000, input: 2, output: 1.5 },
    { over: 5000, input: 4, output: 3 },
  ];
  const price = compilePrice("m", "g", { model_ratio: { value: 1, source: "x" } }, tables, tiers);
  const { open = [], ...bare } = price;
  const old = {
    ...bare,
    tiers: open.toReversed().map(({ when, price: { tokens } }) => ({ over: when.input?.over ?? 0, tokens })),
  };
  const restored = unpackPrice(packPrice(old));
  if (!restored) throw new Error("no price");
  for (const input of [1, 1000, 1001, 5000, 5001]) {
    // That release did not name the tier.
    const { rule: _, ...charge } = chargeOf(price, { input, output: 10 });
    expect(chargeOf(restored, { input, output: 10 })).toEqual(charge);
  }
  expect(unpackPrice(packPrice(price))).toEqual(price);
  expect(unpackPrice(packPrice({ ...bare, ...{ tiers: [] } }))).toEqual(bare);
});

test("a batch is discounted whatever its rules made, unless the rule is about batches; the charge names what made it", () => {
  const own: PriceRule = { name: "own", when: { batch: true }, then: { factor: 0.7 } };
  const dollars: PriceRule = { name: "usd", when: { batch: true }, then: { usd: { input: 20 } } };
  const length: PriceRule = { name: "long", when: { input: { over: 10 } }, then: { factor: 9 } };
  const terms = termsOf({ usage: { input: 1000 }, exact: false, shown: { batch: 0.5 } });
  const charge = (...rules: PriceRule[]) => {
    const { quota, rule } = chargeOf(jobPrice(job(), NOON, terms, ruled(...rules)), { input: 1000 });
    return [quota, rule?.name];
  };
  expect(charge()).toEqual([500, "Batch"]);
  // The sum of many short lines is not a long one.
  expect(charge(length)).toEqual([500, "Batch"]);
  expect(charge(noon)).toEqual([1500, "noon"]);
  expect(charge(own, noon)).toEqual([700, "own"]);
  expect(charge(dollars)).toEqual([10_000, "usd"]);
  // A single call is no batch.
  const single = jobPrice(job(), NOON, termsOf({ usage: { input: 1000 }, exact: false }), ruled(dollars, own));
  expect(chargeOf(single, { input: 1000 })).toMatchObject({ quota: 1000 });
});

test("no member of a request makes a batch of a call", () => {
  const own: PriceRule = { name: "own", when: { batch: true }, then: { factor: 0.1 } };
  const said = { service_tier: "batch", batch: true, extra_body: { batch: 0.5, service_tier: "batch" } };
  const price = jobPrice(job(said), NOON, termsOf({ usage: { input: 1000 }, exact: false }), ruled(own));
  expect(chargeOf(price, { input: 1000 }).quota).toBe(1000);
});

test("a stored price keeps the rule that applied and the rules that wait for the usage", () => {
  const length: PriceRule = { name: "long", when: { input: { over: 10 } }, then: { factor: 9 } };
  const price = priceAt(ruled(length, noon), { moment: NOON, member: () => [] });
  const stored = unpackPrice(packPrice(price));
  if (!stored) throw new Error("nothing stored");
  for (const input of [10, 11]) {
    const [before, after] = [chargeOf(price, { input }), chargeOf(stored, { input })];
    expect(after).toEqual(before);
    expect(after.rule?.name).toBe(input > 10 ? "long" : "noon");
  }
});
