import { describe, expect, test } from "bun:test";
import { belowCost, costOf } from "./cost";
import { chargeOf } from "./charge";
import { longContextTiers } from "./model-prices";
import type { RequestFacts, Served } from "./price-rules";
import { builtInTables } from "./price-rows";
import { priceBook, type Usage } from "./pricing";
import { priceAt } from "./ruled-price";

const book = priceBook({
  ...builtInTables,
  LongContextRatio: longContextTiers,
  PriceRules: {},
  GroupRatio: { default: 2 },
  GroupGroupRatio: {},
  "tool_price_setting.prices": {},
  QuotaPerUnit: 500_000,
  SelfUseModeEnabled: false,
});

const NOON = Date.parse("2026-11-23T12:00:00Z");
const THOUSAND: Usage = { input: 1000, output: 1000 };

interface Called {
  readonly sent?: RequestFacts;
  readonly served?: Served;
  readonly moment?: number;
  readonly usage?: Usage;
}

/** What a call is sold at in thousandths of a dollar, and which rule made the price. */
function sold(model: string, { sent = {}, served, moment = NOON, usage = THOUSAND }: Called = {}) {
  const listed = book.price(model, "default", "default");
  if (listed.unpriced) throw new Error(`${model} has no price`);
  const { quota, rule } = chargeOf(priceAt(listed, { moment, member: (path) => sent[path] ?? [], served }), usage);
  return [quota / 500, rule?.name];
}
const paid = (model: string, { sent, served, moment = NOON, usage = THOUSAND }: Called = {}): number =>
  (costOf({}, { model, moment, usage: { ...usage, ...(served && { served }) }, facts: sent }) ?? Number.NaN) / 1e6;

const sends = (name: string, ...values: string[]): Called => ({ sent: { [name]: values } });
const answers = (served: Served): Called => ({ served });

/** Model, call, what 1,000 tokens in and 1,000 out cost by the vendor's page in thousandths of a dollar. */
const GOLDEN: readonly (readonly [model: string, call: Called, price: number])[] = [
  ["gpt-6-astra", {}, 60],
  ["gpt-6-astra", sends("service_tier", "ultrafast"), 360],
  ["gpt-6-astra", sends("service_tier", "priority"), 120],
  ["gpt-6-astra", { ...sends("service_tier", "ultrafast"), served: { service_tier: "fast" } }, 120],
  ["gpt-6.1-sol", sends("service_tier", "ultrafast"), 72],
  ["gpt-6.1-terra", sends("service_tier", "fast"), 12],
  ["gpt-6.1-terra", answers({ service_tier: "flex" }), 3],
  // No page names a flex price of them.
  ["gpt-6.2-sol", answers({ service_tier: "flex" }), 12],
  ["gpt-6-luna", answers({ service_tier: "flex" }), 0.6],
  ["gpt-5.6-sol", sends("service_tier", "fast"), 48],
  ["gpt-5.5-pro", answers({ service_tier: "flex" }), 105],
  ["gpt-5.3-codex", sends("service_tier", "priority"), 31.5],
  ["gpt-5.1-codex-mini", sends("service_tier", "priority"), 4.05],
  ["o3", sends("service_tier", "priority"), 17.5],
  ["o3", answers({ service_tier: "flex" }), 5],
  ["gpt-5.5", sends("service_tier", "priority"), 87.5],
  ["gpt-5-mini", answers({ service_tier: "priority" }), 4.05],
  ["gpt-4.1", answers({ service_tier: "priority" }), 17.5],
  ["gpt-4o", answers({ service_tier: "priority" }), 21.25],
  ["gpt-5", answers({ service_tier: "flex" }), 5.625],
  ["gpt-5", answers({ service_tier: "default" }), 11.25],
  // Asked for and not confirmed: a discount is the vendor's to give.
  ["gpt-5", sends("service_tier", "flex"), 11.25],
  ["claude-opus-5-5", {}, 24],
  ["claude-opus-5-5", sends("speed", "fast"), 48],
  ["claude-opus-5-5", sends("inference_geo", "us"), 26.4],
  ["claude-opus-5-5", { sent: { speed: ["fast"], inference_geo: ["us"] } }, 52.8],
  ["claude-opus-5-5", { sent: { speed: ["fast"] }, served: { speed: "standard", inference_geo: "global" } }, 24],
  ["claude-fable-5-2", sends("speed", "fast"), 96],
  ["claude-opus-4-6", answers({ inference_geo: "us" }), 33],
  ["claude-opus-4-5", answers({ inference_geo: "not_available" }), 30],
  // Anthropic's priority tier is capacity that was bought beforehand: no other price a token.
  ["claude-sonnet-5-5", answers({ service_tier: "priority" }), 12],
  ["gemini-3.1-pro-preview", sends("serviceTier", "priority"), 25.2],
  ["gemini-3.1-pro-preview", answers({ service_tier: "flex" }), 7],
  ["grok-4.6", sends("service_tier", "priority"), 16],
  ["qwen-plus", {}, 1.6],
  ["qwen-plus", { sent: { enable_thinking: ["false"] } }, 1.6],
  ["qwen-turbo", sends("enable_thinking", "true"), 0.55],
  ["mistral-large-latest", sends("service_tier", "priority"), 2],
];

