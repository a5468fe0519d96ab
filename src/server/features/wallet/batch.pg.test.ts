/** The function that decides a batch on Postgres (`ledger_batch_2`); what each verb does is tried in tests/money. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { type FreshDatabase, freshPostgres } from "../../../../tests/kit/databases";
import { HOOK_MS } from "../../../../tests/kit/harness";
import { addToken, addUser, calls, clock, expectBalanced, NOON, tokenOf, userOf } from "../../../../tests/money/world";
import { CHARGE_LIMIT, UNITS_LIMIT } from "../../../shared/quota";
import type { Ledger } from "../../contracts/ledger";
import type { Connections } from "../../db/connection-types";
import { audit } from "./audit";
import { LOG_COLUMNS } from "./call-log";
import { createPostgresLedger } from "./ledger.pg";

let fresh: FreshDatabase;
let client: Connections;
let ledger: Ledger;
beforeAll(async () => {
  fresh = await freshPostgres(8);
  client = fresh.db.driver.postgres ?? expect.unreachable("not Postgres");
  ledger = createPostgresLedger(fresh.db, client, "a", clock);
}, HOOK_MS);
afterAll(async () => {
  expect(await Array.fromAsync(audit(fresh.db))).toEqual([]);
  await fresh.close();
});

/** A ledger that counts its statements and loses the answer to the first one, which is committed. */
function forgetful() {
  const asked: unknown[][] = [];
  const over: Connections = {
    ...client,
    unsafe: ((text: string, values: unknown[]) => {
      asked.push(values);
      const answered = client.unsafe(text, values);
      if (asked.length > 1) return answered;
      return answered.then(() => Promise.reject(Object.assign(new Error("lost"), { code: "database_unavailable" })));
    }) as typeof client.unsafe,
    within: () => over,
  };
  return { asked, ledger: createPostgresLedger(fresh.db, over, "a", clock) };
}

test("a batch whose answer was lost is answered as it was decided, and moves nothing twice", async () => {
  const user = await addUser(fresh.db, ledger, 1000);
  const token = await addToken(fresh.db, user, { remain_quota: 900 });
  const before = calls(ledger, user, token);
  for (const id of ["lost-settled", "lost-released", "lost-extended"]) await before.hold(id, 100);
  const { asked, ledger: lossy } = forgetful();
  const { hold, settle } = calls(lossy, user, token);
  expect(
    await Promise.all([
      settle("lost-settled", 40),
      lossy.release("lost-released"),
      lossy.extend("lost-extended", 700, 50),
      hold("lost-held", 60),
      hold("lost-refused", 1),
    ]),
  ).toEqual([
    { settled: true, hold_missing: false },
    true,
    true,
    { ok: true },
    { ok: false, reason: "token_quota", balance: 0 },
  ]);
  expect(asked).toHaveLength(2);
  expect(await expectBalanced(fresh.db, user)).toMatchObject({ quota: 100, held: 860, used_quota: 40, calls: 1 });
  expect((await tokenOf(fresh.db, token)).remain_quota).toBe(0);
});

test("a batch that arrives after a later one of its sender changes nothing", async () => {
  const user = await addUser(fresh.db, ledger, 1000);
  const { asked, ledger: lossy } = forgetful();
  const { hold } = calls(lossy, user, 0);
  await Promise.all([hold("zombie-1", 10), hold("zombie-2", 10)]);
  await Promise.all([hold("zombie-3", 10), hold("zombie-4", 10)]);
  await Promise.all([lossy.release("zombie-1"), lossy.release("zombie-2")]);
  const late = asked[0] ?? expect.unreachable("nothing was sent");
  const statement = `SELECT ledger_batch_2(${late.map((_, i) => `$${i + 1}`).join(", ")})`;
  await expect((async () => client.unsafe(statement, late))()).rejects.toThrow("comes too late");
  expect(await expectBalanced(fresh.db, user)).toMatchObject({ quota: 980, held: 20 });
});

test("a charge that is in the log already undoes its batch, whose repetition sees it and decides the others", async () => {
  const user = await addUser(fresh.db, ledger, 1000);
  const { settle, hold } = calls(ledger, user, 0);
  await settle("there-1", 10);
  const again = await Promise.all([hold("there-2", 100), settle("there-1", 10), settle("there-3", 20)]);
  expect(again.map((answer) => ("settled" in answer ? answer.settled : answer.ok))).toEqual([true, false, true]);
  expect(await expectBalanced(fresh.db, user)).toMatchObject({ quota: 870, held: 100, used_quota: 30, calls: 2 });
});

test("texts are stored as they are, without what Postgres cannot store", async () => {
  const user = await addUser(fresh.db, ledger, 1000);
  const text = `"quoted" \\back\\ {a,b} NULL 'x' \n\t 你好 🙂`;
  const { settle } = calls(ledger, user, 0);
  const draft = JSON.stringify({ model_name: text });
  const held = { user_id: user, token_id: 0, sources: [{ kind: "wallet" }] as const, amount: 1 };
  await Promise.all([
    settle("text-1", 1, { content: text, other: JSON.stringify({ text }), username: "a\u0000b\ud800c" }),
    settle("text-2", 1, { content: "" }),
    ledger.hold({ ...held, request_id: "text-3", draft }),
    ledger.hold({ ...held, request_id: 'te"xt\\4', draft: "x\ud800\u0000y" }),
  ]);
  const { logs, holds } = fresh.db.t;
  const [row] = await fresh.db.q.select().from(logs).where(eq(logs.request_id, "text-1"));
  expect(row).toMatchObject({ content: text, other: JSON.stringify({ text }), username: "ab\ufffdc" });
  const kept = await fresh.db.q.select().from(holds).where(eq(holds.user_id, user));
  expect(Object.fromEntries(kept.map((hold) => [hold.request_id, hold.draft]))).toEqual({
    "text-3": draft,
    'te"xt\\4': "x\ufffdy",
  });
});

