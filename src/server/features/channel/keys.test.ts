/** Several keys in one channel: rows with a state of their own, on both engines. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import type { ChannelKeyView } from "../../../shared/channel-keys";
import { readStatusInfo } from "../../../shared/channel-operations";
import { ROLE } from "../../../shared/roles";
import { channelWatch } from "./auto-disable";
import { startTestRun } from "./test-all";

const KEYS = ["sk-planted-key-number-1111", "sk-planted-key-number-2222", "sk-planted-key-number-3333"];

/** Keys that the upstream refuses, and keys it was called with. */
const refused = new Set<string>();
const seen: string[] = [];
/** Key -> balance of its account (OpenRouter get-credits). */
const credits = new Map<string, number>();
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const key = request.headers.get("authorization")?.slice(7) ?? "";
    seen.push(key);
    if (refused.has(key)) return Response.json({ error: { message: "no", code: "invalid_api_key" } }, { status: 401 });
    if (new URL(request.url).pathname.endsWith("/credits"))
      return Response.json({ data: { total_credits: 100, total_usage: 100 - (credits.get(key) ?? 0) } });
    return Response.json({
      choices: [{ message: { content: "hi" } }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    });
  },
});
afterAll(() => upstream.stop(true));

describe.each([...ENGINES])("several keys on %s", (engine) => {
  let house: Harness;
  let admin: Person;
  beforeAll(async () => {
    house = await openHarness(engine);
    admin = await house.person({ role: ROLE.admin });
    await house.services.options.set("AutomaticDisableChannelEnabled", "true");
    await house.services.options.set("AutomaticEnableChannelEnabled", "true");
  }, HOOK_MS);
  afterAll(() => house?.close());

  const form = (more: object = {}) => ({
    type: 1,
    name: "many",
    key: KEYS.join("\n"),
    base_url: `http://127.0.0.1:${upstream.port}`,
    models: "m",
    ...more,
  });
  const make = async (more: object = {}): Promise<number> => {
    const { body } = await admin.rest("POST", "/api/channel/", form({ mode: "multi_to_single", ...more }));
    expect(body).toMatchObject({ success: true });
    expect(body.data).toHaveLength(1);
    return body.data[0].id;
  };
  const keysOf = async (id: number): Promise<ChannelKeyView[]> =>
    (await admin.rest("GET", `/api/channel/${id}/keys`)).body.data;
  const inPool = (id: number) => house.services.pool.byId(id);
  const statuses = async (id: number) => (await keysOf(id)).map(({ status }) => status);
  const channelOf = async (id: number) => (await admin.rest("GET", `/api/channel/${id}`)).body.data;

  test("lines are channels unless a mode makes them keys of one; no answer contains a key", async () => {
    // spec: C-207
    expect((await admin.rest("POST", "/api/channel/", form())).body.data).toHaveLength(3);
    const id = await make();
    const byMode = (await admin.rest("POST", "/api/channel/", form({ multi_key_mode: "polling" }))).body.data;
    // spec: C-207
    expect(byMode).toMatchObject([{ multi_key_mode: "polling", key: "" }]);
    expect(await keysOf(id)).toMatchObject(
      [1, 2, 3].map((position) => ({ position, status: 1, hint: `…${String(position).repeat(4)}` })),
    );
    const said = JSON.stringify([
      await keysOf(id),
      await channelOf(id),
      byMode,
      (await admin.rest("GET", "/api/channel/?p=0&page_size=100")).body,
    ]);
    // spec: C-204
    for (const key of KEYS) expect(said).not.toContain(key);
    expect(inPool(id)).toMatchObject({ enabled: true, channel: { multi_key_mode: "random" } });
    expect(inPool(id)?.channel.keys?.map(({ key }) => key)).toEqual(KEYS);
  });

  test("keys are found by search, added once each, disabled, enabled and removed; the last one stays", async () => {
    const id = await make({ name: "edited" });
    const call = (method: string, more: object) => admin.rest(method, `/api/channel/${id}/keys`, more);
    expect((await call("POST", { key: `${KEYS[0]}\n sk-another \n\nsk-another` })).body.data).toBe(1);
    const keys = await keysOf(id);
    expect(keys.map(({ position }) => position)).toEqual([1, 2, 3, 4]);
    const found = (await admin.rest("GET", "/api/channel/search?keyword=sk-another")).body.data;
    expect(found.map((channel: { id: number }) => channel.id)).toEqual([id]);

    const [first, second] = keys.map((key) => key.id);
    expect((await call("PUT", { key_ids: [first, second], status: 2 })).body.data).toBe(2);
    expect(await statuses(id)).toEqual([2, 2, 1, 1]);
    expect(inPool(id)?.channel.keys?.map(({ key }) => key)).toEqual([KEYS[2] ?? "", "sk-another"]);
    expect((await call("PUT", { key_ids: [first], status: 1 })).body.data).toBe(1);
    expect((await call("DELETE", { key_ids: keys.slice(1).map((key) => key.id) })).body.data).toBe(3);
    const last = (await call("DELETE", { key_ids: [first] })).body;
    expect(last).toMatchObject({ success: false, message: "不能删除渠道的最后一个密钥" });
    expect(await statuses(id)).toEqual([1]);
  });

  test("keys of another channel, odd input and people without the role change nothing", async () => {
    const id = await make({ name: "mine" });
    const other = await make({ name: "other" });
    const [foreign] = await keysOf(other);
    expect((await admin.rest("PUT", `/api/channel/${id}/keys`, { key_ids: [foreign?.id], status: 2 })).body.data).toBe(
      0,
    );
    expect(await statuses(other)).toEqual([1, 1, 1]);
    for (const bad of [
      {},
      { key_ids: [] },
      { key_ids: ["x"], status: 2 },
      { key_ids: [1], status: 3 },
      { key_ids: null, status: 1 },
    ]) {
      expect((await admin.rest("PUT", `/api/channel/${id}/keys`, bad)).body.success).toBe(false);
    }
    expect((await admin.rest("POST", `/api/channel/${id}/keys`, { key: " \n " })).body.success).toBe(false);
    expect(
      (
        await admin.rest("POST", `/api/channel/${id}/keys`, {
          key: Array.from({ length: 600 }, (_, i) => `k${i}`).join("\n"),
        })
      ).body.success,
    ).toBe(false);
    const user = await house.person({});
    for (const method of ["GET", "POST", "PUT", "DELETE"])
      expect(
        (await user.rest(method, `/api/channel/${id}/keys`, { key_ids: [1], key: "x", status: 1 })).body.success,
      ).toBe(false);
    expect((await admin.rest("GET", "/api/channel/999999/keys")).body.success).toBe(false);
    expect(await statuses(id)).toEqual([1, 1, 1]);
  });

  test("a channel with one key can get more and go back; it keeps its key", async () => {
    const [single] = (await admin.rest("POST", "/api/channel/", form({ key: KEYS[0], name: "grows" }))).body.data;
    const put = async (more: object) => (await admin.rest("PUT", "/api/channel/", { id: single.id, ...more })).body;
    expect((await put({ key: KEYS.join("\n") })).success).toBe(false);
    expect((await put({ multi_key_mode: "polling", key: KEYS.slice(1).join("\n") })).data).toMatchObject({
      multi_key_mode: "polling",
    });
    expect(inPool(single.id)?.channel.keys?.map(({ key }) => key)).toEqual(KEYS);
    expect((await put({ multi_key_mode: "" })).message).toContain("仍有多个密钥");
    expect((await put({ multi_key_mode: "", key: "sk-the-only-one" })).data).toMatchObject({ multi_key_mode: "" });
    expect(inPool(single.id)?.channel).toMatchObject({ key: "sk-the-only-one" });
    expect(inPool(single.id)?.channel.keys).toBeUndefined();
    expect(await keysOf(single.id)).toEqual([]);
    expect((await admin.rest("POST", `/api/channel/${single.id}/keys`, { key: "x" })).body.message).toContain(
      "只有一个密钥",
    );
  });

  test("a copy has the same keys, and a deleted channel takes its keys along", async () => {
    const id = await make({ name: "original" });
    const copy = (await admin.call.channel.copy({ id })).id;
    expect(inPool(copy)?.channel.keys?.map(({ key }) => key)).toEqual(KEYS);
    const { q, t } = house.services.db;
    const rows = () => q.select().from(t.channel_keys).where(eq(t.channel_keys.channel_id, copy));
    expect(await rows()).toHaveLength(3);
    expect((await admin.rest("POST", "/api/channel/batch", { ids: [copy] })).body.data).toBe(1);
    expect(await rows()).toEqual([]);
    expect((await admin.rest("DELETE", `/api/channel/${id}/`)).body.success).toBe(true);
  });

  test("a refused key is disabled alone, with its reason; the channel is disabled with its last key, once, and enabled again with its keys", async () => {
    const id = await make({ name: "falls" });
    const trouble = { status: 401, disable: true, message: "bad key", request_id: "r" };
    const watch = channelWatch(house.services);
    const keys = inPool(id)?.channel.keys ?? [];
    for (let i = 0; i < 5; i++) for (const key of keys.slice(0, 1)) watch(key, trouble);
    await waitFor(async () => (await statuses(id))[0] === 3);
    expect(await statuses(id)).toEqual([3, 1, 1]);
    const [first] = await keysOf(id);
    expect(readStatusInfo(first?.reason ?? "", "en")?.reason).toContain("bad key");
    expect(await channelOf(id)).toMatchObject({ status: 1, other_info: "" });

    // The last two fail at the same time.
    for (const key of keys.slice(1)) watch(key, trouble);
    await waitFor(async () => (await channelOf(id)).status === 3);
    expect(await statuses(id)).toEqual([3, 3, 3]);
    expect(readStatusInfo((await channelOf(id)).other_info, "zh")?.reason).toContain("所有密钥都已被禁用");
    const { q, t } = house.services.db;
    const rows = await q.select().from(t.logs).where(eq(t.logs.channel, id));
    expect(rows.filter(({ code }) => code === "channel_key_auto_disabled")).toHaveLength(3);
    expect(rows.filter(({ code }) => code === "channel_auto_disabled")).toHaveLength(1);

    expect((await admin.rest("PUT", "/api/channel/", { id, status: 1 })).body.success).toBe(true);
    expect(await statuses(id)).toEqual([1, 1, 1]);
    expect(inPool(id)).toMatchObject({ enabled: true });
  });

  test("with auto_ban off no key is disabled", async () => {
    const id = await make({ name: "spared", auto_ban: 0 });
    for (const key of inPool(id)?.channel.keys ?? [])
      channelWatch(house.services)(key, { status: 401, disable: true, message: "x" });
    // spec: C-217
    expect(await statuses(id)).toEqual([1, 1, 1]);
  });

  test("the test of all channels disables a key that is refused and brings back one that works again", async () => {
    const id = await make({ name: "tested" });
    const [first] = await keysOf(id);
    const { q, t } = house.services.db;
    await q.update(t.channels).set({ status: 2 }).returning();
    await q.update(t.channels).set({ status: 1 }).where(eq(t.channels.id, id)).returning();
    await q.update(t.channels).set({ multi_key_mode: "polling" }).where(eq(t.channels.id, id)).returning();
    const run = async () =>
      (await startTestRun(house.services, { id: 1, username: "t", group: "default", ip: "" })).done;
    refused.add(KEYS[0] ?? "");
    // Each run tests with the key whose turn it is.
    for (let i = 0; i < 3; i++) await run();
    expect(await statuses(id)).toEqual([3, 1, 1]);
    refused.clear();
    seen.length = 0;
    await run();
    expect(seen).toContain(KEYS[0] ?? "");
    expect(await statuses(id)).toEqual([1, 1, 1]);
    expect((await keysOf(id))[0]).toMatchObject({ id: first?.id, reason: "" });
  });
});

