/**
 * A process that works under a lease until it has lost it: bun tests/kit/lease-worker.ts <database>
 *
 * Each step adds one to the row "steps" of `meta`; at the end it prints "lost". Its clock goes five times as fast, so
 * that it need not be stopped for as long as a lease lasts.
 */
import { sql } from "drizzle-orm";
import { postgresLease } from "../../src/server/cluster/postgres";
import { openDb } from "../../src/server/db/client";

const db = await openDb({ url: process.argv[2] ?? "", pool: 2 });
const { meta } = db.t;
const lease = postgresLease(db.driver.postgres as NonNullable<typeof db.driver.postgres>, "worker", {
  now: () => performance.now() * 5,
  renewMs: 250,
});
await lease.hold("work", async (held) => {
  while (!held.lost) {
    await db.q
      .insert(meta)
      .values({ name: "steps", value: "1" })
      .onConflictDoUpdate({ target: meta.name, set: { value: sql`${meta.value}::int + 1` } });
    await Bun.sleep(20);
  }
});
console.log("lost");
process.exit(0);
