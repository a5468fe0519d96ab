import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { ROLE } from "../../../shared/roles";
import { batchNames } from "./service";

test("batch names: the first is plain, the others end in -XXXXXX, all differ and keep within 50 characters", () => {
  const names = batchNames("名".repeat(50), 100);
  expect(names[0]).toBe("名".repeat(50));
  expect(new Set(names).size).toBe(100);
  for (const name of names.slice(1)) {
    // spec: C-425, C-615
    expect(name).toMatch(/^名{43}-[a-z0-9]{6}$/);
    expect([...name]).toHaveLength(50);
  }
});

for (const engine of ENGINES) {
  describe(`tokens on ${engine}`, () => {
    let h: Harness;
    let owner: Person;
    beforeAll(async () => {
      h = await openHarness(engine);
      owner = await h.person();
    }, HOOK_MS);
    afterAll(() => h.close());

    const create = async (fields: object = {}, who = owner) => {
      const { body } = await who.rest("POST", "/api/token/", { name: "t", ...fields });
      expect(body.message).toBe("");
      return body.data as Record<string, any> & { id: number; key: string };
    };
    const get = async (id: number) => (await owner.rest("GET", `/api/token/${id}`)).body.data;
    const refused = async (fields: object) =>
      (await owner.rest("POST", "/api/token/", { name: "t", ...fields })).body.message;

    test("a new token has a random key of 48 characters, the defaults, and nothing that the caller may not set", async () => {
      const token = await create({ key: "chosen", user_id: 999, used_quota: 5, status: 2, id: 77 });
      // spec: C-535, C-536, C-613
      // spec: C-250, C-253
      expect(token).toMatchObject({
        name: "t",
        remain_quota: 500_000,
        used_quota: 0,
        unlimited_quota: false,
        expired_time: -1,
        status: 1,
        group: "",
        model_limits_enabled: false,
        model_limits: "",
        allow_ips: "",
        deny_ips: "",
        user_id: owner.ctx.actor.id,
      });
      // spec: C-249
      expect(token.key).toMatch(/^[A-Za-z0-9]{48}$/);
      // spec: C-248
      expect(token.created_time).toBeGreaterThan(1_700_000_000);
    });

    test("a new token that names no group gets auto where that is the default and can be used", async () => {
      await h.services.options.set("DefaultUseAutoGroup", "true");
      try {
        await h.services.options.set("AutoGroups", "[]");
        expect((await create()).group).toBe("");
        await h.services.options.set("AutoGroups", '["default"]');
        // spec: A-196, C-260
        expect((await create()).group).toBe("auto");
        expect((await create({ group: "" })).group).toBe("");
      } finally {
        await h.services.options.set("DefaultUseAutoGroup", "false");
      }
    });

    test("an administrator raises the quota of a token of whom they may manage, whatever its state; it is audited, and nobody else can", async () => {
      const admin = await h.person({ role: ROLE.admin });
      const token = await create({ remain_quota: 0 });
      expect(await get(token.id)).toMatchObject({ status: 4 });
      const raised = await admin.call.token.raise({ id: token.id, quota: 700 });
      expect(raised).toEqual({ id: token.id, name: "t", remain_quota: 700 });
      expect(await get(token.id)).toMatchObject({ status: 1, remain_quota: 700 });
      // Raises add up, also at the same moment.
      await Promise.all(Array.from({ length: 5 }, () => admin.call.token.raise({ id: token.id, quota: 10 })));
      expect((await get(token.id)).remain_quota).toBe(750);
      const { audit_log } = h.services.db.t;
      const acts = await h.services.db.q.select().from(audit_log).where(eq(audit_log.action, "token.quota"));
      const of = acts.filter(({ target_id }) => target_id === String(token.id));
      expect(of).toHaveLength(6);
      expect(of[0]).toMatchObject({ actor_id: admin.ctx.actor.id, target_type: "token", before: '{"remain_quota":0}' });
      expect(JSON.parse(of[0]?.after ?? "")).toEqual({ remain_quota: 700, name: "t", user_id: owner.ctx.actor.id });

      const others = await h.person({ role: ROLE.admin });
      const [theirs] = await others.call.token.create({ name: "theirs" });
      const attempts: [Person, number, number, string][] = [
        [owner, token.id, 1, "forbidden"],
        [admin, theirs?.id ?? 0, 1, "same_or_higher_level"],
        [admin, 987_654, 1, "token_not_found"],
        [admin, token.id, 1_000_000_000_000_000, "token_quota_invalid"],
      ];
      for (const [person, id, quota, code] of attempts)
        expect(
          await person.call.token.raise({ id, quota }).then(
            () => "raised",
            (error) => error.cause?.code ?? error.code,
          ),
        ).toBe(code);
      expect((await get(token.id)).remain_quota).toBe(750);
    });

    test("only the owner sees a token, over REST with its key, over tRPC with a hint and a reveal verb", async () => {
      const token = await create({ name: "mine" });
      // spec: C-533
      // spec: C-119
      expect((await get(token.id)).key).toBe(token.key);
      // spec: C-119, C-248
      expect((await owner.rest("GET", "/api/token/?p=0&size=100")).body.data[0]).toMatchObject({
        id: token.id,
        key: token.key,
      });
      const listed = await owner.call.token.list({});
      // spec: C-119
      expect(JSON.stringify(listed)).not.toContain(token.key);
      expect(listed.items[0]).toMatchObject({ key_hint: `${token.key.slice(0, 8)}…${token.key.slice(-4)}` });
      expect(JSON.stringify(listed)).not.toContain("cipher");
      // spec: C-119, C-249
      expect(await owner.call.token.reveal({ id: token.id })).toEqual({ key: `sk-${token.key}` });

      for (const stranger of [await h.person(), await h.person({ role: ROLE.root })]) {
        const attempts = [
          stranger.rest("GET", `/api/token/${token.id}`),
          stranger.rest("PUT", "/api/token/", { id: token.id, name: "stolen" }),
          stranger.rest("PUT", "/api/token/?status_only=true", { id: token.id, status: 2 }),
          stranger.rest("DELETE", `/api/token/${token.id}/`),
        ];
        for (const attempt of await Promise.all(attempts))
          // spec: C-462
          // spec: C-119
          expect(attempt.body).toMatchObject({ success: false, message: "令牌不存在" });
        expect((await stranger.rest("GET", `/api/token/search?token=${token.key}`)).body.data).toEqual([]);
        await expect(stranger.call.token.reveal({ id: token.id })).rejects.toThrow();
        expect(await stranger.call.token.revealMany({ ids: [token.id] })).toEqual([]);
      }
      expect(await get(token.id)).toMatchObject({ name: "mine", status: 1 });
      expect(h.logged.join("")).not.toContain(token.key);
    });

    test("the clear key is nowhere in the database", async () => {
      const token = await create();
      const [row] = await h.services.db.q
        .select()
        .from(h.services.db.t.tokens)
        .where(eq(h.services.db.t.tokens.id, token.id));
      // spec: C-119
      expect(JSON.stringify(row)).not.toContain(token.key);
      expect(JSON.stringify(row)).not.toContain(token.key.slice(9, 40));
    });

    test("bad fields are refused with a text that says which", async () => {
      // spec: C-423
      expect(await refused({ name: " " })).toBe("请输入令牌名称！");
      // spec: C-423
      expect(await refused({ name: undefined })).toBe("请输入令牌名称！");
      // spec: C-424
      expect(await refused({ name: "x".repeat(51) })).toBe("令牌名称过长，最多 50 个字符");
      // spec: C-425
      expect(await create({ name: "字".repeat(50) })).toMatchObject({ name: "字".repeat(50) });
      for (const remain_quota of [-1, 1.5, "many", 1e300])
        // spec: C-429, C-430
        expect(await refused({ remain_quota })).toBe("额度必须是非负整数！");
      for (const expired_time of ["tomorrow", 0, -2])
        // spec: C-427
        expect(await refused({ expired_time })).toBe("过期时间格式错误！");
      // spec: C-258
      expect(await refused({ allow_ips: "10.0.0.1\n\nnonsense" })).toBe("第 3 行不是合法的 IP 或网段：nonsense");
      // spec: C-261
      expect(await refused({ deny_ips: "10.0.0.0/33" })).toBe("第 1 行不是合法的 IP 或网段：10.0.0.0/33");
      expect(await refused({ group: "svip" })).toBe("无权使用分组 svip");
      // spec: C-590
      expect(await refused({ unlimited_quota: "maybe" })).toStartWith("无效的参数：");
      expect((await owner.rest("POST", "/api/token/", "{")).status).toBe(400);
    });

    test("address lists take IPv4, IPv6 and networks, blanks, commas and null", async () => {
      const token = await create({ allow_ips: " 10.0.0.1 , 10.1.0.0/16\n\n::1\r\n2001:db8::/32 ", deny_ips: null });
      // spec: C-258
      expect(token).toMatchObject({ allow_ips: "10.0.0.1\n10.1.0.0/16\n::1\n2001:db8::/32", deny_ips: "" });
      await owner.rest("PUT", "/api/token/", { ...token, allow_ips: null });
      // spec: C-258
      expect((await get(token.id)).allow_ips).toBe("");
    });

    test("users may choose their own group and those offered with a ratio, and no other", async () => {
      const vip = await h.person({ group: "svip" });
      expect(await create({ group: "svip" }, vip)).toMatchObject({ group: "svip" });
      expect(await create({ group: "vip" }, vip)).toMatchObject({ group: "vip" });
      expect((await owner.rest("GET", "/api/user/self/groups")).body.data).toEqual({
        default: { desc: "默认分组", ratio: 1 },
        vip: { desc: "VIP 分组", ratio: 1 },
      });
      expect(Object.keys((await vip.rest("GET", "/api/user/self/groups")).body.data)).toEqual([
        "svip",
        "default",
        "vip",
      ]);
    });

    test("an update sets what is sent, keeps what is not, and ignores what is not the owner's to set", async () => {
      const token = await create({
        name: "edit",
        allow_ips: "10.0.0.1",
        rpm: 7,
        model_limits: ["a", "b"],
        model_limits_enabled: true,
      });
      expect(token.model_limits).toBe("a,b");
      const { body } = await owner.rest("PUT", "/api/token/", {
        ...token,
        name: "edited",
        key: "x",
        used_quota: 9,
        user_id: 1,
        model_limits: " c ,c",
        accessed_time: 5,
      });
      // spec: C-537
      expect(body.data).toMatchObject({
        name: "edited",
        key: token.key,
        used_quota: 0,
        user_id: owner.ctx.actor.id,
        model_limits: "c",
        allow_ips: "10.0.0.1",
        rpm: 7,
      });
      await owner.rest("PUT", "/api/token/", { id: token.id, group: "vip" });
      expect(await get(token.id)).toMatchObject({ group: "vip", allow_ips: "10.0.0.1", model_limits_enabled: true });
      expect((await owner.rest("PUT", "/api/token/", { id: token.id, group: "svip" })).body.success).toBe(false);
      await owner.rest("PUT", "/api/token/", { id: token.id, group: "" });
      expect((await get(token.id)).group).toBe("");
    });

    test("a status-only update changes nothing but the status and answers it", async () => {
      const token = await create({ name: "status" });
      const off = await owner.rest("PUT", "/api/token/?status_only=true", {
        id: token.id,
        status: 2,
        name: "other",
        remain_quota: 1,
      });
      // spec: C-538
      expect(off.body.data.status).toBe(2);
      // spec: C-538, C-345
      // spec: C-250
      expect(await get(token.id)).toMatchObject({ name: "status", status: 2, remain_quota: 500_000 });
      for (const status of [0, 3, 4, 9]) {
        // spec: C-348
        expect((await owner.rest("PUT", "/api/token/?status_only=1", { id: token.id, status })).body.message).toBe(
          "只能启用或禁用令牌",
        );
      }
    });

    test("expired and exhausted are computed at read, cannot be enabled, and end with the next edit", async () => {
      const expired = await create({ expired_time: 1_600_000_000 });
      // spec: C-348, C-428
      // spec: C-250, C-254
      expect(expired.status).toBe(3);
      const exhausted = await create({ remain_quota: 0 });
      // spec: C-348
      // spec: C-250
      expect(exhausted.status).toBe(4);
      // spec: C-252
      expect((await create({ remain_quota: 0, unlimited_quota: true })).status).toBe(1);
      const enable = async (id: number) =>
        (await owner.rest("PUT", "/api/token/?status_only=true", { id, status: 1 })).body.message;
      // spec: C-346
      expect(await enable(expired.id)).toContain("令牌已过期，无法启用");
      // spec: C-347
      expect(await enable(exhausted.id)).toContain("令牌可用额度已用尽，无法启用");
      // spec: C-348
      expect((await owner.rest("PUT", "/api/token/", { ...expired, expired_time: -1 })).body.data.status).toBe(1);
      expect((await owner.rest("PUT", "/api/token/", { ...exhausted, remain_quota: 5 })).body.data.status).toBe(1);
    });

    test("lists are bare arrays from p=0, newest first, and odd pages fall back", async () => {
      const user = await h.person();
      for (let i = 0; i < 13; i++) await create({ name: `n${i}` }, user);
      const names = async (query: string) =>
        (await user.rest("GET", `/api/token/?${query}`)).body.data.map((t: { name: string }) => t.name);
      // spec: C-532, C-481
      expect(await names("p=0&size=10")).toEqual(Array.from({ length: 10 }, (_, i) => `n${12 - i}`));
      expect(await names("p=1&size=10")).toEqual(["n2", "n1", "n0"]);
      // spec: C-482
      for (const query of ["", "p=x", "p=-1&size=0"]) expect(await names(query)).toHaveLength(10);
      // spec: C-482
      expect(await names("p=99&size=10")).toEqual([]);
      expect((await (await h.person()).rest("GET", "/api/token/")).body.data).toEqual([]);
      expect(await user.call.token.list({ page: 2, page_size: 10 })).toMatchObject({
        total: 13,
        page: 2,
        page_size: 10,
      });
    });

    test("search finds part of a name, a whole key, or the first 4 or more characters of it", async () => {
      const user = await h.person();
      const token = await create({ name: "Alpha 100%_" }, user);
      await create({ name: "beta" }, user);
      const search = async (query: string) =>
        (await user.rest("GET", `/api/token/search?${query}`)).body.data.map((t: { id: number }) => t.id);
      // spec: C-534
      // spec: C-099
      expect(await search("keyword=alpha")).toEqual([token.id]);
      expect(await search("keyword=100%25_")).toEqual([token.id]);
      expect(await search("keyword=%25_")).toEqual([token.id]);
      for (const key of [token.key, `sk-${token.key}`, token.key.slice(0, 6), token.key.slice(0, 20)]) {
        // spec: C-534
        // spec: C-100, C-101
        expect(await search(`keyword=&token=${key}`)).toEqual([token.id]);
      }
      for (const key of [
        token.key.slice(0, 3),
        token.key.slice(20, 26),
        `${token.key.slice(0, 20)}-`,
        `${token.key}x`,
      ]) {
        // spec: C-101
        expect(await search(`token=${key}`)).toEqual([]);
      }
      expect(await search("")).toHaveLength(2);
      expect(await user.call.token.list({ token: token.key })).toMatchObject({ total: 1 });
    });

    test("a batch is all or nothing, from 1 to 100", async () => {
      const user = await h.person();
      const made = await user.call.token.create({ name: "batch", count: 10 });
      // spec: C-616
      expect(made.map((t) => t.name)[0]).toBe("batch");
      expect(new Set(made.map((t) => t.key)).size).toBe(10);
      for (const count of [0, -1, 1.5, 101])
        // spec: C-431, C-616
        await expect(user.call.token.create({ name: "b", count })).rejects.toThrow();
      await expect(user.call.token.create({ name: "b", count: 3, group: "svip" })).rejects.toThrow();
      // spec: C-616
      expect((await user.call.token.list({})).total).toBe(10);
      await user.call.token.create({ name: "most", count: 100 });
      // spec: C-481
      expect((await user.rest("GET", "/api/token/?p=0&size=5000")).body.data).toHaveLength(100);
    });

    test("a deleted token is gone from list, read and search, and its row stays for the log", async () => {
      const token = await create({ name: "deleted" });
      // spec: C-539
      expect((await owner.rest("DELETE", `/api/token/${token.id}/`)).body.success).toBe(true);
      // spec: C-539
      expect((await owner.rest("GET", `/api/token/${token.id}`)).body.success).toBe(false);
      expect((await owner.rest("GET", `/api/token/search?token=${token.key}`)).body.data).toEqual([]);
      expect((await owner.rest("DELETE", `/api/token/${token.id}`)).body.message).toBe("令牌不存在");
      const [row] = await h.services.db.q
        .select()
        .from(h.services.db.t.tokens)
        .where(eq(h.services.db.t.tokens.id, token.id));
      expect(row?.deleted_at).toBeGreaterThan(0);
    });

    test("guests are refused with 401", async () => {
      expect((await h.guest.rest("GET", "/api/token/")).status).toBe(401);
      expect((await h.guest.rest("GET", "/api/user/self/groups")).status).toBe(401);
    });
  });
}
