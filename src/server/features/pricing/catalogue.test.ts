import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { logoSlugs } from "../../../../scripts/plugins/logo-slugs";
import { startWeir, type Weir } from "../../../../tests/kit/weir";
import { DEFAULT_GROUP } from "../../../shared/group";
import { modelPrices } from "../../../shared/model-prices";
import { catalogPrice, type PriceList } from "../../../shared/price-list";
import { chargeOf } from "../../../shared/charge";
import { displayPrices } from "../../../shared/price-display";
import { vendorByKey, vendorOf, vendors } from "../../../shared/vendors";

let weir: Weir;
/** Never called: only the list of its models is used. */
const base_url = "http://127.0.0.1:9";

beforeAll(async () => {
  weir = await startWeir();
  await weir.setOption("GroupRatio", { default: 1, vip: 0.5, svip: 2, staff: 9 });
  await weir.setOption("UserUsableGroups", { default: "Everybody", vip: "Friends" });
  await weir.setOption("GroupGroupRatio", { svip: { vip: 0.25 } });
  await weir.setOption("ModelRatio", { "m-tokens": 15, "m-vip": 1, "m-staff": 1, "m-svip": 1 });
  await weir.setOption("CompletionRatio", { "m-tokens": 2 });
  await weir.setOption("CacheRatio", { "m-tokens": 0.1 });
  await weir.setOption("ModelPrice", { "m-call": 0.04 });
  await weir.newChannel({ base_url, models: ["m-tokens", "m-call", "m-unpriced"], group: "default,vip" });
  await weir.newChannel({ base_url, models: ["m-vip"], group: "vip" });
  await weir.newChannel({ base_url, models: ["m-staff", "m-tokens"], group: "staff" });
  await weir.newChannel({ base_url, models: ["m-svip"], group: "svip" });
});
afterAll(() => weir?.stop());

const asked = async (
  headers: Record<string, string> = {},
): Promise<PriceList & { success: boolean; message: string }> => {
  const answer = await weir.anonymous("GET", "/api/pricing", undefined, headers);
  expect(answer.status).toBe(200);
  return answer.body as unknown as PriceList & { success: boolean; message: string };
};

describe("GET /api/pricing", () => {
  test("a guest gets exactly the documented shape, groups beside data", async () => {
    // spec: C-557
    // spec: C-295, C-296, C-297, C-298, C-299, C-300, C-301, C-302, C-303
    // spec
    expect(await asked()).toEqual({
      success: true,
      message: "",
      data: [
        {
          model_name: "m-call",
          quota_type: 1,
          model_ratio: 0,
          model_price: 0.04,
          owner_by: "",
          completion_ratio: 1,
          enable_groups: ["default", "vip"],
          vendor_id: 0,
          supported_endpoint_types: ["openai"],
        },
        {
          model_name: "m-tokens",
          quota_type: 0,
          model_ratio: 15,
          model_price: 0,
          owner_by: "",
          completion_ratio: 2,
          enable_groups: ["default", "vip"],
          vendor_id: 0,
          supported_endpoint_types: ["openai"],
        },
        {
          model_name: "m-vip",
          quota_type: 0,
          model_ratio: 1,
          model_price: 0,
          owner_by: "",
          completion_ratio: 1,
          enable_groups: ["vip"],
          vendor_id: 0,
          supported_endpoint_types: ["openai"],
        },
      ],
      group_ratio: { default: 1, vip: 0.5 },
      usable_group: { default: "Everybody", vip: "Friends" },
      vendors: [],
      auto_groups: ["default"],
      supported_endpoint: { openai: { path: "/v1/chat/completions", method: "POST" } },
    });
  });

  test("no group is named that the caller may not use, and no model that only such groups serve", async () => {
    const text = JSON.stringify(await asked());
    // spec: C-303
    for (const secret of ["staff", "svip"]) expect(text).not.toContain(secret);
    const catalogue = JSON.stringify(await (await weir.newUser()).trpc.pricing.catalogue.query());
    for (const secret of ["staff", "svip"]) expect(catalogue).not.toContain(secret);
  });

  test("users see their own group too, at the ratios that they pay", async () => {
    const { headers } = await weir.newUser({ group: "svip" });
    const list = await asked(headers);
    // spec: A-532, C-303
    expect(list.group_ratio).toEqual({ svip: 2, default: 1, vip: 0.25 });
    expect(list.data.map((row) => row.model_name)).toContain("m-svip");
    expect(JSON.stringify(list)).not.toContain("staff");
  });

  test("it follows a change of prices, of groups and of channels at the next call", async () => {
    await weir.setOption("ModelRatio", { "m-tokens": 7, "m-vip": 1, "m-staff": 1, "m-svip": 1 });
    // spec: A-190
    expect((await asked()).data.find((row) => row.model_name === "m-tokens")?.model_ratio).toBe(7);
    await weir.setOption("ModelRatio", { "m-tokens": 15, "m-vip": 1, "m-staff": 1, "m-svip": 1 });
    await weir.setOption("UserUsableGroups", { default: "Everybody" });
    expect((await asked()).usable_group).toEqual({ default: "Everybody" });
    await weir.setOption("UserUsableGroups", { default: "Everybody", vip: "Friends" });
    const id = await weir.newChannel({ base_url, models: ["m-tokens", "m-call-2"], group: "default" });
    await weir.setOption("ModelPrice", { "m-call": 0.04, "m-call-2": 1 });
    // spec: A-189
    expect((await asked()).data.map((row) => row.model_name)).toContain("m-call-2");
    await weir.root.ok("DELETE", `/api/channel/${id}`);
    expect((await asked()).data.map((row) => row.model_name)).not.toContain("m-call-2");
  });
});

