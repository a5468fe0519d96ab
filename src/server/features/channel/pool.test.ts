import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { resolveMapping } from "../../../shared/model-mapping";
import { createChannelPool } from "./pool";
import type { ChannelPool } from "../../contracts/channel-pool";

describe("model mapping", () => {
  const resolve = (json: Record<string, unknown>) => {
    const { mapping, loops } = resolveMapping(json);
    return { mapping: Object.fromEntries(mapping), loops };
  };

  test("follows chains to their end", () => {
    expect(resolve({ a: "b", b: "c", c: "d" })).toEqual({ mapping: { a: "d", b: "d", c: "d" }, loops: [] });
  });

  test("ends at a name that is mapped to itself", () => {
    expect(resolve({ a: "b", b: "b" })).toEqual({ mapping: { a: "b" }, loops: [] });
  });

  test("leaves the names of a circle unmapped and reports them", () => {
    expect(resolve({ a: "b", b: "a", c: "a" })).toEqual({ mapping: {}, loops: ["a", "b", "c"] });
  });

  test("ignores entries that are not names", () => {
    expect(resolve({ a: 1, b: null, c: "", d: " e ", __proto__: "x" })).toEqual({ mapping: { d: "e" }, loops: [] });
    expect(resolve({ a: "constructor" })).toEqual({ mapping: { a: "constructor" }, loops: [] });
  });
});

