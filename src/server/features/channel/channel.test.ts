import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { desc, eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { LOG_TYPE } from "../../../shared/log";
import { ROLE } from "../../../shared/roles";
import { TEST_TOKEN_NAME, testChannel } from "./health";

const KEY = "sk-planted-upstream-key-0123456789";

/** An OpenAI-like server: what it saw, and a behaviour by model name. */
const seen: { path: string; authorization: string | null; organization: string | null; body: any }[] = [];
const upstream: Bun.Server<undefined> = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const body = request.method === "POST" ? await request.json() : undefined;
    seen.push({
      path: pathname,
      authorization: request.headers.get("authorization"),
      organization: request.headers.get("openai-organization"),
      body,
    });
    if (pathname === "/v1/models")
      return Response.json({ object: "list", data: [{ id: "m-1" }, { id: "m-2" }, { id: "m-1" }] });
    if (body?.model === "broken") return Response.json({ error: { message: `bad key ${KEY}` } }, { status: 401 });
    if (body?.model === "html") return new Response("<html><body>welcome</body></html>");
    if (body?.model === "hang") await Bun.sleep(3000);
    if (pathname === "/v1/embeddings")
      return Response.json({ data: [{ embedding: [0.1] }], usage: { prompt_tokens: 1 } });
    return Response.json({
      choices: [{ message: { content: "hi" } }],
      usage: { prompt_tokens: 8, completion_tokens: 3 },
    });
  },
});
afterAll(() => upstream.stop(true));
const BASE = `http://127.0.0.1:${upstream.port}`;

const form = (fields: object = {}) => ({
  type: 1,
  name: "one",
  key: KEY,
  base_url: BASE,
  models: "gpt-4o,gpt-4o-mini",
  groups: ["default"],
  group: "default",
  model_mapping: "",
  priority: 0,
  weight: 0,
  auto_ban: 1,
  tag: "",
  ...fields,
});

