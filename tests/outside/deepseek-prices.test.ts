/**
 * DeepSeek charges double at peak hours (api-docs.deepseek.com/quick_start/pricing, "Models & Pricing", notes 1 and 2;
 * in force since 10 September 2026, read 22 November 2026). The built-in price is the higher rate, which a built-in
 * rule halves at all other hours (src/shared/built-in-rules.test.ts has their edges).
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES } from "../kit/databases";
import { startWeir, type Weir } from "../kit/weir";

/** USD per 1M tokens at peak, from the vendor's page. The retired name is billed as Flash. */
const PEAK = {
  "deepseek-v4-pro": { input: 1.32, cache_read: 0.044, output: 3.96 },
  "deepseek-flash": { input: 0.3, cache_read: 0.006, output: 1.2 },
  "deepseek-v4-flash": { input: 0.3, cache_read: 0.006, output: 1.2 },
} as const;
const models = Object.keys(PEAK) as (keyof typeof PEAK)[];
/** A third of the input comes from the cache. */
const USED = { prompt: 6000, cached: 2000, completion: 1000 };
const UNITS_PER_USD = 500_000;

for (const engine of ENGINES) {
  describe(`DeepSeek's built-in prices (${engine})`, () => {
    let weir: Weir;
    const upstream = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const { model } = (await request.json()) as { model: string };
        const { prompt, cached, completion } = USED;
        return Response.json({
          id: "1",
          object: "chat.completion",
          created: 1_790_000_000,
          model,
          choices: [
            {
              index: 0,
              finish_reason: "stop",
              message: { role: "assistant", content: "long ".repeat(USED.completion) },
            },
          ],
          usage: {
            prompt_tokens: prompt,
            completion_tokens: completion,
            total_tokens: prompt + completion,
            prompt_cache_hit_tokens: cached,
            prompt_cache_miss_tokens: prompt - cached,
            prompt_tokens_details: { cached_tokens: cached },
          },
        });
      },
    });

    beforeAll(async () => {
      weir = await startWeir({ engine });
      await weir.newChannel({ type: 43, base_url: `http://127.0.0.1:${upstream.port}`, models });
    }, 30_000);
    afterAll(async () => {
      await weir.stop();
      await upstream.stop(true);
    });

    test("the price list shows the peak rate", async () => {
      const { data } = (await weir.anonymous("GET", "/api/pricing")).body as {
        data: { model_name: string; model_ratio: number; completion_ratio: number }[];
      };
      for (const model of models) {
        const row = data.find(({ model_name }) => model_name === model);
        const usd = {
          input: (row?.model_ratio ?? 0) * 2,
          output: (row?.model_ratio ?? 0) * 2 * (row?.completion_ratio ?? 0),
        };
        expect({ model, input: usd.input.toFixed(6), output: usd.output.toFixed(6) }).toEqual({
          model,
          input: PEAK[model].input.toFixed(6),
          output: PEAK[model].output.toFixed(6),
        });
      }
    });

    test("a call is charged by the rate of its hour, cached input too, and its row names the rule", async () => {
      const user = await weir.newUser({ quota: 10 * UNITS_PER_USD });
      const { key } = await weir.newToken({}, user);
      const before = (await weir.balance(user.id)).quota;
      let expected = 0;
      for (const model of models) {
        const { input, cache_read, output } = PEAK[model];
        const answer = await weir.call(key, {
          model,
          max_tokens: USED.completion,
          messages: [{ role: "user", content: "word ".repeat(USED.prompt) }],
        });
        expect(answer.status).toBe(200);
        await answer.body?.cancel();
        const row = await weir.waitForLog((one) => one.model_name === model && one.type === 2);
        const { price_rule } = JSON.parse(row.other) as { price_rule?: { name: string } };
        // The hour may change between a call and this line: the row says which rate applied.
        expect([undefined, "DeepSeek off-peak"]).toContain(price_rule?.name);
        const rate = price_rule ? 0.5 : 1;
        const { prompt, cached, completion } = USED;
        expected += Math.round(
          (((prompt - cached) * input + cached * cache_read + completion * output) * rate * UNITS_PER_USD) / 1_000_000,
        );
      }
      expect(before - (await weir.balance(user.id)).quota).toBe(expected);
      expect(await weir.audit()).toEqual([]);
    });

    test("the list gives the reason and the rule, until the operator sets another price", async () => {
      const notes = async () => {
        const { models: listed } = await weir.root.trpc.pricing.catalogue.query();
        return Object.fromEntries(listed.map(({ model, note }) => [model, note]));
      };
      const said = await notes();
      for (const model of models) {
        expect([model, said[model]?.zh]).toEqual([model, expect.stringContaining("高峰")]);
        expect([model, said[model]?.en]).toEqual([model, expect.stringContaining("01:00–04:00 and 06:00–10:00 UTC")]);
      }
      const rules = async () => {
        const { models: listed } = await weir.root.trpc.pricing.catalogue.query();
        return listed.find(({ model }) => model === "deepseek-flash")?.rules?.map(({ name }) => name);
      };
      expect(await rules()).toEqual(["DeepSeek off-peak"]);
      await weir.priceModels({ "deepseek-flash": 0.15 });
      expect((await notes())["deepseek-flash"]).toBeUndefined();
      expect(await rules()).toBeUndefined();
    });
  });
}
