/** The history of a channel, of a setting and of a price: what changed, and putting back what was before. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { ROLE } from "../../../shared/roles";

for (const engine of ENGINES) {
  describe(`histories on ${engine}`, () => {
    let h: Harness;
    let root: Person;
    let admin: Person;
    beforeAll(async () => {
      h = await openHarness(engine);
      root = await h.person({ role: ROLE.root });
      admin = await h.person({ role: ROLE.admin });
    }, HOOK_MS);
    afterAll(() => h?.close());

    async function newChannel() {
      const [made] = await admin.call.channel.create({
        type: 1,
        name: "first",
        key: "sk-upstream-0123456789",
        models: "a,b",
        groups: ["default"],
        header_override: JSON.stringify({ "X-Api-Key": "v3ry-s3cret-header-value", "X-Plain": "open" }),
        setting: JSON.stringify({ proxy: "http://ann:pa55word@proxy.example:8080", force_format: false }),
      });
      if (!made) throw new Error("no channel");
      return made.id;
    }
    const stored = async (id: number) => {
      const rows = await h.services.db.q.select().from(h.services.db.t.channels);
      const row = rows.find((found) => found.id === id);
      if (!row) throw new Error("no channel");
      return row;
    };

    test("a channel's changes stand newest first with who and what, and one is taken back by an edit like any other", async () => {
      const id = await newChannel();
      await admin.call.channel.update({ id, name: "second", priority: 5, models: "a,b,c" });
      await root.call.channel.update({ id, priority: 9 });
      const { items } = await admin.call.channel.history({ id });
      expect(items.map(({ action, actor_name, restorable }) => [action, actor_name, restorable])).toEqual([
        ["channel.update", root.ctx.actor.username, true],
        ["channel.update", admin.ctx.actor.username, true],
        ["channel.create", admin.ctx.actor.username, false],
      ]);
      expect(JSON.parse(items[1]?.before ?? "")).toEqual({ name: "first", priority: 0, models: "a,b" });
      const restored = await admin.call.channel.restore({ id, entry: items[1]?.id ?? 0 });
      expect(restored).toMatchObject({ name: "first", priority: 0, models: "a,b" });
      // An edit: it has its own entry, and taking that back is the way forward again.
      const [latest] = (await admin.call.channel.history({ id })).items;
      expect(latest).toMatchObject({ action: "channel.update", restorable: true });
      expect(await admin.call.channel.restore({ id, entry: latest?.id ?? 0 })).toMatchObject({ name: "second" });
    });

    test("what a batch changes stands in the history of each channel that it changed, and is taken back there", async () => {
      const ids = [await newChannel(), await newChannel(), await newChannel()];
      const [one = 0, two = 0, three = 0] = ids;
      await admin.call.channel.update({ id: three, priority: 7 });
      const latest = async (id: number) => (await admin.call.channel.history({ id })).items[0];
      await admin.call.channel.batchEdit({ ids, models: "x,y", priority: 7 });
      for (const [id, priority] of [
        [one, 0],
        [three, undefined],
      ] as const) {
        const entry = await latest(id);
        expect(entry).toMatchObject({ action: "channel.update", actor_name: admin.ctx.actor.username });
        expect(JSON.parse(entry?.before ?? "")).toEqual({ models: "a,b", ...(priority !== undefined && { priority }) });
        expect(entry?.restorable).toBe(true);
      }
      await admin.call.channel.restore({ id: one, entry: (await latest(one))?.id ?? 0 });
      expect(await stored(one)).toMatchObject({ models: "a,b", priority: 0 });
      expect(await stored(two)).toMatchObject({ models: "x,y", priority: 7 });

      await admin.call.channel.batchTag({ ids: [one, two], tag: "night" });
      await admin.call.channel.tagDisable({ tag: "night" });
      expect(JSON.parse((await latest(two))?.after ?? "")).toEqual({ status: 2 });
      await admin.call.channel.tagEdit({ tag: "night", new_tag: "day", weight: 4 });
      expect(JSON.parse((await latest(two))?.before ?? "")).toEqual({ tag: "night", weight: 0 });
      // What changes nothing of a channel leaves no entry.
      const { length } = (await admin.call.channel.history({ id: two })).items;
      await admin.call.channel.batchEdit({ ids: [two], weight: 4 });
      expect((await admin.call.channel.history({ id: two })).items).toHaveLength(length);
    });

    test("restoring leaves the key and the secrets of headers and proxy as they are, and shows none", async () => {
      const id = await newChannel();
      const before = await stored(id);
      const shown = await admin.call.channel.get({ id });
      await admin.call.channel.update({
        id,
        name: "other",
        header_override: JSON.stringify({ ...JSON.parse(shown.header_override), "X-Plain": "shut" }),
        setting: JSON.stringify({ ...JSON.parse(shown.setting), force_format: true }),
      });
      await admin.call.channel.update({ id, key: "sk-another-0123456789" });
      const { items } = await admin.call.channel.history({ id });
      expect(JSON.stringify(items)).not.toMatch(/pa55word|v3ry|sk-another|sk-upstream/);
      // Only a key: there is nothing to put back.
      expect(items[0]).toMatchObject({ restorable: false });
      await expect(admin.call.channel.restore({ id, entry: items[0]?.id ?? 0 })).rejects.toThrow(
        "cannot be taken back",
      );
      await admin.call.channel.restore({ id, entry: items[1]?.id ?? 0 });
      const after = await stored(id);
      expect(after.name).toBe("first");
      expect(after.key_cipher).not.toBe(before.key_cipher);
      expect(JSON.parse((await admin.call.channel.get({ id })).setting)).toMatchObject({ force_format: false });
      const { openColumns } = await import("../channel/sealed");
      const open = openColumns(h.services.secrets, after);
      expect(JSON.parse(open.setting).proxy).toBe("http://ann:pa55word@proxy.example:8080");
      expect(JSON.parse(open.header_override)["X-Api-Key"]).toBe("v3ry-s3cret-header-value");
    });

    test("another channel's entry, an unknown one and a gone channel are not found; users see no history", async () => {
      const [one, other] = [await newChannel(), await newChannel()];
      await admin.call.channel.update({ id: one, priority: 1 });
      const entry = (await admin.call.channel.history({ id: one })).items[0]?.id ?? 0;
      await expect(admin.call.channel.restore({ id: other, entry })).rejects.toThrow("No such change");
      await expect(admin.call.channel.restore({ id: one, entry: 999_999 })).rejects.toThrow("No such change");
      await expect(admin.call.channel.history({ id: 999_999 })).rejects.toThrow();
      const user = await h.person();
      await expect(user.call.channel.history({ id: one })).rejects.toThrow("no permission");
      await expect(admin.call.option.history({ keys: ["RetryTimes"] })).rejects.toThrow("no permission");
      const { body } = await admin.rest("GET", `/api/channel/${one}/history`);
      expect(body.data.items).toHaveLength(2);
    });

    test("a setting's change is taken back by setting it, and a secret's is not", async () => {
      const set = (key: string, value: unknown) => root.rest("PUT", "/api/option/", { key, value });
      await set("RetryTimes", 4);
      await set("RetryTimes", 7);
      await set("SMTPToken", "very-secret");
      const { items } = await root.call.option.history({ keys: ["RetryTimes", "SMTPToken"] });
      expect(items.map(({ target_id, restorable }) => [target_id, restorable])).toEqual([
        ["SMTPToken", false],
        ["RetryTimes", true],
        ["RetryTimes", true],
      ]);
      expect(JSON.stringify(items)).not.toContain("very-secret");
      await root.call.option.restore({ key: "RetryTimes", entry: items[1]?.id ?? 0 });
      expect(h.services.options.get("RetryTimes")).toBe(4);
      await expect(root.call.option.restore({ key: "SMTPToken", entry: items[0]?.id ?? 0 })).rejects.toThrow(
        "cannot be taken back",
      );
      await expect(root.call.option.restore({ key: "RetryTimes", entry: items[0]?.id ?? 0 })).rejects.toThrow(
        "No such",
      );
    });

    test("of a table its changed members are kept, however large it is, and restoring leaves later changes of others", async () => {
      const set = (value: object) =>
        root.rest("PUT", "/api/option/", { key: "ModelRatio", value: JSON.stringify(value) });
      const large = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`model-number-${i}`, 1]));
      expect((await set(large)).body.success).toBe(true);
      await set({ ...large, "gpt-x": 2 });
      await set({ ...large, "gpt-x": 3, "gpt-y": 9 });
      const { items } = await root.call.option.history({ keys: ["ModelRatio"] });
      expect([items[0]?.before, items[0]?.after].map((side) => JSON.parse(side ?? ""))).toEqual([
        { ModelRatio: { "gpt-x": 2, "gpt-y": null } },
        { ModelRatio: { "gpt-x": 3, "gpt-y": 9 } },
      ]);
      const prices = await root.call.option.history({ keys: ["ModelPrice", "ModelRatio"], member: "gpt-x" });
      expect(prices.items.map(({ target_id, before, after }) => [target_id, before, after])).toEqual([
        ["ModelRatio", '{"gpt-x":2}', '{"gpt-x":3}'],
        ["ModelRatio", '{"gpt-x":null}', '{"gpt-x":2}'],
      ]);
      await root.call.option.restore({ key: "ModelRatio", entry: prices.items[0]?.id ?? 0, member: "gpt-x" });
      expect(h.services.options.get("ModelRatio")).toMatchObject({ "gpt-x": 2, "gpt-y": 9, "model-number-7": 1 });
      await root.call.option.restore({ key: "ModelRatio", entry: prices.items[1]?.id ?? 0, member: "gpt-x" });
      expect(h.services.options.get("ModelRatio")).not.toHaveProperty("gpt-x");
    });
  });
}