for (const engine of ENGINES) {
  describe(`channels on ${engine}`, () => {
    let h: Harness;
    let admin: Person;
    beforeAll(async () => {
      h = await openHarness(engine);
      admin = await h.person({ role: ROLE.admin });
    }, HOOK_MS);
    afterAll(() => h.close());

    const create = async (fields: object = {}) => {
      const answer = await admin.rest("POST", "/api/channel/", form(fields));
      expect(answer.body.message).toBe("");
      return answer.body.data.map((row: { id: number }) => row.id) as number[];
    };
    const one = async (fields: object = {}) => (await create(fields))[0] ?? 0;
    const get = async (id: number) => (await admin.rest("GET", `/api/channel/${id}`)).body.data;

    test("a channel comes back with every field, none of them null, and its key never", async () => {
      const id = await one({ base_url: `${BASE}/`, models: " a , b ,,a", tag: undefined });
      const { text, body } = await admin.rest("GET", `/api/channel/${id}`);
      // spec, C-203, C-205, C-208, C-210, C-213, C-219, C-223, C-229, C-412, C-499, C-500
      expect(body.data).toMatchObject({
        id,
        type: 1,
        name: "one",
        key: "",
        base_url: BASE,
        models: "a,b",
        group: "default",
        model_mapping: "",
        tag: "",
        priority: 0,
        weight: 0,
        auto_ban: 1,
        status: 1,
        response_time: 0,
        used_quota: 0,
        balance: 0,
        other_info: "",
      });
      // spec: C-203, C-210, C-213, C-225, C-229
      expect(Object.values(body.data)).not.toContain(null);
      const answers = [
        text,
        (await admin.rest("GET", "/api/channel/?p=0&page_size=100")).text,
        (await admin.rest("GET", `/api/channel/search?keyword=${id}`)).text,
        (await admin.rest("PUT", "/api/channel/", { id, key: `${KEY}x`, name: "one" })).text,
        JSON.stringify(await admin.call.channel.list({})),
        h.logged.join(""),
      ];
      for (const answer of answers) {
        // spec: C-204
        expect(answer).not.toContain(KEY);
        expect(answer).not.toContain("key_cipher");
        expect(answer).not.toContain("key_hash");
      }
    });

    test("ordinary users and guests are refused on every channel call, and nothing changes", async () => {
      const user = await h.person();
      const id = await one({ name: "guarded" });
      for (const [method, path, body] of [
        ["GET", "/api/channel/"],
        ["GET", "/api/channel/search"],
        ["GET", `/api/channel/${id}`],
        ["POST", "/api/channel/", form()],
        ["PUT", "/api/channel/", { id, name: "taken" }],
        ["DELETE", `/api/channel/${id}`],
        ["GET", `/api/channel/test/${id}`],
        ["GET", `/api/channel/fetch_models/${id}`],
        ["POST", "/api/channel/fetch_models", {}],
        ["GET", "/api/channel/models"],
        ["GET", "/api/channel/models_enabled"],
        ["GET", "/api/group/"],
      ] as const) {
        const refused = await user.rest(method, path, body);
        // spec: A-403, C-461
        expect([refused.status, refused.body.success, refused.body.code]).toEqual([200, false, "forbidden"]);
        expect((await h.guest.rest(method, path, body)).status).toBe(401);
      }
      expect((await get(id)).name).toBe("guarded");
    });

    test("bad forms are refused with the specified texts", async () => {
      const refused = async (fields: object) => (await admin.rest("POST", "/api/channel/", form(fields))).body.message;
      // spec: C-402
      expect(await refused({ name: " " })).toBe("请填写名称和密钥");
      // spec: C-405
      expect(await refused({ key: "\n " })).toBe("请填写名称和密钥");
      // spec: C-404
      expect(await refused({ models: " , " })).toBe("请至少选择一个模型");
      // spec: C-406
      expect(await refused({ model_mapping: "{" })).toBe("模型映射必须是合法的 JSON 格式！");
      expect(await refused({ model_mapping: "[]" })).toBe("模型映射必须是合法的 JSON 格式！");
      expect(await refused({ setting: "nope" })).toBe("setting 必须是合法的 JSON 格式！");
      // spec: C-409
      expect(await refused({ priority: 1.5 })).toBe("优先级必须是整数！");
      expect(await refused({ priority: -1000 })).toBe("优先级不能小于 -999");
      // spec: C-410
      expect(await refused({ weight: -1 })).toBe("权重必须是非负整数！");
      expect(await refused({ weight: 1.5 })).toBe("权重必须是非负整数！");
      expect(await refused({ type: 999 })).toBe("未知的渠道类型：999");
      expect(await refused({ base_url: "ftp://x" })).toBe("接口地址必须以 http:// 或 https:// 开头");
      expect(await refused({ type: 47, base_url: "" })).toBe("该类型渠道必须填写接口地址");
      expect(await refused({ type: 23, key: "only-one-part" })).toContain("渠道密钥格式错误");
      // spec: C-247
      expect(await refused({ type: 41, key: "{}", other: "us-central1" })).toContain("渠道密钥格式错误");
      // spec: C-220
      expect(await one({ priority: -999 })).toBeGreaterThan(0);
    });

    test("several lines of keys make several channels; a JSON credential of several lines makes one", async () => {
      const ids = await create({ name: "batch", key: "k-1\r\n\n k-2 \nk-1\nk-3" });
      // spec: C-206, C-207
      expect(ids).toHaveLength(3);
      expect(ids.map((id) => h.services.pool.byId(id)?.channel.key)).toEqual(["k-1", "k-2", "k-3"]);
      const credential = JSON.stringify({ project_id: "p", client_email: "e", private_key: "k" }, null, 2);
      const vertex = await create({ type: 41, key: credential, other: "us-central1", base_url: "" });
      // spec: C-207, C-247
      expect(vertex).toHaveLength(1);
      expect(h.services.pool.byId(vertex[0] ?? 0)?.channel.key).toBe(credential);
    });

    test("group wins over groups, groups are joined, neither means default, duplicates are dropped", async () => {
      // spec: C-411, C-412
      // spec: C-212
      expect((await get(await one({ group: "x, y,x", groups: ["z"] }))).group).toBe("x,y");
      // spec: C-500
      // spec: C-211, C-212
      expect((await get(await one({ group: undefined, groups: ["a", "b"] }))).group).toBe("a,b");
      // spec: C-212
      expect((await get(await one({ group: undefined, groups: undefined }))).group).toBe("default");
    });

    test("defaults of a type are filled in, and odd inputs of old front-ends are taken as meant", async () => {
      // spec: A-380, C-209, C-237
      expect((await get(await one({ type: 3, other: "" }))).other).toBe("2023-06-01-preview");
      // spec: A-381, C-240
      expect((await get(await one({ type: 18, other: "", key: "a|b|c", base_url: "" }))).other).toBe("v2.1");
      const id = await one({
        auto_ban: false,
        created_time: null,
        test_time: 1795217368.689,
        balance: 7,
        used_quota: 9,
        tag: null,
      });
      const made = await get(id);
      // spec: C-218, C-225, C-228
      expect(made).toMatchObject({ auto_ban: 0, balance: 0, used_quota: 0, test_time: 0, tag: "" });
      // spec: C-228
      expect(Math.abs(made.created_time - h.services.now() / 1000)).toBeLessThan(60);
      expect(
        (
          await admin.rest("PUT", "/api/channel/", {
            id,
            auto_ban: 1,
            test_time: 1795217368.689,
            used_quota: 5,
            balance: null,
          })
        ).body.success,
      ).toBe(true);
      // spec: C-506
      expect(await get(id)).toMatchObject({ auto_ban: 1, used_quota: 0, test_time: 0 });
    });

    test("the longest input and the overrides that existing forms send are kept", async () => {
      const sent = { max_input_tokens: 1000, param_override: '{"top_p":0.5}' };
      // spec: C-230
      expect(await get(await one({ name: "forms", ...sent }))).toMatchObject(sent);
    });

    test("an update changes what is sent and nothing else", async () => {
      const id = await one({ name: "partial", priority: 5, weight: 5, tag: "t", model_mapping: '{"a":"b"}' });
      const before = await get(id);
      for (const change of [
        { priority: 0 },
        { weight: 0 },
        { status: 2 },
        { tag: "" },
        { model_mapping: "" },
        { models: "z" },
      ]) {
        const { body } = await admin.rest("PUT", "/api/channel/", { id, ...change });
        // spec: A-468, C-502..C-504
        expect(body.data).toMatchObject(change);
        Object.assign(before, change);
        // spec: C-502..C-504, C-506
        expect(await get(id)).toEqual(before);
      }
      const whole = {
        type: 8,
        name: "whole",
        base_url: "https://whole.example/v1/chat",
        other: "x",
        models: "q,r",
        group: "vip,default",
        model_mapping: '{"q":"r"}',
        status_code_mapping: '{"400":"500"}',
        setting: '{"proxy":"http://p"}',
        param_override: '{"a":1}',
        test_model: "q",
        openai_organization: "org",
        auto_ban: 0,
        tag: "whole",
        priority: 7,
        weight: 8,
        max_input_tokens: 9,
        status: 1,
      };
      // Another address wants the key with it.
      expect((await admin.rest("PUT", "/api/channel/", { id, key: "k", ...whole })).body.message).toBe("");
      // spec: C-505
      expect(await get(id)).toEqual({ ...before, ...whole });
      // spec: C-572
      expect((await admin.rest("PUT", "/api/channel/", { id: 999999, priority: 1 })).body.message).toBe(
        "渠道未找到，请刷新页面后重试。",
      );
    });

    test("an empty key and the id as key leave the stored key; a new key replaces it", async () => {
      const id = await one({ name: "keyed" });
      const key = () => h.services.pool.byId(id)?.channel.key;
      await admin.rest("PUT", "/api/channel/", { id, ...form({ key: "" }) });
      // spec: C-506
      // spec: C-205
      expect(key()).toBe(KEY);
      await admin.rest("PUT", "/api/channel/", { id, key: String(id) });
      expect(key()).toBe(KEY);
      await admin.rest("PUT", "/api/channel/", { id, key: " new-key " });
      expect(key()).toBe("new-key");
      expect((await admin.rest("PUT", "/api/channel/", { id, key: "a\nb" })).body.success).toBe(false);
    });

    test("an old channel whose other fields have become invalid can still be switched off", async () => {
      const id = await one({ name: "old" });
      await h.services.db.q
        .update(h.services.db.t.channels)
        .set({ model_mapping: "{" })
        .where(eq(h.services.db.t.channels.id, id))
        .returning();
      expect((await admin.rest("PUT", "/api/channel/", { id, status: 2 })).body).toMatchObject({
        success: true,
        data: { status: 2 },
      });
    });

    test("a channel that is disabled or deleted serves no call from the moment the request is answered", async () => {
      const id = await one({ name: "gone", models: "only-here", group: "g-only" });
      const serves = () => h.services.pool.candidates("g-only", "only-here").map((channel) => channel.id);
      expect(serves()).toEqual([id]);
      await admin.rest("PUT", "/api/channel/", { id, status: 2 });
      // spec: C-327
      expect(serves()).toEqual([]);
      await admin.rest("PUT", "/api/channel/", { id, status: 1 });
      expect(serves()).toEqual([id]);
      // spec: C-507
      expect((await admin.rest("DELETE", `/api/channel/${id}/`)).body.success).toBe(true);
      expect(serves()).toEqual([]);
      // spec: C-507
      expect((await admin.rest("GET", `/api/channel/${id}`)).body.success).toBe(false);
    });

    test("a copy has the key and the settings of its original, and counters of its own", async () => {
      const id = await one({ name: "orig", priority: 3, setting: '{"proxy":"http://p"}' });
      await h.services.db.q
        .update(h.services.db.t.channels)
        .set({ used_quota: 10, balance: 1, response_time: 5, test_time: 5, created_time: 5 })
        .where(eq(h.services.db.t.channels.id, id))
        .returning();
      const copy = await admin.call.channel.copy({ id });
      // spec: C-094
      expect(copy).toMatchObject({
        name: "orig_复制",
        priority: 3,
        setting: '{"proxy":"http://p"}',
        used_quota: 0,
        balance: 0,
        response_time: 0,
        test_time: 0,
        key: "",
      });
      // spec: C-094
      expect(Math.abs(copy.created_time - h.services.now() / 1000)).toBeLessThan(60);
      // spec: C-094
      expect(h.services.pool.byId(copy.id)?.channel.key).toBe(KEY);
    });

    test("a REST copy takes the original's key when it sends the id as key, or no key at all", async () => {
      const id = await one({ name: "rest-orig" });
      const row = {
        ...(await get(id)),
        name: "rest-orig_复制",
        id: undefined,
        created_time: null,
        balance: 0,
        used_quota: 0,
      };
      for (const key of [String(id), ""]) {
        const [copied] = (await admin.rest("POST", "/api/channel/", { ...row, key })).body.data;
        // spec: C-501
        // spec: C-094
        expect(h.services.pool.byId(copied.id)?.channel.key).toBe(KEY);
      }
      const other = await admin.rest("POST", "/api/channel/", {
        ...row,
        key: String(id),
        base_url: "https://elsewhere.example",
      });
      // spec: C-094
      expect(other.body).toMatchObject({ success: false, code: "channel_key_required" });
      await admin.rest("DELETE", `/api/channel/${id}`);
      expect((await admin.rest("POST", "/api/channel/", { ...row, key: String(id) })).body.message).toBe(
        "渠道未找到，请刷新页面后重试。",
      );
    });

    test("lists are bare arrays from p=0, ordered by priority and id, and odd pages fall back", async () => {
      const all = (await admin.rest("GET", "/api/channel/?p=0&page_size=100")).body.data;
      const sorted = [...all].sort((a, b) => b.priority - a.priority || b.id - a.id);
      // spec: C-497, C-481
      // spec: C-059
      expect(all.map((c: { id: number }) => c.id)).toEqual(sorted.map((c) => c.id));
      const byId = (await admin.rest("GET", "/api/channel/?p=0&page_size=100&id_sort=true")).body.data.map(
        (c: { id: number }) => c.id,
      );
      // spec: C-497
      // spec: C-059
      expect(byId).toEqual([...byId].sort((a: number, b: number) => b - a));
      const second = (await admin.rest("GET", "/api/channel?p=1&page_size=10")).body.data;
      // spec: C-497
      expect(second.map((c: { id: number }) => c.id)).toEqual(all.slice(10, 20).map((c: { id: number }) => c.id));
      for (const query of ["p=-1", "p=x", "p=0&page_size=x", "p=&page_size=0", ""]) {
        // spec: C-482
        expect((await admin.rest("GET", `/api/channel/?${query}`)).body.data).toHaveLength(10);
      }
      // spec: C-482
      expect((await admin.rest("GET", "/api/channel/?p=9999&page_size=10")).body.data).toEqual([]);
      const page = await admin.call.channel.list({ page: 1, page_size: 5 });
      expect(page).toMatchObject({ page: 1, page_size: 5, total: all.length });
      expect(page.items).toHaveLength(5);
    });

    test("search finds by id, part of the name, whole key, model and group, with wildcards taken literally", async () => {
      const id = await one({
        name: "Needle 50%_x",
        key: "sk-unique-for-search",
        models: "special-model-x",
        group: "ga,gb",
      });
      const search = async (query: string) =>
        (await admin.rest("GET", `/api/channel/search?${query}`)).body.data.map((c: { id: number }) => c.id);
      // spec: C-498
      // spec: C-051
      expect(await search(`keyword=${id}`)).toContain(id);
      // spec: C-052
      expect(await search("keyword=needle")).toEqual([id]);
      // spec: C-053, C-054
      expect(await search("keyword=sk-unique-for-search")).toEqual([id]);
      // spec: C-054
      expect(await search("keyword=sk-unique-for")).toEqual([]);
      // spec: C-498
      // spec: C-055
      expect(await search("model=special-model")).toEqual([id]);
      // spec: C-498
      // spec: C-056
      expect(await search("group=gb&keyword=")).toEqual([id]);
      // spec: C-056
      expect(await search("group=g&model=special")).toEqual([]);
      const low = await one({ name: "sorted a", group: "gs", priority: -5 });
      const high = await one({ name: "sorted b", group: "gs", priority: 5 });
      const newest = await one({ name: "sorted c", group: "gs", priority: -5 });
      // spec: C-498
      expect(await search("group=gs")).toEqual([high, newest, low]);
      // spec: C-498
      expect(await search("group=gs&id_sort=true")).toEqual([newest, high, low]);
      // spec: C-054
      expect(await search("keyword=50%25_x&group=null")).toEqual([id]);
      expect(await search(`keyword=${encodeURIComponent("%_".repeat(200))}`)).toEqual([]);
      expect(await search(`keyword=${encodeURIComponent("x'; drop table channels; --")}`)).toEqual([]);
    });

    test("tag mode pages over tags and leaves untagged channels out", async () => {
      for (const tag of ["tag-a", "tag-b", "tag-a"]) await one({ tag, name: `of ${tag}` });
      const rows = (await admin.rest("GET", "/api/channel/?p=0&page_size=1&tag_mode=true")).body.data;
      // spec: C-497
      expect(rows.map((c: { tag: string }) => c.tag)).toEqual(["tag-a", "tag-a"]);
    });

    test("a test answers success, message and time in seconds at the top, and keeps the time on the channel", async () => {
      const id = await one({
        name: "tested",
        openai_organization: "org-7",
        model_mapping: '{"gpt-4o":"mapped","mapped":"end"}',
      });
      h.routing.cooldown.add(id, "gpt-4o", 90_000);
      const { body } = await admin.rest("GET", `/api/channel/test/${id}?model=`);
      // It works again: no call is kept from it any more.
      expect(h.routing.cooldown.standing(id, "gpt-4o")).toBe("ready");
      // spec: C-508
      expect(body).toMatchObject({ success: true, message: "" });
      // spec: C-508
      expect(body.time).toBeGreaterThan(0);
      expect(seen.at(-1)).toMatchObject({
        path: "/v1/chat/completions",
        authorization: `Bearer ${KEY}`,
        organization: "org-7",
        body: { model: "end", max_tokens: 10 },
      });
      const row = await get(id);
      // spec: C-508
      expect(row.response_time).toBe(Math.round(body.time * 1000));
      // spec: C-227
      expect(row.test_time).toBeGreaterThan(1_700_000_000);
    });

    test("a test is recorded as a consumption of 0, is named as a test, and charges no user", async () => {
      const id = await one({ name: "recorded" });
      await admin.rest("GET", `/api/channel/test/${id}?model=gpt-4o-mini`);
      const { logs, users } = h.services.db.t;
      const [row] = await h.services.db.q.select().from(logs).where(eq(logs.channel, id)).orderBy(desc(logs.id));
      // spec: C-509
      expect(row).toMatchObject({
        type: LOG_TYPE.consume,
        quota: 0,
        token_name: TEST_TOKEN_NAME,
        model_name: "gpt-4o-mini",
        prompt_tokens: 8,
        completion_tokens: 3,
        user_id: admin.ctx.actor.id,
      });
      expect(JSON.parse(row?.other ?? "")).toMatchObject({
        model_price: -1,
        model_ratio: 0,
        admin_info: { use_channel: [String(id)] },
      });
      const [user] = await h.services.db.q.select().from(users).where(eq(users.id, admin.ctx.actor.id));
      // spec: C-509
      expect(user).toMatchObject({ quota: 0, used_quota: 0, request_count: 0 });
    });

    test("a failed test has a time too, says why, and does not repeat the key", async () => {
      const id = await one({ name: "failing", test_model: "broken" });
      const failed = await admin.rest("GET", `/api/channel/test/${id}`);
      expect(failed.status).toBe(200);
      // spec: C-509
      expect(failed.body).toMatchObject({ success: false });
      // spec: C-509
      expect(failed.body.time).toBeGreaterThan(0);
      // spec: C-216
      expect(failed.body.message).toBe("测试失败：HTTP 401: bad key [key]");
      expect((await admin.rest("GET", `/api/channel/test/${id}?model=html`)).body.message).toContain("welcome");
      expect(await testChannel(admin.ctx, id, "hang", 100)).toMatchObject({
        success: false,
        message: "测试失败：timeout (0.1 s)",
      });
      const dead = await one({ name: "dead", base_url: "http://127.0.0.1:1" });
      expect((await admin.rest("GET", `/api/channel/test/${dead}`)).body).toMatchObject({
        success: false,
        message: "测试失败：ECONNREFUSED",
      });
    });

    test("embedding models are tested as embeddings; types without a test say so, with a time", async () => {
      const id = await one({ name: "emb", models: "text-embedding-3-small" });
      expect((await admin.rest("GET", `/api/channel/test/${id}`)).body.success).toBe(true);
      expect(seen.at(-1)?.path).toBe("/v1/embeddings");
      for (const type of [2, 5, 36]) {
        const channel = await one({ type, name: "mj" });
        // spec: C-509
        expect((await admin.rest("GET", `/api/channel/test/${channel}`)).body).toMatchObject({
          success: false,
          message: "该类型渠道不支持测试",
          time: 0,
        });
      }
      expect((await admin.rest("GET", "/api/channel/test/999999")).body.message).toBe("渠道未找到，请刷新页面后重试。");
    });

    test("the model list of a stored channel may be on a private address, a typed one only if the super administrator asks, and never a link-local one", async () => {
      const id = await one({ name: "listed" });
      // spec: A-465, C-528
      expect((await admin.rest("GET", `/api/channel/fetch_models/${id}`)).body.data).toEqual(["m-1", "m-2"]);
      const from = (base_url: string) =>
        admin.rest("POST", "/api/channel/fetch_models", { base_url, type: 1, key: `${KEY}\nsecond` });
      const before = seen.length;
      for (const url of ["http://169.254.169.254", BASE, "http://localhost:1", "http://[::1]:1", "http://0x7f.1:1"]) {
        // spec: C-530
        expect((await from(url)).body).toMatchObject({ success: false, message: "不允许访问该地址" });
      }
      expect(seen.length).toBe(before);
      const owner = await h.person({ role: ROLE.root });
      const asOwner = async (base_url: string) =>
        (await owner.rest("POST", "/api/channel/fetch_models", { base_url, type: 1, key: KEY })).body;
      expect((await asOwner(BASE)).data).toEqual(["m-1", "m-2"]);
      for (const url of ["http://169.254.169.254", "http://[fe80::1]:1", "http://100.100.100.200", "http://0.0.0.0:1"])
        expect(await asOwner(url)).toMatchObject({ success: false, message: "不允许访问该地址" });
      const open = await openHarness("sqlite", { WEIR_ALLOW_PRIVATE_FETCH: "true" });
      const root = await open.person({ role: ROLE.admin });
      // spec: A-466, C-529, C-530
      expect(
        (await root.rest("POST", "/api/channel/fetch_models", { base_url: BASE, key: `${KEY}\nsecond` })).body.data,
      ).toEqual(["m-1", "m-2"]);
      // spec: C-530
      expect(seen.at(-1)?.authorization).toBe(`Bearer ${KEY}`);
      // spec: A-480
      expect((await root.rest("POST", "/api/channel/fetch_models", { base_url: BASE, key: "" })).body.message).toBe(
        "请填写密钥",
      );
      expect(
        (await root.rest("POST", "/api/channel/fetch_models", { base_url: BASE, key: "k", type: 27 })).body.message,
      ).toBe("该类型渠道不支持获取模型列表");
      await open.close();
    });

    test("model lists: of the registry by type, all known ones, and those that are enabled", async () => {
      const id = await one({ name: "models", models: "my-own-model" });
      const all = (await admin.rest("GET", "/api/channel/models")).body.data;
      // spec: A-464, C-527
      expect(all.find((m: { id: string }) => m.id === "gpt-4o")).toMatchObject({ object: "model", owned_by: "openai" });
      expect(all.some((m: { id: string }) => m.id === "my-own-model")).toBe(true);
      expect((await admin.rest("GET", "/api/channel/models_enabled")).body.data).toContain("my-own-model");
      await admin.rest("PUT", "/api/channel/", { id, status: 2 });
      expect((await admin.rest("GET", "/api/channel/models_enabled")).body.data).not.toContain("my-own-model");
      // spec: A-455
      expect((await admin.rest("GET", "/api/models")).body.data["1"]).toContain("gpt-4o");
    });
  });
}
