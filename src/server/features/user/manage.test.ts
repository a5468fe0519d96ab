import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { ROLE } from "../../../shared/roles";
import { randomText } from "../../lib/secrets";
import { audit } from "../wallet/audit";
import { erasedName } from "./personal-data";

const PASSWORD = "a password 1";

for (const engine of ENGINES) {
  describe(`user management on ${engine}`, () => {
    let h: Harness;
    let root: Person;
    let admin: Person;
    const announced: string[] = [];
    beforeAll(async () => {
      h = await openHarness(engine);
      root = await h.person({ role: ROLE.root });
      admin = await h.person({ role: ROLE.admin });
      h.services.cluster.bus.subscribe("users", (id) => void announced.push(id));
    }, HOOK_MS);
    afterAll(() => h?.close());

    const create = async (by: Person, fields: object = {}) => {
      const { body } = await by.rest("POST", "/api/user/", { username: randomText(8), password: PASSWORD, ...fields });
      expect(body.message).toBe("");
      return body.data as { id: number; username: string };
    };
    const rowOf = async (id: number) => {
      const { q, t } = h.services.db;
      const [row] = await q.select().from(t.users).where(eq(t.users.id, id));
      if (!row) throw new Error("no such user");
      return row;
    };
    const acts = async (id: number) => {
      const { q, t } = h.services.db;
      return q
        .select()
        .from(t.audit_log)
        .where(and(eq(t.audit_log.target_type, "user"), eq(t.audit_log.target_id, String(id))))
        .orderBy(t.audit_log.id);
    };
    const findings = async () => {
      const found = [];
      for await (const finding of audit(h.services.db)) found.push(finding);
      return found;
    };

    test("a created account signs in by its password, is of role 1 in the default group, and owns what new users get", async () => {
      await h.services.options.set("QuotaForNewUser", "1234");
      const made = await create(admin, { display_name: "" });
      await h.services.options.set("QuotaForNewUser", "0");
      // spec: A-001, A-183, A-426
      expect(made).toMatchObject({
        role: 1,
        status: 1,
        group: "default",
        quota: 1234,
        display_name: made.username,
        DeletedAt: null,
        github_id: "",
        inviter_id: 0,
      });
      const signedIn = await h.guest.rest("POST", "/api/user/login", { username: made.username, password: PASSWORD });
      // spec: A-426
      expect(signedIn.body).toMatchObject({ success: true, data: { id: made.id } });
      expect(announced).toContain(String(made.id));
      expect(await findings()).toEqual([]);
    });

    test("creating without name or password, with a taken name, a long name, a short password or too high a role is refused in words", async () => {
      const { username } = await create(admin);
      const told = async (by: Person, body: object) => (await by.rest("POST", "/api/user/", body)).body.message;
      for (const body of [
        {},
        { username: "", password: "" },
        { username: " ", password: PASSWORD },
        { username: "x", password: "" },
        { username: null, password: null },
        { username: ["a"], password: {} },
      ]) {
        // spec: A-351
        expect([body, await told(admin, body)]).toEqual([body, "用户名和密码不能为空！"]);
      }
      expect(await told(admin, { username, password: PASSWORD })).toBe("用户名已被使用");
      // spec: A-509
      expect(await told(admin, { username: "x".repeat(13), password: PASSWORD })).toContain("用户名长度");
      // spec: D-42
      expect(await told(admin, { username: "fresh", password: "1234567" })).toBe("密码长度不得小于 8 位！");
      // spec: D-42
      expect(await told(admin, { username: "fresh", password: "x".repeat(21) })).toContain("20");
      // spec: A-410, C-467
      expect(await told(admin, { username: "fresh", password: PASSWORD, role: 10 })).toContain("权限大于等于自己");
      // spec: C-467
      expect(await told(admin, { username: "fresh", password: PASSWORD, role: 100 })).toContain("权限大于等于自己");
      // spec: A-410, C-467
      expect(await told(root, { username: "fresh", password: PASSWORD, role: 100 })).toContain("权限大于等于自己");
      expect(await create(root, { role: 10 })).toMatchObject({ role: 10 });
    });

    test("of two accounts created with one name at once, one exists", async () => {
      const username = randomText(8);
      const answers = await Promise.all(
        [1, 2, 3].map(() => admin.rest("POST", "/api/user/", { username, password: PASSWORD })),
      );
      expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
    });

    test("ordinary users may make no call, and role 10 reaches neither role 10 nor role 100", async () => {
      const user = await h.person();
      const { id } = await create(admin);
      const calls: [string, string, object?][] = [
        ["GET", "/api/user/"],
        ["GET", "/api/user/search?keyword=a"],
        ["GET", `/api/user/${id}`],
        ["POST", "/api/user/", { username: "zz", password: PASSWORD }],
        ["PUT", "/api/user/", { id, quota: 5 }],
        ["POST", "/api/user/manage", { id, action: "delete" }],
      ];
      for (const [method, path, body] of calls) {
        // spec: A-403, C-456
        expect((await user.rest(method, path, body)).body).toMatchObject({
          success: false,
          message: "无权进行此操作，权限不足",
        });
        expect((await h.guest.rest(method, path, body)).status).toBe(401);
      }
      const peer = await h.person({ role: ROLE.admin });
      for (const target of [peer, root]) {
        const other = target.ctx.actor.id;
        const before = await rowOf(other);
        const told = [
          (await admin.rest("GET", `/api/user/${other}`)).body,
          (await admin.rest("PUT", "/api/user/", { id: other, display_name: "taken over", password: PASSWORD })).body,
          ...(await Promise.all(
            ["promote", "demote", "disable", "enable", "delete"].map(
              async (action) => (await admin.rest("POST", "/api/user/manage", { id: other, action })).body,
            ),
          )),
        ];
        // spec: A-407, A-408, A-409, C-464..C-466, C-469..C-471
        for (const body of told) expect(body.success).toBe(false);
        // spec: A-408, A-409
        expect(await rowOf(other)).toEqual(before);
      }
      // spec: A-001, D-54
      expect((await admin.rest("GET", `/api/user/${admin.ctx.actor.id}`)).body.data.id).toBe(admin.ctx.actor.id);
      // spec: D-54
      expect((await admin.rest("PUT", "/api/user/", { id: admin.ctx.actor.id, quota: 1e9 })).body.success).toBe(false);
    });

    test("no one disables, deletes or demotes a super administrator, another one neither; another one may read", async () => {
      const other = await h.person({ role: ROLE.root });
      const { id } = other.ctx.actor;
      const before = await rowOf(id);
      const manage = async (by: Person, action: string) =>
        (await by.rest("POST", "/api/user/manage", { id, action })).body.success;
      for (const by of [admin, root, other]) {
        // spec: A-412, D-55
        expect(await manage(by, "disable")).toBe(false);
        // spec: A-413, D-55
        expect(await manage(by, "delete")).toBe(false);
        // spec: A-414, D-55
        expect(await manage(by, "demote")).toBe(false);
      }
      // spec: D-55
      expect((await root.rest("PUT", "/api/user/", { id, display_name: "x" })).body.success).toBe(false);
      expect(await rowOf(id)).toEqual(before);
      // spec: D-55
      expect((await root.rest("GET", `/api/user/${id}`)).body.data).toMatchObject({ id, role: ROLE.root });
    });

    test("the five actions make their change, return the new state, and are refused where nothing would change", async () => {
      const { id } = await create(root);
      const manage = async (by: Person, action: string) =>
        (await by.rest("POST", "/api/user/manage", { id, action })).body;
      // spec: A-411, C-468
      expect((await manage(admin, "promote")).message).toBe("普通管理员无法提升其他用户为管理员");
      // spec: A-328, A-430
      expect((await manage(root, "promote")).data).toMatchObject({ role: 10, status: 1 });
      // spec: D-34
      expect((await manage(root, "promote")).message).toBe("该用户已经是管理员");
      // spec: A-329, A-430
      expect((await manage(root, "demote")).data).toMatchObject({ role: 1, status: 1 });
      // spec: D-34
      expect((await manage(root, "demote")).success).toBe(false);
      // spec: D-34
      expect((await manage(admin, "enable")).success).toBe(false);
      // spec: A-330, A-430
      expect((await manage(admin, "disable")).data).toMatchObject({ role: 1, status: 2 });
      expect((await manage(admin, "disable")).success).toBe(false);
      // spec: A-331, A-430
      expect((await manage(admin, "enable")).data).toMatchObject({ role: 1, status: 1 });
      // spec: A-337
      for (const action of ["fly", "", "toString"]) expect((await manage(root, action)).message).toBe("未知的操作");
      expect((await root.rest("POST", "/api/user/manage", { id: 999_999, action: "disable" })).body.message).toBe(
        "用户不存在",
      );
      expect((await acts(id)).map((act) => act.action)).toEqual([
        "user.create",
        "user.promote",
        "user.demote",
        "user.disable",
        "user.enable",
      ]);
    });

    test("deleting ends sign-ins and keys, keeps name and log, frees identities, and cannot be undone", async () => {
      const { id, username } = await create(admin);
      const { q, t } = h.services.db;
      await q
        .insert(t.sessions)
        .values({ token_hash: `h${id}`, user_id: id, created_at: 1, last_seen_at: 1, expires_at: 9e9 });
      await q.insert(t.identities).values({ user_id: id, provider: "github", subject: `s${id}`, created_at: 1 });
      await q.insert(t.logs).values({ request_id: `r${id}`, created_at: 1, type: 3, user_id: id, username, folded: 2 });
      // spec: A-424, C-486
      expect((await admin.rest("GET", `/api/user/${id}`)).body.data).toMatchObject({
        id,
        username,
        github_id: `s${id}`,
      });
      const { body } = await admin.rest("POST", "/api/user/manage", { id, action: "delete" });
      // spec: A-430
      expect(body).toMatchObject({ success: true, data: { status: 1, role: 1 } });
      // spec: D-33
      expect(await q.select().from(t.sessions).where(eq(t.sessions.user_id, id))).toEqual([]);
      // spec: D-35
      expect(await q.select().from(t.identities).where(eq(t.identities.user_id, id))).toEqual([]);
      const listed = (await admin.rest("GET", `/api/user/search?keyword=${username}`)).body.data.items[0];
      // spec: A-332, D-14
      expect(listed).toMatchObject({ id, username, github_id: "" });
      // spec: A-182, A-332
      expect(listed.DeletedAt).toMatch(/^\d{4}-\d\d-\d\dT/);
      const log = (await admin.rest("GET", `/api/log/?username=${username}`)).body.data;
      // spec: A-332
      expect(log.items).toHaveLength(1);
      for (const action of ["enable", "disable", "promote", "demote", "delete"]) {
        // spec: A-333
        expect((await root.rest("POST", "/api/user/manage", { id, action })).body.message).toBe(
          "该用户已注销，无法恢复",
        );
      }
      expect((await root.rest("PUT", "/api/user/", { id, display_name: "back" })).body.success).toBe(false);
      // spec: D-35
      expect((await admin.rest("POST", "/api/user/", { username, password: PASSWORD })).body.message).toBe(
        "用户名已被使用",
      );
      expect((await h.guest.rest("POST", "/api/user/login", { username, password: PASSWORD })).body.success).toBe(
        false,
      );
    });

    test("second factors are removed with the right to change the account and a recent proof, once, with an audit line of what there was", async () => {
      const { q, t } = h.services.db;
      const { id } = await create(admin);
      const lock = (user_id: number) => q.insert(t.totps).values({ user_id, secret_cipher: "x", enabled_at: 1 });
      await lock(id);
      await lock(root.ctx.actor.id);
      const refusal = async (by: Person, target: number) =>
        by.call.user.removeFactors({ id: target }).then(
          () => "",
          (error) => error.cause?.code,
        );

      expect(await admin.call.user.factors({ id })).toEqual({ totp: true, passkeys: 0 });
      expect(await refusal(await h.person(), id)).toBe("forbidden");
      expect(await refusal(admin, root.ctx.actor.id)).toBe("same_or_higher_level");
      expect(await refusal(admin, admin.ctx.actor.id)).toBe("same_or_higher_level");
      const { verified_at } = admin.ctx.actor;
      admin.ctx.actor.verified_at = 0;
      expect(await refusal(admin, id)).toBe("step_up_required");
      admin.ctx.actor.verified_at = verified_at;
      expect(await admin.call.user.factors({ id })).toEqual({ totp: true, passkeys: 0 });

      expect(await refusal(admin, id)).toBe("");
      expect(await admin.call.user.factors({ id })).toEqual({ totp: false, passkeys: 0 });
      expect(await refusal(admin, id)).toBe("user_no_factors");
      const lines = (await acts(id)).filter(({ action }) => action === "user.factor");
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatchObject({
        actor_id: admin.ctx.actor.id,
        before: '{"totp":true,"passkeys":0}',
        after: '{"totp":false,"passkeys":0}',
      });
      expect(await root.call.user.factors({ id: root.ctx.actor.id })).toMatchObject({ totp: true });
    });

    test("a sent quota is recorded as the difference; a balance is never overwritten, nor taken below zero", async () => {
      const { id } = await create(admin);
      const put = async (body: object) => (await admin.rest("PUT", "/api/user/", { id, ...body })).body;
      expect((await put({ quota: 1000 })).data.quota).toBe(1000);
      // spec: A-427, D-47
      expect((await put({ quota: 1000, display_name: "same" })).data).toMatchObject({
        quota: 1000,
        display_name: "same",
      });
      expect((await put({ quota: 400 })).data.quota).toBe(400);
      // spec: D-47
      expect((await put({ quota: -1 })).message).toBe("额度不足以扣减，当前余额：400");
      // spec: A-366
      for (const quota of [1.5, "abc", [1], 1e16]) expect((await put({ quota })).message).toBe("额度必须是整数");
      // The console sends the difference; the same call twice counts once.
      const adjust = { id, add_quota: -100, note: "合同 7", adjust_key: "a-key-of-one-click" };
      const [a, b] = await Promise.all([admin.call.user.update(adjust), admin.call.user.update(adjust)]);
      // spec: A-367
      expect([a.quota, b.quota]).toEqual([300, 300]);
      await expect(admin.call.user.update({ id, add_quota: -301 })).rejects.toThrow();
      const { items } = await admin.call.user.credits({ id });
      // spec: D-47
      expect(items.map((entry) => [entry.amount, entry.kind, entry.note])).toEqual([
        [-100, "adjust", "合同 7"],
        [-600, "adjust", ""],
        [1000, "adjust", ""],
      ]);
      const { q, t } = h.services.db;
      const rows = await q.select().from(t.logs).where(eq(t.logs.user_id, id)).orderBy(t.logs.id);
      // spec: C-357, D-47
      expect(rows.map((row) => [row.type, row.quota])).toEqual([
        [3, 0],
        [3, 0],
        [3, 0],
      ]);
      expect(await findings()).toEqual([]);
    });

    test("fifty deductions at once of a balance for ten take ten", async () => {
      const { id } = await create(admin);
      await admin.rest("PUT", "/api/user/", { id, quota: 100 });
      const done = await Promise.all(
        Array.from({ length: 50 }, () =>
          admin.call.user.update({ id, add_quota: -10 }).then(
            () => 1,
            () => 0,
          ),
        ),
      );
      expect(done.reduce<number>((sum, n) => sum + n, 0)).toBe(10);
      expect((await rowOf(id)).quota).toBe(0);
      expect(await findings()).toEqual([]);
    });

    test("an edit sets what is sent: absent and read-only fields stay, an empty password too, a new one ends the sessions", async () => {
      const { id, username } = await create(admin);
      const { q, t } = h.services.db;
      const hash = (await rowOf(id)).password_hash;
      const echo = (await admin.rest("GET", `/api/user/${id}`)).body.data;
      await admin.rest("PUT", "/api/user/", {
        ...echo,
        password: "",
        role: 100,
        status: 2,
        used_quota: 77,
        aff_quota: 99,
        email: "x@example.com",
        group: "vip",
        rpm: 60,
      });
      // spec: A-368, A-404
      expect(await rowOf(id)).toMatchObject({
        username,
        role: 1,
        status: 1,
        used_quota: 0,
        aff_quota: 0,
        email: "",
        group: "vip",
        rpm: 60,
        password_hash: hash,
      });
      await q
        .insert(t.sessions)
        .values({ token_hash: `e${id}`, user_id: id, created_at: 1, last_seen_at: 1, expires_at: 9e9 });
      await admin.rest("PUT", "/api/user/", { id, password: "another password" });
      expect(await q.select().from(t.sessions).where(eq(t.sessions.user_id, id))).toEqual([]);
      expect(
        (await h.guest.rest("POST", "/api/user/login", { username, password: "another password" })).body.success,
      ).toBe(true);
      const told = async (body: object) => (await admin.rest("PUT", "/api/user/", { id, ...body })).body.message;
      expect(await told({ group: "nowhere" })).toBe("分组 nowhere 不存在");
      expect(await told({ group: "constructor" })).toBe("分组 constructor 不存在");
      expect(await told({ username: root.ctx.actor.username })).toBe("用户名已被使用");
      // spec: A-509
      expect(await told({ username: "x".repeat(13) })).toContain("用户名长度");
      // spec: D-42
      expect(await told({ password: "short" })).toBe("密码长度不得小于 8 位！");
      // spec: D-42
      expect(await told({ password: "x".repeat(21) })).toContain("20");
      expect(await told({ rpm: -1 })).not.toBe("");
      const text = JSON.stringify(await acts(id));
      expect(text).not.toContain("another password");
      expect(text).not.toContain((await rowOf(id)).password_hash);
    });

    test("every account is on exactly one page; search combines keyword and group, and % and _ are plain characters", async () => {
      const tag = randomText(5);
      for (let i = 0; i < 5; i++)
        await create(admin, { username: `${tag}_${i}`, display_name: i === 0 ? `100%${tag}` : "" });
      const gone = await create(admin, { username: `${tag}_x` });
      await admin.rest("POST", "/api/user/manage", { id: gone.id, action: "delete" });
      const { q, t } = h.services.db;
      await q
        .update(t.users)
        .set({ email: `mail.of.${tag}@example.com` })
        .where(eq(t.users.id, gone.id));
      const ids: number[] = [];
      for (let p = 1; ; p++) {
        const { data } = (await admin.rest("GET", `/api/user/?p=${p}&page_size=7`)).body;
        // spec: A-422
        expect({ ...data }).toMatchObject({
          items: expect.any(Array),
          page: p,
          page_size: 7,
          total: expect.any(Number),
        });
        ids.push(...data.items.map((item: { id: number }) => item.id));
        if (ids.length >= data.total || data.items.length === 0) break;
      }
      // spec: A-422, D-15
      expect(ids).toEqual([...new Set(ids)].sort((x, y) => y - x));
      const search = async (query: string) => (await admin.rest("GET", `/api/user/search?${query}`)).body.data;
      const tagged = await search(`keyword=${tag.toUpperCase()}&group=null&p=0&page_size=`);
      // spec: A-423, D-13
      expect(tagged.total).toBe(6);
      // spec: D-15
      expect(tagged.items.map((item: { id: number }) => item.id)).toEqual(
        tagged.items.map((item: { id: number }) => item.id).toSorted((x: number, y: number) => y - x),
      );
      // spec: D-13
      expect((await search(`keyword=${tag}&group=vip`)).total).toBe(0);
      // spec: D-13
      expect((await search(`keyword=${encodeURIComponent(`%${tag}`)}`)).total).toBe(1);
      expect((await search(`keyword=${tag.slice(0, 2)}${"_".repeat(3)}`)).total).toBe(0);
      // spec: D-13
      expect((await search(`keyword=mail.of.${tag}`)).items).toMatchObject([{ id: gone.id }]);
      expect(await admin.call.user.find({ words: `mail.of.${tag}` })).toMatchObject([{ id: gone.id }]);
      expect(await admin.call.user.find({ words: tag })).toHaveLength(5);
      // spec: D-14
      expect(ids).toContain(gone.id);
      // No user has spent anything: the order is that of the ids alone, and no page repeats another.
      const sorted: number[] = [];
      for (let page = 1; sorted.length < ids.length; page++) {
        const { items } = await admin.call.user.list({ sort: "used_quota", desc: true, page, page_size: 7 });
        if (items.length === 0) break;
        sorted.push(...items.map((item) => item.id));
      }
      // spec: D-15
      expect(sorted.toSorted((x, y) => y - x)).toEqual(ids);
      // spec: A-423, D-60
      expect(await search("keyword=&group=&p=0&page_size=")).toMatchObject({
        items: expect.any(Array),
        page: 1,
        page_size: 10,
        total: ids.length,
      });
      // spec: D-13
      expect((await search(`keyword=${ids[0]}`)).items.map((item: { id: number }) => item.id)).toContain(ids[0]);
      // spec: D-60
      expect(await search("p=-5&page_size=100000&keyword=")).toMatchObject({ page: 1, page_size: 100 });
      expect((await admin.rest("GET", `/api/user/search?keyword=${"x".repeat(500)}`)).body.success).toBe(false);
      expect(JSON.stringify(await search(""))).not.toMatch(/hash|password|cipher/);
      // Five passwords are hashed, and every page is a call: a busy machine needs more time.
    }, 30_000);

    test("an export holds account, tokens, ledger and the whole log in slices, and no key", async () => {
      const person = await h.person();
      const { id } = person.ctx.actor;
      const token = (await person.rest("POST", "/api/token/", { name: "mine" })).body.data;
      await admin.rest("PUT", "/api/user/", { id, quota: 10 });
      const { q, t } = h.services.db;
      for (let i = 0; i < 1005; i += 201) {
        await q.insert(t.logs).values(
          Array.from({ length: 201 }, (_, n) => ({
            request_id: `x${id}-${i + n}`,
            created_at: 1,
            type: 3,
            user_id: id,
            folded: 2,
          })),
        );
      }
      const lines: { kind?: string }[] = [];
      let cursor: number | undefined;
      do {
        const part: { lines: object[]; next?: number } = await admin.call.user.export(
          cursor === undefined ? { id } : { id, cursor },
        );
        lines.push(...part.lines);
        cursor = part.next;
      } while (cursor !== undefined);
      expect(Object.groupBy(lines, (line) => line.kind ?? "")).toMatchObject({
        account: [{ id }],
        token: [{ name: "mine" }],
        credit: [{ amount: 10 }],
      });
      expect(lines.filter((line) => line.kind === "log")).toHaveLength(1006);
      expect(JSON.stringify(lines)).not.toContain(token.key);
      expect((await acts(id)).map((act) => act.action)).toContain("user.export");
      await expect(admin.call.user.export({ id: root.ctx.actor.id })).rejects.toThrow();
    });

    test("an erasure leaves nothing that names the person, and every sum unchanged", async () => {
      const { id, username } = await create(root, { display_name: "Jane Doe" });
      await root.call.user.update({ id, add_quota: 50 });
      const { q, t } = h.services.db;
      await q
        .update(t.users)
        .set({ email: `${username}@example.com`, aff_code: `c${id}` })
        .where(eq(t.users.id, id));
      await q.insert(t.logs).values({
        request_id: `z${id}`,
        created_at: 1,
        type: 5,
        user_id: id,
        username,
        ip: "203.0.113.9",
        token_name: "private",
        folded: 2,
        content: `says ${username}`,
      });
      await expect(admin.call.user.erase({ id })).rejects.toThrow();
      await root.call.user.erase({ id });
      await root.call.user.erase({ id });
      expect(await rowOf(id)).toMatchObject({
        username: erasedName(id),
        email: "",
        display_name: "",
        quota: 50,
        aff_code: null,
        password_hash: "-",
      });
      const kept = JSON.stringify([
        await q.select().from(t.logs).where(eq(t.logs.user_id, id)),
        await acts(id),
        await q.select().from(t.users).where(eq(t.users.id, id)),
      ]);
      for (const trace of [username, "Jane Doe", "203.0.113.9", "private"]) expect(kept).not.toContain(trace);
      expect(kept).toContain(erasedName(id));
      expect(await findings()).toEqual([]);
      expect((await root.rest("POST", "/api/user/manage", { id, action: "enable" })).body.success).toBe(false);
      await expect(root.call.user.erase({ id: root.ctx.actor.id })).rejects.toThrow();
    });
  });
}