describe("the vendors' own rules", () => {
  test.each(GOLDEN)("%s, %o costs its vendor's price, sold and paid alike", (model, call, price) => {
    expect(sold(model, call)[0]).toBeCloseTo(price * 2, 3);
    expect(paid(model, call)).toBeCloseTo(price, 6);
  });

  test("are for models that have a price, and never sell one below what the vendor asks", () => {
    const models = Object.keys(builtInTables.ModelRatio);
    const ruled = models.filter((model) => {
      const price = book.price(model, "default", "default");
      return !price.unpriced && price.rules;
    });
    // Every name of the list: a name without a price would be missing here.
    expect(ruled).toHaveLength(69);
    for (const model of ruled) {
      const price = book.price(model, "default", "default");
      if (!price.unpriced) expect(belowCost(price, {}, model, NOON)).toBeUndefined();
    }
  });

  test("of DeepSeek begin and end at the edges of its windows, in both directions", () => {
    const at = (time: string) => sold("deepseek-v4-pro", { moment: Date.parse(`2026-11-${time}:00+08:00`) });
    const [peak, off] = [
      [10.56, undefined],
      [5.28, "DeepSeek off-peak"],
    ];
    // Monday.
    expect(
      ["23T08:59", "23T09:00", "23T11:59", "23T12:00", "23T13:59", "23T14:00", "23T17:59", "23T18:00"].map(at),
    ).toEqual([off, peak, peak, off, off, peak, peak, off]);
    expect(["21T10:00", "22T15:00", "27T09:00"].map(at)).toEqual([off, off, peak]);
  });

  test("of Google's introductory price end with the year, in each tier", () => {
    const [last, next] = [Date.parse("2026-12-31T23:59:59Z"), Date.parse("2027-01-01T00:00:00Z")];
    const prices = (call: Called): unknown[] =>
      [last, next].map((moment) => paid("gemini-3.8-flash", { ...call, moment }));
    expect(prices({})).toEqual([4.5, 9]);
    expect(prices(answers({ service_tier: "flex" }))).toEqual([2.25, 4.5]);
    expect(prices(answers({ service_tier: "priority" }))).toEqual([8.1, 16.2]);
    // Until the vendor says that it gave the lower price of that tier, it is the one that stays.
    expect(prices(sends("serviceTier", "priority"))).toEqual([16.2, 16.2]);
  });

  test("of long inputs hold from the vendor's edge on, and a tier multiplies them", () => {
    const long = (model: string, input: number, call: Called = {}) => paid(model, { ...call, usage: { input } }) * 1000;
    // xAI from 200,000 tokens on, OpenAI and Alibaba above theirs.
    expect(long("grok-4.6", 199_999)).toBeCloseTo(399_998, 3);
    expect(long("grok-4.6", 200_000)).toBeCloseTo(800_000, 3);
    expect(long("gpt-5.4", 272_000)).toBeCloseTo(680_000, 3);
    expect(long("gpt-5.4", 272_001)).toBeCloseTo(1_360_005, 3);
    expect(long("gpt-5.4", 272_001, sends("service_tier", "priority"))).toBeCloseTo(2_720_010, 3);
    expect(long("qwen3-max", 32_000)).toBeCloseTo(38_400, 3);
    expect(long("qwen3-max", 32_001)).toBeCloseTo(76_802.4, 3);
    expect(long("qwen3-coder-flash", 128_001)).toBeCloseTo(102_400.8, 3);
    expect(long("qwen-plus", 256_001)).toBeCloseTo(307_201.2, 3);
    // Thoughts: 4 dollars a million for 1.2, and 12 for 3.6; never less than the vendor asks.
    const thinking = (input: number) =>
      paid("qwen-plus", { ...sends("enable_thinking", "true"), usage: { input, output: 1_000_000 } }) * 1000 -
      input * 0.4;
    expect(thinking(1000)).toBeGreaterThanOrEqual(4_000_000);
    expect(thinking(1000)).toBeCloseTo(4_000_000, -2);
    expect(thinking(256_001) - 256_001 * 0.8).toBeCloseTo(12_000_000, -2);
  });

  test("give way to an operator's own price or list of rules", () => {
    const own = priceBook({ ...book.tables, PriceRules: { "gpt-5": [] } });
    const price = own.price("gpt-5", "default", "default");
    expect(price.unpriced || price.rules).toBeUndefined();
    const dearer = priceBook({ ...book.tables, ModelRatio: { ...builtInTables.ModelRatio, "gpt-5": 9 } });
    const changed = dearer.price("gpt-5", "default", "default");
    expect(changed.unpriced || changed.rules).toBeUndefined();
  });
});

test("the margin of calls in every tier is the sum of their sales less what their vendor's page says", () => {
  let [sales, costs, page] = [0, 0, 0];
  for (const [model, call, price] of GOLDEN) {
    sales += Number(sold(model, call)[0]);
    costs += paid(model, call);
    page += price;
  }
  // The group sells at twice the price.
  expect(sales - costs).toBeCloseTo(page, 3);
});