test("it writes every column of a charge's row, with the limits of shared/quota.ts", async () => {
  const [row] = await client.unsafe<{ text: string }>("SELECT pg_get_functiondef('ledger_batch_2'::regproc) AS text");
  const text = row?.text ?? "";
  const insert = /INSERT INTO logs \(([^)]*)\)/.exec(text)?.[1] ?? "";
  const written = insert.split(",").map((name) => name.trim().replaceAll('"', ""));
  expect(written.toSorted()).toEqual([...LOG_COLUMNS, "type", "folded"].toSorted());
  expect(text).toContain(`units_limit CONSTANT bigint := ${UNITS_LIMIT};`);
  expect(text).toContain(`charge_limit CONSTANT bigint := ${CHARGE_LIMIT};`);
});

test("no batch scans a table, however small it was when its plans were made", async () => {
  const own = await freshPostgres(1);
  const sql = own.db.driver.postgres ?? expect.unreachable("not Postgres");
  const plain = createPostgresLedger(own.db, sql, "a", clock);
  const user = await addUser(own.db, plain, 1_000_000);
  const token = await addToken(own.db, user, { remain_quota: 500_000 });
  let batch: unknown[] = [];
  const noting = {
    ...sql,
    unsafe: ((text: string, values: unknown[]) => ((batch = values), sql.unsafe(text, values))) as typeof sql.unsafe,
  };
  const { hold, settle } = calls(createPostgresLedger(own.db, noting, "a", clock), user, token);
  for (let round = 0; round < 3; round++) {
    const ids = Array.from({ length: 20 }, (_, i) => `scan-${round}-${i}`);
    await Promise.all(ids.map((id) => hold(id, 10)));
    await Promise.all(ids.map((id, i) => (i % 2 ? settle(id, 10) : plain.extend(id, 5, 5))));
  }
  const scanned = await sql.begin(async (tx) => {
    // As a repetition, which looks for rows as well.
    const values = batch.map((value, i) => (i === 1 ? 1_000_000 : i === 2 ? true : value));
    await tx.unsafe(`SELECT ledger_batch_2(${values.map((_, i) => `$${i + 1}`).join(", ")})`, values);
    return tx.unsafe<{ relname: string }[]>(
      `SELECT relname FROM pg_class WHERE relname IN ('users', 'tokens', 'holds', 'logs_before')
       AND pg_stat_get_xact_numscans(oid) > 0`,
    );
  });
  expect([...scanned]).toEqual([]);
  await own.close();
});

test("many instances with the same users neither deadlock nor take more than there is", async () => {
  const people = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const user = await addUser(fresh.db, ledger, 40 * 100 + 99);
      return { user, token: await addToken(fresh.db, user, { unlimited_quota: true }) };
    }),
  );
  const instances = Array.from({ length: 4 }, (_, i) => createPostgresLedger(fresh.db, client, `i${i}`, clock));
  const granted = await Promise.all(
    instances.flatMap((one, i) =>
      Array.from({ length: 20 }, (_, n) => people.map((person) => ({ person, n })))
        .flat()
        .map(async ({ person: { user, token }, n }) => {
          const { hold, settle } = calls(one, user, token);
          const id = `crowd-${user}-${i}-${n}`;
          if (!(await hold(id, 100)).ok) return 0;
          await settle(id, 100);
          return 1;
        }),
    ),
  );
  expect(granted.filter(Boolean)).toHaveLength(6 * 40);
  for (const { user } of people)
    expect(await expectBalanced(fresh.db, user)).toMatchObject({ quota: 99, held: 0, calls: 40 });
  const [row] = await client.unsafe<{ deadlocks: string }>(
    "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
  );
  expect(Number(row?.deadlocks)).toBe(0);
});

test("a row that stays locked holds up its own user alone: the others of its batch are decided meanwhile", async () => {
  const users = await Promise.all(Array.from({ length: 4 }, () => addUser(fresh.db, ledger, 1000)));
  const [stuck, ...others] = users;
  const unlock = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holding = client.begin(async (tx) => {
    await tx`SELECT id FROM users WHERE id = ${stuck} FOR UPDATE`;
    locked.resolve();
    await unlock.promise;
  });
  await locked.promise;
  const own = createPostgresLedger(fresh.db, client, "a", clock);
  let late = false;
  const waiting = calls(own, stuck as number, 0)
    .hold("locked-0", 10)
    .finally(() => (late = true));
  const held = await Promise.all(others.map((user, i) => calls(own, user, 0).hold(`locked-${i + 1}`, 10)));
  expect([held, late]).toEqual([others.map(() => ({ ok: true })), false]);
  unlock.resolve();
  await holding;
  expect(await waiting).toEqual({ ok: true });
}, 20_000);

test("a batch counts a token's last use, and only of what it charged", async () => {
  const user = await addUser(fresh.db, ledger, 1000);
  const [used, held] = [
    await addToken(fresh.db, user, { remain_quota: 500 }),
    await addToken(fresh.db, user, { remain_quota: 500 }),
  ];
  await Promise.all([calls(ledger, user, used).settle("use-1", 30), calls(ledger, user, held).hold("use-2", 30)]);
  expect(await tokenOf(fresh.db, used)).toMatchObject({ remain_quota: 470, used_quota: 30, accessed_time: NOON });
  expect(await tokenOf(fresh.db, held)).toMatchObject({ remain_quota: 470, used_quota: 0, accessed_time: 0 });
  expect((await userOf(fresh.db, user)).request_count).toBe(1);
});
