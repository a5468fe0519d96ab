import { afterEach, beforeEach, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { eq } from "drizzle-orm";
import { type FreshDatabase, freshSqlite } from "../../../tests/kit/databases";
import { SCHEMA_RELEASE } from "../db/migrate";
import { createReadiness } from "./readiness";

let fresh: FreshDatabase;
const cluster = { bus: { age: () => 1500 } };
const limit = process.env.BUN_CONFIG_MAX_HTTP_REQUESTS;
beforeEach(async () => {
  process.env.BUN_CONFIG_MAX_HTTP_REQUESTS = "65535";
  fresh = await freshSqlite();
});
const parts = () => ({
  db: fresh.db,
  cluster,
  settles: { full: () => false, path: join(dirname(fresh.url), "settles-1.journal") },
  instance: { clockAhead: () => 90 },
});
afterEach(async () => {
  if (limit === undefined) delete process.env.BUN_CONFIG_MAX_HTTP_REQUESTS;
  else process.env.BUN_CONFIG_MAX_HTTP_REQUESTS = limit;
  await fresh.close();
});

test("a migrated database and a raised fetch limit are ready, and draining ends that", async () => {
  const readiness = createReadiness(parts());
  expect(await readiness.check()).toEqual({
    ready: true,
    checks: { database: "ok", migrations: "ok", disk: "ok", journal: "ok", fetch_limit: "ok", state: "serving" },
    cache_age_seconds: 1,
    clock_ahead_seconds: 90,
  });
  readiness.drain();
  expect(await readiness.check()).toMatchObject({ ready: false, checks: { state: "draining" } });
});

test("the schema of the next release is served, that of any later one is not", async () => {
  const { meta } = fresh.db.t;
  const readiness = createReadiness(parts());
  const migratedTo = (release: number) =>
    fresh.db.q
      .update(meta)
      .set({ value: String(release) })
      .where(eq(meta.name, "schema_release"));
  await migratedTo(SCHEMA_RELEASE + 1);
  expect((await readiness.check()).ready).toBe(true);
  await migratedTo(SCHEMA_RELEASE + 2);
  const { ready, checks } = await readiness.check();
  expect(ready).toBe(false);
  expect(checks.migrations).toContain(`schema ${SCHEMA_RELEASE + 2}`);
});

test("a low limit of simultaneous fetches is not ready, and says which variable raises it", async () => {
  process.env.BUN_CONFIG_MAX_HTTP_REQUESTS = "256";
  const { ready, checks } = await createReadiness(parts()).check();
  expect(ready).toBe(false);
  expect(checks.fetch_limit).toContain("only 256: set BUN_CONFIG_MAX_HTTP_REQUESTS");
});
