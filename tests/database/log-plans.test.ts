/**
 * The log page with 200,000 rows: every list, page and filter that docs/log.md calls indexed uses an index, on both
 * engines, with the statements of the real services; and totals stop counting at 10,000.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { pageLogs, sliceLogs } from "../../src/server/features/log/service";
import { logStat } from "../../src/server/features/log/stat";
import { cleanLogs } from "../../src/server/features/log/clean";
import type { LogFilter } from "../../src/shared/log-list";
import { ROLE } from "../../src/shared/roles";
import { ENGINES } from "../kit/databases";
import { type Harness, openHarness, type Person } from "../kit/harness";
import { statementsOf } from "../kit/statements";

const ROWS = 200_000;
const END = 1_790_000_000;
const PAGE = { p: 1, page_size: 10 };

for (const engine of ENGINES) {
  describe(`the log of ${ROWS} rows on ${engine}`, () => {
    let h: Harness;
    let admin: Person;
    let ann: Person;

    beforeAll(async () => {
      h = await openHarness(engine);
      [admin, ann] = await Promise.all([h.person({ role: ROLE.root }), h.person()]);
      const { sqlite, postgres } = h.services.db.driver;
      const numbers = sqlite
        ? `(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${ROWS}) SELECT n FROM c)`
        : `generate_series(1, ${ROWS}) AS n`;
      // 100 users, 500 tokens, 50 channels, 200 models; every sixtieth row has an upstream's id.
      const fill = `INSERT INTO logs (request_id, created_at, type, user_id, username, token_id, channel, model_name, "group", content, upstream_request_id, quota, folded)
        SELECT 'l' || n, ${END} - n, CASE WHEN n % 10 = 0 THEN 5 ELSE 2 END, n % 100 + 1, 'u' || (n % 100 + 1), n % 500 + 1, n % 50 + 1,
          'model-' || (n % 200), 'default', 'content ' || n, CASE WHEN n % 60 = 0 THEN 'up-' || n ELSE '' END, 1, 1 FROM ${numbers}`;
      await h.services.db.q.insert(h.services.db.t.tokens).values({
        id: 7,
        user_id: ann.ctx.actor.id,
        name: "named",
        key_hash: "h",
        key_cipher: "x",
        key_hint: "x",
        created_time: END,
      });
      await h.services.options.set("VirtualModels", '{"virtual":{"steps":[{"model":"model-171"}]}}');
      if (sqlite) {
        sqlite.exec(fill);
        sqlite.exec("ANALYZE");
      } else {
        await postgres?.within("command").unsafe(fill);
        await postgres?.within("command").unsafe("ANALYZE logs");
      }
    }, 120_000);
    afterAll(() => h.close());

    async function planOf({ sql, params }: { sql: string; params: unknown[] }): Promise<string> {
      const { sqlite, postgres } = h.services.db.driver;
      if (sqlite) {
        const bound = params.map((value) => (typeof value === "boolean" ? Number(value) : value)) as (
          | string
          | number
        )[];
        return sqlite
          .query<{ detail: string }, (string | number)[]>(`EXPLAIN QUERY PLAN ${sql}`)
          .all(...bound)
          .map((step) => step.detail)
          .join("\n");
      }
      const rows: { "QUERY PLAN": string }[] = (await postgres?.unsafe(`EXPLAIN ${sql}`, params)) ?? [];
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    }

    /** No scan of the table without an index. */
    const expectIndexed = (plan: string): void => {
      expect(plan).toMatch(/logs_\w+_(ix|uq|pkey)|logs_pkey|INTEGER PRIMARY KEY/);
      expect(plan).not.toMatch(/Seq Scan on logs|SCAN logs(?! USING)/);
    };

    const hour = { start_timestamp: END - 3600, end_timestamp: END };
    const FILTERS: [string, "all" | "own", LogFilter, typeof PAGE & { after?: string; before?: string }][] = [
      ["everything", "all", {}, PAGE],
      ["a deep page", "all", {}, { ...PAGE, p: 900 }],
      ["the page behind a row far back", "all", {}, { ...PAGE, after: `${END - 150_000}.150000` }],
      ["the page before a row far back", "all", {}, { ...PAGE, before: `${END - 150_000}.150000` }],
      ["a range", "all", hour, PAGE],
      ["a channel", "all", { channel: 7 }, PAGE],
      ["a token", "all", { token_id: 7 }, PAGE],
      ["a request id", "all", { request_id: "l500" }, PAGE],
      ["an upstream's request id", "all", { upstream_request_id: "up-600" }, PAGE],
      ["a text in a range", "all", { ...hour, keyword: "content 5" }, PAGE],
      ["a model in a range", "all", { ...hour, model_name: "model-7" }, PAGE],
      ["a part of a rare model's name", "all", { model_name: "odel-171" }, PAGE],
      ["a part of many models' names", "all", { model_name: "model-1" }, PAGE],
      ["a model's whole name", "all", { model_like: "model-7" }, PAGE],
      ["a pattern of a rare model's name", "all", { model_like: "model-171%" }, PAGE],
      ["a virtual model's name", "all", { model_like: "virtual" }, PAGE],
      ["a part of a virtual model's name", "all", { model_name: "irtual" }, PAGE],
      ["everything but failed calls", "all", { without_errors: true }, PAGE],
      ["a deep page without failed calls", "all", { without_errors: true }, { ...PAGE, p: 900 }],
      ["own rows without failed calls", "own", { without_errors: true }, PAGE],
      ["a channel's rows without failed calls", "all", { channel: 7, without_errors: true }, PAGE],
      ["a type that is not consumption", "all", { type: 6 }, PAGE],
      ["a type in a range", "all", { ...hour, type: 5 }, PAGE],
      ["own rows of a type", "own", { type: 1 }, PAGE],
      ["a group", "all", { group: "vip" }, PAGE],
      ["a token's name", "all", { token_name: "named" }, PAGE],
      ["own rows", "own", {}, PAGE],
      ["own rows in a range", "own", hour, PAGE],
      ["own rows behind a row far back", "own", {}, { ...PAGE, after: `${END - 150_000}.150000` }],
    ];
    test.each(FILTERS)("%s (%s): the page and its count are found by an index", async (_, scope, filter, paging) => {
      const person = scope === "all" ? admin : ann;
      let exact = true;
      const statements = await statementsOf(h, async () => {
        exact = (await pageLogs(person.ctx, scope, { ...filter, ...paging })).total_exact;
      });
      // Without matches no page is read.
      expect(statements.length).toBeGreaterThanOrEqual(1);
      for (const statement of statements) {
        // A count that matches most rows ends at the 10,001st in table order.
        const bounded = !exact && statement.sql.includes("count(*)");
        if (!bounded && statement.sql.includes("logs")) expectIndexed(await planOf(statement));
      }
    });

    if (engine === "postgres")
      test("a count over two indexes has memory for both bitmaps, for that statement only and never less than the operator's setting", async () => {
        const memory = sql<string>`current_setting('work_mem')`;
        const { db } = h.services;
        const asked = () => db.gather((q) => q.select({ memory }).from(sql`(select 1) as one`));
        const [before] = await db.q.select({ memory }).from(sql`(select 1) as one`);
        expect(await Promise.all(Array.from({ length: 20 }, asked))).toEqual(
          Array.from({ length: 20 }, () => [{ memory: "32MB" }]),
        );
        const after = await Promise.all(
          Array.from({ length: 20 }, () => db.q.select({ memory }).from(sql`(select 1) as one`)),
        );
        expect(after).toEqual(Array.from({ length: 20 }, () => [{ memory: before?.memory ?? "" }]));
      });

    test("a user's name is found by the index on the user's id", async () => {
      const statements = await statementsOf(h, () =>
        pageLogs(admin.ctx, "all", { username: ann.ctx.actor.username, ...PAGE }),
      );
      const ofLog = statements.filter((statement) => statement.sql.includes("logs"));
      expect(ofLog).toHaveLength(2);
      for (const statement of ofLog) expect(await planOf(statement)).toMatch(/logs_(before_)?user_ix/);
    });

    test("a page after a row far back equals the page by offset, and the total says that it stopped at 10,000", async () => {
      const counted = await pageLogs(admin.ctx, "all", { p: 5001, page_size: 10 });
      const place = counted.items[0];
      if (!place) throw new Error("no page");
      const last = await pageLogs(admin.ctx, "all", { p: 5000, page_size: 10 });
      const end = last.items.at(-1);
      const behind = await pageLogs(admin.ctx, "all", {
        p: 5001,
        page_size: 10,
        after: `${end?.created_at}.${end?.id}`,
      });
      expect(behind).toEqual(counted);
      expect(behind).toMatchObject({ total: 10_000, total_exact: false });
      expect(await pageLogs(admin.ctx, "all", { ...PAGE, model_name: "nothing-like-it" })).toMatchObject({
        items: [],
        total: 0,
        total_exact: true,
      });
      expect(
        (await pageLogs(admin.ctx, "all", { ...PAGE, model_name: "MODEL-1" })).items.map((item) => item.model_name),
      ).toEqual(["model-1", ...Array.from({ length: 9 }, (_, i) => `model-${i + 10}`)]);
      expect(await pageLogs(admin.ctx, "all", { ...PAGE, start_timestamp: END - 10_000 })).toMatchObject({
        total: 10_000,
        total_exact: true,
      });
      expect(await pageLogs(admin.ctx, "all", { ...PAGE, channel: 7, start_timestamp: END - 10_000 })).toMatchObject({
        total: 200,
        total_exact: true,
      });
    });

    test("a filter without an index searches the newest 50,000 rows of the range, and the answer says how far", async () => {
      const far = END - 50_000 - 1;
      expect(await pageLogs(admin.ctx, "all", { keyword: "content", ...PAGE })).toMatchObject({
        total: 10_000,
        total_exact: false,
        searched_from: far,
      });
      expect(await pageLogs(admin.ctx, "all", { keyword: "content 123456", ...PAGE })).toMatchObject({
        items: [],
        total: 0,
        searched_from: far,
      });
      const next = await pageLogs(admin.ctx, "all", {
        keyword: "content 123456",
        end_timestamp: END - 100_000,
        ...PAGE,
      });
      expect(next).toMatchObject({ total: 1, total_exact: true, searched_from: END - 150_000 });
      for (const filter of [{ keyword: "no row has it" }, { token_name: "nobody's" }, { username: "nobody" }]) {
        const statements = await statementsOf(h, () => pageLogs(admin.ctx, "all", { ...filter, ...PAGE }));
        const [border, ...looking] = statements.filter(({ sql }) => sql.includes("logs"));
        if (!border) throw new Error("no border was looked for");
        expectIndexed(await planOf(border));
        expect(looking.length).toBeGreaterThanOrEqual(1);
        for (const { params } of looking) expect(params).toContain(far);
      }
      // A range that is short enough, or an additional indexed filter, leaves nothing out.
      expect(
        await pageLogs(admin.ctx, "all", { keyword: "content 7", start_timestamp: END - 50_000, ...PAGE }),
      ).not.toHaveProperty("searched_from");
      const beside = await pageLogs(admin.ctx, "all", { keyword: "content 199907", channel: 8, ...PAGE });
      expect(beside).toMatchObject({ total: 1 });
      expect(beside).not.toHaveProperty("searched_from");
      expect(await logStat(admin.ctx, "all", { keyword: "content", type: 0 })).toMatchObject({
        quota: 45_001,
        searched_from: far,
      });
      // By key the search continues where it stopped.
      let [cursor, slices]: [string | null | undefined, number] = [undefined, 0];
      const found: string[] = [];
      do {
        const slice = await sliceLogs(admin.ctx, "all", { keyword: "content 123456", limit: 10, cursor });
        found.push(...slice.items.map(({ content }) => content));
        [cursor, slices] = [slice.next, slices + 1];
      } while (cursor && slices < 9);
      expect({ found, slices }).toEqual({ found: ["content 123456"], slices: 4 });
    });

    test("totals read roll-ups and the rows not yet in them, all by an index", async () => {
      for (const filter of [
        {},
        { ...hour, start_timestamp: END - 14_400 },
        { channel: 7 },
        { group: "default" },
        { model_name: "odel-17" },
        { channel: 7, model_name: "model-7" },
        { username: ann.ctx.actor.username },
      ]) {
        const statements = await statementsOf(h, () => logStat(admin.ctx, "all", { type: 0, ...filter }));
        const sums = statements.filter(({ sql }) => sql.includes("usage_"));
        expect(sums).toHaveLength(1);
        for (const statement of sums) {
          const plan = await planOf(statement);
          expect(plan).not.toMatch(/Seq Scan on logs|SCAN logs(?! USING)/);
          if (engine === "sqlite")
            for (const index of ["logs_type_ix", "logs_apart_ix", "logs_unfolded_ix"]) expect(plan).toContain(index);
        }
      }
    });

    test("a cleanup finds its rows by their time", async () => {
      const { logs } = h.services.db.t;
      expect(await cleanLogs(h.services, END - ROWS + 1000, "root")).toBe(1000);
      expect(await h.services.db.q.$count(logs)).toBe(ROWS - 1000);
    }, 30_000);
  });
}