describe("the console's catalogue", () => {
  test("a guest is shown the prices of new users; a user starts in their own group", async () => {
    const guest = await (await fetch(`${weir.url}/trpc/pricing.catalogue`)).json();
    // spec: C-160
    expect(guest.result.data.user_group).toBe(DEFAULT_GROUP);
    const { trpc } = await weir.newUser({ group: "svip" });
    // spec: C-162
    expect((await trpc.pricing.catalogue.query()).user_group).toBe("svip");
  });

  test("a model without a price is listed as not callable, never as free", async () => {
    const { models } = await weir.root.trpc.pricing.catalogue.query();
    const unpriced = models.find((model) => model.model === "m-unpriced");
    expect(unpriced).toBeDefined();
    expect(unpriced?.factors).toBeUndefined();
    expect((await asked()).data.map((row) => row.model_name)).not.toContain("m-unpriced");
  });

  test("says what is known of a model, priced or not, and nothing of one that no source names; programs get the same shape as ever", async () => {
    const id = await weir.newChannel({ base_url, models: ["gpt-5.4", "whisper-1"], group: "default" });
    const { models } = await weir.root.trpc.pricing.catalogue.query();
    const of = (name: string) => models.find(({ model }) => model === name);
    expect(of("gpt-5.4")).toMatchObject({ capabilities: ["vision", "tools", "reasoning"], context: 1_050_000 });
    expect(of("whisper-1")?.capabilities).toEqual(["audio"]);
    for (const name of ["m-tokens", "m-unpriced"])
      expect([of(name)?.model, of(name)?.capabilities, of(name)?.context]).toEqual([name, undefined, undefined]);
    for (const row of (await asked()).data) expect(row).not.toHaveProperty("capabilities");
    await weir.root.ok("DELETE", `/api/channel/${id}`);
  });

  test("shown prices are what a call is charged: ratio 15 is $30 in and, at completion 2, $60 out per million", async () => {
    const { models, groups, quota_per_unit } = await weir.root.trpc.pricing.catalogue.query();
    const model = models.find((candidate) => candidate.model === "m-tokens");
    if (!model) throw new Error("m-tokens is not in the catalogue");
    for (const [group, factor] of [
      ["default", 1],
      ["vip", 0.5],
    ] as const) {
      const price = catalogPrice(model, groups[group]?.ratio ?? Number.NaN, quota_per_unit);
      if (!price) throw new Error("m-tokens has no price");
      const shown = displayPrices(price);
      // spec, C-161, C-628, C-629
      expect(shown).toEqual({
        input: String(30 * factor),
        output: String(60 * factor),
        cache_read: String(3 * factor),
      });
      const charge = chargeOf(price, { input: 1_000_000, cache_read: 1_000_000, output: 1_000_000 });
      // spec: C-628, C-629
      expect(charge.quota / quota_per_unit).toBe((30 + 60 + 3) * factor);
    }
    const perCall = models.find((candidate) => candidate.model === "m-call");
    const price = perCall && catalogPrice(perCall, 0.5, quota_per_unit);
    // spec: C-161
    expect(price && displayPrices(price)).toEqual({ call: "0.02" });
    expect(price && chargeOf(price, { input: 5 }).quota).toBe(10_000);
  });
});

describe("GET /api/ratio_config", () => {
  test("refuses until the operator publishes the tables, then answers them", async () => {
    expect((await weir.anonymous("GET", "/api/ratio_config")).body).toMatchObject({
      success: false,
      code: "ratios_not_published",
    });
    await weir.setOption("ExposeRatioEnabled", "true");
    const { body } = await weir.anonymous("GET", "/api/ratio_config");
    expect(body).toMatchObject({
      success: true,
      data: { completion_ratio: { "m-tokens": 2 }, cache_ratio: { "m-tokens": 0.1 }, model_price: { "m-call": 0.04 } },
    });
    await weir.setOption("ExposeRatioEnabled", "false");
    expect((await weir.anonymous("GET", "/api/ratio_config")).body.success).toBe(false);
  });
});

describe("vendors", () => {
  test("every vendor of the price table is one, and every logo exists", () => {
    expect([...new Set(modelPrices.map((row) => row.vendor))].filter((key) => !vendorByKey(key))).toEqual([]);
    const logos: readonly string[] = logoSlugs;
    expect(vendors.flatMap(({ logo }) => (logo && !logos.includes(logo) ? [logo] : []))).toEqual([]);
  });

  test("the table's vendor wins; other names are recognised by how they begin, with or without an organisation", () => {
    const of = (model: string) => vendorOf(model)?.key;
    expect(of("gpt-4o-2099-01-01")).toBe("openai");
    expect(of("Qwen/Qwen3-235B-A22B")).toBe("ali");
    expect(of("MiniMax-M3")).toBe("minimax");
    expect(of("text-embedding-v4")).toBe("ali");
    expect(of("mj_imagine")).toBe("midjourney");
    expect(of("my-own-model")).toBeUndefined();
  });
});

test("administrators see which of the named models have no price, in their order; no other user does", async () => {
  const models = ["x-unknown", "m-call", "m-unpriced", "m-tokens", "", "__proto__"];
  expect(await weir.root.trpc.pricing.unpriced.mutate({ models })).toEqual([
    "x-unknown",
    "m-unpriced",
    "",
    "__proto__",
  ]);
  const refused = (await weir.newUser()).trpc.pricing.unpriced.mutate({ models }).then(
    () => "told",
    () => "refused",
  );
  expect(await refused).toBe("refused");
});
