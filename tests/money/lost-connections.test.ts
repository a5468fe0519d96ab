/** Postgres connections that are cut in the middle of verbs: every verb is retried, and nothing moves twice. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { openDb } from "../../src/server/db/client";
import { audit } from "../../src/server/features/wallet/audit";
import type { Ledger } from "../../src/server/contracts/ledger";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { type FreshDatabase, freshPostgres, postgresServer } from "../kit/databases";
import { addUser, calls, clock, expectBalanced } from "./world";

let fresh: FreshDatabase;
let ledger: Ledger;
let admin: SQL;
beforeAll(async () => {
  fresh = await freshPostgres(8);
  ledger = createLedger(fresh.db, "cut", clock);
  admin = new SQL(`${await postgresServer()}/postgres`, { max: 1 });
});
afterAll(async () => {
  await admin.close();
  await fresh.close();
});

test("calls succeed while their connections are cut repeatedly, and the ledger balances", async () => {
  const name = new URL(fresh.url).pathname.slice(1);
  const user = await addUser(fresh.db, ledger, 1_000_000);
  const { hold, settle } = calls(ledger, user, 0);
  let working = true;
  let cut = 0;
  let done = 0;
  // By progress, not by time: a slow machine must make progress between two cuts.
  const saboteur = (async () => {
    for (let next = 20; working; next = done + 20) {
      while (working && done < next) await Bun.sleep(2);
      const ended = await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
      cut += ended.length;
    }
  })();
  const settled: boolean[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async (_, caller) => {
      for (let n = 0; n < 60; n++) {
        const id = `cut-${caller}-${n}`;
        expect(await hold(id, 100)).toEqual({ ok: true });
        if (n % 3 === 0) await ledger.extend(id, 50, 60);
        if (n % 4 === 0) await ledger.release(id);
        else settled.push((await settle(id, 80)).settled);
        done++;
        await Bun.sleep(2);
      }
    }),
  );
  working = false;
  await saboteur;
  expect(cut).toBeGreaterThan(8);
  expect(settled).toHaveLength(360);
  const other = await openDb({ url: fresh.url, pool: 2 }); // with connections that were never cut
  expect(await expectBalanced(other, user)).toMatchObject({ calls: 360, used_quota: 360 * 80, held: 0 });
  expect(await Array.fromAsync(audit(other))).toEqual([]);
  await other.close();
}, 60_000);
