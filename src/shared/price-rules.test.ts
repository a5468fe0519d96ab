import { describe, expect, test } from "bun:test";
import { chargeOf, estimateUpperBound } from "./charge";
import { batchRule } from "./factor-rules";
import { tierRule } from "./long-context";
import { parseOption } from "./options";
import { checkRules, weekOf } from "./price-rule-check";
import { ruleText } from "./price-rule-text";
import {
  applies,
  type Circumstances,
  holdsAt,
  inWindow,
  isRule,
  membersAt,
  parseRules,
  type PriceRule,
} from "./price-rules";
import { type CompiledPrice, compilePrice, tokenKinds, type Usage } from "./pricing";
import { priceAt } from "./ruled-price";
import { localTime, startOfDay } from "./zone-time";

const at = (
  iso: string,
  body: Readonly<Record<string, unknown>> = {},
  facts: Partial<Circumstances> = {},
): Circumstances => ({
  moment: Date.parse(iso),
  member: (path) => membersAt(body, path),
  ...facts,
});
const anyTime = at("2026-11-23T00:00:00Z");

const plain: CompiledPrice = compilePrice(
  "m",
  "default",
  {
    model_ratio: { value: 1, source: "ModelRatio" },
    completion_ratio: { value: 3, source: "CompletionRatio" },
    cache_ratio: { value: 0.1, source: "CacheRatio" },
    group_ratio: { value: 1.5, source: "GroupRatio" },
  },
  { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
);
const ruled = (...rules: PriceRule[]): CompiledPrice => ({ ...plain, rules });
const quota = (price: CompiledPrice, usage: Usage): number => chargeOf(price, usage).quota;
const shanghai = (from: string, to: string, days?: number[]): PriceRule["when"] => ({
  hours: [{ zone: "Asia/Shanghai", from, to, ...(days && { days }) }],
});

describe("hours", () => {
  test("a window contains its first minute and not its last", () => {
    const window = { zone: "Asia/Shanghai", days: [1, 2, 3, 4, 5], from: "09:00", to: "12:00" };
    const holds = (iso: string): boolean => inWindow(window, Date.parse(iso));
    expect(holds("2026-11-23T00:59:59.999Z")).toBe(false);
    expect(holds("2026-11-23T01:00:00Z")).toBe(true);
    expect(holds("2026-11-23T03:59:59.999Z")).toBe(true);
    expect(holds("2026-11-23T04:00:00Z")).toBe(false);
    expect(holds("2026-11-22T02:00:00Z")).toBe(false);
  });

  test("a window over midnight belongs to the day on which it begins", () => {
    const window = { zone: "UTC", days: [5], from: "22:00", to: "06:00", except: ["2026-12-04"] };
    const holds = (iso: string): boolean => inWindow(window, Date.parse(iso));
    expect(holds("2026-11-27T22:00:00Z")).toBe(true);
    expect(holds("2026-11-28T05:59:00Z")).toBe(true);
    expect(holds("2026-11-28T06:00:00Z")).toBe(false);
    expect(holds("2026-11-27T05:00:00Z")).toBe(false);
    expect(holds("2026-11-28T22:00:00Z")).toBe(false);
    expect(holds("2026-12-05T05:00:00Z")).toBe(false);
  });

  test("a window follows the clock of its zone over both changes of daylight saving", () => {
    const window = { zone: "America/New_York", from: "01:30", to: "03:30" };
    const minutes = (date: string): number => {
      const start = Date.parse(`${date}T00:00:00Z`);
      return Array.from({ length: 1440 }, (_, i) => start + i * 60_000).filter((moment) => inWindow(window, moment))
        .length;
    };
    // 8 March 2026 has no 02:00 to 03:00, 1 November 2026 has 01:00 to 02:00 twice.
    expect([minutes("2026-03-07"), minutes("2026-03-08"), minutes("2026-11-01")]).toEqual([120, 60, 150]);
    expect(inWindow(window, Date.parse("2026-03-08T07:29:00Z"))).toBe(true);
    expect(inWindow(window, Date.parse("2026-03-08T07:30:00Z"))).toBe(false);
  });

  test("zones at odd quarters and moments out of order have their own clocks", () => {
    const moments = ["2026-11-23T01:00:00Z", "2026-06-01T23:59:59Z", "2026-11-23T01:00:00Z"].map(Date.parse);
    expect(moments.map((moment) => localTime("Asia/Kathmandu", moment).minute)).toEqual([405, 344, 405]);
    expect(localTime("America/St_Johns", Date.parse("2026-01-01T00:00:00Z"))).toEqual({
      day: 3,
      minute: 1230,
      date: "2025-12-31",
    });
  });
});

describe("dates", () => {
  const holds = (range: object, iso: string): boolean =>
    holdsAt({ when: { dates: [range] } as PriceRule["when"] }, Date.parse(iso));

  test("contain the whole of their first and of their last day, by the clock of their zone", () => {
    const newYork = { zone: "America/New_York", from: "2026-11-01", until: "2026-12-31" };
    // Daylight saving ends within the first day: it begins at 04:00 UTC, the range ends at 05:00 UTC.
    expect(holds(newYork, "2026-11-01T03:59:59.999Z")).toBe(false);
    expect(holds(newYork, "2026-11-01T04:00:00Z")).toBe(true);
    expect(holds(newYork, "2027-01-01T04:59:59.999Z")).toBe(true);
    expect(holds(newYork, "2027-01-01T05:00:00Z")).toBe(false);
    const kathmandu = { zone: "Asia/Kathmandu", until: "2026-12-31" };
    expect(holds(kathmandu, "2020-01-01T00:00:00Z")).toBe(true);
    expect(holds(kathmandu, "2026-12-31T18:14:59.999Z")).toBe(true);
    expect(holds(kathmandu, "2026-12-31T18:15:00Z")).toBe(false);
    const since = { zone: "UTC", from: "2027-01-01" };
    expect([holds(since, "2026-12-31T23:59:59.999Z"), holds(since, "2027-01-01T00:00:00Z")]).toEqual([false, true]);
  });

  test("and hours must both hold", () => {
    const when = { ...shanghai("09:00", "12:00"), dates: [{ zone: "UTC", until: "2026-12-31" }] };
    const moments = ["2026-12-31T02:00:00Z", "2026-12-31T05:00:00Z", "2027-01-01T02:00:00Z"].map(Date.parse);
    expect(moments.map((moment) => holdsAt({ when }, moment))).toEqual([true, false, false]);
  });

  test.each([
    ["America/New_York", "2026-03-08", "2026-03-08T05:00:00Z"],
    ["America/New_York", "2026-03-09", "2026-03-09T04:00:00Z"],
    ["America/New_York", "2026-11-01", "2026-11-01T04:00:00Z"],
    ["America/New_York", "2026-11-02", "2026-11-02T05:00:00Z"],
    ["Asia/Shanghai", "2027-01-01", "2026-12-31T16:00:00Z"],
    ["Asia/Kathmandu", "2026-01-01", "2025-12-31T18:15:00Z"],
  ])("in %s %s begins at %s", (zone, date, iso) => {
    expect(new Date(startOfDay(zone, date)).toISOString()).toBe(new Date(iso).toISOString());
  });
});

describe("a list of rules", () => {
  test.each<[string, unknown, RegExp]>([
    [
      "a zone that does not exist",
      [{ name: "a", when: { hours: [{ zone: "Mars/Base", from: "01:00", to: "02:00" }] }, then: { factor: 2 } }],
      /unknown time zone/,
    ],
    ["a factor of 0", [{ name: "a", when: {}, then: { factor: 0 } }], /./],
    ["a price of 0", [{ name: "a", when: {}, then: { usd: { input: 0 } } }], /./],
    ["no price at all", [{ name: "a", when: {}, then: { usd: {} } }], /./],
    ["an empty window", [{ name: "a", when: shanghai("09:00", "09:00"), then: { factor: 2 } }], /empty window/],
    ["an hour that does not exist", [{ name: "a", when: shanghai("09:00", "25:00"), then: { factor: 2 } }], /./],
    ["no date", [{ name: "a", when: { dates: [{ zone: "UTC" }] }, then: { factor: 2 } }], /without dates/],
    [
      "dates that end before they begin",
      [{ name: "a", when: { dates: [{ zone: "UTC", from: "2027-01-02", until: "2027-01-01" }] }, then: { factor: 2 } }],
      /before it begins/,
    ],
    [
      "a date that does not exist",
      [{ name: "a", when: { dates: [{ zone: "UTC", until: "2027-02-29" }] }, then: { factor: 2 } }],
      /./,
    ],
    ["an empty range", [{ name: "a", when: { input: { over: 5, up_to: 5 } }, then: { factor: 2 } }], /empty range/],
    ["an unknown condition", [{ name: "a", when: { moon: "full" }, then: { factor: 2 } }], /./],
    ["two rules of one name", [1, 2].map(() => ({ name: "a", when: {}, then: { factor: 2 } })), /one name/],
    [
      "a length of a batch's input, which is the sum of its lines",
      [{ name: "a", when: { batch: true, input: { over: 5 } }, then: { factor: 2 } }],
      /no length/,
    ],
    ["a caller's discount", [{ name: "a", when: { service_tier: ["flex"] }, then: { factor: 0.5 } }], /cheaper/],
    [
      "more than fifty rules",
      Array.from({ length: 51 }, (_, i) => ({ name: `${i}`, when: {}, then: { factor: 2 } })),
      /./,
    ],
  ])("is refused with %s", (_, rules, problem) => {
    const parsed = parseRules(rules);
    expect("problem" in parsed ? parsed.problem : "accepted").toMatch(problem);
    expect(parseOption("PriceRules", JSON.stringify({ m: rules })).ok).toBe(false);
  });

  test("is stored by the option PriceRules", () => {
    const rules = [{ name: "peak", when: shanghai("09:00", "12:00"), then: { factor: 2 } }];
    expect(parseOption("PriceRules", JSON.stringify({ "m*": rules }))).toEqual({ ok: true, value: { "m*": rules } });
  });
});

describe("the price of a call", () => {
  const peak: PriceRule = { name: "peak", when: shanghai("09:00", "12:00"), then: { factor: 2 } };
  const usage = { input: 1000, output: 100 };

  test("is that of the first rule that applies, else the plain one", () => {
    const late: PriceRule = { name: "late", when: shanghai("11:00", "13:00"), then: { factor: 3 } };
    const price = ruled(peak, late);
    const cost = (iso: string): number => quota(priceAt(price, at(iso)), usage);
    expect(["00:30", "03:30", "04:30", "05:00"].map((hour) => cost(`2026-11-23T${hour}:00Z`))).toEqual([
      1950, 3900, 5850, 1950,
    ]);
    expect(chargeOf(priceAt(price, at("2026-11-23T03:30:00Z")), usage).rule?.name).toBe("peak");
    expect(chargeOf(priceAt(price, at("2026-11-23T05:00:00Z")), usage).rule).toBeUndefined();
  });

  test("without rules is the listed price itself", () => {
    expect(priceAt(plain, anyTime)).toBe(plain);
    const price = ruled(peak);
    expect(priceAt(price, at("2026-11-23T02:00:00Z"))).toBe(priceAt(price, at("2026-11-23T03:00:00Z")));
  });

  test("in dollars replaces the named kinds, reasoning with the output, and keeps the group's ratio", () => {
    const price = priceAt(ruled({ name: "usd", when: {}, then: { usd: { input: 3, output: 9.5 } } }), anyTime);
    const { quota: units, lines } = chargeOf(price, { input: 1000, output: 100, reasoning: 10, cache_read: 100 });
    // (1000 x 1.5 + 110 x 4.75 + 100 x 0.1) x 1.5
    expect(units).toBe(3049);
    expect(lines.map(({ kind, usd }) => [kind, usd])).toEqual([
      ["input", "3"],
      ["cache_read", "0.2"],
      ["output", "9.5"],
      ["reasoning", "9.5"],
    ]);
  });

  test("by the length of the input is held at the dearest rule that the input can reach", () => {
    const price = priceAt(
      ruled(
        { name: "long", when: { input: { over: 1000 } }, then: { input: 2, output: 1.5 } },
        { name: "short", when: { input: { up_to: 10 } }, then: { factor: 5 } },
      ),
      anyTime,
    );
    expect(quota(price, { input: 1000 })).toBe(1500);
    expect(quota(price, { input: 500, cache_read: 501 })).toBe(Math.round((500 + 50.1) * 2 * 1.5));
    expect(quota(price, { input: 10 })).toBe(75);
    expect(estimateUpperBound(price, 1000, 0)).toBe(7500);
    const longOnly = priceAt(ruled({ name: "long", when: { input: { over: 1000 } }, then: { factor: 2 } }), anyTime);
    expect([1000, 1001].map((input) => estimateUpperBound(longOnly, input, 0))).toEqual([1500, 3003]);
  });

  test("by the cache is decided by what the vendor counted", () => {
    const price = priceAt(ruled({ name: "hit", when: { cached: true }, then: { factor: 0.5 } }), anyTime);
    expect([quota(price, { input: 1000 }), quota(price, { input: 900, cache_read: 100 })]).toEqual([1500, 683]);
  });

  test("is not lowered by what callers write, unless the operator says so", () => {
    const flex = (more: Partial<PriceRule>): PriceRule => ({
      name: "flex",
      when: { member: { path: "a.b", values: ["x"] } },
      then: { usd: { input: 0.1 } },
      ...more,
    });
    const body = { a: { b: "x" } };
    const call = at("2026-11-23T02:00:00Z", body);
    expect(quota(priceAt(ruled(flex({}), peak), call), usage)).toBe(3900);
    // Dearer than the plain price, and cheaper than the peak that it would replace.
    expect(quota(priceAt(ruled(flex({ then: { factor: 1.5 } }), peak), call), usage)).toBe(3900);
    expect(quota(priceAt(ruled(flex({ then: { factor: 1.5 } })), call), usage)).toBe(2925);
    expect(quota(priceAt(ruled(flex({ cheaper: true }), peak), call), usage)).toBe(525);
    // Of two values the vendor may read the other one.
    const two = at("2026-11-23T02:00:00Z", { ...body, extra_body: { a: { b: "y" } } });
    expect(quota(priceAt(ruled(flex({ cheaper: true }), peak), two), usage)).toBe(3900);
    expect(quota(priceAt(ruled(flex({ then: { factor: 3 } })), two), usage)).toBe(5850);
  });

  test("by picture, video, tier and region needs the fact", () => {
    const when: PriceRule["when"] = {
      size: ["1024x1792"],
      quality: ["hd"],
      seconds: { over: 5 },
      resolution: ["1080p"],
      service_tier: ["priority"],
      region: ["us"],
    };
    const rule: PriceRule = { name: "all", when, then: { factor: 2 } };
    const facts = { size: "1024x1792", quality: "hd", seconds: 6, resolution: "1080p" };
    const body = { service_tier: "auto", extra_body: { service_tier: "Priority" }, inference_geo: "us" };
    expect(applies(rule, at("2026-11-23T00:00:00Z", body, facts))).toBe("yes");
    for (const name of Object.keys(facts))
      expect(applies(rule, at("2026-11-23T00:00:00Z", body, { ...facts, [name]: undefined }))).toBe("no");
    expect(applies(rule, at("2026-11-23T00:00:00Z", {}, facts))).toBe("no");
  });

  test("per call is multiplied by a factor or replaced in dollars; rules about tokens do not concern it", () => {
    const call = compilePrice(
      "m",
      "default",
      { model_price: { value: 0.04, source: "ModelPrice" }, group_ratio: { value: 2, source: "GroupRatio" } },
      { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
    );
    const cost = (then: PriceRule["then"]): number =>
      quota(priceAt({ ...call, rules: [{ name: "r", when: {}, then }] }, anyTime), {});
    expect([{ factor: 1.5 }, { usd: { call: 0.1 } }, { usd: { input: 1 } }, { input: 2, output: 2 }].map(cost)).toEqual(
      [60_000, 100_000, 40_000, 40_000],
    );
  });

  test("with tiers of long inputs is the plain formula at the tier's factors, times the rule that applies", () => {
    let seed = 20_261_124;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const factor = (): number => (1 + random(40)) / 10;
    for (let round = 0; round < 300; round++) {
      const tiers = [1000, 5000, 20_000]
        .slice(0, random(4))
        .map((over) => ({ over: over + random(500), input: factor(), output: factor() }));
      const ratio = factor();
      const listed = compilePrice(
        "m",
        "default",
        {
          model_ratio: { value: ratio, source: "t" },
          completion_ratio: { value: 4, source: "t" },
          cache_ratio: { value: 0.1, source: "t" },
          group_ratio: { value: 1.5, source: "t" },
        },
        { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
        tiers,
      );
      const times = factor();
      const over = random(8000);
      const long = random(2) === 0;
      const rules: PriceRule[] = [
        { name: "r", when: long ? { input: { over } } : shanghai("09:00", "12:00"), then: { factor: times } },
      ];
      const usage = { input: random(12_000), cache_read: random(12_000), output: random(3000) };
      const input = usage.input + usage.cache_read;
      const reached = tiers.findLast((one) => input > one.over);
      const tier = reached ?? { input: 1, output: 1 };
      for (const [atPeak, price] of [
        [undefined, priceAt(listed, anyTime)],
        [false, priceAt({ ...listed, rules }, at("2026-11-23T05:00:00Z"))],
        [true, priceAt({ ...listed, rules }, at("2026-11-23T02:00:00Z"))],
      ] as const) {
        const applies = atPeak !== undefined && (long ? input > over : atPeak);
        const applied = applies ? times : 1;
        const tokens = (usage.input + usage.cache_read * 0.1) * tier.input + usage.output * 4 * tier.output;
        const charge = chargeOf(price, usage);
        expect(Number(charge.exact)).toBeCloseTo(tokens * ratio * 1.5 * applied, 6);
        expect(charge.rule?.name).toBe(applies ? "r" : reached && `Input over ${reached.over}`);
        expect(charge.quota).toBeLessThanOrEqual(estimateUpperBound(price, input, usage.output));
      }
    }
  });

  test("of a batch is its share of the same lines' plain price, whatever rules of time and length there are", () => {
    const rules: PriceRule[] = [
      { name: "peak", when: shanghai("09:00", "12:00"), then: { factor: 2 } },
      { name: "long", when: { input: { over: 10 } }, then: { factor: 5 } },
      { name: "hit", when: { cached: true }, then: { factor: 0.1 } },
    ];
    const usage = { input: 100_300, cache_read: 1000, output: 2000 };
    const of = (iso: string, share: number, ...list: PriceRule[]) =>
      chargeOf(priceAt(ruled(...list), at(iso, {}, { batch: share })), usage);
    const single = quota(plain, usage);
    const [night, day] = ["2026-11-23T05:00:00Z", "2026-11-23T02:00:00Z"];
    for (const share of [0.25, 0.5, 1, 2]) {
      expect(of(night, share).quota).toBe(single * share);
      expect(of(night, share, ...rules).quota).toBe(single * share);
      expect(of(day, share, ...rules).quota).toBe(single * share * 2);
    }
    expect(of(night, 0.5, ...rules).rule).toEqual({ name: "Batch", when: { batch: true }, then: { factor: 0.5 } });
    expect(of(night, 0.5).lines.every(({ ratios }) => ratios.batch_ratio === "0.5")).toBe(true);
    expect(of(day, 0.5, ...rules).rule?.name).toBe("peak");
  });

  test("never exceeds its hold and never lies outside its rules' prices, whatever the rules, the moment and the usage", () => {
    let seed = 20_261_123;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const clock = (): string => `${String(random(24)).padStart(2, "0")}:${String(random(4) * 15).padStart(2, "0")}`;
    const zones = ["UTC", "Asia/Shanghai", "America/New_York", "Asia/Kathmandu"];
    const someRule = (_: unknown, i: number): PriceRule => {
      const [from, to] = [clock(), clock()];
      const over = random(2000);
      const when: PriceRule["when"] = {
        ...(random(2) === 0 && { hours: [{ zone: zones[random(4)] ?? "UTC", from, to: to === from ? "24:00" : to }] }),
        ...(random(3) === 0 && { input: { over, up_to: over + 1 + random(2000) } }),
        ...(random(4) === 0 && { cached: random(2) === 0 }),
        ...(random(4) === 0 && { member: { path: "x", values: ["y"] } }),
      };
      const then =
        random(2) === 0
          ? { factor: (1 + random(400)) / 100 }
          : { usd: { input: 1 + random(9), output: 1 + random(9) } };
      return { name: `r${i}`, when, then };
    };
    for (let round = 0; round < 400; round++) {
      const rules = Array.from({ length: 1 + random(5) }, someRule);
      const moment = Date.parse("2026-03-01T00:00:00Z") + random(300 * 86_400) * 1000;
      const call: Circumstances = { moment, member: () => (random(2) === 0 ? ["y"] : []) };
      const price = priceAt(ruled(...rules), call);
      const usage: Usage = { input: random(2000), cache_read: random(2) * random(2000), output: random(3000) };
      const input = (usage.input ?? 0) + (usage.cache_read ?? 0);
      const charge = chargeOf(price, usage);
      expect(charge.quota).toBeLessThanOrEqual(estimateUpperBound(price, input, usage.output ?? 0));
      const costs = [plain, ...rules.map((rule) => priceAt(ruled({ ...rule, when: {} }), call))].map((one) =>
        quota(one, usage),
      );
      expect(costs).toContain(charge.quota);
      expect(tokenKinds.every((kind) => price.tokens[kind].weight >= 0n)).toBe(true);
      if (charge.rule) expect(rules).toContain(charge.rule);
      const lot = priceAt(ruled(...rules), { ...call, batch: 0.5 });
      expect(lot.open).toBeUndefined();
      expect(chargeOf(lot, usage).quota).toBeLessThanOrEqual(estimateUpperBound(lot, input, usage.output ?? 0));
    }
  });
});

describe("an operator sees", () => {
  const peak: PriceRule = { name: "peak", when: shanghai("09:00", "12:00", [1, 2, 3, 4, 5]), then: { factor: 2 } };

  test("each rule as a sentence in both languages", () => {
    expect(ruleText(peak, "en")).toBe("When Mon–Fri 09:00–12:00 (Asia/Shanghai): the price × 2");
    expect(ruleText(peak, "zh")).toBe("当周一至周五 09:00–12:00（Asia/Shanghai）时：价格 × 2");
    const other: PriceRule = {
      name: "o",
      when: {
        input: { over: 200_000 },
        cached: false,
        hours: [{ zone: "UTC", days: [6, 7], from: "22:00", to: "06:00", except: ["2027-01-01"] }],
        member: { path: "speed", values: ["fast", "turbo"] },
      },
      then: { usd: { input: 4, output: 18, call: 0.1 } },
    };
    expect(ruleText(other, "en")).toBe(
      "When Sat, Sun 22:00–06:00 (UTC, except 2027-01-01), and the input is over 200000 tokens, and no part of the input is read from a cache, and the request's speed is fast or turbo: input $4, output $18 per million, $0.1 a call",
    );
    expect(ruleText(other, "zh")).toBe(
      "当周六、周日 22:00–06:00（UTC，2027-01-01 除外），且输入超过 200000 个 Token，且输入没有命中缓存，且请求的 speed 为 fast 或 turbo 时：输入 $4、输出 $18（每百万），每次 $0.1",
    );
  });

  test("the discount of batches and a tier of long inputs as sentences, too", () => {
    const [batch, tier] = [batchRule(0.5), tierRule({ over: 272_000, input: 2, output: 1.5 })];
    expect([batch, tier].map((rule) => ruleText(rule, "en"))).toEqual([
      "When the call is part of a batch: the price × 0.5",
      "When the input is over 272000 tokens: input × 2, output × 1.5",
    ]);
    expect([batch, tier].map((rule) => ruleText(rule, "zh"))).toEqual([
      "当属于批处理时：价格 × 0.5",
      "当输入超过 272000 个 Token 时：输入 × 2，输出 × 1.5",
    ]);
    // Rows keep the whole rule: what is read from them has to be one.
    expect([batch, tier].map((rule) => "rules" in parseRules([rule]))).toEqual([true, true]);
  });

  test("dates in both languages, with both ends or one", () => {
    const dated = (range: { from?: string; until?: string }): PriceRule => ({
      name: "d",
      when: { dates: [{ zone: "UTC", ...range }] },
      then: { factor: 0.5 },
    });
    const ranges = [{ from: "2026-10-01", until: "2026-12-31" }, { until: "2026-12-31" }, { from: "2026-10-01" }];
    expect(ranges.map((range) => ruleText(dated(range), "en"))).toEqual([
      "When 2026-10-01 to 2026-12-31 (UTC): the price × 0.5",
      "When until 2026-12-31 (UTC): the price × 0.5",
      "When from 2026-10-01 on (UTC): the price × 0.5",
    ]);
    expect(ranges.map((range) => ruleText(dated(range), "zh"))).toEqual([
      "当2026-10-01 至 2026-12-31（UTC）时：价格 × 0.5",
      "当截至 2026-12-31（UTC）时：价格 × 0.5",
      "当2026-10-01起（UTC）时：价格 × 0.5",
    ]);
  });

  test("the week of a rule, without gaps between its stretches", () => {
    const start = Date.parse("2026-11-23T00:00:00Z");
    const week = weekOf([peak], start);
    expect(week.filter(({ rule }) => rule !== undefined).map(({ from, to }) => to - from)).toEqual(
      Array.from({ length: 5 }, () => 3 * 3_600_000),
    );
    expect(week.every(({ from }, i) => from === (i === 0 ? start : week[i - 1]?.to))).toBe(true);
    expect(week.at(-1)?.to).toBe(start + 7 * 86_400_000);
  });

  test("where several rules hold at once, and that the first of them counts", () => {
    const start = Date.parse("2026-11-23T00:00:00Z");
    const late: PriceRule = { name: "late", when: shanghai("11:00", "13:00"), then: { factor: 3 } };
    const day = weekOf([peak, late], start, 86_400_000);
    expect(day.map(({ from, rule, others }) => [(from - start) / 3_600_000, rule?.name, others.length])).toEqual([
      [0, undefined, 0],
      [1, "peak", 0],
      [3, "peak", 1],
      [4, "late", 0],
      [5, undefined, 0],
    ]);
  });

  test("rules that overlap, rules that never apply, and gaps between lengths", () => {
    const start = Date.parse("2026-11-23T00:00:00Z");
    const rules: PriceRule[] = [
      peak,
      { name: "inside", when: shanghai("10:00", "11:00", [1]), then: { factor: 3 } },
      { name: "across", when: shanghai("11:00", "13:00"), then: { factor: 3 } },
      { name: "apart", when: shanghai("14:00", "15:00"), then: { factor: 3 } },
    ];
    expect(checkRules(rules, start).overlaps).toEqual([
      { first: 0, second: 1, hidden: true },
      { first: 0, second: 2, hidden: false },
    ]);
    const dated = (name: string, ...dates: object[]): PriceRule =>
      ({ name, when: { dates: dates.map((range) => ({ zone: "UTC", ...range })) }, then: { factor: 2 } }) as PriceRule;
    const winter = [
      dated("winter", { from: "2026-12-01", until: "2026-12-31" }, { from: "2027-01-01", until: "2027-02-28" }),
      dated("new year", { from: "2026-12-30", until: "2027-01-02" }),
      dated("spring", { from: "2027-02-28", until: "2027-05-31" }),
      dated("summer", { from: "2027-06-01" }),
    ];
    expect(checkRules(winter, start).overlaps).toEqual([
      { first: 0, second: 1, hidden: true },
      { first: 0, second: 2, hidden: false },
    ]);
    const batches: PriceRule[] = [
      { name: "batch", when: { batch: true }, then: { factor: 0.4 } },
      { name: "long", when: { input: { over: 300 } }, then: { factor: 3 } },
      { name: "again", when: { batch: true, service_tier: ["flex"] }, then: { factor: 3 } },
    ];
    expect(checkRules(batches, start).overlaps).toEqual([{ first: 0, second: 2, hidden: true }]);
    const lengths: PriceRule[] = [
      { name: "a", when: { input: { up_to: 100 } }, then: { factor: 1 } },
      { name: "b", when: { input: { over: 200, up_to: 300 } }, then: { factor: 2 } },
      { name: "c", when: { input: { over: 300 } }, then: { factor: 3 } },
    ];
    expect(checkRules(lengths, start)).toEqual({ overlaps: [], gaps: [{ over: 100, up_to: 200 }] });
  });
});

test("a stored rule is shown only in a form that this release knows", () => {
  const then = { factor: 2 };
  const known = [
    { name: "night", when: { cached: true }, then },
    { name: "dollars", when: {}, then: { usd: { call: 1 } } },
  ];
  const unknown = [
    undefined,
    "night",
    { name: "night", when: {} },
    { name: "night", when: { moon: "full" }, then },
    { name: "night", when: {}, then: { euro: 1 } },
    { name: "night", when: null, then },
  ];
  expect(known.map(isRule)).toEqual([true, true]);
  expect(unknown.some(isRule)).toBe(false);
});
