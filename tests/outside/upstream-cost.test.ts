/** What a call cost its operator is on its row, and only administrators see it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES } from "../kit/databases";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { startWeir, type Weir } from "../kit/weir";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());

for (const engine of ENGINES) {
  describe(`the upstream's cost of a call (${engine})`, () => {
    let weir: Weir;
    beforeAll(async () => {
      weir = await startWeir({ engine });
      const setting = JSON.stringify({ cost_percent: 80, cost_prices: '{"mine":{"input":1000,"output":1000}}' });
      await weir.newChannel({ base_url: upstream.url, models: ["gpt-4o", "mine", "unlisted"], setting });
      await weir.priceModels({ mine: 1, unlisted: 1, "gpt-4o": 100 });
    }, 30_000);
    afterAll(() => weir.stop());

    test("is stored in billionths of a dollar, whatever the caller paid, and shown to administrators alone", async () => {
      const user = await weir.newUser({ quota: 1e9 });
      const { key } = await weir.newToken({}, user);
      for (const model of ["gpt-4o", "mine", "unlisted"]) {
        await (await weir.call(key, { model, messages: [{ role: "user", content: "hello" }] })).text();
      }
      const rows = await Promise.all(
        ["gpt-4o", "mine", "unlisted"].map((model) =>
          weir.waitForLog((row) => row.model_name === model && row.type === 2),
        ),
      );
      const [listed, own, none] = rows;
      if (!listed || !own || !none) throw new Error("a row is missing");
      // 2.5 and 10 USD per million, of which the channel pays 80 %; 1000 USD per million; no price at all.
      expect(listed.upstream_cost).toBe(
        Math.round((listed.prompt_tokens * 2500 + listed.completion_tokens * 10_000) * 0.8),
      );
      expect(own.upstream_cost).toBe((own.prompt_tokens + own.completion_tokens) * 1_000_000);
      expect(none.upstream_cost).toBeNull();

      const { items } = await weir.root.ok<{ items: { model_name: string; upstream_cost?: number }[] }>(
        "GET",
        "/api/log/?p=1&page_size=20&type=2",
      );
      const seen = Object.fromEntries(items.map((row) => [row.model_name, row.upstream_cost]));
      expect([seen["gpt-4o"], seen["mine"], seen["unlisted"]]).toEqual([
        Number(listed.upstream_cost),
        Number(own.upstream_cost),
        undefined,
      ]);
      const file = async (session: { headers: Record<string, string> }, format: string): Promise<string> =>
        (await fetch(`${weir.url}/api/log/export?format=${format}`, { headers: session.headers })).text();
      expect(await file(weir.root, "csv")).toContain("upstream_cost");

      const doors = [
        JSON.stringify((await user.api("GET", "/api/log/self?p=1&page_size=20")).body),
        JSON.stringify((await weir.anonymous("GET", `/api/log/token?key=${key}`)).body),
        await file(user, "csv"),
        await file(user, "jsonl"),
      ];
      for (const said of doors) {
        expect(said).toContain("gpt-4o");
        expect(said).not.toContain("upstream_cost");
        expect(said).not.toContain(String(own.upstream_cost));
      }
    });

    test("is compared with the price of each model, for the root user alone", async () => {
      const found = await weir.root.trpc.pricing.belowCost.query();
      // 2 USD a million for what costs 1000; gpt-4o is sold at 200, and the cost of the third is not known.
      expect(new Set(found.map(({ model }) => model))).toEqual(new Set(["mine"]));
      expect(found[0]).toMatchObject({ group: "default", sale: 2, cost: 1000 });
      const admin = await weir.newUser({ role: 10 });
      await expect(admin.trpc.pricing.belowCost.query()).rejects.toThrow();
    });
  });
}
