/** The statements of every call find their rows by an index, in tables of 200,000 rows. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import type { Connections } from "../../src/server/db/connection-types";
import type { UserCtx } from "../../src/server/contracts/context";
import type { Db } from "../../src/server/db/types";
import { dashboard, dataByModel, dataByUser, ranking, totals } from "../../src/server/features/dashboard/service";
import { claim } from "../../src/server/features/log/fold";
import { DIMENSION_COLUMN } from "../../src/server/features/log/sums";
import { EXTEND, HOLD, RELEASE, SETTLE } from "../../src/server/features/wallet/single-verb.pg";
import { createSqliteLedger } from "../../src/server/features/wallet/ledger.sqlite";
import { DIMENSIONS } from "../../src/shared/dashboard";
import { type FreshDatabase, freshPostgres, freshSqlite } from "../kit/databases";

const ROWS = 200_000;
/** In the middle of the queried day. */
const SUMMED_UNTIL = 79_200;

/** `n` runs from 1 to 200,000. */
const fill = (numbers: string) => [
  `INSERT INTO users (id, username, password_hash, created_at) SELECT n, 'u' || n, 'x', 1 FROM ${numbers}`,
  `INSERT INTO tokens (id, user_id, name, key_hash, key_cipher, key_hint, created_time)
    SELECT n, n, 't', 'h' || n, 'x', 'x', 1 FROM ${numbers}`,
  `INSERT INTO holds (request_id, user_id, token_id, amount, token_amount, created_at, instance_id)
    SELECT 'h' || n, n, n, 1, 1, 1, 'i' FROM ${numbers}`,
  `INSERT INTO logs (request_id, created_at, type, user_id, folded)
    SELECT 'l' || n, n, 2, n, CASE WHEN n % 1000 = 0 THEN 0 ELSE 1 END FROM ${numbers}`,
  // 100 rows an hour, of 50 users: 2,000 hours.
  `INSERT INTO usage_hourly ("hour", user_id, token_id, channel, model_name, "group", "count", quota)
    SELECT (n / 100) * 3600, n % 50, n % 100, n % 4, 'm' || (n % 7), 'default', 1, n FROM ${numbers}`,
  // Up to the middle of the queried range, like the mark; more rows, so that an index pays off.
  ...DIMENSIONS.map(
    (dimension) => `INSERT INTO usage_sums (dimension, "hour", item, "count", error_count, quota, tokens)
    SELECT '${dimension}', "hour", CAST(${DIMENSION_COLUMN[dimension]} AS text), sum("count"), 0, sum(quota), 0 FROM usage_hourly
    GROUP BY "hour", ${DIMENSION_COLUMN[dimension]}`,
  ),
  `INSERT INTO meta (name, value) VALUES ('usage_summed_until', '${SUMMED_UNTIL}')`,
];

/** One day of the dashboard, for an administrator and for user 7, and the rows of `/api/data/*`. */
async function askForDashboards(ctx: UserCtx): Promise<void> {
  const day = { start_timestamp: 36_000, end_timestamp: 122_400 };
  for (const scope of ["all", "own"] as const) {
    for (const group_by of DIMENSIONS) {
      await dashboard(ctx, scope, {
        ...day,
        group_by,
        granularity: "day",
        measure: "quota",
        time_zone: "Asia/Shanghai",
      });
    }
    await totals(ctx, scope, day);
    await dataByModel(ctx, scope, day);
  }
  await dataByUser(ctx, day);
  for (const group_by of DIMENSIONS) await ranking(ctx, { ...day, group_by, measure: "count" });
}

/** Records the text of every statement of the read connection. */
function noting(db: Db, noted: Set<string>): Db {
  const wrap = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (from, name) => {
        const value: unknown = Reflect.get(from, name, from);
        if (name === "then" && "toSQL" in from && typeof from.toSQL === "function") noted.add(inlined(from.toSQL()));
        return typeof value === "function" ? (...args: unknown[]) => rewrap(value.apply(from, args)) : value;
      },
    });
  const rewrap = (value: unknown): unknown =>
    typeof value === "object" && value !== null && ("toSQL" in value || "from" in value) ? wrap(value) : value;
  return { ...db, read: wrap(db.read) };
}

/** The statement with its parameters inlined (all are numbers), so that the planner sees the queried range. */
const inlined = ({ sql, params }: { sql: string; params: unknown[] }): string =>
  params.reduce<string>(
    (text, value, i) => text.replace(text.includes(`$${i + 1}`) ? `$${i + 1}` : "?", String(value)),
    sql,
  );

const viewer = (db: Db): UserCtx =>
  ({
    db,
    now: () => 122_400_000,
    actor: { kind: "user", id: 7 },
    options: { get: (key: string) => (key === "DataExportInterval" ? 5 : true) },
  }) as unknown as UserCtx; // all that the dashboard reads of a context

