/**
 * A channel, or one of its keys, that is disabled in the middle of a call: the call that runs ends as it would have,
 * and is charged exactly; the next is refused, or goes on with another key.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES } from "../kit/databases";
import { startVendors } from "../kit/trial/vendors";
import { until } from "../kit/until";
import { startWeir, type Weir } from "../kit/weir";

/** 10 tokens in, 20 out, one unit each. */
const MODEL = "gpt-4o+usage:10:20";
const PRICE = 30;
const [ENABLED, DISABLED] = [1, 2];

describe.each(ENGINES)("disabled in the middle of a call on %s", (engine) => {
  const vendors = startVendors();
  let weir: Weir;
  let key = "";
  beforeAll(async () => {
    weir = await startWeir({ engine });
    await weir.priceModels({ [MODEL]: 1 });
    ({ key } = await weir.newToken());
  }, 60_000);
  afterAll(async () => {
    await weir?.stop();
    vendors.stop();
  });

  const call = (stream: boolean): Promise<Response> =>
    weir.call(key, { model: MODEL, stream, messages: [{ role: "user", content: "hi" }] });
  const charges = async () => (await weir.logs()).filter(({ type }) => type === 2);

  /** A stream and a whole answer that the vendor holds back while `change` is made; both must end well. */
  async function whileRunning(change: () => Promise<unknown>): Promise<void> {
    const [asked, charged] = [vendors.strangers, (await charges()).length];
    vendors.holdBack();
    const answers = [true, false].map(async (stream) => (await call(stream)).text());
    await until("both are at the vendor", () => vendors.strangers === asked + 2);
    await change();
    vendors.letGo();
    const [stream, whole] = await Promise.all(answers);
    expect(stream).toContain("data: [DONE]");
    expect(JSON.parse(whole ?? "")).toMatchObject({ usage: { prompt_tokens: 10, completion_tokens: 20 } });
    await until("both are charged", async () => (await charges()).length === charged + 2);
    for (const row of (await charges()).slice(charged))
      expect([row.quota, row.end_reason]).toEqual([PRICE, "complete"]);
    expect(await weir.holds()).toBe(0);
    expect(await weir.audit()).toEqual([]);
  }

  test("a channel with one key: its call ends whole and exact, the next is refused and free", async () => {
    const id = await weir.newChannel({ base_url: vendors.url, models: [MODEL] });
    await whileRunning(() => weir.root.ok("PUT", "/api/channel/", { id, status: DISABLED }));
    const charged = (await charges()).length;
    const refused = await call(false);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    await refused.text();
    expect((await charges()).length).toBe(charged);
    await weir.root.ok("PUT", "/api/channel/", { id, status: ENABLED });
    await whileRunning(() => weir.root.ok("DELETE", `/api/channel/${id}`));
  }, 30_000);

  test("a key of several: its call ends whole and exact, the next goes with the other, and without any is refused", async () => {
    const id = await weir.newChannel({
      base_url: vendors.url,
      models: [MODEL],
      key: "first-key\nsecond-key",
      multi_key_mode: "polling",
    });
    const found = await weir.root.ok<{ id: number }[]>("GET", `/api/channel/${id}/keys`);
    const [first, second] = found.map((one) => one.id);
    const disable = (key_id: number | undefined) =>
      weir.root.ok("PUT", `/api/channel/${id}/keys`, { key_ids: [key_id], status: DISABLED });
    await whileRunning(() => disable(first));
    expect((await call(false)).status).toBe(200);
    await whileRunning(() => disable(second));
    const charged = (await charges()).length;
    const refused = await call(false);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect((await charges()).length).toBe(charged);
    expect(await weir.audit()).toEqual([]);
  }, 30_000);
});
