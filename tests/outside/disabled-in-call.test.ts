/**
 * A channel, or one of its keys, that is disabled or drained in the middle of a call: the call that runs ends as it
 * would have, and is charged exactly; the next is refused, or goes on with another key. A drain counts the calls that
 * run, and ends them at its deadline.
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

  interface Drained {
    draining_since: number;
    running: number;
  }
  const runningAt = async (id: number): Promise<number> =>
    (await weir.root.ok<Drained>("GET", `/api/channel/${id}/drain`)).running;

  test("a channel that drains: its calls are counted down and end whole, the next is refused until it is resumed", async () => {
    const id = await weir.newChannel({ base_url: vendors.url, models: [MODEL] });
    await whileRunning(async () => {
      const { draining_since } = await weir.root.ok<Drained>("POST", `/api/channel/${id}/drain`);
      expect(draining_since).toBeGreaterThan(0);
      const refused = await call(false);
      expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining("channels_draining")]);
      await until("two calls are counted", async () => (await runningAt(id)) === 2);
    });
    await until("no call is counted", async () => (await runningAt(id)) === 0);
    const plan = await weir.root.ok<{ channels: { id: number; standing: string }[]; problems: { code: string }[] }>(
      "GET",
      `/api/channel/dry_run?model=${encodeURIComponent(MODEL)}`,
    );
    expect(plan.problems.map(({ code }) => code)).toEqual(["channels_draining"]);
    const other = await weir.newChannel({ base_url: vendors.url, models: [MODEL], priority: -1 });
    const both = await weir.root.ok<typeof plan>("GET", `/api/channel/dry_run?model=${encodeURIComponent(MODEL)}`);
    expect(both.channels.map((one) => [one.id, one.standing])).toEqual([
      [other, "ready"],
      [id, "draining"],
    ]);
    expect((await call(false)).status).toBe(200);
    await weir.root.ok("DELETE", `/api/channel/${other}`);
    await weir.root.ok("POST", `/api/channel/${id}/resume`);
    expect((await call(false)).status).toBe(200);
    // Disabling ends a drain: a channel that is enabled again serves.
    await weir.root.ok("POST", `/api/channel/${id}/drain`, { seconds: 60 });
    for (const status of [DISABLED, ENABLED]) await weir.root.ok("PUT", "/api/channel/", { id, status });
    expect((await call(false)).status).toBe(200);
    await weir.root.ok("DELETE", `/api/channel/${id}`);
    const acts = await weir.root.trpc.audit.list.query({ target_type: "channel", target_id: String(id) });
    expect(acts.items.map(({ action }) => action)).toEqual(expect.arrayContaining(["channel.drain", "channel.resume"]));
  }, 30_000);

  test("the deadline of a drain ends what still runs: with an error, and nothing stays held", async () => {
    const id = await weir.newChannel({ base_url: vendors.url, models: [MODEL] });
    const asked = vendors.strangers;
    vendors.holdBack();
    const answers = [true, false].map(async (stream) => (await call(stream)).text());
    await until("both are at the vendor", () => vendors.strangers === asked + 2);
    await weir.root.ok("POST", `/api/channel/${id}/drain`, { seconds: 1 });
    for (const text of await Promise.all(answers)) expect(text).toContain("upstream_timeout");
    vendors.letGo();
    await until("nothing is held", async () => (await weir.holds()) === 0);
    expect(await weir.audit()).toEqual([]);
    await weir.root.ok("DELETE", `/api/channel/${id}`);
  }, 30_000);

  test("a key that drains: its calls end whole and exact, the next goes with another", async () => {
    const id = await weir.newChannel({
      base_url: vendors.url,
      models: [MODEL],
      key: "first-key\nsecond-key",
      multi_key_mode: "polling",
    });
    const [first, second] = await weir.root.ok<{ id: number }[]>("GET", `/api/channel/${id}/keys`);
    const drain = (one: { id: number } | undefined) =>
      weir.root.ok<Drained>("POST", `/api/channel/${id}/keys/${one?.id}/drain`);
    await whileRunning(() => drain(first));
    expect((await call(false)).status).toBe(200);
    await drain(second);
    expect((await call(false)).status).toBe(503);
    await weir.root.ok("POST", `/api/channel/${id}/keys/${first?.id}/resume`);
    expect((await call(false)).status).toBe(200);
    const none = await weir.root.api("POST", `/api/channel/${id}/keys/999999/drain`);
    expect(none.body).toMatchObject({ success: false, code: "channel_key_not_found" });
    await weir.root.ok("DELETE", `/api/channel/${id}`);
  }, 30_000);

  test("an instance that drains takes no new calls and says so to balancers; those that run end whole", async () => {
    const channel = await weir.newChannel({ base_url: vendors.url, models: [MODEL] });
    const [own] = await weir.root.ok<{ id: string; self: boolean; running: number }[]>("GET", "/api/instance/");
    expect(own?.self).toBe(true);
    const state = async (): Promise<unknown[]> => {
      const answer = await fetch(`${weir.url}/readyz`);
      return [answer.status, ((await answer.json()) as { checks: { state: string } }).checks.state];
    };
    await whileRunning(async () => {
      await weir.root.ok("POST", `/api/instance/${own?.id}/drain`);
      expect(await state()).toEqual([503, "draining"]);
      const refused = await call(false);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
      await until("two calls are counted", async () => {
        const [now] = await weir.root.ok<{ running: number }[]>("GET", "/api/instance/");
        return now?.running === 2;
      });
    });
    await weir.root.ok("POST", `/api/instance/${own?.id}/resume`);
    expect((await state())[1]).toBe("serving");
    expect((await call(false)).status).toBe(200);
    const none = await weir.root.api("POST", "/api/instance/another/drain");
    expect(none.body).toMatchObject({ success: false, code: "instance_not_found" });
    await weir.root.ok("DELETE", `/api/channel/${channel}`);
  }, 30_000);
});
