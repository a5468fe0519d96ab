/** A source whose log has a database of its own (new-api's LOG_SQL_DSN). */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { asc, eq, ne } from "drizzle-orm";
import { emptyPostgres, ENGINES } from "../../../../tests/kit/databases";
import { HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { newApiTables, type SourceTables, writeFile, writeServer } from "../../../../tests/kit/import-sources";
import { openSource } from "../../db/foreign/open";
import { audit } from "../wallet/audit";
import { runImport } from "./run";
import { survey } from "./survey";

const folder = mkdtempSync(join(tmpdir(), "weir-log-source-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ANSWERS = { "name:bob:4": "rename", "mail:alice@x.example": "last", debts: "zero", "type:type 58": "disabled" };

function written(name: string, tables: SourceTables): string {
  const path = join(folder, `${name}.db`);
  writeFile(path, tables);
  return path;
}

/** The log in a database of the engine; the database of users has one old row that is in no log any more. */
async function split(engine: (typeof ENGINES)[number]) {
  const { logs, ...main } = newApiTables();
  if (!logs) throw new Error("no log");
  logs.columns.fork_column = "text";
  const [first] = logs.rows;
  const rows = logs.rows.map((row) => ({ ...row, fork_column: "x" }));
  const old = { ...first, id: 900, model_name: "of-before-the-split", quota: 1 };
  const path = written(`main-${engine}`, { ...main, logs: { ...logs, rows: [old] } });
  const tables = { logs: { ...logs, rows } };
  if (engine === "sqlite") return { path, logs: written("log", tables), close: async () => {} };
  const fresh = await emptyPostgres();
  const client = new SQL(fresh.url, { max: 1 });
  await writeServer(client, "postgres", tables);
  await client.close();
  return { path, logs: fresh.url, close: fresh.close };
}

test.each([...ENGINES])(
  "a log in a database of its own on %s: rows, roll-ups and opening roll-ups are its own, and an old table beside the users is named and left",
  async (engine) => {
    const [from, house] = [await split(engine), await openHarness(engine)];
    const [source, logs] = [await openSource(from.path, {}), await openSource(from.logs, {})];
    try {
      const found = await survey(house.services, source, { answers: ANSWERS, merge: false, logs });
      expect(found.plan.tables.find(({ table }) => table === "logs")).toMatchObject({
        rows: 11,
        taken: 11,
        columns: [{ column: "fork_column", rows: 11, why: "not known to Weir" }],
      });
      expect(found.plan.notes).toContain(
        "The table logs beside the users has 1 rows that are not read: --log-source has the log.",
      );
      const go = () =>
        runImport(house.services, found, logs, {
          live: false,
          merge: false,
          logDays: Infinity,
          progress: () => {},
          stopped: () => false,
        });
      expect(await go()).toMatchObject({ finished: true, logs: { read: 11, kept: 10 } });
      const { q, t } = house.services.db;
      const kept = await q.select().from(t.logs).orderBy(asc(t.logs.id));
      expect(new Set(kept.map((row) => row.model_name))).toEqual(new Set(["gpt-4o"]));
      // 5 calls of 10 with 4 given back are the log's; the rest of 70 is older than the log.
      const hours = await q.select().from(t.usage_hourly).where(eq(t.usage_hourly.user_id, 1));
      const sum = (rows: typeof hours): number => rows.reduce((all, row) => all + row.quota, 0);
      const ofLog = hours.filter((row) => row.model_name === "gpt-4o");
      expect([sum(ofLog), sum(hours)]).toEqual([46, 70]);
      expect(await q.$count(t.usage_hourly, ne(t.usage_hourly.model_name, "gpt-4o"))).toBeGreaterThan(0);
      const findings: unknown[] = [];
      for await (const one of audit(house.services.db)) findings.push(one);
      expect(findings).toEqual([]);
      expect(await go()).toMatchObject({ logs: { read: 0 } });
    } finally {
      await source.close();
      await logs.close();
      await house.close();
      await from.close();
    }
  },
  HOOK_MS * 2,
);
