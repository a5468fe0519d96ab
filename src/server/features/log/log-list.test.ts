import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, inArray } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { LOG_TYPE } from "../../../shared/log";
import { ROLE } from "../../../shared/roles";
import type { NewLogRow } from "../../db/schema";
import { fits } from "./filter";
import { withoutAdminInfo } from "./present";

const OTHER = {
  model_ratio: 1,
  completion_ratio: 2,
  model_price: -1,
  group_ratio: 1,
  frt: 120,
  admin_info: { use_channel: ["3", "7"], attempts: [] },
};

describe("other without admin_info", () => {
  test("loses admin_info and nothing else; a text that is not an object is withheld", () => {
    // spec: C-285
    expect(JSON.parse(withoutAdminInfo(JSON.stringify(OTHER)))).toEqual({ ...OTHER, admin_info: undefined });
    // spec: C-276
    for (const text of ["", "null", "[]", '"admin_info"', "{broken"]) expect(withoutAdminInfo(text)).toBe("");
  });
});

for (const engine of ENGINES) {
  describe(`the log on ${engine}`, () => {
    let h: Harness;
    let admin: Person;
    let ann: Person;
    let bob: Person;
    let now = 0;
    let made = 0;

    const row = (who: Person, fields: Partial<NewLogRow> = {}): NewLogRow => ({
      request_id: `request-${++made}`,
      created_at: now - 1000,
      type: LOG_TYPE.consume,
      user_id: who.ctx.actor.id,
      username: who.ctx.actor.username,
      token_name: "t1",
      token_id: 5,
      channel: 7,
      channel_name: "secret channel",
      group: "default",
      model_name: "gpt-4o-mini",
      quota: 10,
      prompt_tokens: 3,
      completion_tokens: 4,
      content: "text",
      other: JSON.stringify(OTHER),
      upstream_request_id: `up-${made}`,
      end_reason: "complete",
      ...fields,
    });

    beforeAll(async () => {
      h = await openHarness(engine);
      [admin, ann, bob] = await Promise.all([h.person({ role: ROLE.admin }), h.person(), h.person()]);
      now = Math.floor(h.services.now() / 1000);
      const rows = [
        // Many rows of one second, so that paging has to tell them apart.
        ...Array.from({ length: 25 }, () => row(ann)),
        row(ann, {
          created_at: now - 5,
          model_name: "Claude-X%_",
          group: "vip",
          token_name: "t2",
          token_id: 6,
          channel: 8,
          quota: 100,
        }),
        row(ann, { created_at: now - 4, type: LOG_TYPE.error, quota: 0, other: "" }),
        row(bob, { created_at: now - 3 }),
        row(bob, { created_at: now - 2, visible: false }),
      ];
      await h.services.db.q.insert(h.services.db.t.logs).values(rows);
    }, HOOK_MS);
    afterAll(() => h.close());

    const page = async (who: Person, path: string) => (await who.rest("GET", path)).body.data;
    const all = (query = "") => page(admin, `/api/log/?page_size=100&${query}`);

    test("administrators see every visible row, newest first, in a page with its total", async () => {
      const data = await page(
        admin,
        "/api/log/?p=1&page_size=10&type=0&username=&token_name=&model_name=&start_timestamp=&end_timestamp=&channel=&group=",
      );
      // spec: C-547
      // spec: C-147
      expect(data).toMatchObject({ page: 1, page_size: 10, total: 27, total_exact: true });
      // spec: C-269, C-270
      expect(data.items[0]).toMatchObject({
        type: 2,
        user_id: bob.ctx.actor.id,
        username: bob.ctx.actor.username,
        token_name: "t1",
        channel: 7,
        channel_name: "secret channel",
        is_stream: false,
        quota: 10,
      });
      expect(JSON.parse(data.items[0].other)).toEqual(OTHER);
      for (const item of data.items) {
        // spec: C-269, C-276
        expect(Object.values(item)).not.toContain(null);
        expect(item).not.toHaveProperty("folded");
      }
      const times = data.items.map((i: { created_at: number }) => i.created_at);
      expect(times).toEqual([...times].sort((a: number, b: number) => b - a));
    });

    test("p=0 and odd pages mean the first page, and a page past the end is empty", async () => {
      for (const query of ["p=0", "p=x", "p=-3", "", "p=1&page_size=x&type=x"]) {
        expect(await page(admin, `/api/log?${query}`)).toMatchObject({ page: 1, page_size: 10, total: 27 });
      }
      expect(await page(admin, "/api/log/?p=99&page_size=10")).toMatchObject({ items: [], total: 27 });
      expect(await page(admin, "/api/log/?p=1&page_size=100000")).toMatchObject({ page_size: 100 });
    });

    test("each filter narrows the list, and unknown words do not", async () => {
      // spec: C-547
      // spec: C-146
      expect((await all(`username=${ann.ctx.actor.username}`)).total).toBe(26);
      // spec: C-141
      expect((await all("token_name=t2")).total).toBe(1);
      // spec: C-142
      expect((await all("model_name=gpt-4o-mini")).total).toBe(26);
      // spec: C-143
      expect((await all("group=vip")).total).toBe(1);
      // spec: C-547
      // spec: C-145
      expect((await all("channel=8")).total).toBe(1);
      // spec: C-147
      expect((await all("type=5")).total).toBe(1);
      // spec: C-144
      expect((await all(`start_timestamp=${now - 4}`)).total).toBe(1);
      // spec: C-144
      expect((await all(`end_timestamp=${now - 100}`)).total).toBe(25);
      expect((await all("request_id=request-1")).total).toBe(1);
      expect((await all("upstream_request_id=up-1")).total).toBe(1);
      // spec: C-152
      expect((await all("group=null&end_timestamp=NaN&type=&channel=undefined")).total).toBe(27);
      expect((await all(`username=${encodeURIComponent("' or 1=1 --")}`)).total).toBe(0);
    });

    test("REST reads a model's name whole, or as a pattern with at most two %, in lists and sums; the console finds a part of it", async () => {
      const { db } = h.services;
      const models = ["gpt-9", "gpt-9-mini", "ft:gpt-9", "gpt_9"];
      const of = (model_name: string, i: number) => row(bob, { model_name, quota: 10 ** i, created_at: now - 9000 });
      await db.q.insert(db.t.logs).values(models.map(of));
      const found = async (who: Person, door: string, model: string) => {
        const query = `model_name=${encodeURIComponent(model)}&end_timestamp=${now - 8000}`;
        const { items } = await page(who, `/api/log/${door}?page_size=100&${query}`);
        const { quota } = await page(who, `/api/log/${door}stat?${query}`);
        return [items.map((item: { model_name: string }) => item.model_name).sort(), quota];
      };
      for (const [who, door] of [
        [admin, ""],
        [bob, "self/"],
      ] as const) {
        // spec: C-152
        expect(await found(who, door, "gpt-9")).toEqual([["gpt-9"], 1]);
        expect(await found(who, door, "gpt-9%")).toEqual([["gpt-9", "gpt-9-mini"], 11]);
        expect(await found(who, door, "%GPT-9%")).toEqual([["ft:gpt-9", "gpt-9", "gpt-9-mini"], 111]);
        expect(await found(who, door, "gpt_9")).toEqual([["gpt_9"], 1000]);
        expect(await found(who, door, "gpt_9%")).toEqual([["gpt_9"], 1000]);
        expect(await found(who, door, "gpt")).toEqual([[], 0]);
        for (const model of ["%", "%a%", "gpt%%", "%g%p%t%"])
          for (const path of [door, `${door}stat`])
            expect(
              (await who.rest("GET", `/api/log/${path}?model_name=${encodeURIComponent(model)}`)).body,
            ).toMatchObject({
              success: false,
              code: "invalid_parameter",
            });
      }
      // spec: C-152
      expect((await admin.call.log.page({ model_name: "pt-9" })).total).toBe(3);
      expect((await admin.call.log.page({ model_name: "x%_" })).total).toBe(1);
      expect((await admin.call.log.stat({ model_name: "pt-9" })).quota).toBe(111);
      await db.q.delete(db.t.logs).where(inArray(db.t.logs.model_name, models));
    });

    test("a virtual model's name finds the calls that asked for it, in lists, sums, the chart and the live log", async () => {
      const { db } = h.services;
      const smart = { steps: [{ model: "gpt-9" }, { model: "gpt-8" }] };
      await h.services.options.set("VirtualModels", JSON.stringify({ smart }));
      const asked = JSON.stringify({ ...OTHER, asked_model: "smart" });
      const rows = [
        row(bob, { model_name: "gpt-9", other: asked, created_at: now - 9000 }),
        row(bob, { model_name: "gpt-8", other: asked, created_at: now - 9000, quota: 100 }),
        row(bob, { model_name: "gpt-8", created_at: now - 9000, quota: 1000 }),
        row(bob, { model_name: "gpt-7", other: asked.replace("smart", "smarter"), created_at: now - 9000 }),
      ];
      await db.q.insert(db.t.logs).values(rows);
      const range = { start_timestamp: now - 9001, end_timestamp: now - 8000 };
      for (const model_name of ["smart", "SMA"]) {
        expect((await admin.call.log.page({ model_name, ...range })).total).toBe(2);
        expect((await bob.call.log.ownStat({ model_name, ...range })).quota).toBe(110);
        const { bars } = await admin.call.log.histogram({ model_name, ...range });
        expect(bars.reduce((sum, one) => sum + one.others, 0)).toBe(2);
      }
      const rest = (query: string) => page(bob, `/api/log/self/?model_name=${query}&end_timestamp=${now - 8000}`);
      expect([(await rest("smart")).total, (await rest("sma%25")).total, (await rest("sma")).total]).toEqual([2, 2, 0]);
      const live = fits(0, "all", { model_name: "mart", ...range });
      const [first, , plain] = await db.q
        .select()
        .from(db.t.logs)
        .where(eq(db.t.logs.created_at, now - 9000));
      expect([first && live(first), plain && live(plain)]).toEqual([true, false]);
      await h.services.options.set("VirtualModels", "{}");
      await db.q.delete(db.t.logs).where(inArray(db.t.logs.model_name, ["gpt-7", "gpt-8", "gpt-9"]));
    });

    test("rows of failed calls are in REST's lists where they are requested, and always in the console's", async () => {
      const types = async (who: Person, path: string) =>
        (await page(who, path)).items.filter((item: { type: number }) => item.type === LOG_TYPE.error).length;
      expect(await types(admin, "/api/log/?page_size=100")).toBe(0);
      expect(await types(ann, "/api/log/self/?page_size=100&type=0")).toBe(0);
      expect(await types(admin, "/api/log/?type=5")).toBe(1);
      expect(await types(ann, "/api/log/self/?type=5")).toBe(1);
      const [failed] = (await page(ann, "/api/log/self/?type=5")).items;
      expect(await types(ann, `/api/log/self/?request_id=${failed.request_id}`)).toBe(1);
      expect((await admin.call.log.page({})).total).toBe(28);
      expect((await ann.call.log.ownPage({})).total).toBe(27);
    });

    test("users see their own rows only, without channel, attempts and the upstream's id, whatever they filter by", async () => {
      const data = await page(ann, `/api/log/self/?page_size=100&username=${bob.ctx.actor.username}&channel=7`);
      // spec: C-459, C-548
      // spec: C-145, C-146
      expect(data.total).toBe(26);
      for (const item of data.items) {
        // spec: C-459, C-548
        // spec: C-151, C-270
        expect(item).toMatchObject({
          user_id: ann.ctx.actor.id,
          channel: 0,
          channel_name: "",
          upstream_request_id: "",
        });
        // spec: C-151, C-285
        expect(item.other).not.toContain("admin_info");
      }
      // spec: C-551
      expect(data.items.map((item: { id: number }) => item.id)).toEqual(
        (await all(`username=${ann.ctx.actor.username}`)).items.map((item: { id: number }) => item.id),
      );
      expect(JSON.parse(data.items[0].other)).toMatchObject({ model_ratio: 1, frt: 120 });
      // spec: C-455
      expect((await ann.rest("GET", "/api/log/")).body).toMatchObject({ success: false, code: "forbidden" });
      // spec: C-455
      expect((await ann.rest("GET", "/api/log/stat")).body.success).toBe(false);
    });

    test("reading by key gives every row once, also among rows of the same second", async () => {
      for (const [who, list, total] of [
        [admin, "list", 28],
        [ann, "own", 27],
      ] as const) {
        const seen: number[] = [];
        let cursor: string | undefined;
        do {
          const slice = await who.call.log[list]({ limit: 4, cursor });
          expect(slice.items.length).toBeLessThanOrEqual(4);
          seen.push(...slice.items.map((item) => item.id));
          cursor = slice.next;
        } while (cursor);
        expect(seen).toHaveLength(total);
        expect(new Set(seen).size).toBe(total);
      }
      expect((await admin.call.log.list({ token_id: 6 })).items).toHaveLength(1);
      await expect(admin.call.log.list({ cursor: "1; drop table logs" })).rejects.toThrow();
    });

    test("a page beside a cursor is the one that an offset would give, in both directions, also among rows of the same second", async () => {
      const read = (query: string) => page(admin, `/api/log/?page_size=10&${query}`);
      const second = await read("p=2");
      const [first, last] = [second.items[0], second.items[9]].map((item) => `${item.created_at}.${item.id}`);
      expect((await read(`p=3&after=${last}`)).items).toEqual((await read("p=3")).items);
      expect((await read(`p=1&before=${first}`)).items).toEqual((await read("p=1")).items);
      expect((await read(`p=3&after=${last}`)).total).toBe(27);
      for (const odd of ["after=1", "before=x", "after=1.2.3", "after=' or 1=1"]) {
        expect((await admin.rest("GET", `/api/log/?${odd}`)).body).toMatchObject({
          success: false,
          code: "invalid_parameter",
        });
      }
    });

    test("a text is searched in what a viewer sees of a row, however old; % and _ are plain characters", async () => {
      expect((await all("keyword=SECRET")).total).toBe(27);
      expect((await page(ann, "/api/log/self/?keyword=secret")).total).toBe(0);
      expect((await page(ann, "/api/log/self/?keyword=x%25_")).total).toBe(1);
      expect((await all("keyword=%25_%25")).total).toBe(0);
      expect((await all(`keyword=text&end_timestamp=${now - 100}`)).total).toBe(25);
      await h.services.db.q
        .insert(h.services.db.t.logs)
        .values(row(bob, { created_at: now - 8 * 86_400, content: "long ago" }));
      const old = await all("keyword=long ago");
      expect(old).toMatchObject({ items: [{ content: "long ago" }], total: 1, total_exact: true });
      expect(old).not.toHaveProperty("searched_from");
      expect((await all(`keyword=long ago&start_timestamp=${now - 7 * 86_400}`)).total).toBe(0);
      await h.services.db.q.delete(h.services.db.t.logs).where(eq(h.services.db.t.logs.content, "long ago"));
    });

    test("the searches of older front-ends return a list, and an empty text finds nothing", async () => {
      expect(await page(admin, "/api/log/search?keyword=claude")).toMatchObject([{ model_name: "Claude-X%_" }]);
      expect(await page(ann, "/api/log/self/search?keyword=t2")).toMatchObject([{ token_name: "t2", channel: 0 }]);
      expect(await page(bob, "/api/log/self/search?keyword=t2")).toEqual([]);
      for (const query of ["", "keyword=", "keyword=%20", "keyword=null"])
        expect(await page(admin, `/api/log/search?${query}`)).toEqual([]);
    });

    test("a user's rows are found by the current name, and rows of a name that no user has by that name", async () => {
      const { db } = h.services;
      const carl = await h.person();
      await db.q
        .insert(db.t.logs)
        .values([row(carl, { username: "carl-of-old" }), row(carl, { username: "erased", user_id: 10 ** 9 })]);
      expect((await all(`username=${carl.ctx.actor.username}`)).total).toBe(1);
      expect((await all("username=erased")).total).toBe(1);
      await db.q.delete(db.t.logs).where(inArray(db.t.logs.username, ["carl-of-old", "erased"]));
    });

    test("rows are found by their token's current name, and by a name that no token has", async () => {
      const { db } = h.services;
      const dora = await h.person();
      const [token] = await db.q
        .insert(db.t.tokens)
        .values({
          user_id: dora.ctx.actor.id,
          name: "new name",
          key_hash: `h${dora.ctx.actor.id}`,
          key_cipher: "x",
          key_hint: "x",
          created_time: now,
        })
        .returning({ id: db.t.tokens.id });
      await db.q
        .insert(db.t.logs)
        .values([
          row(dora, { token_id: token?.id ?? 0, token_name: "old name" }),
          row(dora, { token_id: 10 ** 9, token_name: "gone" }),
          row(bob, { token_id: 10 ** 9, token_name: "new name" }),
        ]);
      expect((await all("token_name=new name")).items).toMatchObject([{ token_name: "old name" }]);
      expect((await page(dora, "/api/log/self/?token_name=gone")).total).toBe(1);
      expect((await all("token_name=gone")).total).toBe(1);
      expect((await page(bob, "/api/log/self/?token_name=new name")).total).toBe(1);
      expect(await page(dora, "/api/log/self/stat?token_name=new name")).toMatchObject({ quota: 10 });
      await db.q.delete(db.t.logs).where(inArray(db.t.logs.token_name, ["old name", "gone", "new name"]));
    });

    test("administrators see the figures of users below their level and their own, and no others (C-474)", async () => {
      const [other, root] = await Promise.all([h.person({ role: ROLE.admin }), h.person({ role: ROLE.root })]);
      // spec: C-474
      // spec: C-150
      expect(await admin.call.log.user({ id: ann.ctx.actor.id })).toEqual(
        expect.objectContaining({
          username: ann.ctx.actor.username,
          quota: expect.any(Number),
          used_quota: expect.any(Number),
          request_count: expect.any(Number),
        }),
      );
      expect(await admin.call.log.user({ id: ann.ctx.actor.id })).not.toHaveProperty("role");
      expect(await admin.call.log.user({ id: admin.ctx.actor.id })).toMatchObject({
        username: admin.ctx.actor.username,
      });
      // spec: C-474
      for (const { ctx } of [other, root]) await expect(admin.call.log.user({ id: ctx.actor.id })).rejects.toThrow();
      // spec: C-456
      await expect(ann.call.log.user({ id: bob.ctx.actor.id })).rejects.toThrow();
      expect(await root.call.log.user({ id: admin.ctx.actor.id })).toMatchObject({
        username: admin.ctx.actor.username,
      });
    });

    test("one row is found by id and by request id, by its user or an administrator", async () => {
      const [item] = (await ann.call.log.own({ limit: 1 })).items;
      if (!item) throw new Error("no row");
      // spec: C-551
      expect(await ann.call.log.get({ id: item.id })).toEqual(item);
      expect(await ann.call.log.get({ request_id: item.request_id })).toEqual(item);
      expect(await admin.call.log.get({ id: item.id })).toMatchObject({ channel_name: "secret channel" });
      for (const key of [{ id: item.id }, { request_id: item.request_id }, { id: 10 ** 9 }]) {
        await expect(bob.call.log.get(key)).rejects.toThrow("No such log row");
      }
    });

    test("the totals are the consumption under all filters, and the pace that of the last minute", async () => {
      // spec: C-360, C-549, C-551
      // spec: C-138, C-139, C-140
      expect(await page(admin, "/api/log/stat?type=0")).toEqual({ quota: 25 * 10 + 100 + 10, rpm: 2, tpm: 14 });
      // spec: C-459, C-550
      expect(await page(ann, "/api/log/self/stat?")).toEqual({ quota: 350, rpm: 1, tpm: 7 });
      // spec: C-551
      for (const model of ["Claude-X%25_", "claude%25"])
        expect(await page(admin, `/api/log/stat?start_timestamp=${now - 100}&model_name=${model}`)).toEqual({
          quota: 100,
          rpm: 1,
          tpm: 7,
        });
      expect(await page(bob, "/api/log/self/stat?token_name=nobody")).toEqual({ quota: 0, rpm: 0, tpm: 0 });
    });
  });
}
