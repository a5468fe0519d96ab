/** The statements of every call find their rows by an index, in tables of 200,000 rows. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import type { SQL } from "bun";
import { claim } from "../../src/server/features/log/fold";
import { EXTEND, HOLD, RELEASE, SETTLE } from "../../src/server/features/wallet/ledger.pg";
import { createSqliteLedger } from "../../src/server/features/wallet/ledger.sqlite";
import { type FreshDatabase, freshPostgres, freshSqlite } from "../kit/databases";

const ROWS = 200_000;

/** `n` runs from 1 to 200,000. */
const fill = (numbers: string) => [
  `INSERT INTO users (id, username, password_hash, created_at) SELECT n, 'u' || n, 'x', 1 FROM ${numbers}`,
  `INSERT INTO tokens (id, user_id, name, key_hash, key_cipher, key_hint, created_time)
    SELECT n, n, 't', 'h' || n, 'x', 'x', 1 FROM ${numbers}`,
  `INSERT INTO holds (request_id, user_id, token_id, amount, token_amount, created_at, instance_id)
    SELECT 'h' || n, n, n, 1, 1, 1, 'i' FROM ${numbers}`,
  `INSERT INTO logs (request_id, created_at, type, user_id, folded)
    SELECT 'l' || n, n, 2, n, CASE WHEN n % 1000 = 0 THEN 0 ELSE 1 END FROM ${numbers}`,
];

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
  }, 60_000);
  afterAll(() => fresh.close());

  test("no statement of the ledger or the fold scans a table", () => {
    expect(statements.size).toBeGreaterThan(10);
    for (const statement of statements) {
      const plan = fresh.db.driver.sqlite?.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${statement}`).all() ?? [];
      for (const { detail } of plan) {
        // The fold walks the partial index, which holds only what is not folded.
        if (detail.startsWith("SCAN")) expect(detail).toContain("INDEX logs_unfolded_ix");
      }
    }
  });
});

describe("plans on postgres", () => {
  let fresh: FreshDatabase;
  let client: SQL;
  beforeAll(async () => {
    fresh = await freshPostgres();
    if (!fresh.db.driver.postgres) throw new Error("not Postgres");
    client = fresh.db.driver.postgres;
    for (const statement of fill(`generate_series(1, ${ROWS}) AS n`)) await client.unsafe(statement);
    await client.unsafe("ANALYZE");
  }, 60_000);
  afterAll(() => fresh.close());

  const planOf = async (statement: string) => {
    const rows: { "QUERY PLAN": string }[] = await client.unsafe(`EXPLAIN (GENERIC_PLAN) ${statement}`);
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  };

  test.each([["hold", HOLD], ["extend", EXTEND], ["settle", SETTLE], ["release", RELEASE]])(
    "%s is found by primary keys alone",
    async (_, statement) => {
      const plan = await planOf(statement);
      expect(plan).toContain("users_pkey");
      expect(plan).not.toContain("Seq Scan");
    },
  );

  test("the fold finds its rows by the partial index", async () => {
    const plan = await planOf(claim(fresh.db, fresh.db.q).toSQL().sql);
    expect(plan).toContain("logs_unfolded_ix");
    expect(plan).not.toContain("Seq Scan");
  });
});
