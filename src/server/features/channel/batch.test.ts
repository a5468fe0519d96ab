import { zhText } from "../../../../tests/kit/row-text";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { desc, eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { summarizeTag } from "../../../shared/channel-operations";
import { LOG_TYPE } from "../../../shared/log";
import { ROLE } from "../../../shared/roles";

for (const engine of ENGINES) {
  describe(`changes of many channels on ${engine}`, () => {
    let h: Harness;
    let admin: Person;
    beforeAll(async () => {
      h = await openHarness(engine);
      admin = await h.person({ role: ROLE.admin });
    }, HOOK_MS);
    afterAll(() => h.close());

    const one = async (fields: object = {}): Promise<number> => {
      const form = { type: 1, name: "one", key: crypto.randomUUID(), models: "m", group: "default", ...fields };
      const { body } = await admin.rest("POST", "/api/channel/", form);
      expect(body.message).toBe("");
      return body.data[0].id;
    };
    const get = async (id: number) => (await admin.rest("GET", `/api/channel/${id}`)).body.data;
    const set = (id: number, columns: object) =>
      h.services.db.q
        .update(h.services.db.t.channels)
        .set(columns)
        .where(eq(h.services.db.t.channels.id, id))
        .returning();
    const lastLog = async () => {
      const { logs } = h.services.db.t;
      return (await h.services.db.q.select().from(logs).orderBy(desc(logs.id)).limit(1))[0];
    };
    const clear = () => h.services.db.q.delete(h.services.db.t.channels).returning();

    test("a batch deletes what is there, returns how many, and leaves a row that names them", async () => {
      const [a, b, c] = [
        await one({ name: "a", models: "batch-m" }),
        await one({ name: "b" }),
        await one({ name: "c" }),
      ];
      const { body } = await admin.rest("POST", "/api/channel/batch", { ids: [a, b, b, 999_999] });
      // spec: C-517
      // spec: C-066
      expect(body).toMatchObject({ success: true, data: 2 });
      // spec: C-517
      expect((await admin.rest("GET", `/api/channel/${a}`)).body.success).toBe(false);
      expect((await get(c)).name).toBe("c");
      expect(h.services.pool.candidates("default", "batch-m")).toEqual([]);
      const row = await lastLog();
      expect(row).toMatchObject({ type: LOG_TYPE.admin, user_id: admin.ctx.actor.id, quota: 0, ip: admin.ctx.ip });
      expect(zhText(row)).toBe(`批量删除渠道（2 个渠道）：#${a} a, #${b} b`);
      expect(JSON.parse(row?.other ?? "")).toEqual({ ids: [a, b] });
      expect(row?.code).toBe("channels_deleted");
    });

    test("an empty selection and an empty tag are refused with the specified texts, and change nothing", async () => {
      const id = await one({ tag: "kept" });
      const said = async (path: string, body: object) => (await admin.rest("POST", path, body)).body;
      for (const ids of [{ ids: [] }, {}, { ids: null }]) {
        // spec: C-419, C-422
        expect(await said("/api/channel/batch", ids)).toMatchObject({
          success: false,
          message: "请先选择要删除的通道！",
        });
        // spec: C-420, C-422
        expect(await said("/api/channel/batch/tag", { ...ids, tag: "t" })).toMatchObject({
          success: false,
          message: "请先选择要设置标签的通道！",
        });
      }
      for (const tag of [{ tag: "" }, { tag: "  " }, {}]) {
        // spec: C-421
        expect(await said("/api/channel/batch/tag", { ids: [id], ...tag })).toMatchObject({
          success: false,
          message: "标签不能为空！",
        });
      }
      expect((await said("/api/channel/batch", { ids: ["x"] })).code).toBe("invalid_parameter");
      // spec: C-422
      expect((await get(id)).tag).toBe("kept");
    });

    test("a batch sets a tag, null takes it away, ids may be texts, and the count is that of the changed channels", async () => {
      const [a, b] = [await one(), await one()];
      // spec: C-526
      expect(
        (await admin.rest("POST", "/api/channel/batch/tag", { ids: [String(a), b, 999_999], tag: " t-1 " })).body.data,
      ).toBe(2);
      // spec: C-412, C-526
      // spec: C-219
      expect([(await get(a)).tag, (await get(b)).tag]).toEqual(["t-1", "t-1"]);
      expect((await admin.rest("POST", "/api/channel/batch/tag", { ids: [a], tag: null })).body.data).toBe(1);
      // spec: C-219
      expect([(await get(a)).tag, (await get(b)).tag]).toEqual(["", "t-1"]);
    });

    test("two thousand channels are tagged and deleted at once", async () => {
      await clear();
      const { channels } = h.services.db.t;
      for (let i = 0; i < 20; i++) {
        await h.services.db.q
          .insert(channels)
          .values(Array.from({ length: 100 }, () => ({ type: 1, name: "bulk", created_time: 1 })));
      }
      const ids = (await h.services.db.q.select({ id: channels.id }).from(channels)).map((row) => row.id);
      // spec: C-481
      expect((await admin.rest("GET", "/api/channel/?p=0&page_size=5000")).body.data).toHaveLength(100);
      expect(await admin.call.channel.batchTag({ ids, tag: "bulk" })).toBe(2000);
      expect(await admin.call.channel.batchDelete({ ids })).toBe(2000);
      expect(zhText(await lastLog())).toEndWith(" …");
    });

    test("all disabled channels are deleted, by hand or automatically, and others stay", async () => {
      await clear();
      const ids = [await one(), await one(), await one(), await one()];
      for (const [i, status] of [1, 2, 3, 9].entries()) await set(ids[i] ?? 0, { status });
      expect(await admin.call.channel.statusCounts()).toEqual({ 1: 1, 2: 1, 3: 1, 9: 1 });
      // spec: C-515
      expect((await admin.rest("DELETE", "/api/channel/disabled")).body).toMatchObject({ success: true, data: 2 });
      // spec: C-516
      expect((await admin.call.channel.list({})).items.map((row) => row.status).sort()).toEqual([1, 9]);
      expect((await admin.rest("DELETE", "/api/channel/disabled")).body.data).toBe(0);
    });

    test("selected channels are disabled and enabled together", async () => {
      const [a, b] = [await one({ models: "both" }), await one({ models: "both" })];
      await set(b, { status: 3, other_info: '{"status_reason":"x","status_time":1}' });
      expect(await admin.call.channel.batchStatus({ ids: [a, b], status: 2 })).toBe(2);
      expect(h.services.pool.candidates("default", "both")).toEqual([]);
      expect(await get(b)).toMatchObject({ status: 2, other_info: "" });
      await admin.call.channel.batchStatus({ ids: [a, b], status: 1 });
      expect(h.services.pool.candidates("default", "both")).toHaveLength(2);
    });

    describe("tags", () => {
      let members: number[];
      let other: number;
      const make = async () => {
        await clear();
        members = [await one({ tag: "tag" }), await one({ tag: "tag", priority: 5, model_mapping: '{"a":"b"}' })];
        other = await one({ tag: "other" });
      };
      const rows = async () => Promise.all(members.map(get));
      const put = async (body: object) => (await admin.rest("PUT", "/api/channel/tag", body)).body;

      test("every field that is sent overwrites all members and no other channel; blank fields stay", async () => {
        await make();
        const fields = {
          models: " x, y ,x",
          groups: ["vip", "default"],
          model_mapping: '{"x":"z"}',
          priority: 0,
          weight: 7,
        };
        // spec: C-522
        expect(await put({ tag: "tag", new_tag: "tag", ...fields })).toMatchObject({ success: true, data: 2 });
        for (const row of await rows()) {
          // spec: C-413, C-522
          expect(row).toMatchObject({
            models: "x,y",
            group: "vip,default",
            model_mapping: '{"x":"z"}',
            priority: 0,
            weight: 7,
            tag: "tag",
          });
        }
        // spec: C-413
        expect(await get(other)).toMatchObject({ models: "m", group: "default", weight: 0 });
        expect(h.services.pool.candidates("vip", "x")).toHaveLength(2);
        expect(
          await put({ tag: "tag", models: "", groups: "", model_mapping: "", weight: null, priority: 3 }),
        ).toMatchObject({ data: 2 });
        for (const row of await rows())
          // spec: C-414
          expect(row).toMatchObject({ models: "x,y", group: "vip,default", weight: 7, priority: 3 });
      });

      test("nothing changed, an invalid mapping, bad numbers, unknown and empty tags are refused", async () => {
        await make();
        const before = await rows();
        for (const nothing of [
          {},
          { new_tag: "tag" },
          { new_tag: " tag " },
          { models: " ", groups: "", model_mapping: "" },
          { models: ",," },
        ]) {
          // spec: C-415, C-417
          expect(await put({ tag: "tag", ...nothing })).toMatchObject({ success: false, message: "没有任何修改！" });
        }
        // spec: C-418
        expect((await put({ tag: "tag", model_mapping: "{" })).message).toBe("模型映射必须是合法的 JSON 格式！");
        expect((await put({ tag: "tag", model_mapping: "[]", new_tag: "x" })).message).toBe(
          "模型映射必须是合法的 JSON 格式！",
        );
        expect((await put({ tag: "tag", priority: 1.5 })).message).toBe("优先级必须是整数！");
        expect((await put({ tag: "tag", weight: -1 })).message).toBe("权重必须是非负整数！");
        for (const path of ["enabled", "disabled"]) {
          for (const tag of ["", "  ", "no-such"]) {
            // spec: C-525
            expect((await admin.rest("POST", `/api/channel/tag/${path}`, { tag })).body.success).toBe(false);
          }
          expect((await admin.rest("POST", `/api/channel/tag/${path}`, {})).body.success).toBe(false);
        }
        // spec: C-525
        expect(await put({ tag: "", priority: 1 })).toMatchObject({ success: false, message: "标签不能为空！" });
        // spec: C-525
        expect(await put({ tag: "no-such", priority: 1 })).toMatchObject({ success: false, code: "tag_not_found" });
        expect(await rows()).toEqual(before);
      });

      test("a blank new tag dissolves the tag, another tag's name merges them", async () => {
        await make();
        // spec: C-417
        expect(await put({ tag: "tag", new_tag: "other" })).toMatchObject({ data: 2 });
        expect(await admin.call.channel.tags()).toEqual(["other"]);
        // spec: C-416, C-417
        expect(await put({ tag: "other", new_tag: "" })).toMatchObject({ data: 3 });
        // spec: C-416
        expect((await rows()).map((row) => row.tag)).toEqual(["", ""]);
        expect(await admin.call.channel.tags()).toEqual([]);
      });

      test("disable all sets 2 and enable all sets 1 on every member, whatever it was, at once for the relay", async () => {
        await make();
        await set(members[0] ?? 0, { status: 3, other_info: '{"status_reason":"x","status_time":1}' });
        // spec: C-524
        expect((await admin.rest("POST", "/api/channel/tag/disabled", { tag: "tag" })).body).toMatchObject({
          success: true,
          data: 2,
        });
        // spec: C-524
        // spec: C-072, C-329
        for (const row of await rows()) expect(row).toMatchObject({ status: 2, other_info: "" });
        expect(h.services.pool.candidates("default", "m").map((channel) => channel.id)).toEqual([other]);
        // spec: C-523
        expect((await admin.rest("POST", "/api/channel/tag/enabled", { tag: "tag" })).body).toMatchObject({
          success: true,
          data: 2,
        });
        // spec: C-523
        // spec: C-071, C-328
        expect((await rows()).map((row) => row.status)).toEqual([1, 1]);
        expect(h.services.pool.candidates("default", "m")).toHaveLength(3);
        expect(await lastLog()).toMatchObject({ type: LOG_TYPE.admin, username: admin.ctx.actor.username });
      });

      test("pages go over tags and then over untagged channels; REST leaves the untagged out", async () => {
        await make();
        const plain = [await one({ name: "plain-1" }), await one({ name: "plain-2" })];
        const page = (page: number, more: object = {}) => admin.call.channel.tagPage({ page, page_size: 3, ...more });
        const first = await page(1);
        expect(first.tags.map(({ tag, channels }) => [tag, channels.length])).toEqual([
          ["other", 1],
          ["tag", 2],
        ]);
        // spec: C-074
        expect(first.untagged.map((row) => row.id)).toEqual([plain[1] ?? 0]);
        const second = await page(2);
        expect([second.tags, second.untagged.map((row) => row.id), second.total]).toEqual([[], [plain[0] ?? 0], 4]);
        expect((await page(1, { keyword: "plain-1" })).untagged).toHaveLength(1);
        const rest = async (query: string) =>
          (await admin.rest("GET", `/api/channel/${query}`)).body.data.map((row: { tag: string }) => row.tag);
        // spec: C-497
        expect(await rest("?tag_mode=true&p=0&page_size=1")).toEqual(["other"]);
        // spec: C-074
        expect(await rest("?tag_mode=true&p=1&page_size=1")).toEqual(["tag", "tag"]);
        // spec: C-074
        expect(await rest("?tag_mode=true&p=2&page_size=1")).toEqual([]);
        // One member matches: the whole tag is listed.
        // spec: C-498
        expect(await rest(`search?tag_mode=true&keyword=${members[0]}`)).toEqual(["tag", "tag"]);
        const [, row] = first.tags;
        expect(row && summarizeTag(row.channels)).toMatchObject({
          channels: 2,
          enabled: 2,
          priority: undefined,
          weight: 0,
          response_time: 0,
        });
      });
    });

    test("the fields of the tag dialog can be set on a selection", async () => {
      const [a, b] = [await one(), await one()];
      expect(await admin.call.channel.batchEdit({ ids: [a], weight: 9, models: "n" })).toBe(1);
      expect(await get(a)).toMatchObject({ weight: 9, models: "n" });
      expect(await get(b)).toMatchObject({ weight: 0, models: "m" });
      expect((await admin.call.channel.batchEdit({ ids: [a] }).catch((error) => error)).message).toBe(
        "Nothing was changed!",
      );
    });

    test("repair corrects stored lists, hashes and values, names what it cannot correct, and returns the number of channels", async () => {
      await clear();
      const key = "sk-a-key-to-repair";
      const broken = await one({ name: "broken", key });
      const lost = await one({ name: "lost" });
      const fine = await one({ name: "fine" });
      await set(broken, {
        models: " a ,,b,a",
        group: " vip,vip ",
        tag: " t ",
        auto_ban: 7,
        weight: -3,
        key_hash: "stale",
        other_info: "nope",
        base_url: "https://x.example///",
      });
      await set(lost, { key_cipher: "k1.AAAA.BBBB", model_mapping: "{", models: "lost-m" });
      // spec: C-518
      // spec: C-068
      expect((await admin.rest("POST", "/api/channel/fix", {})).body).toMatchObject({ success: true, data: 3 });
      expect(await get(broken)).toMatchObject({
        models: "a,b",
        group: "vip",
        tag: "t",
        auto_ban: 1,
        weight: 0,
        other_info: "",
        base_url: "https://x.example",
      });
      expect(h.services.pool.candidates("vip", "b").map((channel) => channel.id)).toEqual([broken]);
      expect((await admin.call.channel.list({ keyword: key })).items.map((row) => row.id)).toEqual([broken]);
      const acts = await h.services.db.q
        .select()
        .from(h.services.db.t.audit_log)
        .where(eq(h.services.db.t.audit_log.action, "channel.repair"));
      expect(acts.map(({ actor_id }) => actor_id)).toContain(admin.ctx.actor.id);
      const again = await admin.call.channel.repair();
      expect(again).toMatchObject({ checked: 3, repaired: 0 });
      expect(
        again.problems
          .filter((problem) => problem.id === lost)
          .map((problem) => problem.field)
          .sort(),
      ).toEqual(["key", "model_mapping"]);
      expect(again.problems.filter((problem) => problem.id !== lost)).toEqual([]);
      expect((await get(fine)).name).toBe("fine");
      // What cannot be repaired is reported apart from models that no channel serves.
      expect(h.services.pool.candidates("default", "lost-m")).toEqual([]);
      // spec: C-600
      expect([h.services.pool.broken("default", "lost-m"), h.services.pool.broken("default", "nobody")]).toEqual([
        true,
        false,
      ]);
      await admin.call.channel.update({ id: lost, key: "a-new-key", model_mapping: "" });
      expect(h.services.pool.broken("default", "lost-m")).toBe(false);
      expect(h.services.pool.candidates("default", "lost-m")).toHaveLength(1);
    });

    test("a mode says whether lines are keys; too many keys are refused as a whole", async () => {
      const post = async (more: object) =>
        (await admin.rest("POST", "/api/channel/", { type: 1, name: "n", models: "m", ...more })).body;
      // spec: C-206, C-207
      expect((await post({ mode: "batch", key: "k1\nk2" })).data).toHaveLength(2);
      expect(await post({ mode: "single", key: "k1\nk2" })).toMatchObject({
        success: false,
        code: "channel_key_invalid",
      });
      expect(await post({ mode: "something", key: "k1\nk2" })).toMatchObject({
        success: false,
        code: "invalid_parameter",
      });
      const many = Array.from({ length: 501 }, (_, i) => `key-${i}`).join("\n");
      expect(await post({ key: many })).toMatchObject({ success: false, code: "channel_batch_too_large" });
    });

    test("ordinary users are refused on every call, and nothing changes", async () => {
      const user = await h.person();
      const id = await one({ tag: "guarded", name: "guarded" });
      for (const [method, path, body] of [
        ["POST", "/api/channel/batch", { ids: [id] }],
        ["POST", "/api/channel/batch/tag", { ids: [id], tag: "x" }],
        ["DELETE", "/api/channel/disabled"],
        ["PUT", "/api/channel/tag", { tag: "guarded", new_tag: "x" }],
        ["POST", "/api/channel/tag/disabled", { tag: "guarded" }],
        ["POST", "/api/channel/fix", {}],
        ["GET", "/api/channel/test"],
        ["GET", "/api/channel/update_balance"],
        ["GET", `/api/channel/update_balance/${id}`],
        ["GET", `/api/channel/test_upstream/${id}`],
      ] as const) {
        // spec: C-461
        expect((await user.rest(method, path, body)).body).toMatchObject({ success: false, code: "forbidden" });
        expect((await h.guest.rest(method, path, body)).status).toBe(401);
      }
      expect(await get(id)).toMatchObject({ tag: "guarded", status: 1 });
    });
  });
}
