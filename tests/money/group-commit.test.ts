/** The SQLite ledger's queue: one commit for many verbs, in order, and waiting for another process's lock. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Ledger } from "../../src/server/contracts/ledger";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { type FreshDatabase, freshSqlite } from "../kit/databases";
import { addUser, callLog, calls, clock, expectBalanced } from "./world";

let fresh: FreshDatabase;
let ledger: Ledger;
let client: Database;
beforeAll(async () => {
  fresh = await freshSqlite();
  ledger = createLedger(fresh.db, "queue", clock);
  if (!fresh.db.driver.sqlite) throw new Error("not SQLite");
  client = fresh.db.driver.sqlite;
});
afterAll(() => fresh.close());

/** How many commits another connection has seen: it rises by at least one with each. */
const watcher = () => {
  const other = new Database(fresh.url, { readonly: true });
  const read = other.query<{ data_version: number }, []>("PRAGMA data_version");
  return { version: () => read.get()?.data_version ?? 0, close: () => other.close() };
};

test("a verb is invisible until its batch is committed, and answers only then", async () => {
  const user = await addUser(fresh.db, ledger, 100_000);
  const { hold } = calls(ledger, user, 0);
  const other = new Database(fresh.url, { readonly: true });
  const count = other.query<{ n: number }, []>("SELECT count(*) AS n FROM holds");
  const seen: number[] = [];
  const asked = Array.from({ length: 20 }, (_, i) => hold(`turn-${i}`, 10).then(() => seen.push(count.get()?.n ?? 0)));
  expect(count.get()?.n).toBe(0);
  await Promise.all(asked);
  // A batch ends after 2 ms on a busy machine, so there may be several; each answer sees at least itself.
  expect(seen.map((n, i) => n > i)).toEqual(Array.from({ length: 20 }, () => true));
  expect(seen.at(-1)).toBe(20);
  other.close();
});

test("a thousand verbs are committed in batches of at most 64, in the order of their calls", async () => {
  const user = await addUser(fresh.db, ledger, 500);
  const { hold } = calls(ledger, user, 0);
  const { version, close } = watcher();
  const versions = new Set([version()]);
  const answers = await Promise.all(
    Array.from({ length: 1000 }, async (_, i) => {
      const { ok } = await hold(`order-${i}`, 1);
      versions.add(version());
      return ok;
    }),
  );
  close();
  expect(answers.indexOf(false)).toBe(500);
  expect(answers.lastIndexOf(true)).toBe(499);
  expect(versions.size).toBeGreaterThanOrEqual(Math.floor(500 / 64)); // refused verbs write nothing
  expect(versions.size).toBeLessThan(200);
});

test("verbs wait while another process holds the database, and then go through", async () => {
  const user = await addUser(fresh.db, ledger, 1000);
  const { hold, settle } = calls(ledger, user, 0);
  await hold("waiting-1", 100);
  client.exec("PRAGMA busy_timeout=0");
  const other = new Database(fresh.url);
  other.exec("BEGIN IMMEDIATE");
  let answered = false;
  const asked = Promise.all([hold("waiting-2", 100), settle("waiting-1", 80)]).finally(() => {
    answered = true;
  });
  await Bun.sleep(250);
  expect(answered).toBe(false);
  other.exec("ROLLBACK");
  expect(await asked).toEqual([{ ok: true }, { settled: true, hold_missing: false }]);
  other.close();
  client.exec("PRAGMA busy_timeout=5000");
  expect(await expectBalanced(fresh.db, user)).toMatchObject({ quota: 820, held: 100 });
});

test("a batch rolled back by one verb moves the others' money once, including extends and releases in it", async () => {
  const user = await addUser(fresh.db, ledger, 1000);
  const { hold, settle } = calls(ledger, user, 0);
  await hold("undone-1", 100);
  await hold("undone-2", 100);
  const log = { ...callLog("undone-bad", user, 0), username: Symbol("no text") as unknown as string };
  const answers = await Promise.allSettled([
    ledger.extend("undone-1", 50, 0),
    hold("undone-3", 70),
    ledger.release("undone-2"),
    ledger.settle({ request_id: "undone-bad", user_id: user, token_id: 0, quota: 5, log }),
    settle("undone-1", 30),
    ledger.release("undone-3"),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([
    "fulfilled",
    "fulfilled",
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
  expect(await expectBalanced(fresh.db, user)).toMatchObject({ quota: 970, held: 0 });
});

test("a hold that another process has swept is not released a second time", async () => {
  const user = await addUser(fresh.db, ledger, 1000);
  const { hold } = calls(ledger, user, 0);
  await hold("swept-1", 100);
  const other = createLedger(fresh.db, "sweeper", clock);
  expect(await other.release("swept-1")).toBe(true);
  expect(await ledger.release("swept-1")).toBe(false);
  expect(await expectBalanced(fresh.db, user)).toMatchObject({ quota: 1000, held: 0 });
});

test("a credit waits for the disk, and the usual setting is restored afterwards", async () => {
  const statements: string[] = [];
  const exec = client.exec;
  client.exec = (text: string) => {
    statements.push(text);
    return exec.call(client, text);
  };
  await addUser(fresh.db, ledger, 5);
  client.exec = exec;
  expect(statements).toEqual(["PRAGMA synchronous=FULL", "PRAGMA synchronous=NORMAL"]);
  expect(client.query("PRAGMA synchronous").get()).toEqual({ synchronous: 1 });
});
