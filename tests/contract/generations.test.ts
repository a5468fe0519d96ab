/**
 * The doors of the new-api family in both generations: April 2025 (bare arrays, p from 0) and since July 2025 (page
 * objects, p from 1). Shapes are new-api's: common/page_info.go, controller/*.go, model/*.go, read 2026-11.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ROLE } from "../../src/shared/roles";
import { ENGINES } from "../kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../kit/harness";

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

    test("users come newest first, in the list and in a search", async () => {
      for (const path of ["/api/user/?page_size=100", "/api/user/search?keyword=&page_size=100"]) {
        const ids = (await data(admin, path)).items.map((row: { id: number }) => row.id);
        expect(ids).toEqual(ids.toSorted((a: number, b: number) => b - a));
      }
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
  });
}
