/** The SQLite ledger's queue: one commit for many verbs, in order, and waiting for another process's lock. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
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

/** A ledger that tells how often it has asked for the lock. */
function patientLedger(): { ledger: Ledger; asks(): number } {
  let asks = 0;
  const { prepare } = client;
  client.prepare = ((text: string) => {
    const statement = prepare.call(client, text);
    const begin = statement.run.bind(statement);
    if (text === "BEGIN IMMEDIATE") statement.run = () => (asks++, begin());
    return statement;
  }) as typeof client.prepare;
  const patient = createLedger(fresh.db, "patient", clock);
  client.prepare = prepare;
  return { ledger: patient, asks: () => asks };
}

/** Another process that holds the database until `end` is called. */
function lockedBy(): { end(): void } {
  client.exec("PRAGMA busy_timeout=0");
  const other = new Database(fresh.url);
  other.exec("BEGIN IMMEDIATE");
  return {
    end: () => {
      other.exec("ROLLBACK");
      other.close();
      client.exec("PRAGMA busy_timeout=5000");
    },
  };
}

test("verbs wait half a minute for another process, each time anew, and are refused after it", async () => {
  const user = await addUser(fresh.db, ledger, 1000);
  const { ledger: patient, asks } = patientLedger();
  const { hold } = calls(patient, user, 0);
  await hold("patience-0", 1);
  const real = performance.now.bind(performance);
  let ahead = 3_600_000;
  const clockAhead = spyOn(performance, "now").mockImplementation(() => real() + ahead);
  const outcome = (name: string) =>
    hold(name, 1).then(
      () => "taken",
      (error) => String(error.code),
    );
  const asked = async (times: number): Promise<void> => {
    for (const before = asks(); asks() < before + times;) await Bun.sleep(5);
  };
  for (const name of ["patience-1", "patience-2"]) {
    const lock = lockedBy();
    const waiting = outcome(name);
    // Long after the process began, and long after it waited the last time: nothing of that counts.
    await asked(2);
    expect(patient.queued()).toBe(1);
    ahead += 29_000;
    await asked(1);
    expect(patient.queued()).toBe(1);
    ahead += 1_500;
    expect(await waiting).toStartWith("SQLITE_BUSY");
    expect(patient.queued()).toBe(0);
    lock.end();
    ahead += 3_600_000;
  }
  const lock = lockedBy();
  const waiting = outcome("patience-3");
  await asked(2);
  lock.end();
  expect(await waiting).toBe("taken");
  clockAhead.mockRestore();
  expect(await expectBalanced(fresh.db, user)).toMatchObject({ held: 2 });
}, 20_000);

test("a flush waits for another process's lock, and leaves the process its turns", async () => {
  const user = await addUser(fresh.db, ledger, 1000);
  const { hold } = calls(ledger, user, 0);
  const lock = lockedBy();
  const taken = hold("flushed", 10);
  const flushed = ledger.flush();
  let turns = 0;
  const timer = setInterval(() => void turns++, 5);
  while (turns < 10) await Bun.sleep(5);
  expect(ledger.queued()).toBe(1);
  lock.end();
  await flushed;
  clearInterval(timer);
  expect([ledger.queued(), await taken]).toEqual([0, { ok: true }]);
}, 20_000);

test("a verb that fails alone is refused, and the queue rests when nothing waits", async () => {
  const user = await addUser(fresh.db, ledger, 1000);
  const { hold } = calls(ledger, user, 0);
  const log = { ...callLog("alone", user, 0), username: Symbol("no text") as unknown as string };
  await expect(ledger.settle({ request_id: "alone", user_id: user, token_id: 0, quota: 5, log })).rejects.toThrow();
  await hold("after", 10);
  const immediates = spyOn(globalThis, "setImmediate");
  await Bun.sleep(30);
  expect(immediates.mock.calls.length).toBe(0);
  immediates.mockRestore();
  expect(await expectBalanced(fresh.db, user)).toMatchObject({ quota: 990, held: 10 });
});

test("verbs wait while another process holds the database, and then go through", async () => {
  const { ledger: patient, asks } = patientLedger();
  const user = await addUser(fresh.db, patient, 1000);
  const { hold, settle } = calls(patient, user, 0);
  await hold("waiting-1", 100);
  client.exec("PRAGMA busy_timeout=0");
  const other = new Database(fresh.url);
  other.exec("BEGIN IMMEDIATE");
  let answered = false;
  const asked = Promise.all([hold("waiting-2", 100), settle("waiting-1", 80)]).finally(() => {
    answered = true;
  });
  const [before, started] = [asks(), performance.now()];
  for (const end = Date.now() + 5_000; asks() < before + 4 && Date.now() < end;) await Bun.sleep(5);
  expect([asks() >= before + 4, answered]).toEqual([true, false]);
  // It does not ask without a pause: the others of the process have their turns.
  expect(performance.now() - started).toBeGreaterThan(250);
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

test("a credit and a refund wait for the disk, and the usual setting is back afterwards", async () => {
  const statements: string[] = [];
  const exec = client.exec;
  client.exec = (text: string) => {
    statements.push(text);
    return exec.call(client, text);
  };
  await addUser(fresh.db, ledger, 5);
  const once = ["PRAGMA synchronous=FULL", "PRAGMA synchronous=NORMAL"];
  expect(statements).toEqual(once);
  await ledger.refund({ charge_id: "no such charge" });
  client.exec = exec;
  expect(statements).toEqual([...once, ...once]);
  expect(client.query("PRAGMA synchronous").get()).toEqual({ synchronous: 1 });
});
