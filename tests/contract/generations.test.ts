/**
 * The doors of the new-api family in both generations: April 2025 (bare arrays, p from 0) and since July 2025 (page
 * objects, p from 1). Shapes are new-api's: common/page_info.go, controller/*.go, model/*.go, read 2026-11.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ROLE } from "../../src/shared/roles";
import { ENGINES } from "../kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../kit/harness";

interface ChannelRow {
  id: number;
  name: string;
  multi_key_mode: string;
}

for (const engine of ENGINES) {
  describe(`on ${engine}`, () => {
    let h: Harness;
    let root: Person;
    let admin: Person;
    let ann: Person;
    beforeAll(async () => {
      h = await openHarness(engine);
      [root, admin, ann] = await Promise.all([
        h.person({ role: ROLE.root }),
        h.person({ role: ROLE.admin }),
        h.person(),
      ]);
      for (let i = 0; i < 12; i++) {
        await ann.rest("POST", "/api/token/", { name: `key ${i}`, unlimited_quota: true });
        await admin.rest("POST", "/api/channel/", {
          name: `channel ${i}`,
          type: i < 10 ? 1 : 14,
          key: `sk-${i}`,
          models: "m",
          tag: i < 3 ? `tag ${i}` : "",
          status: i === 0 ? 2 : 1,
        });
        const job = {
          task_id: `job-${i}`,
          user_id: ann.ctx.actor.id,
          channel_id: 1,
          status: "SUCCESS",
          prompt: "a song",
          submit_time_ms: 1_700_000_000_000 + i,
          finish_time_ms: 1_700_000_060_000,
        };
        await h.services.db.q.insert(h.services.db.t.tasks).values([
          { ...job, platform: "suno", action: "MUSIC" },
          { ...job, platform: "mj", action: "IMAGINE" },
        ]);
      }
    }, HOOK_MS);
    afterAll(() => h.close());

    const data = async (who: Person, path: string, headers?: Record<string, string>) => {
      const { body } = await who.rest("GET", path, undefined, headers);
      if (!body.success) throw new Error(`${path}: ${body.message}`);
      return body.data;
    };
    const lists = (): [Person, string][] => [
      [ann, "/api/token/"],
      [admin, "/api/channel/"],
      [admin, "/api/mj/"],
      [ann, "/api/mj/self"],
      [admin, "/api/task/"],
      [ann, "/api/task/self"],
    ];
    const searches = (): [Person, string][] => [
      [ann, "/api/token/search?keyword=key"],
      [admin, "/api/channel/search?keyword=channel"],
    ];

    test("April's lists are arrays with p from 0, its searches arrays of everything", async () => {
      for (const [who, path] of lists()) {
        const [first, second, third] = await Promise.all([0, 1, 2].map((p) => data(who, `${path}?p=${p}`)));
        expect([path, first.length, second.length, third]).toEqual([path, 10, 2, []]);
        expect(new Set([...first, ...second].map((row: { id: number }) => row.id)).size).toBe(12);
        expect(await data(who, path)).toEqual(first);
      }
      for (const [who, path] of searches()) expect((await data(who, path)).length).toBe(12);
    });

    test("today's lists and searches are page objects with p from 1, by query, by header or by option", async () => {
      const first = { page: 1, page_size: 10, total: 12 };
      for (const [who, path] of [...lists(), ...searches()]) {
        const on = path.includes("?") ? `${path}&` : `${path}?`;
        for (const p of ["", "p=0", "p=1"]) {
          const page = await data(who, `${on}shape=page&${p}`);
          // spec: C-481
          expect([path, page]).toEqual([path, expect.objectContaining(first)]);
          expect(page.items.length).toBe(10);
        }
        const second = await data(who, `${on}p=2&page_size=5&shape=page`);
        expect(second).toMatchObject({ page: 2, page_size: 5, total: 12 });
        expect(second.items.length).toBe(5);
        expect(await data(who, `${on}p=2&page_size=5`, { "Weir-Api-Generation": "2025-07" })).toEqual(second);
        await root.rest("PUT", "/api/option/", { key: "ApiGeneration", value: "2025-07" });
        expect(await data(who, `${on}p=2&page_size=5`)).toEqual(second);
        expect(await data(who, `${on}p=1&page_size=5&shape=array`)).toEqual(second.items);
        expect(await data(who, `${on}p=1&page_size=5`, { "weir-api-generation": "2025-04" })).toEqual(second.items);
        await root.rest("PUT", "/api/option/", { key: "ApiGeneration", value: "2025-04" });
        expect(await data(who, `${on}p=1&page_size=5&shape=else`, { "weir-api-generation": "x" })).toEqual(
          second.items,
        );
      }
    });

    test("a page's size is page_size, ps or size, in every list", async () => {
      const paged: [Person, string][] = [
        [admin, "/api/user/"],
        [admin, "/api/user/search"],
        [admin, "/api/redemption/"],
        [admin, "/api/log/"],
        [ann, "/api/log/self"],
      ];
      for (const name of ["page_size", "ps", "size"]) {
        for (const [who, path] of lists())
          expect([path, (await data(who, `${path}?${name}=3`)).length]).toEqual([path, 3]);
        for (const [who, path] of paged)
          expect([path, (await data(who, `${path}?${name}=3`)).page_size]).toEqual([path, 3]);
      }
    });

    test("channels are filtered by status, type and group, with a count of each type; in tag mode tags are counted", async () => {
      const page = (query: string) => data(admin, `/api/channel/?shape=page&page_size=100&${query}`);
      expect((await page("")).type_counts).toEqual({ 1: 10, 14: 2 });
      expect(await page("type=14")).toMatchObject({ total: 2, type_counts: { 1: 10, 14: 2 } });
      expect(await page("status=disabled")).toMatchObject({ total: 1, items: [{ name: "channel 0" }] });
      expect((await page("status=enabled&group=default")).total).toBe(11);
      expect((await page("status=all&type=-1&group=null")).total).toBe(12);
      expect((await page("group=nowhere")).total).toBe(0);
      const tags = await data(admin, "/api/channel/?shape=page&tag_mode=true&p=1&page_size=2");
      expect([tags.total, tags.items.length]).toEqual([3, 2]);
    });

    test("one-api's statistics are the last seven days of one's own, by day and model", async () => {
      const { db } = h.services;
      const bob = await h.person();
      const now = Math.floor(h.services.now() / 3_600_000) * 3600;
      const hour = {
        ...{ user_id: bob.ctx.actor.id, token_id: 1, channel: 1, group: "default", count: 2, quota: 30 },
        ...{ prompt_tokens: 4, completion_tokens: 5 },
      };
      await db.q.insert(db.t.usage_hourly).values([
        { ...hour, hour: now, model_name: "m" },
        { ...hour, hour: now, model_name: "m", channel: 2 },
        { ...hour, hour: now - 6 * 86_400, model_name: "n" },
        { ...hour, hour: now - 8 * 86_400, model_name: "too old" },
        { ...hour, hour: now, model_name: "of another", user_id: 1 },
      ]);
      const day = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
      const sums = { RequestCount: 2, Quota: 30, PromptTokens: 4, CompletionTokens: 5 };
      expect(await data(bob, "/api/user/dashboard")).toEqual([
        { Day: day(now - 6 * 86_400), ModelName: "n", ...sums },
        { Day: day(now), ModelName: "m", RequestCount: 4, Quota: 60, PromptTokens: 8, CompletionTokens: 10 },
      ]);
    });

    test("users come newest first, in the list and in a search, which also filters by role and status", async () => {
      for (const path of ["/api/user/?page_size=100", "/api/user/search?keyword=&page_size=100"]) {
        const ids = (await data(admin, path)).items.map((row: { id: number }) => row.id);
        // spec: D-15
        expect(ids).toEqual(ids.toSorted((a: number, b: number) => b - a));
      }
      const found = async (query: string) =>
        (await data(admin, `/api/user/search?page_size=100&${query}`)).items.map((row: { id: number }) => row.id);
      const banned = await h.person({ role: ROLE.admin });
      const { users } = h.services.db.t;
      await h.services.db.q.update(users).set({ status: 2 }).where(eq(users.id, banned.ctx.actor.id));
      expect(await found("role=10&status=2")).toEqual([banned.ctx.actor.id]);
      expect(await found("role=10&status=1")).toEqual([admin.ctx.actor.id]);
      expect((await found("role=&status=0")).length).toBeGreaterThan(3);
    });

    test("task rows have the times and the input that front-ends read", async () => {
      for (const [who, path] of [
        [admin, "/api/task/"],
        [ann, "/api/task/self"],
      ] as const)
        expect((await data(who, path))[0]).toMatchObject({
          created_at: 1_700_000_000,
          updated_at: 1_700_000_060,
          properties: { input: "a song" },
        });
    });

    test("an account is deleted by its id, by those who may act on it", async () => {
      const gone = await h.person();
      const path = `/api/user/${gone.ctx.actor.id}`;
      expect((await ann.rest("DELETE", path)).body).toMatchObject({ success: false, code: "forbidden" });
      expect((await admin.rest("DELETE", path)).text).toBe('{"success":true,"message":""}');
      expect((await data(admin, path)).DeletedAt).toBeString();
      expect((await admin.rest("DELETE", `/api/user/${root.ctx.actor.id}`)).body.success).toBe(false);
    });

    test("guests see the groups that new users may choose; administrators that server and database answer", async () => {
      expect((await h.guest.rest("GET", "/api/user/groups")).body.data).toMatchObject({
        default: { desc: expect.any(String), ratio: 1 },
      });
      expect(await data(ann, "/api/user/groups")).toEqual(await data(ann, "/api/user/self/groups"));
      expect((await admin.rest("GET", "/api/status/test")).body).toMatchObject({
        success: true,
        message: "Server is running",
      });
    });

    test("a word in the place of an id is 404, whoever asks", async () => {
      for (const path of ["/api/user/no-such", "/api/channel/no-such", "/api/token/no-such", "/api/redemption/no-such"])
        for (const who of [h.guest, ann, admin])
          for (const method of ["GET", "DELETE"])
            expect([path, await who.rest(method, path)]).toMatchObject([
              path,
              { status: 404, body: { code: "not_found" } },
            ]);
      expect((await admin.rest("GET", "/api/user/999999999")).body.code).toBe("user_not_found");
    });

    test("since July 2025 a channel is created by {mode, channel}, and by its bare fields as before", async () => {
      const channel = { name: "new form", type: 1, models: "m", groups: ["default"], tag: null, model_mapping: null };
      const create = async (body: object): Promise<ChannelRow[]> => {
        const { body: answer } = await admin.rest("POST", "/api/channel/", body);
        if (!answer.success) throw new Error(answer.message);
        return answer.data;
      };
      const single = { mode: "single", multi_key_mode: "random", channel: { ...channel, key: "sk-one-key" } };
      expect(await create(single)).toMatchObject([{ name: "new form", multi_key_mode: "", group: "default" }]);
      const two = { ...channel, key: "sk-first-key\nsk-second-key" };
      expect((await create({ mode: "batch", channel: two })).length).toBe(2);
      const [several] = await create({ mode: "multi_to_single", multi_key_mode: "polling", channel: two });
      expect(several).toMatchObject({ multi_key_mode: "polling" });
      expect((await create({ ...two, name: "old form" })).length).toBe(2);
      expect((await admin.rest("POST", "/api/channel/", { mode: "single", channel: two })).body.success).toBe(false);
      expect((await ann.rest("POST", "/api/channel/", single)).body).toMatchObject({ code: "forbidden" });

      // Its keys are managed by their index.
      const manage = async (action: string, more: object = {}) =>
        (await admin.rest("POST", "/api/channel/multi_key/manage", { channel_id: several?.id, action, ...more })).body;
      expect((await manage("get_key_status")).data).toMatchObject({
        keys: [
          { index: 0, status: 1, disabled_time: 0, reason: "" },
          { index: 1, status: 1 },
        ],
        ...{ total: 2, page: 1, page_size: 50, total_pages: 1 },
        ...{ enabled_count: 2, manual_disabled_count: 0, auto_disabled_count: 0 },
      });
      expect(JSON.stringify(await manage("get_key_status"))).not.toMatch(/sk-(first|second)/);
      expect((await manage("disable_key", { key_index: 1 })).success).toBe(true);
      expect((await manage("get_key_status", { status: 2 })).data).toMatchObject({ keys: [{ index: 1 }], total: 1 });
      for (const more of [{}, { key_index: 7 }])
        expect(await manage("enable_key", more)).toMatchObject({ success: false, code: "invalid_parameter" });
      const info = {
        is_multi_key: true,
        multi_key_size: 2,
        multi_key_status_list: { 1: 2 },
        multi_key_mode: "polling",
      };
      for (const path of [
        `/api/channel/${several?.id}`,
        "/api/channel/?page_size=100",
        "/api/channel/search?keyword=new",
      ])
        expect([await data(admin, path)].flat().find((row) => row.id === several?.id).channel_info).toMatchObject(info);
      expect((await data(admin, "/api/channel/search?keyword=old form"))[0].channel_info).toMatchObject({
        is_multi_key: false,
        multi_key_size: 0,
      });
      expect((await manage("enable_all_keys")).data).toBe(2);
      const put = (key: string, key_mode?: string) =>
        admin.rest("PUT", "/api/channel/", { id: several?.id, multi_key_mode: "polling", key, key_mode });
      const size = async () => (await data(admin, `/api/channel/${several?.id}`)).channel_info.multi_key_size;
      expect([(await put("sk-third-key")).body.success, await size()]).toEqual([true, 3]);
      expect([(await put("sk-fourth-key", "append")).body.success, await size()]).toEqual([true, 4]);
      expect([(await put("", "replace")).body.success, await size()]).toEqual([true, 4]);
      expect([(await put("sk-fifth-key\nsk-sixth-key", "replace")).body.success, await size()]).toEqual([true, 2]);
      expect((await manage("delete_key", { key_index: 0 })).success).toBe(true);
      expect(await manage("delete_key", { key_index: 0 })).toMatchObject({ code: "channel_key_last" });
    });

    test("a channel is copied and switched by the calls of today, and a tag tells its models", async () => {
      const [{ id }] = await data(admin, "/api/channel/search?keyword=channel 5");
      const copied = (await admin.rest("POST", `/api/channel/copy/${id}?suffix=-two&reset_balance=true`)).body.data;
      expect(await data(admin, `/api/channel/${copied.id}`)).toMatchObject({ name: "channel 5-two", used_quota: 0 });
      for (const status of [2, 1]) {
        expect((await admin.rest("POST", `/api/channel/${id}/status`, { status })).body.success).toBe(true);
        expect((await data(admin, `/api/channel/${id}`)).status).toBe(status);
      }
      expect((await admin.rest("POST", `/api/channel/${id}/status`, { status: 3 })).body.success).toBe(false);
      await admin.rest("PUT", "/api/channel/", { id: copied.id, tag: "tag 1", models: "m,n" });
      expect(await data(admin, "/api/channel/tag/models?tag=tag 1")).toBe("m,n");
      expect(await data(admin, "/api/channel/tag/models?tag=none")).toBe("");
      expect(await data(admin, "/api/channel/ops")).toEqual({ retry_times: 3 });
    });

    test("keys are shown by the calls of today to their owner alone, and several tokens are deleted at once", async () => {
      const page = await data(ann, "/api/token/?shape=page");
      const [one, two] = page.items;
      const post = async (who: Person, path: string, body?: object) => (await who.rest("POST", path, body)).body;
      expect((await post(ann, `/api/token/${one.id}/key`)).data).toEqual({ key: one.key });
      expect(await post(admin, `/api/token/${one.id}/key`)).toMatchObject({ success: false, code: "token_not_found" });
      const ids = [one.id, two.id];
      expect((await post(ann, "/api/token/batch/keys", { ids })).data).toEqual({
        keys: { [one.id]: one.key, [two.id]: two.key },
      });
      expect((await post(admin, "/api/token/batch/keys", { ids })).data).toEqual({ keys: {} });
      expect((await post(admin, "/api/token/batch", { ids })).data).toBe(0);
      expect((await post(ann, "/api/token/batch", { ids })).data).toBe(2);
      expect((await data(ann, "/api/token/?shape=page")).total).toBe(10);
      for (const path of ["/api/token/batch", "/api/token/batch/keys"])
        expect((await post(ann, path, { ids: [] })).success).toBe(false);
    });

    test("a balance is added to, taken from and set as both new-api and one-api do it, each a recorded change", async () => {
      const bob = await h.person();
      const { id } = bob.ctx.actor;
      const quota = async () => (await data(bob, "/api/user/self")).quota;
      const manage = async (mode: string | undefined, value: number, who = admin) =>
        (await who.rest("POST", "/api/user/manage", { id, action: "add_quota", mode, value })).body;
      expect((await manage("add", 700)).success).toBe(true);
      expect((await manage(undefined, 100)).success).toBe(true);
      expect((await manage("subtract", 300)).success).toBe(true);
      expect(await quota()).toBe(500);
      expect((await manage("override", 40)).success).toBe(true);
      expect(await quota()).toBe(40);
      expect(await manage("subtract", 41)).toMatchObject({ success: false, code: "user_quota_negative" });
      expect(await manage("add", -5)).toMatchObject({ success: false, code: "user_quota_invalid" });
      expect(await manage("add", 5, ann)).toMatchObject({ success: false, code: "forbidden" });
      expect((await admin.rest("POST", "/api/topup", { user_id: id, quota: 60, remark: "thanks" })).body.success).toBe(
        true,
      );
      expect(await quota()).toBe(100);
      const { items } = await admin.call.user.credits({ id });
      expect(items.map(({ amount, note }) => [amount, note])).toEqual([
        [60, "thanks"],
        [-460, ""],
        [-300, ""],
        [100, ""],
        [700, ""],
      ]);
    });

    test("administrators take away one-time codes or passkeys, each alone", async () => {
      const { db } = h.services;
      const bob = await h.person();
      const user_id = bob.ctx.actor.id;
      await db.q.insert(db.t.totps).values({ user_id, secret_cipher: "x", enabled_at: 1 });
      await db.q
        .insert(db.t.passkeys)
        .values({ user_id, credential_id: `c${user_id}`, public_key: "k", created_at: 1 });
      const left = () => admin.call.user.factors({ id: user_id });
      const remove = async (who: Person, what: string) =>
        (await who.rest("DELETE", `/api/user/${user_id}/${what}`)).body;
      expect(await remove(ann, "2fa")).toMatchObject({ success: false, code: "forbidden" });
      expect((await remove(admin, "2fa")).success).toBe(true);
      expect(await left()).toEqual({ totp: false, passkeys: 1 });
      expect(await remove(admin, "2fa")).toMatchObject({ success: false, code: "user_no_factors" });
      expect((await remove(admin, "reset_passkey")).success).toBe(true);
      expect(await left()).toEqual({ totp: false, passkeys: 0 });
    });

    test("the price list names vendors, endpoints and the groups of auto", async () => {
      await root.rest("PUT", "/api/option/", { key: "ModelRatio", value: '{"m":1,"gpt-4o":2}' });
      await admin.rest("POST", "/api/channel/", { name: "priced", type: 1, key: "sk-p", models: "gpt-4o,m" });
      const { body } = await ann.rest("GET", "/api/pricing");
      expect(body.vendors).toEqual([{ id: 1, name: "OpenAI" }]);
      expect(body.data).toMatchObject([
        { model_name: "gpt-4o", vendor_id: 1, supported_endpoint_types: ["openai"] },
        { model_name: "m", vendor_id: 0 },
      ]);
      expect(body.supported_endpoint).toEqual({ openai: { path: "/v1/chat/completions", method: "POST" } });
      expect(body.auto_groups).toEqual(["default"]);
    });
  });
}
