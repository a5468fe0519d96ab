import { afterAll, expect, test } from "bun:test";
import { startFakeUpstream } from "../../../../tests/kit/fake-upstream/server";
import { type Bench, chatBody, makeBench, makeChannel, simplePrice } from "../../../../tests/relay/kit";
import type { PoolChannel } from "../../contracts/channel";
import { compileOverride } from "../../../shared/param-override";
import type { ConsumeOther } from "../../../shared/log";
import { LOG_TYPE } from "../../../shared/log";
import type { PriceRule } from "../../../shared/price-rules";
import { rowText } from "../../../shared/row-text";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());
const path = "/v1/chat/completions";

const NINE = Date.parse("2026-11-23T01:00:00Z");
const peak: PriceRule = {
  name: "peak",
  when: { hours: [{ zone: "Asia/Shanghai", days: [1, 2, 3, 4, 5], from: "09:00", to: "12:00" }] },
  then: { factor: 2 },
};

/**
 * A relay whose model has these rules, at this moment; `during`: the moment when the upstream is asked. `answer`: what
 * it says, else the fake upstream answers.
 */
function ruled(
  rules: PriceRule[],
  moment: number,
  during = moment,
  more: Partial<PoolChannel> = {},
  answer?: () => Response,
): Bench {
  let now = moment;
  const bench = makeBench([makeChannel(1, upstream.url, more)], {
    now: () => now,
    fetch: (url, init) => {
      now = during;
      return answer ? Promise.resolve(answer()) : fetch(url, init);
    },
  });
  const price = { ...simplePrice, rules };
  bench.controlPlane.price = () => price;
  return bench;
}

/** The same with a channel that passes tiers on, to a vendor that says nothing of them. */
const passing = (rules: PriceRule[], more: Partial<PoolChannel> = { setting: { allow_service_tier: true } }): Bench =>
  ruled(rules, NINE, NINE, more, () => answersBy().whole);

async function settled(bench: Bench, body: Record<string, unknown> | string = {}) {
  const answer = await bench.send(path, typeof body === "string" ? body : chatBody("gpt-4o", body));
  await answer.text();
  await bench.quiet();
  const [settlement] = bench.ledger.settlements;
  if (!settlement) throw new Error(`not charged: ${answer.status}`);
  return { ...settlement, held: bench.ledger.holdRequests[0]?.amount ?? 0 };
}

test("a call is held and charged at the price of its moment, and its row names the rule in both languages", async () => {
  const plain = await settled(ruled([peak], NINE - 1));
  const dear = await settled(ruled([peak], NINE));
  expect(plain.quota).toBeGreaterThan(0);
  expect([dear.quota, dear.held]).toEqual([plain.quota * 2, plain.held * 2]);
  expect([plain.log.price_rule, dear.log.price_rule]).toEqual(["", "peak"]);
  const row = { type: LOG_TYPE.consume, content: "", code: "", params: "", other: dear.log.other ?? "" };
  expect(rowText(row, "en", String)).toEndWith(
    'price rule "peak": When the time is Mon–Fri 09:00–12:00 (Asia/Shanghai): the price × 2',
  );
  expect(rowText(row, "zh", String)).toEndWith(
    "价格规则“peak”：当时间为周一至周五 09:00–12:00（Asia/Shanghai）时：价格 × 2",
  );
  const other = JSON.parse(dear.log.other ?? "{}") as ConsumeOther;
  expect(other.price_rule).toEqual(peak);
});

test("the row that a sweep would write names the rule as well", async () => {
  const drafts = [];
  for (const moment of [NINE - 1, NINE]) {
    const bench = ruled([peak], moment);
    await settled(bench);
    const { price_rule, other } = JSON.parse(bench.ledger.holdRequests[0]?.draft ?? "{}") as Record<string, string>;
    drafts.push([price_rule, (JSON.parse(other ?? "{}") as ConsumeOther).price_rule]);
  }
  expect<unknown>(drafts).toEqual([
    [undefined, undefined],
    ["peak", peak],
  ]);
});

test("a row keeps its cost in dollars where its channel pays in another currency, and none without its rate", async () => {
  const setting = { cost_prices: JSON.stringify({ "gpt-4o": { input: 14, output: 14 } }), cost_currency: "CNY" };
  const costs = [];
  for (const currencyRates of [{ CNY: { rate: 7 } }, {}]) {
    const bench = makeBench([makeChannel(1, upstream.url, { setting })], {});
    Object.assign(bench.options, { currencyRates });
    const { log } = await settled(bench);
    const tokens = (log.prompt_tokens ?? 0) + (log.completion_tokens ?? 0);
    costs.push(log.upstream_cost === null ? null : (log.upstream_cost ?? 0) / tokens);
  }
  expect(costs).toEqual([2000, null]);
});

