/**
 * Measures the ledger by hand: `bun tests/money/speed.ts [sqlite|postgres] [calls]`. A call is hold + settle. SQLite:
 * main-thread microseconds per call, one at a time and in batches; Postgres: calls per second with 10 connections.
 */
import { ENGINES, freshDatabase } from "../kit/databases";
import { foldBatch } from "../../src/server/features/log/fold";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { addToken, addUser, calls } from "./world";

const [only, count = "20000"] = process.argv.slice(2);

for (const engine of ENGINES) {
  if (only && only !== engine) continue;
  const fresh = await freshDatabase(engine, 10);
  const ledger = createLedger(fresh.db, "speed", Date.now);
  const people = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const user = await addUser(fresh.db, ledger, 1_000_000_000);
      return calls(ledger, user, await addToken(fresh.db, user, { unlimited_quota: true }));
    }),
  );
  let id = 0;
  for (const concurrency of [1, 10, 64, 256]) {
    const total = engine === "sqlite" ? Number(count) : Math.min(Number(count), concurrency === 1 ? 1000 : 8000);
    const cpu = process.cpuUsage();
    const started = performance.now();
    let left = total;
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (left-- > 0) {
          const name = `speed-${++id}`;
          const person = people[id % people.length];
          await person?.hold(name, 100);
          await person?.settle(name, 80);
        }
      }),
    );
    const ms = performance.now() - started;
    const { user, system } = process.cpuUsage(cpu);
    console.log(
      `${engine} concurrency ${concurrency}: ${((ms / total) * 1000).toFixed(1)} µs a call, ` +
        `${Math.round((total / ms) * 1000)} calls/s, CPU ${((user + system) / total).toFixed(1)} µs a call`,
    );
  }
  const started = performance.now();
  let rows = 0;
  let batches = 0;
  let slowest = 0;
  for (let folded = -1; folded !== 0; batches++) {
    const before = performance.now();
    rows += folded = await foldBatch(fresh.db);
    slowest = Math.max(slowest, performance.now() - before);
  }
  const ms = performance.now() - started;
  console.log(
    `${engine} fold: ${rows} rows, ${((ms / rows) * 1000).toFixed(1)} µs a row, ${(ms / batches).toFixed(1)} ms a batch ` +
      `(slowest ${slowest.toFixed(1)} ms)`,
  );
  await fresh.close();
}