describe.each([...ENGINES])("calls of our own with several keys on %s", (engine) => {
  let house: Harness;
  let admin: Person;
  beforeAll(async () => {
    house = await openHarness(engine);
    admin = await house.person({ role: ROLE.admin });
    await house.services.options.set("AutomaticDisableChannelEnabled", "true");
  }, HOOK_MS);
  afterAll(() => house?.close());

  const make = async (more: object): Promise<number> => {
    const form = {
      type: 1,
      name: "many",
      key: KEYS.join("\n"),
      base_url: `http://127.0.0.1:${upstream.port}`,
      models: "m",
      multi_key_mode: "polling",
      ...more,
    };
    return (await admin.rest("POST", "/api/channel/", form)).body.data[0].id;
  };
  const keysOf = async (id: number): Promise<ChannelKeyView[]> =>
    (await admin.rest("GET", `/api/channel/${id}/keys`)).body.data;

  test("the test of one channel goes from key to key in turn, past those that are disabled", async () => {
    const id = await make({});
    const test = async () =>
      expect((await admin.rest("GET", `/api/channel/test/${id}`)).body).toMatchObject({ success: true });
    seen.length = 0;
    for (let i = 0; i < 4; i++) await test();
    expect(seen).toEqual([...KEYS, KEYS[0] ?? ""]);
    const [, second] = await keysOf(id);
    await admin.rest("PUT", `/api/channel/${id}/keys`, { key_ids: [second?.id], status: 2 });
    seen.length = 0;
    for (let i = 0; i < 2; i++) await test();
    expect(seen).toEqual([KEYS[2] ?? "", KEYS[0] ?? ""]);
  });

  test("a balance is the sum of the enabled keys' accounts; an empty one disables its key alone, a refused one keeps the old figure", async () => {
    const id = await make({ type: 20 });
    const [first, second, third] = KEYS.map(String);
    const update = async () => (await admin.rest("GET", `/api/channel/update_balance/${id}`)).body;
    const channel = async () => (await admin.rest("GET", `/api/channel/${id}`)).body.data;
    for (const [i, key] of KEYS.entries()) credits.set(key, 10 * (i + 1));
    seen.length = 0;
    expect(await update()).toMatchObject({ success: true, balance: 60, currency: "USD" });
    expect([...seen].sort()).toEqual(KEYS);
    expect(await channel()).toMatchObject({ balance: 60, status: 1 });

    refused.add(String(second));
    expect(await update()).toMatchObject({ success: false, code: "channel_balance_failed" });
    expect(await channel()).toMatchObject({ balance: 60 });
    refused.clear();

    credits.set(String(first), 0);
    expect(await update()).toMatchObject({ success: true, balance: 50 });
    expect((await keysOf(id)).map(({ status }) => status)).toEqual([3, 1, 1]);
    expect(await channel()).toMatchObject({ status: 1 });
    seen.length = 0;
    await update();
    expect([...seen].sort()).toEqual([String(second), String(third)]);
    credits.clear();
    await update();
    expect(await channel()).toMatchObject({ status: 3, balance: 0 });
  });
});

/** Polls a condition, 10 s at most. */
async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error("it did not happen within 10 s");
    await Bun.sleep(10);
  }
}