test("a window that begins or ends while the call runs, and a clock that steps back over its edge, change nothing", async () => {
  const [before, inside] = [await settled(ruled([peak], NINE - 1, NINE)), await settled(ruled([peak], NINE, NINE - 1))];
  expect([before.log.price_rule, inside.log.price_rule]).toEqual(["", "peak"]);
  expect(inside.quota).toBe(before.quota * 2);
});

test("a cost follows the hours of the request, or those of the answer's end where the channel says so", async () => {
  const cost_prices = JSON.stringify({ "gpt-4o": { input: 2, output: 2, rules: [peak] } });
  const costs = [];
  for (const cost_at of ["request", "completion"] as const) {
    const { log } = await settled(ruled([], NINE - 1, NINE, { setting: { cost_prices, cost_at } }));
    costs.push((log.upstream_cost ?? 0) / ((log.prompt_tokens ?? 0) + (log.completion_tokens ?? 0)));
  }
  expect(costs).toEqual([2000, 4000]);
});

test("a rule by the length of the input is held where the input may reach it, and charged where it does", async () => {
  const rule: PriceRule = { name: "long", when: { input: { over: 10 } }, then: { factor: 10 } };
  const plain = await settled(ruled([], NINE));
  const open = await settled(ruled([rule], NINE));
  // The bound of the input is higher than what the vendor counts.
  const prompt = plain.log.prompt_tokens ?? 0;
  expect(open.held).toBe(plain.held * 10);
  expect(open.quota).toBe(prompt > 10 ? plain.quota * 10 : plain.quota);
  const beyond: PriceRule = { ...rule, when: { input: { over: prompt } } };
  const short = await settled(ruled([beyond], NINE));
  expect([short.quota, short.log.price_rule, short.held]).toEqual([plain.quota, "", plain.held * 10]);
});

test("a rule on a member of the request reads the request, extra_body too, and never makes it cheaper by itself", async () => {
  const rule: PriceRule = { name: "tier", when: { service_tier: ["priority"] }, then: { factor: 2 } };
  const plain = await settled(passing([rule]));
  expect((await settled(passing([rule]), { service_tier: "priority" })).quota).toBe(plain.quota * 2);
  expect((await settled(passing([rule]), { extra_body: { service_tier: "Priority" } })).quota).toBe(plain.quota * 2);
  const cheap: PriceRule = { ...rule, then: { usd: { input: 0.002, output: 0.002 } } };
  expect((await settled(passing([cheap]), { service_tier: "priority" })).quota).toBe(plain.quota);
});

test("a tier that the channel leaves out of the call is not charged, one that its override adds is held and charged", async () => {
  const rule: PriceRule = { name: "tier", when: { service_tier: ["priority"] }, then: { factor: 2 } };
  const plain = await settled(passing([rule]));
  const left = await settled(passing([rule], {}), { service_tier: "priority" });
  expect([left.quota, left.log.price_rule]).toEqual([plain.quota, ""]);
  const override = compileOverride({ service_tier: "priority" });
  const added = await settled(passing([rule], { override }));
  expect([added.quota, added.held, added.log.price_rule]).toEqual([plain.quota * 2, plain.held * 2, "tier"]);
  const removed = compileOverride({ operations: [{ mode: "delete", path: "service_tier" }] });
  const setting = { allow_service_tier: true };
  const without = await settled(passing([rule], { override: removed, setting }), {
    service_tier: "priority",
  });
  expect(without.quota).toBe(plain.quota);
});

const TIERS: PriceRule[] = [
  { name: "fast", when: { service_tier: ["priority", "fast"] }, then: { factor: 4 } },
  { name: "flex", when: { service_tier: ["flex"] }, then: { factor: 0.5 }, cheaper: true },
];

/** 100 tokens in and 10 out: 120 units. */
const spent = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
const chunk = (more: object): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", ...more })}\n\n`;

/** The answer of a vendor that says that it served the call by this tier, whole and in pieces. */
const answersBy = (service_tier?: string): Record<"whole" | "stream", Response> => {
  const tier = service_tier === undefined ? {} : { service_tier };
  const message = { role: "assistant", content: "hello" };
  const choice = { index: 0, finish_reason: "stop" };
  return {
    whole: Response.json({
      id: "c",
      object: "chat.completion",
      model: "m",
      ...tier,
      choices: [{ ...choice, message }],
      usage: spent,
    }),
    stream: new Response(
      [
        chunk({ ...tier, choices: [{ ...choice, finish_reason: null, delta: message }] }),
        chunk({ ...tier, choices: [{ ...choice, delta: {} }] }),
        chunk({ ...tier, choices: [], usage: spent }),
        "data: [DONE]\n\n",
      ].join(""),
      { headers: { "content-type": "text/event-stream" } },
    ),
  };
};