for (const engine of ENGINES) {
  describe(`the channel pool on ${engine}`, () => {
    let h: Harness;
    let pool: ChannelPool;
    beforeAll(async () => {
      h = await openHarness(engine);
      pool = await createChannelPool(h.services, 1);
    }, HOOK_MS);
    afterAll(async () => {
      pool.close();
      await h.close();
    });

    const insert = async (fields: object = {}) => {
      const [row] = await h.services.db.q
        .insert(h.services.db.t.channels)
        .values({
          type: 1,
          name: "c",
          models: "m",
          group: "default",
          created_time: 1,
          key_cipher: h.services.secrets.encrypt("channel-key", "the key"),
          ...fields,
        })
        .returning();
      return row?.id ?? 0;
    };
    const ids = (group: string, model: string) =>
      pool
        .candidates(group, model)
        .map((channel) => channel.id)
        .sort((a, b) => a - b);
    const update = (id: number, set: object) => {
      const { channels } = h.services.db.t;
      return h.services.db.q.update(channels).set(set).where(eq(channels.id, id)).returning();
    };

    test("returns enabled channels by group and model, and any channel by id", async () => {
      const a = await insert({
        models: "m,n",
        group: "default,vip",
        base_url: "https://a.example/",
        status_code_mapping: '{"400":"500","x":1,"429":99}',
      });
      const b = await insert();
      const off = await insert({ status: 2 });
      await pool.reload();
      expect(ids("default", "m")).toEqual([a, b]);
      expect(ids("vip", "n")).toEqual([a]);
      expect(ids("vip", "none")).toEqual([]);
      expect(ids("__proto__", "constructor")).toEqual([]);
      expect(pool.models("default")).toEqual(["m", "n"]);
      expect(pool.models("nobody")).toEqual([]);
      expect(pool.enabledModels()).toEqual(["m", "n"]);
      expect(pool.byId(off)).toMatchObject({ enabled: false, channel: { id: off, key: "the key" } });
      expect(pool.byId(a)?.channel).toMatchObject({
        base_url: "https://a.example",
        type: { key: "openai" },
        auto_ban: true,
        status_mapping: new Map([[400, 500]]),
      });
      expect(pool.byId(12345)).toBeUndefined();
    });

    test("a drain of a channel or a key is stored: an instance that starts later knows it, one that runs hears of it", async () => {
      const id = await insert({ models: "drains", draining_since: 5, drain_deadline: 9 });
      const several = await insert({ models: "drains", multi_key_mode: "random", key_cipher: "" });
      const { channel_keys } = h.services.db.t;
      const keys = [0, 7].map((draining_since, position) => ({
        channel_id: several,
        position,
        key_cipher: h.services.secrets.encrypt("channel-key", `key ${position}`),
        key_hash: `hash ${position}`,
        created_at: 1,
        draining_since,
      }));
      await h.services.db.q.insert(channel_keys).values(keys);
      const later = await createChannelPool(h.services, 1);
      expect(later.byId(id)).toMatchObject({ enabled: true, channel: { drain: { since: 5, deadline: 9 } } });
      expect(later.inGroup("default").some((channel) => channel.id === id)).toBe(false);
      const { channel, enabled } = later.byId(several) ?? {};
      expect([enabled, channel?.keys?.length, channel?.draining_keys?.length]).toEqual([true, 1, 1]);
      expect(channel?.draining_keys?.[0]?.drain).toEqual({ since: 7, deadline: 0 });
      await update(id, { draining_since: 0, drain_deadline: 0 });
      await h.services.db.tx((q) => h.services.cluster.bus.announce(q, "channels", String(id)));
      expect(later.byId(id)?.channel.drain).toBeUndefined();
      later.close();
      for (const one of [id, several]) await update(one, { status: 2, models: "gone" });
    });

    test("serves a channel with broken settings by its readable ones, leaves unreadable ones out, and reports each once", async () => {
      const broken = await insert({ models: "broken", model_mapping: "{", setting: "[1]", status_code_mapping: "x" });
      const unknown = await insert({ models: "broken", type: 999 });
      const locked = await insert({ models: "broken", key_cipher: "k1.AAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" });
      const before = h.logged.length;
      await pool.reload();
      expect(ids("default", "broken")).toEqual([broken]);
      expect(pool.byId(broken)?.channel).toMatchObject({ model_mapping: new Map(), setting: {} });
      const reported = h.logged.slice(before).map((line) => JSON.parse(line).channel);
      for (const id of [broken, unknown, locked]) expect(reported).toContain(id);
      const count = h.logged.length;
      await pool.reload();
      await pool.reload();
      expect(h.logged.length).toBe(count);
    });

    test("sees a change elsewhere, and keeps the parsed form of channels that did not change", async () => {
      const id = await insert({ models: "moved" });
      const other = await insert({ models: "stays" });
      await pool.reload();
      const kept = pool.byId(other)?.channel;
      await update(id, { models: "moved-on" });
      await h.services.db.tx((q) => h.services.cluster.bus.announce(q, "channels", String(id)));
      for (let i = 0; i < 100 && ids("default", "moved-on").length === 0; i++) await Bun.sleep(5);
      expect(ids("default", "moved-on")).toEqual([id]);
      expect(ids("default", "moved")).toEqual([]);
      expect(pool.byId(other)?.channel).toBe(kept);
    });

    test("a reload that is requested during another one sees what was written before the request", async () => {
      const id = await insert({ models: "late" });
      const first = pool.reload();
      await update(id, { models: "latest" });
      await Promise.all([first, pool.reload(), pool.reload()]);
      expect(ids("default", "latest")).toEqual([id]);
    });

    test("tells a model whose channels are switched off from one that no channel of the group has", async () => {
      const id = await insert({ models: "away", group: "default,vip", status: 2 });
      await pool.reload();
      const off = () => [pool.off("default", "away"), pool.off("vip", "away"), pool.off("other", "away")];
      expect([ids("default", "away"), off(), pool.off("default", "none")]).toEqual([[], [true, true, false], false]);
      await update(id, { status: 1 });
      await pool.reload();
      expect([ids("default", "away"), off()]).toEqual([[id], [false, false, false]]);
    });

    test("a channel stays the same object until it is changed: what is known of its account ends with that", async () => {
      const id = await insert({ models: "kept" });
      await pool.reload();
      const [before] = pool.candidates("default", "kept");
      await update(await insert({ models: "another" }), { priority: 3 });
      await pool.reload();
      expect(pool.candidates("default", "kept")[0]).toBe(before);
      await update(id, { key_cipher: h.services.secrets.encrypt("channel-key", "another key") });
      await pool.reload();
      expect(pool.candidates("default", "kept")[0]).not.toBe(before);
    });
  });
}
