/** A key's rotation: tested before it serves, an overlap in which both serve, then one. And the test of a form. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { ROLE } from "../../../shared/roles";
import { disableKey, enableKey } from "./keys";
import { retireKeys } from "./rotate";

/** Answers known keys; `seen` are those that it was asked with. */
const seen: { key: string; header: string | null; model: unknown }[] = [];
const upstream: Bun.Server<undefined> = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request): Promise<Response> {
    const key = request.headers.get("authorization")?.slice("Bearer ".length) ?? "";
    const { model } = (await request.json()) as { model?: unknown };
    seen.push({ key, header: request.headers.get("x-secret-token"), model });
    if (key.includes("bad")) return Response.json({ error: { message: "Incorrect API key" } }, { status: 401 });
    return Response.json({ choices: [{ message: { content: "hi" } }], usage: { prompt_tokens: 1 } });
  },
});
afterAll(() => upstream.stop(true));
const BASE = `http://127.0.0.1:${upstream.port}`;
const key = (name: string) => `sk-${name}-0123456789abcdef`;

for (const engine of ENGINES) {
  describe(`key rotation on ${engine}`, () => {
    let h: Harness;
    let admin: Person;
    let root: Person;
    beforeAll(async () => {
      h = await openHarness(engine);
      admin = await h.person({ role: ROLE.admin, lang: "en" });
      root = await h.person({ role: ROLE.root, lang: "en" });
    }, HOOK_MS);
    afterAll(() => h?.close());

    async function newChannel(fields: object = {}) {
      const [made] = await admin.call.channel.create({
        type: 1,
        name: "one",
        key: key("old"),
        base_url: BASE,
        models: "gpt-4o",
        groups: ["default"],
        ...fields,
      });
      if (!made) throw new Error("no channel");
      return made.id;
    }
    const rowOf = async (id: number) => {
      const { channels } = h.services.db.t;
      const [row] = await h.services.db.q.select().from(channels).where(eq(channels.id, id));
      if (!row) throw new Error("no channel");
      return row;
    };
    /** The keys that calls may get. */
    const serving = (id: number): string[] => {
      const channel = h.services.pool.byId(id)?.channel ?? h.services.pool.all().find((one) => one.id === id);
      return channel?.keys ? channel.keys.map((one) => one.key) : channel ? [channel.key] : [];
    };

    test("with an overlap both keys serve, then the new one alone, and the channel has one key again", async () => {
      const id = await newChannel();
      const done = await admin.call.channel.rotateKey({ id, key: key("new"), overlap_minutes: 10 });
      expect(done.tested).toBe(true);
      expect(seen.at(-1)?.key).toBe(key("new"));
      expect(serving(id)).toEqual([key("new"), key("old")]);
      const keys = await admin.call.channel.keys({ id });
      expect(keys.map(({ retires_at, reason }) => [retires_at, reason])).toEqual([
        [0, ""],
        [done.retires_at, ""],
      ]);
      h.advance(9 * 60);
      await retireKeys(h.services);
      expect(serving(id)).toHaveLength(2);
      h.advance(61);
      await Promise.all([retireKeys(h.services), retireKeys(h.services)]);
      expect(serving(id)).toEqual([key("new")]);
      expect((await rowOf(id)).multi_key_mode).toBe("");
      expect(await admin.call.channel.keys({ id })).toEqual([]);
      const { items } = await admin.call.log.list({ channel: id, type: 4 });
      expect(items.filter(({ code }) => code === "channel_key_retired")).toHaveLength(1);
    });

    test("a key that fails its test changes nothing and is not stored; without an overlap the old one stops at once", async () => {
      const id = await newChannel();
      const before = await rowOf(id);
      await expect(admin.call.channel.rotateKey({ id, key: key("bad") })).rejects.toThrow("Incorrect API key");
      const { response_time: _r, test_time: _t, ...rest } = await rowOf(id);
      expect(before).toMatchObject(rest);
      expect(await admin.call.channel.rotateKey({ id, key: key("new"), overlap_minutes: 0 })).toEqual({
        tested: true,
        retires_at: 0,
      });
      expect(serving(id)).toEqual([key("new")]);
      for (const odd of [key("new"), "", `${key("a")}\n${key("b")}`])
        expect((await admin.rest("POST", `/api/channel/${id}/rotate_key`, { key: odd })).body.success).toBe(false);
      expect(serving(id)).toEqual([key("new")]);
    });

    test("an old key that is disabled automatically meanwhile, or comes back, ends with the overlap all the same", async () => {
      const id = await newChannel();
      await admin.call.channel.rotateKey({ id, key: key("new"), overlap_minutes: 10 });
      const old = (await admin.call.channel.keys({ id }))[1]?.id ?? 0;
      const reason = { code: "channel_call_refused", values: { status: 401, detail: "gone" } } as const;
      expect(await disableKey(h.services, id, old, reason, {})).toBe(true);
      expect(serving(id)).toEqual([key("new")]);
      expect(await enableKey(h.services, id, old)).toBe(true);
      expect(serving(id)).toHaveLength(2);
      expect(await disableKey(h.services, id, old, reason, {})).toBe(true);
      h.advance(601);
      await retireKeys(h.services);
      expect([(await rowOf(id)).multi_key_mode, serving(id)]).toEqual(["", [key("new")]]);
    });

    test("of several keys the named one retires: it is disabled then, and stays while no other serves", async () => {
      const id = await newChannel({ key: `${key("k1")}\n${key("k2")}`, multi_key_mode: "polling" });
      const [first, second] = await admin.call.channel.keys({ id });
      await expect(admin.call.channel.rotateKey({ id, key: key("k3") })).rejects.toThrow("choose the one to replace");
      await expect(admin.call.channel.rotateKey({ id, key: key("k3"), key_id: 999_999 })).rejects.toThrow(
        "no such key",
      );
      await expect(admin.call.channel.rotateKey({ id, key: key("k2"), key_id: first?.id })).rejects.toThrow("already");
      await admin.call.channel.rotateKey({ id, key: key("k3"), key_id: first?.id, overlap_minutes: 5 });
      expect(serving(id)).toEqual([key("k1"), key("k2"), key("k3")]);
      h.advance(301);
      await retireKeys(h.services);
      expect(serving(id)).toEqual([key("k2"), key("k3")]);
      expect((await admin.call.channel.keys({ id }))[0]).toMatchObject({ status: 2, retires_at: 0 });
      // The last that serves does not retire: calls would fail.
      await admin.call.channel.rotateKey({ id, key: key("k4"), key_id: second?.id, overlap_minutes: 5 });
      const keys = await admin.call.channel.keys({ id });
      const others = keys.filter(({ id: one, status }) => one !== second?.id && status === 1).map((one) => one.id);
      await admin.call.channel.setKeyStatus({ id, key_ids: others, status: 2 });
      h.advance(301);
      await retireKeys(h.services);
      expect(serving(id)).toEqual([key("k2")]);
      const { items } = await admin.call.log.list({ channel: id, type: 4 });
      expect(items.some(({ code }) => code === "channel_key_kept")).toBe(true);
    });

    test("a channel that its old key had disabled serves again, and the rotation is in the audit log without a key", async () => {
      const id = await newChannel();
      const { channels } = h.services.db.t;
      await h.services.db.q
        .update(channels)
        .set({ status: 3, other_info: "{}" })
        .where(eq(channels.id, id))
        .returning();
      await admin.call.channel.rotateKey({ id, key: key("new"), overlap_minutes: 0 });
      expect(await rowOf(id)).toMatchObject({ status: 1, other_info: "" });
      const { items } = await root.call.audit.list({ action: "channel.rotate", target_id: String(id) });
      expect(items).toHaveLength(1);
      expect(JSON.stringify(items)).not.toContain("sk-");
      const user = await h.person({ lang: "en" });
      await expect(user.call.channel.rotateKey({ id, key: key("x") })).rejects.toThrow("no permission");
    });

    test("a form is tested as it stands: nothing is stored, and masked or empty secrets are the stored ones", async () => {
      const fresh = { type: 1, key: key("form"), base_url: BASE, models: "gpt-4o" };
      const count = async () => (await h.services.db.q.select().from(h.services.db.t.channels)).length;
      const [channels, logs] = [await count(), (await admin.call.log.list({ limit: 100 })).items.length];
      expect(await admin.call.channel.testDraft(fresh)).toMatchObject({ success: true, message: "" });
      expect(seen.at(-1)?.key).toBe(key("form"));
      expect(await admin.call.channel.testDraft({ ...fresh, key: key("bad") })).toMatchObject({ success: false });
      expect([await count(), (await admin.call.log.list({ limit: 100 })).items.length]).toEqual([channels, logs]);

      const id = await newChannel({ header_override: JSON.stringify({ "X-Secret-Token": "v3ry-s3cret-value-0123" }) });
      const { header_override } = await admin.call.channel.get({ id });
      const before = await rowOf(id);
      const draft = { id, header_override, model_mapping: '{"gpt-4o":"mapped"}' };
      expect(await admin.call.channel.testDraft(draft)).toMatchObject({ success: true });
      expect(seen.at(-1)).toEqual({ key: key("old"), header: "v3ry-s3cret-value-0123", model: "mapped" });
      expect(await rowOf(id)).toEqual(before);
    });

    test("a stored key or header is not sent to another address, and a form's faults are said", async () => {
      const id = await newChannel({ header_override: JSON.stringify({ "X-Secret-Token": "v3ry-s3cret-value-0123" }) });
      const asked = seen.length;
      const elsewhere = { id, base_url: "http://127.0.0.1:1" };
      const { body } = await admin.rest("POST", "/api/channel/test_draft", elsewhere);
      expect(body).toMatchObject({ success: false, time: 0 });
      expect(body.message).toContain("key");
      const { header_override } = await admin.call.channel.get({ id });
      const headers = await admin.call.channel.testDraft({ ...elsewhere, key: key("mine"), header_override });
      expect(headers).toMatchObject({ success: false, time: 0 });
      const several = await newChannel({ key: `${key("k1")}\n${key("k2")}`, multi_key_mode: "polling" });
      expect(await admin.call.channel.testDraft({ id: several, base_url: "http://127.0.0.1:1" })).toMatchObject({
        success: false,
        time: 0,
      });
      for (const wrong of [
        { type: 99_999, key: key("x") },
        { type: 1, base_url: BASE },
        { type: 1, key: key("x"), base_url: "not an address" },
        { type: 1, key: key("x"), base_url: BASE, setting: "{broken" },
        { id: 999_999 },
      ])
        expect(await admin.call.channel.testDraft(wrong)).toMatchObject({ success: false, time: 0 });
      expect(seen).toHaveLength(asked);
    });
  });
}