test.each(["whole", "stream"] as const)(
  "an answer, %s, decides the tier: a downgrade is charged as such, a discount only where it is named, and nothing beyond what was sent",
  async (form) => {
    const charged = async (asked: string | undefined, said: string | undefined) => {
      const bench = ruled(TIERS, NINE, NINE, { setting: { allow_service_tier: true } }, () => answersBy(said)[form]);
      const body = { stream: form === "stream", ...(asked !== undefined && { service_tier: asked }) };
      const { quota, held, log } = await settled(bench, body);
      expect(held).toBeGreaterThanOrEqual(quota);
      return [quota, log.price_rule];
    };
    expect(await charged(undefined, undefined)).toEqual([120, ""]);
    expect(await charged("priority", undefined)).toEqual([480, "fast"]);
    expect(await charged("priority", "fast")).toEqual([480, "fast"]);
    expect(await charged("priority", "default")).toEqual([120, ""]);
    expect(await charged("flex", "flex")).toEqual([60, "flex"]);
    // A vendor that knows no such tier.
    expect(await charged("flex", undefined)).toEqual([120, ""]);
    expect(await charged("flex", "default")).toEqual([120, ""]);
    // By the project's own setting: the caller did not ask for it.
    expect(await charged(undefined, "priority")).toEqual([120, ""]);
  },
);

test("a row's cost is by the tier that the answer names, whatever the call is sold at", async () => {
  const cost = async (asked: string | undefined, said: string | undefined): Promise<number> => {
    const bench = ruled([], NINE, NINE, { setting: { allow_service_tier: true } }, () => answersBy(said).whole);
    const { log } = await settled(bench, asked === undefined ? {} : { service_tier: asked });
    return log.upstream_cost ?? -1;
  };
  // GPT-4o: 100 x 2.5 + 10 x 10 USD per million, 1.7 times in fast mode.
  expect(await cost(undefined, undefined)).toBe(350_000);
  expect(await cost("priority", "priority")).toBe(595_000);
  expect(await cost("priority", "default")).toBe(350_000);
  expect(await cost(undefined, "priority")).toBe(595_000);
});

test.each(["whole", "stream"] as const)(
  "Google's header decides the tier of an answer, %s, whose body says nothing of it",
  async (form) => {
    const charged = async (header: string | undefined, said?: string) => {
      const bench = ruled(TIERS, NINE, NINE, { setting: { allow_service_tier: true } }, () => {
        const answer = answersBy(said)[form];
        if (header !== undefined) answer.headers.set("x-gemini-service-tier", header);
        return answer;
      });
      const { quota, log } = await settled(bench, { stream: form === "stream", service_tier: "priority" });
      return [quota, log.price_rule];
    };
    expect(await charged(undefined)).toEqual([480, "fast"]);
    expect(await charged("standard")).toEqual([120, ""]);
    expect(await charged("standard", "priority")).toEqual([480, "fast"]);
  },
);

test("a row's cost follows a member of the request that its channel's price asks for, whatever the call is sold at", async () => {
  const thinking: PriceRule = {
    name: "thinking",
    when: { member: { path: "enable_thinking", values: ["true"] } },
    then: { factor: 3 },
  };
  const cost_prices = JSON.stringify({ "gpt-4o": { input: 2, output: 2, rules: [thinking] } });
  const costs = [];
  for (const enable_thinking of [false, true]) {
    const { log } = await settled(ruled([], NINE, NINE, { setting: { cost_prices } }), { enable_thinking });
    costs.push((log.upstream_cost ?? 0) / ((log.prompt_tokens ?? 0) + (log.completion_tokens ?? 0)));
  }
  expect(costs).toEqual([2000, 6000]);
});

test("a member that is there twice counts with both its values: the vendor may read either", async () => {
  const rule: PriceRule = { name: "pro", when: { member: { path: "mode.x", values: ["pro"] } }, then: { factor: 2 } };
  const whole = JSON.stringify(chatBody("gpt-4o"));
  const twice = (first: string, second: string): string =>
    `{"mode":{"x":"${first}"},"mode":{"x":"${second}"},${whole.slice(1)}`;
  const plain = await settled(ruled([rule], NINE), twice("std", "std"));
  expect((await settled(ruled([rule], NINE), twice("pro", "std"))).quota).toBe(plain.quota * 2);
  expect((await settled(ruled([rule], NINE), twice("std", "pro"))).quota).toBe(plain.quota * 2);
});
