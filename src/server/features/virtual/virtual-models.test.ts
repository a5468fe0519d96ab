/** Virtual models on a server: what is saved, where they are listed, and a call with its row. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startFakeUpstream } from "../../../../tests/kit/fake-upstream/server";
import type { PriceList } from "../../../shared/price-list";
import { startWeir, type Weir } from "../../../../tests/kit/weir";

let weir: Weir;
const upstream = startFakeUpstream();
const ladder = { steps: [{ model: "error-500" }, { model: "gpt-4o", on: ["transient"] }] };

beforeAll(async () => {
  weir = await startWeir();
  await weir.setOption("GroupRatio", { default: 1, vip: 2, staff: 3 });
  await weir.setOption("UserUsableGroups", { default: "", vip: "" });
  await weir.setOption("ModelRatio", { "gpt-4o": 1, "gpt-4o-mini": 0.1, "error-500": 2, fixed: 5 });
  const base_url = upstream.url;
  await weir.newChannel({ base_url, models: ["gpt-4o", "error-500"], group: "default,vip" });
  await weir.newChannel({ base_url, models: ["gpt-4o-mini"], group: "staff" });
  await weir.setOption("VirtualModels", {
    smart: ladder,
    fixed: { steps: [{ model: "gpt-4o" }], fixed_price: true },
    staffed: { steps: [{ model: "gpt-4o-mini" }] },
    closed: { steps: [{ model: "gpt-4o-mini", group: "staff" }] },
  });
});
afterAll(async () => {
  await weir?.stop();
  await upstream.close();
});

const refusal = async (value: unknown): Promise<string> => {
  try {
    await weir.setOption("VirtualModels", value);
    return "";
  } catch (error) {
    return String(error);
  }
};

describe("what is saved", () => {
  test("an unknown step, an unknown group, a loop and a name that a channel serves are refused; what stands stays", async () => {
    expect(await refusal({ a: { steps: [{ model: "no-such-model" }] } })).toContain("no-such-model");
    expect(await refusal({ a: { steps: [{ model: "gpt-4o", group: "nowhere" }] } })).toContain("nowhere");
    expect(await refusal({ a: { steps: [{ model: "gpt-4o" }], fixed_price: true } })).not.toBe("");
    expect(await refusal({ a: { steps: [{ model: "a" }] } })).not.toBe("");
    expect(await refusal({ "gpt-4o": { steps: [{ model: "gpt-4o-mini" }] } })).not.toBe("");
    const { models } = await weir.root.trpc.pricing.catalogue.query();
    expect(models.some(({ model }) => model === "smart")).toBe(true);
  });
});

describe("where it is listed", () => {
  test("in /v1/models and the token's choices of the groups that a step serves, and nowhere else", async () => {
    const own = await weir.root.trpc.group.models.query({ group: "default" });
    expect(own).toEqual(["error-500", "fixed", "gpt-4o", "smart"]);
    const { key } = await weir.newToken();
    const list = await fetch(`${weir.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect(((await list.json()) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(own);
  });

  test("the price list shows its steps, or the fixed price of its own name", async () => {
    const { models } = await weir.root.trpc.pricing.catalogue.query();
    const of = (name: string) => models.find(({ model }) => model === name);
    expect(of("smart")).toMatchObject({
      steps: [{ model: "error-500" }, { model: "gpt-4o" }],
      enable_groups: ["default", "vip"],
    });
    expect(of("smart")?.factors).toBeUndefined();
    expect(of("fixed")).toMatchObject({ factors: { model_ratio: { value: 5 } } });
    // A list with one price a model names the dearest step's, input and output together.
    const { data } = (await weir.anonymous("GET", "/api/pricing")).body as unknown as PriceList;
    expect(data.find(({ model_name }) => model_name === "smart")).toMatchObject({
      model_ratio: 1,
      completion_ratio: 4,
      quota_type: 0,
    });
  });
});

describe("a call", () => {
  test("is answered by a step, charged at its price, and its row says what was asked and why", async () => {
    const { key } = await weir.newToken({ model_limits_enabled: true, model_limits: "smart" });
    const messages = [{ role: "user", content: "hello" }];
    const answer = await weir.call(key, { model: "smart", messages });
    expect(answer.status).toBe(200);
    const row = await weir.waitForLog(({ type, model_name }) => type === 2 && model_name === "gpt-4o");
    expect(JSON.parse(row.other)).toMatchObject({
      asked_model: "smart",
      passed_steps: [{ model: "error-500", why: "transient" }],
      model_ratio: 1,
    });
    expect((await weir.call(key, { model: "gpt-4o", messages })).status).toBe(403);
    expect([await weir.holds(), await weir.audit()]).toEqual([0, []]);
  });

  test("the dry run shows the ladder: each step's reasons, price and channels", async () => {
    const run = await weir.root.trpc.channel.dryRun.query({ model: "smart" });
    expect(run.problems).toEqual([]);
    expect(run.steps).toMatchObject([
      { run: { model: "error-500", price: { input: "4" } } },
      {
        on: ["transient"],
        run: { model: "gpt-4o", price: { input: "2" }, channels: [{ turn: 1, standing: "ready" }] },
      },
    ]);
    const denied = await weir.root.trpc.channel.dryRun.query({ model: "closed" });
    expect(denied.steps).toMatchObject([{ run: { channels: [], problems: [{ code: "group_denied" }] } }]);
  });
});
