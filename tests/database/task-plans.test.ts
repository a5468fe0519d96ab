/**
 * The lists of jobs with 100,000 rows: every list and filter uses an index, on both engines, with the statements of the
 * real services.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pageJobs, type JobFilter, type JobKind } from "../../src/server/features/task/service";
import { ROLE } from "../../src/shared/roles";
import { ENGINES } from "../kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../kit/harness";
import { statementsOf } from "../kit/statements";

const ROWS = 100_000;
const END = 1_790_000_000_000;
const PAGE = { page: 1, page_size: 10 };

for (const engine of ENGINES) {
  describe(`the jobs of ${ROWS} rows on ${engine}`, () => {
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
      // 100 users, 50 channels; half of it drawing.
      const fill = `INSERT INTO tasks (task_id, platform, action, user_id, username, channel_id, upstream_id, status, submit_time_ms)
        SELECT 't' || n, CASE WHEN n % 2 = 0 THEN 'mj' WHEN n % 3 = 0 THEN 'kling' ELSE 'suno' END, 'A' || (n % 7), n % 100 + 1,
          'u' || (n % 100 + 1), n % 50 + 1, 'up' || n, CASE WHEN n % 10 = 0 THEN 'FAILURE' ELSE 'SUCCESS' END, ${END} - n * 1000 FROM ${numbers}`;
      if (sqlite) {
        sqlite.exec(fill);
      } else {
        await postgres?.within("command").unsafe(fill);
        await postgres?.within("command").unsafe("ANALYZE tasks");
      }
    }, HOOK_MS * 4);
    afterAll(() => h.close());

    async function plansOf(who: Person, kind: JobKind, filter: JobFilter): Promise<string[]> {
      const scope = who === admin ? "all" : "own";
      const statements = await statementsOf(h, () =>
        pageJobs(who.ctx, scope, kind, {
          ...filter,
          ...(filter.username && { username: ann.ctx.actor.username }),
          ...PAGE,
        }),
      );
      const { sqlite, postgres } = h.services.db.driver;
      const plans: string[] = [];
      for (const { sql, params } of statements.filter((statement) => statement.sql.includes("tasks"))) {
        if (sqlite) {
          plans.push(
            sqlite
              .query<{ detail: string }, (string | number)[]>(`EXPLAIN QUERY PLAN ${sql}`)
              .all(...(params as (string | number)[]))
              .map((step) => step.detail)
              .join("\n"),
          );
        } else {
          const rows: { "QUERY PLAN": string }[] = (await postgres?.unsafe(`EXPLAIN ${sql}`, params)) ?? [];
          plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
        }
      }
      return plans;
    }

    const DAY = { start: END - 3_600_000 };
    /** `USER` stands for the name of an existing user. */
    const cases: [string, "admin" | "ann", JobFilter, RegExp][] = [
      ["everybody's, of a time", "admin", DAY, /tasks_submit_ix/],
      ["everybody's, of a time and a status", "admin", { ...DAY, status: "FAILURE" }, /tasks_submit_ix/],
      ["everybody's, one by its id", "admin", { task_id: "t77" }, /tasks_task_uq/],
      ["everybody's, of a channel and a time", "admin", { ...DAY, channel_id: 7 }, /tasks_(submit|upstream)_ix/],
      ["of one user", "admin", { username: "USER" }, /tasks_\w+_ix/],
      ["own", "ann", {}, /tasks_user_ix/],
      ["own, of a time", "ann", DAY, /tasks_(user|submit)_ix/],
      ["own, of a status", "ann", { status: "FAILURE" }, /tasks_user_ix/],
      ["own, one by its id", "ann", { task_id: "t77" }, /tasks_(task_uq|user_ix)/],
    ];
    for (const kind of ["drawing", "task"] as const) {
      test.each(cases)(
        `${kind}, %s: rows and their count are found by an index, and no page is sorted together from all rows`,
        async (_, who, filter, index) => {
          const plans = await plansOf(who === "admin" ? admin : ann, kind, filter);
          expect(plans).toHaveLength(2);
          for (const plan of plans) {
            expect(plan).toMatch(index);
            expect(plan).not.toMatch(/Seq Scan on tasks|SCAN tasks(?! USING)/);
          }
        },
      );

      test(`${kind}, all users without a filter: the newest are read by their time`, async () => {
        const plans = await plansOf(admin, kind, {});
        expect(plans.find((plan) => /submit_ix/.test(plan))).not.toMatch(/TEMP B-TREE|Sort/);
      });
    }

    test("of a platform: by its time", async () => {
      for (const plan of await plansOf(admin, "task", { ...DAY, platform: "kling" }))
        expect(plan).toMatch(/tasks_submit_ix/);
    });

    test("a total stops at 10,000 and says so", async () => {
      expect(await pageJobs(admin.ctx, "all", "drawing", PAGE)).toMatchObject({
        total: 10_000,
        total_exact: false,
        items: { length: 10 },
      });
    });
  });
}