describe("plans on sqlite", () => {
  let fresh: FreshDatabase;
  const statements = new Set<string>();
  beforeAll(async () => {
    fresh = await freshSqlite();
    const client = fresh.db.driver.sqlite;
    if (!client) throw new Error("not SQLite");
    client.exec("PRAGMA foreign_keys=OFF");
    const numbers = `(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ${ROWS}) SELECT n FROM c)`;
    for (const statement of fill(numbers)) client.exec(statement);
    const prepared = spyOn(client, "prepare");
    createSqliteLedger(fresh.db, client, "plans", Date.now);
    await claim(fresh.db, fresh.db.q);
    for (const [text] of prepared.mock.calls) if (/^(select|update|delete|insert)/i.test(text)) statements.add(text);
    prepared.mockRestore();
  }, 120_000);
  afterAll(() => fresh.close());

  test("no statement of the ledger or the fold scans a table", () => {
    expect(statements.size).toBeGreaterThan(10);
    for (const statement of statements) {
      const plan = fresh.db.driver.sqlite?.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${statement}`).all() ?? [];
      for (const { detail } of plan) {
        // The fold walks the partial index, which contains only rows that are not folded. What is to be written is no
        // table.
        if (detail.startsWith("SCAN")) expect(detail).toMatch(/INDEX logs_unfolded_ix|^SCAN \d+-ROW VALUES CLAUSE$/);
      }
    }
  });

  test("the dashboard reads its range by an index, a user's own by the user index", async () => {
    const noted = new Set<string>();
    await askForDashboards(viewer(noting(fresh.db, noted)));
    const reads = [...noted].filter((text) => text.includes("usage_hourly"));
    expect(reads.length).toBeGreaterThan(15);
    for (const statement of reads) {
      const plan = fresh.db.driver.sqlite?.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${statement}`).all() ?? [];
      const details = plan.map(({ detail }) => detail);
      // Intermediate results may be scanned, the table may not.
      expect(details.filter((detail) => /^SCAN (usage_hourly|usage_sums|users)/.test(detail))).toEqual([]);
      if (!/user_id.? = 7/.test(statement))
        expect(details.join("\n")).toContain("usage_sums_1 (dimension=? AND hour>? AND hour<?)");
      expect(details.join("\n")).toMatch(
        /user_id.? = 7/.test(statement)
          ? /INDEX usage_hourly_user_ix \(user_id=\? AND hour>\? AND hour<\?\)/
          : /\(hour>\? AND hour<\?\)/,
      );
    }
  });
});

describe("plans on postgres", () => {
  let fresh: FreshDatabase;
  let client: Connections;
  beforeAll(async () => {
    fresh = await freshPostgres();
    if (!fresh.db.driver.postgres) throw new Error("not Postgres");
    client = fresh.db.driver.postgres.within("command");
    for (const statement of fill(`generate_series(1, ${ROWS}) AS n`)) await client.unsafe(statement);
    await client.unsafe("ANALYZE");
  }, 120_000);
  afterAll(() => fresh.close());

  const planOf = async (statement: string) => {
    const rows: { "QUERY PLAN": string }[] = await client.unsafe(`EXPLAIN (GENERIC_PLAN) ${statement}`);
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  };

  test.each([
    ["hold", HOLD],
    ["extend", EXTEND],
    ["settle", SETTLE],
    ["release", RELEASE],
  ])("%s is found by primary keys alone", async (_, statement) => {
    const plan = await planOf(statement);
    expect(plan).toContain("users_pkey");
    expect(plan).not.toContain("Seq Scan");
  });

  test("the fold finds its rows by the partial index", async () => {
    const plan = await planOf(claim(fresh.db, fresh.db.q).toSQL().sql);
    expect(plan).toMatch(/logs_(before_)?unfolded_ix/);
    expect(plan).not.toContain("Seq Scan");
  });

  test("the dashboard reads its range by an index, a user's own by the user index", async () => {
    const noted = new Set<string>();
    await askForDashboards(viewer(noting(fresh.db, noted)));
    const reads = [...noted].filter((text) => text.includes("usage_hourly"));
    expect(reads.length).toBeGreaterThan(15);
    for (const statement of reads) {
      const rows: { "QUERY PLAN": string }[] = await client.unsafe(`EXPLAIN ${statement}`);
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      expect(plan).not.toMatch(/Seq Scan on usage_(hourly|sums)/);
      expect(plan).toMatch(
        /user_id.? = 7/.test(statement)
          ? /usage_hourly_user_ix|usage_hourly_pkey|usage_hourly_hour/
          : /usage_hourly_\w+/,
      );
    }
  });
});
