import { zhText } from "../../../../tests/kit/row-text";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { ROLE } from "../../../shared/roles";
import { audit } from "../wallet/audit";

for (const engine of ENGINES) {
  describe(`redemption codes on ${engine}`, () => {
    let h: Harness;
    let admin: Person;
    let user: Person;
    beforeAll(async () => {
      h = await openHarness(engine);
      admin = await h.person({ role: ROLE.admin });
      user = await h.person();
    }, HOOK_MS);
    afterAll(() => h?.close());

    const make = async (fields: object = {}): Promise<string[]> => {
      const answer = await admin.rest("POST", "/api/redemption/", {
        name: "gift",
        quota: 100_000,
        count: 1,
        ...fields,
      });
      if (!answer.body.success) throw new Error(answer.text);
      return answer.body.data;
    };
    const one = async (fields: object = {}): Promise<string> => (await make(fields))[0] ?? "";
    const rowOf = async (code: string) => {
      const { redemptions } = h.services.db.t;
      const hash = h.services.secrets.hash("redemption-key", code);
      const [row] = await h.services.db.q.select().from(redemptions).where(eq(redemptions.key_hash, hash));
      if (!row) throw new Error("no such code");
      return row;
    };
    const balance = async (person: Person): Promise<number> => (await person.call.user.self()).quota;
    const findings = async () => {
      const found = [];
      for await (const finding of audit(h.services.db)) found.push(finding);
      return found;
    };

    test("a batch is all different codes of 32 hexadecimal digits, kept as hash and cipher only", async () => {
      const codes = await make({ count: 100, name: "batch of 100" });
      // spec: C-543
      expect(new Set(codes).size).toBe(100);
      // spec: C-543
      // spec: C-265
      for (const code of codes) expect(code).toMatch(/^[0-9a-f]{32}$/);
      const stored = await h.services.db.q.select().from(h.services.db.t.redemptions);
      expect(JSON.stringify(stored)).not.toContain(codes[0] ?? "-");
    });

    test("GET answers a page of codes with every field of the specification, p = 0 meaning 1", async () => {
      const code = await one({ name: "listed" });
      for (const path of [
        "/api/redemption/?p=0&page_size=10",
        "/api/redemption?p=1",
        "/api/redemption/?p=x&page_size=-1",
      ]) {
        const { data } = (await admin.rest("GET", path)).body;
        // spec: C-540, C-481
        expect(data).toMatchObject({ page: 1, page_size: 10, total: expect.any(Number) });
        // spec: C-540
        // spec: C-264, C-265, C-267
        expect(data.items[0]).toEqual({
          id: expect.any(Number),
          user_id: admin.ctx.actor.id,
          name: "listed",
          key: code,
          status: 1,
          quota: 100_000,
          created_time: expect.any(Number),
          redeemed_time: 0,
          used_user_id: 0,
          expired_time: 0,
        });
      }
      // spec: C-482
      expect((await admin.rest("GET", "/api/redemption/?p=9999")).body.data.items).toEqual([]);
      const { id } = await rowOf(code);
      // spec: C-541
      expect((await admin.rest("GET", `/api/redemption/${id}`)).body.data.key).toBe(code);
      expect((await admin.rest("GET", "/api/redemption/999999")).body).toMatchObject({
        success: false,
        code: "redemption_not_found",
      });
    });

    test("search finds an exact id, a part of the name or a whole code, and % and _ are plain characters", async () => {
      const code = await one({ name: "50% off_now" });
      const { id } = await rowOf(code);
      const search = async (keyword: string) =>
        (
          await admin.rest("GET", `/api/redemption/search?keyword=${encodeURIComponent(keyword)}&p=1&page_size=100`)
        ).body.data.items.map((item: { id: number }) => item.id);
      // spec: C-542
      // spec: C-120, C-121
      expect(await search("OFF_N")).toEqual([id]);
      // spec: C-542
      expect((await admin.rest("GET", "/api/redemption/search?keyword=0%25&p=2&page_size=5")).body.data).toMatchObject({
        items: [],
        page: 2,
        page_size: 5,
        total: 1,
      });
      expect(await search("0%")).toEqual([id]);
      expect(await search(code)).toEqual([id]);
      expect(await search(code.slice(1))).toEqual([]);
      const quick = async (words: string) => (await admin.call.redemption.find({ words })).map((row) => row.id);
      expect([await quick("OFF_N"), await quick(code), await quick(code.slice(1))]).toEqual([[id], [id], []]);
      expect(await search("%_%")).toEqual([]);
      expect(await search("offxnow")).toEqual([]);
      // spec: C-121
      expect(await search(String(id))).toContain(id);
      expect(await search("\u0000'; drop table redemptions; --")).toEqual([]);
      expect((await search("")).length).toBeGreaterThan(0);
    });

    test("an empty name becomes the quota as it is displayed", async () => {
      // spec: C-436..C-438
      expect((await rowOf(await one({ name: "" }))).name).toBe("$0.20");
      await h.services.options.set("DisplayInCurrencyEnabled", "false");
      // spec: C-437
      expect((await rowOf(await one({ name: "  " }))).name).toBe("100000");
      await h.services.options.set("DisplayInCurrencyEnabled", "true");
    });

    test.each([
      [{ quota: 0 }, "redemption_quota_invalid"],
      [{ quota: -5 }, "redemption_quota_invalid"],
      [{ quota: 1.5 }, "redemption_quota_invalid"],
      [{ quota: "abc" }, "redemption_quota_invalid"],
      [{ quota: null }, "redemption_quota_invalid"],
      [{ quota: 1e300 }, "redemption_quota_invalid"],
      [{ count: 0 }, "redemption_count_invalid"],
      [{ count: 101 }, "redemption_count_invalid"],
      [{ count: "many" }, "redemption_count_invalid"],
      [{ name: "n".repeat(21) }, "redemption_name_too_long"],
      [{ expired_time: 1 }, "redemption_expiry_invalid"],
      [{ expired_time: -1 }, "redemption_expiry_invalid"],
    ])("a batch with %j is refused and makes nothing", async (fields, code) => {
      const before = (await admin.call.redemption.list({})).total;
      const answer = await admin.rest("POST", "/api/redemption/", { name: "x", quota: 1, count: 1, ...fields });
      // spec: C-439, C-442, C-443, C-445
      expect(answer.body).toMatchObject({ success: false, code });
      expect((await admin.call.redemption.list({})).total).toBe(before);
    });

    test("numbers as text are taken, 20 characters of any script fit", async () => {
      const codes = await make({ quota: "100000", count: "3", name: "礼".repeat(20) });
      // spec: C-440, C-441
      expect(codes).toHaveLength(3);
      // spec: C-439, C-440
      expect(await rowOf(codes[2] ?? "")).toMatchObject({ quota: 100_000, name: "礼".repeat(20) });
    });

    test("fifty parallel redemptions of one code, by ten people, credit once", async () => {
      const code = await one({ quota: 700_000 });
      const people = await Promise.all(Array.from({ length: 10 }, () => h.person()));
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => (people[i % 10] ?? user).rest("POST", "/api/user/topup", { key: code })),
      );
      const won = answers.filter(({ body }) => body.success);
      // spec: C-489
      expect(won.map(({ body }) => body.data)).toEqual([700_000]);
      for (const { body } of answers) if (!body.success) expect(body).toMatchObject({ code: "redemption_invalid" });
      const balances = await Promise.all(people.map(balance));
      expect(balances.filter((units) => units !== 0)).toEqual([700_000]);
      const { id, status, used_user_id, redeemed_time } = await rowOf(code);
      // spec: C-267
      expect({ status, winner: balances[people.findIndex((p) => p.ctx.actor.id === used_user_id)] }).toEqual({
        status: 3,
        winner: 700_000,
      });
      // spec: C-268
      expect(redeemed_time).toBeGreaterThan(0);
      const rows = await h.services.db.q
        .select()
        .from(h.services.db.t.logs)
        .where(eq(h.services.db.t.logs.user_id, used_user_id));
      expect(rows).toHaveLength(1);
      // spec: C-355
      expect(rows[0]).toMatchObject({ type: 1, quota: 700_000, folded: 2 });
      expect(zhText(rows[0])).toContain(`兑换码 ID ${id}`);
      expect(await findings()).toEqual([]);
    });

    test("a code is taken with blanks, dashes and capitals, as users paste it", async () => {
      const code = await one({ quota: 5 });
      const pasted = ` ${code.slice(0, 8)}-${code.slice(8, 16)}-${code.slice(16).toUpperCase()}\n`;
      // spec: C-489
      expect((await user.rest("POST", "/api/user/topup", { key: pasted })).body).toMatchObject({
        success: true,
        data: 5,
      });
    });

    test("wrong, used, disabled and deleted codes give the same error; expired and empty ones their own", async () => {
      const say = async (key: unknown) => (await user.rest("POST", "/api/user/topup", { key })).body;
      const before = await balance(user);
      const disabled = await one();
      await admin.rest("PUT", "/api/redemption/?status_only=true", { id: (await rowOf(disabled)).id, status: 2 });
      const deleted = await one();
      const { id: gone } = await rowOf(deleted);
      // spec: C-546
      expect((await admin.rest("DELETE", `/api/redemption/${gone}/`)).body.success).toBe(true);
      // spec: C-546
      expect((await admin.rest("GET", `/api/redemption/${gone}`)).body.code).toBe("redemption_not_found");
      const used = await one({ quota: 1 });
      expect((await say(used)).success).toBe(true);
      for (const key of ["0".repeat(32), "x", "' or 1=1 --", used, disabled, deleted, "a".repeat(201)]) {
        // spec: C-352, C-591, C-605
        expect(await say(key)).toMatchObject({ success: false, message: "无效的兑换码，或该兑换码已被使用" });
      }
      for (const key of ["", "  ", null, {}, []]) expect((await say(key)).success).toBe(false);
      expect((await say("")).message).toBe("请输入兑换码！");
      const soon = await one({ expired_time: Math.floor(h.services.now() / 1000) + 3600 });
      h.advance(3600);
      expect(await say(soon)).toMatchObject({ success: false, code: "redemption_expired" });
      expect(await balance(user)).toBe(before + 1);
    });

    test("only unused codes are edited; the number of codes, the key and the user of the code are ignored", async () => {
      const code = await one({ name: "before" });
      const { id } = await rowOf(code);
      const put = (fields: object, query = "") => admin.rest("PUT", `/api/redemption/${query}`, { id, ...fields });
      const edited = await put({ name: "after", quota: 42, count: 5, key: "0".repeat(32), used_user_id: 7, status: 3 });
      // spec: C-544
      // spec: C-266
      expect(edited.body.data).toMatchObject({ name: "after", quota: 42, key: code, status: 1, used_user_id: 0 });
      // spec: C-545
      expect((await put({ status: 2 }, "?status_only=true")).body.data.status).toBe(2);
      // spec: C-354
      expect((await put({ name: "no" })).body).toMatchObject({ success: false, code: "redemption_not_editable" });
      expect((await put({ status: 3 }, "?status_only=true")).body).toMatchObject({ code: "redemption_status_invalid" });
      expect((await put({ status: 1 }, "?status_only=true")).body.data.status).toBe(1);
      await user.rest("POST", "/api/user/topup", { key: code });
      // spec: C-354
      // spec: C-128
      expect((await put({ quota: 1 })).body).toMatchObject({ success: false, code: "redemption_not_editable" });
      for (const status of [1, 2]) {
        // spec: C-353
        expect((await put({ status }, "?status_only=true")).body).toMatchObject({ code: "redemption_already_used" });
      }
      expect((await put({ name: "x" }, "")).body.success).toBe(false);
      expect(await rowOf(code)).toMatchObject({ name: "after", quota: 42, status: 3 });
    });

    test("an edit while the code is redeemed never changes what was paid out", async () => {
      const code = await one({ quota: 1000 });
      const { id } = await rowOf(code);
      const before = await balance(user);
      await Promise.all([
        user.rest("POST", "/api/user/topup", { key: code }),
        ...[1, 2, 3].map((quota) => admin.rest("PUT", "/api/redemption/", { id, quota })),
      ]);
      expect((await rowOf(code)).quota).toBe((await balance(user)) - before);
    });

    test("a code that is deleted and switched off while it is redeemed is paid out once or never, and says so", async () => {
      for (let round = 0; round < 5; round++) {
        const code = await one({ quota: 1000 });
        const { id } = await rowOf(code);
        const before = await balance(user);
        const answers = await Promise.all([
          admin.rest("PUT", "/api/redemption/?status_only=true", { id, status: 2 }),
          ...Array.from({ length: 6 }, () => user.rest("POST", "/api/user/topup", { key: code })),
          admin.rest("DELETE", `/api/redemption/${id}`),
          admin.rest("DELETE", "/api/redemption/invalid"),
          user.rest("POST", "/api/user/topup", { key: code }),
        ]);
        const won = answers.filter(({ body }) => body.success && body.data === 1000).length;
        expect([won <= 1, (await balance(user)) - before]).toEqual([true, won * 1000]);
        expect((await rowOf(code)).status === 3).toBe(won === 1);
      }
      expect(await findings()).toEqual([]);
    });

    test("deleting the invalid takes used, disabled and expired codes, nothing else", async () => {
      await admin.rest("DELETE", "/api/redemption/invalid");
      const good = await one();
      const off = (await rowOf(await one())).id;
      await admin.rest("PUT", "/api/redemption/?status_only=1", { id: off, status: 2 });
      const used = await one();
      await user.rest("POST", "/api/user/topup", { key: used });
      const late = await one({ expired_time: Math.floor(h.services.now() / 1000) + 60 });
      h.advance(61);
      const states = async (state: "unused" | "disabled" | "used" | "expired") =>
        (await admin.call.redemption.search({ state, page_size: 100 })).items.map(({ key }) => key);
      expect(await states("expired")).toEqual([late]);
      expect(await states("used")).toEqual([used]);
      expect(await states("unused")).toContain(good);
      expect((await admin.rest("DELETE", "/api/redemption/invalid")).body.data).toBe(3);
      expect(await states("expired")).toEqual([]);
      expect((await admin.rest("DELETE", `/api/redemption/${off}`)).body).toMatchObject({
        code: "redemption_not_found",
      });
      expect((await user.rest("POST", "/api/user/topup", { key: good })).body.success).toBe(true);
    });

    test("making, changing and deleting codes is in the audit log, and no code is", async () => {
      const boss = await h.person({ role: ROLE.admin });
      const [code = ""] = (await boss.rest("POST", "/api/redemption/", { name: "audited", quota: 7 })).body.data;
      const { id } = await rowOf(code);
      await boss.rest("PUT", "/api/redemption/", { id, quota: 8 });
      await boss.rest("PUT", "/api/redemption/", { id, quota: 8 });
      await boss.rest("PUT", "/api/redemption/?status_only=true", { id, status: 2 });
      await boss.rest("DELETE", `/api/redemption/${id}`);
      const { audit_log: acts } = h.services.db.t;
      const rows = await h.services.db.q
        .select()
        .from(acts)
        .where(eq(acts.actor_id, boss.ctx.actor.id))
        .orderBy(acts.id);
      expect(
        rows.map(({ action, before, after }) => [action, before && JSON.parse(before), after && JSON.parse(after)]),
      ).toEqual([
        ["redemption.create", "", { ids: [id], name: "audited", quota: 7, expired_time: 0 }],
        ["redemption.update", { quota: 7 }, { quota: 8 }],
        ["redemption.update", { status: 1 }, { status: 2 }],
        ["redemption.delete", { name: "audited", status: 2, quota: 8, expired_time: 0, used_user_id: 0 }, ""],
      ]);
      expect(JSON.stringify(rows)).not.toContain(code);
    });

    test("ordinary users and guests reach no code", async () => {
      const { id } = await rowOf(await one());
      for (const [method, path, body] of [
        ["GET", "/api/redemption/"],
        ["GET", "/api/redemption/search?keyword=g"],
        ["GET", `/api/redemption/${id}`],
        ["POST", "/api/redemption/", { quota: 1 }],
        ["PUT", "/api/redemption/", { id, quota: 1 }],
        ["DELETE", `/api/redemption/${id}`],
        ["DELETE", "/api/redemption/invalid"],
      ] as const) {
        const answer = await user.rest(method, path, body);
        // spec: C-461
        expect([path, answer.status, answer.body.success, answer.body.code]).toEqual([path, 200, false, "forbidden"]);
        expect(answer.text).not.toContain("key");
        expect((await h.guest.rest(method, path, body)).status).toBe(401);
      }
    });

    test("guessing codes is limited as sign-ins are", async () => {
      const strict = await openHarness(engine, { WEIR_CRITICAL_RATE_LIMIT: "5" });
      const guesser = await strict.person();
      const statuses = [];
      for (let i = 0; i < 6; i++)
        statuses.push((await guesser.rest("POST", "/api/user/topup", { key: `${i}`.repeat(32) })).status);
      await strict.close();
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    });
  });
}
